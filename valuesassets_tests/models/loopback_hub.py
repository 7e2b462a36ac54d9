"""A hub of models on this machine: what its library asks of the real one, as the real one answers it.

Small files come from the hub itself, weights (LFS) through a redirect; branches, commits, gates and errors as there.
"""

import contextlib
import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from valuesassets_tests.loopback import LoopbackServer

Files = dict[str, bytes]


@dataclass
class LoopbackHub:
    """A server's address, its models, and what it was asked.

    Attributes:
        stores: the address of weights, another host by its name.
        commits: by model and commit, the files.
        branches: by model and branch, the commit.
        gated: models whose files are for others.
        failing: models about which every question gets a status such as 503.
        cut: by file name, the byte at which every connection breaks.
        held: by file name, the byte at which every connection waits until `released`.
        asked: method and path of every request.
        sent: bytes of files that went out.
        tokens: what came as Authorization, by whether it was the store that got it.
    """

    url: str = ""
    stores: str = ""
    commits: dict[str, dict[str, Files]] = field(default_factory=dict)
    branches: dict[str, dict[str, str]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    failing: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    released: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, str]] = field(default_factory=list)
    sent: int = 0
    tokens: dict[bool, set[str | None]] = field(default_factory=lambda: {False: set(), True: set()})

    def push(self, model: str, folder: Path, branch: str = "main", **changes: bytes | None) -> str:
        """A commit with the files of a folder, which the branch moves to; gives its hash.

        Args:
            changes: other contents by file name, with `__` for a dot; None leaves a file out.
        """
        files: dict[str, bytes | None] = {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }
        files |= {name.replace("__", "."): content for name, content in changes.items()}
        kept = {name: content for name, content in sorted(files.items()) if content is not None}
        commit = hashlib.sha1(repr(kept).encode(), usedforsecurity=False).hexdigest()
        self.commits.setdefault(model, {})[commit] = kept
        self.branches.setdefault(model, {})[branch] = commit
        return commit

    def forget(self) -> None:
        """Begin to count anew."""
        self.asked.clear()
        self.sent = 0

    def files_sent(self) -> set[str]:
        """Names of the files that were asked for, not only asked about."""
        return {path.rpartition("/")[2] for method, path in self.asked if method == "GET" and "/api/" not in path}


@contextlib.contextmanager
def loopback_hub() -> Iterator[LoopbackHub]:
    """A hub for as long as the block lasts."""

    class Answer(_Answer):
        pass

    server = LoopbackServer(Answer)
    Answer.hub = hub = LoopbackHub(released=server.released)
    hub.url, hub.stores = (f"http://{host}:{server.port}" for host in ("127.0.0.1", "localhost"))
    with server.serving():
        yield hub


class _Answer(http.server.BaseHTTPRequestHandler):
    hub: LoopbackHub

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((self.command, path))
        self.hub.tokens[path.startswith("/lfs/")].add(self.headers["Authorization"])
        if api := re.fullmatch(r"/api/models/(\w+/[^/]+)(?:/(revision|tree)/(.+))?", path):
            self.describe(*api.groups())
        elif file := re.fullmatch(r"/(\w+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self.resolve(*file.groups())
        elif stored := re.fullmatch(r"/lfs/(\w+/[^/]+)/([^/]+)/(.+)", path):
            model, commit, name = stored.groups()
            self.send(name, self.hub.commits[model][commit][name], {})
        else:
            self.refuse(404, "EntryNotFound")

    def describe(self, model, part, revision):
        found = self.find(model, revision or "main")
        if found is None:
            return
        commit, files = found
        listed = [{"type": "file", "path": name, **_sizes(name, content)} for name, content in files.items()]
        if part != "tree":
            siblings = [{"rfilename": name} for name in files]
            listed = {"id": model, "sha": commit, "gated": model in self.hub.gated, "siblings": siblings}
        self.reply(200, {"Content-Type": "application/json"}, json.dumps(listed).encode())

    def resolve(self, model, revision, name):
        found = self.find(model, revision)
        if found is None:
            return
        commit, files = found
        if model in self.hub.gated:
            self.refuse(403 if self.headers["Authorization"] else 401, "GatedRepo")
        elif name not in files:
            self.refuse(404, "EntryNotFound", {"X-Repo-Commit": commit})
        else:
            sizes = _sizes(name, files[name])
            marks = {"X-Repo-Commit": commit, "ETag": f'"{sizes["oid"]}"'}
            if "lfs" in sizes:
                linked = {"X-Linked-Size": str(sizes["size"]), "X-Linked-Etag": f'"{sizes["lfs"]["oid"]}"'}
                self.reply(302, marks | linked | {"Location": f"{self.hub.stores}/lfs/{model}/{commit}/{name}"})
            else:
                self.send(name, files[name], marks)

    def find(self, model, revision):
        if model in self.hub.failing:
            return self.reply(self.hub.failing[model], {})
        commits = self.hub.commits.get(model)
        if commits is None:
            return self.refuse(401, "RepoNotFound")  # as of the hub, which does not say what is private
        commit = self.hub.branches[model].get(revision, revision)
        return (commit, commits[commit]) if commit in commits else self.refuse(404, "RevisionNotFound")

    def refuse(self, status, code, headers=None):
        self.reply(status, {"X-Error-Code": code} | (headers or {}))

    def reply(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def send(self, name, content, marks):
        span = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(span[1]) if span else 0
        self.send_response(206 if span else 200)
        for header, value in (marks | {"Content-Length": str(len(content) - start)}).items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        end = min(self.hub.cut.get(name, len(content)), len(content))
        pause = max(start, min(self.hub.held.get(name, end), end))
        for piece, wait in ((content[start:pause], name in self.hub.held), (content[pause:end], False)):
            self.wfile.write(piece)
            self.wfile.flush()
            self.hub.sent += len(piece)
            if wait:
                self.hub.released.wait()

    def log_message(self, format, *args):
        pass


def _sizes(name, content):
    """What the hub lists of a file; weights are stored elsewhere (LFS) and named by the hash of their bytes."""
    listed = {"size": len(content), "oid": hashlib.sha1(content, usedforsecurity=False).hexdigest()}
    if name.endswith((".safetensors", ".bin")):
        listed["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return listed
