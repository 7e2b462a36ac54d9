"""Gemini as it reads forms: beside `loopback_gemini` the Files API as Google's SDK uses it.

The server knows the questions of each page and answers with those of the pages that it finds named in the prompt.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from valuesassets_tests.remote.loopback_gemini import Fault, GeminiHandler, LoopbackGemini, candidate

PAGES = re.compile(r"questions that begin on pages? (\d+)(?: to (\d+))?")

Row = dict[str, Any]


class GeminiServer(LoopbackGemini):
    """What was asked, and what is stored.

    Attributes:
        requests: how often each operation was asked for: start, chunk, poll, delete, generate.
        asked: first and last page of every prompt, in order, refused ones included.
        prompts: every prompt, the parts of text one after the other.
        pictures: how many pictures came with each prompt.
        uploads: whole uploaded files, by name; those deleted since are there too.
        stored: names of the files that were not deleted.
    """

    def __init__(
        self,
        questions_by_page: Mapping[int, Sequence[Row]],
        faults: Mapping[tuple[str, int], Fault],
        stops: Mapping[int, str],
        most_rows: int,
        polls: int,
    ):
        super().__init__(faults, Handler)
        self.questions_by_page, self.stops = questions_by_page, dict(stops)
        self.most_rows, self.polls = most_rows, polls
        self.asked: list[tuple[int, int]] = []
        self.prompts: list[str] = []
        self.pictures: list[int] = []
        self.configs: list[dict[str, Any]] = []
        self.uploads: dict[str, bytes] = {}
        self.stored: set[str] = set()

    def file(self, name: str, polls: int) -> dict[str, Any]:
        state = "ACTIVE" if polls >= self.polls else "PROCESSING"
        return {
            "name": name,
            "uri": f"{self.base_url}/v1beta/{name}",
            "mimeType": "application/pdf",
            "sizeBytes": str(len(self.uploads[name])),
            "state": state,
        }

    def answer_to(self, body: dict[str, Any]) -> dict[str, Any]:
        """The questions of the pages asked for last; cut off, or stopped, where the test says so."""
        first, last = self.asked[-1]
        stop = next((reason for page, reason in self.stops.items() if first <= page <= last), None)
        if stop is not None:
            return candidate("", stop)
        pages = range(first, last + 1)
        rows = [{**row, "page": page} for page in pages for row in self.questions_by_page.get(page, ())]
        text = json.dumps({"questions": rows}, ensure_ascii=False)
        return candidate(text) if len(rows) <= self.most_rows else candidate(text[: len(text) // 2], "MAX_TOKENS")


class Handler(GeminiHandler):
    """Reads a request, counts it, and answers it or commits the fault asked for."""

    server: GeminiServer

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/upload/v1beta/files":
            self.serve("start", self.start)
        elif self.path.startswith("/upload/"):
            self.serve("chunk", lambda: self.take(body))
        else:
            self.body = json.loads(body)
            self.note_prompt(self.body)
            self.serve("generate", self.generate)

    def do_GET(self) -> None:  # noqa: N802
        self.serve("poll", lambda: self.say(200, self.server.file(self.file_name, self.server.requests["poll"])))

    def do_DELETE(self) -> None:  # noqa: N802
        self.serve("delete", self.delete)

    @property
    def file_name(self) -> str:
        return self.path.removeprefix("/v1beta/")

    def start(self) -> None:
        name = f"files/form-{self.server.requests['start']}"
        self.server.uploads[name] = b""
        self.say(200, {}, {"X-Goog-Upload-URL": f"{self.server.base_url}/upload/{name}", **STATUS_ACTIVE})

    def take(self, chunk: bytes) -> None:
        name = self.path.removeprefix("/upload/")
        self.server.uploads[name] += chunk
        if "finalize" in self.headers["X-Goog-Upload-Command"]:
            self.server.stored.add(name)
            self.say(200, {"file": self.server.file(name, 0)}, {"X-Goog-Upload-Status": "final"})
        else:
            self.say(200, {}, STATUS_ACTIVE)

    def delete(self) -> None:
        self.server.stored.discard(self.file_name)
        self.say(200, {})

    def note_prompt(self, request: dict[str, Any]) -> None:
        parts = [part for content in request["contents"] for part in content["parts"]]
        text = "\n".join(part["text"] for part in parts if "text" in part)
        pages = PAGES.search(text)
        assert pages is not None, text
        self.server.asked.append((int(pages[1]), int(pages[2] or pages[1])))
        self.server.prompts.append(text)
        self.server.pictures.append(sum("inlineData" in part for part in parts))
        self.server.configs.append(request["generationConfig"])
        self.files = [part["fileData"]["file_uri"] for part in parts if "fileData" in part]

    def generate(self) -> None:
        if any(uri.rpartition("/v1beta/")[2] not in self.server.stored for uri in self.files):
            self.refuse(403, "You do not have permission to access the File")
        else:
            super().generate()


STATUS_ACTIVE = {"X-Goog-Upload-Status": "active"}


@contextlib.contextmanager
def gemini_server(
    questions_by_page: Mapping[int, Sequence[Row]],
    faults: Mapping[tuple[str, int], Fault] | None = None,
    *,
    stops: Mapping[int, str] | None = None,
    most_rows: int = 1000,
    polls: int = 1,
) -> Iterator[GeminiServer]:
    """A server that has read a form.

    Args:
        questions_by_page: rows of an answer without `page`, by page from 1.
        faults: by operation (start, chunk, poll, delete, generate) and which time it is asked for, from 1.
        stops: finish reason of every answer that takes in a page.
        most_rows: longer answers are cut off.
        polls: the upload is processed so often before it is active.
    """
    server = GeminiServer(questions_by_page, faults or {}, stops or {}, most_rows, polls)
    with server.serving():
        yield server


def half_an_answer(handler: Handler, server: GeminiServer) -> None:
    """JSON that stops in the middle, said to be whole."""
    text = server.answer_to(handler.body)["candidates"][0]["content"]["parts"][0]["text"]
    handler.say(200, candidate(text[: len(text) // 2]))


def numbered_questions(pages: int, per_page: int) -> dict[int, list[Row]]:
    """So many questions on every page, `v1` and so on."""
    return {
        page: [question(f"v{(page - 1) * per_page + place + 1}") for place in range(per_page)]
        for page in range(1, pages + 1)
    }


def question(code: str) -> Row:
    """One row of an answer, without its page."""
    return {
        "id": code,
        "section": None,
        "text": f"How important is {code} in your life?",
        "stem": None,
        "item": None,
        "response_type": "likert4",
        "options": [{"value": value, "label": f"answer {value}"} for value in range(1, 5)],
        "answer_cue": "Answer",
    }
