"""Dagster's context and a job's messages as files that stay: the job may start, or speak, when the run is long gone."""

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_pipes import PipesDefaultContextLoader, PipesDefaultMessageWriter

from slurm_runner.files import share, write_json

MESSAGES_SECONDS = 0.5
"""Between two looks at the messages of a job."""


class KeptContext(dg.PipesContextInjector):
    """Writes the context to a file that stays: the job may start when the run is long gone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def inject_context(self, context_data: Any) -> Iterator[dict[str, str]]:
        """Write it, unless it lies there already."""
        if not self._path.exists():
            write_json(self._path, context_data)
        yield {PipesDefaultContextLoader.FILE_PATH_KEY: str(self._path)}

    def no_messages_debug_text(self) -> str:
        """Where to look."""
        return f"Dagster's context was written to {self._path}."


class KeptMessages(dg.PipesMessageReader):
    """Reads messages from a file that stays: a run that goes on with a job hears all that it has said.

    Dagster's own reader empties the file first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def read_messages(self, handler: dg.PipesMessageHandler) -> Iterator[dict[str, str]]:
        """Follow the file until the session is over."""
        if not self._path.exists():
            self._path.touch()
            share(self._path)
        is_over = threading.Event()
        thread = threading.Thread(target=self._follow, args=(handler, is_over), daemon=True)
        thread.start()
        try:
            yield {PipesDefaultMessageWriter.FILE_PATH_KEY: str(self._path)}
        finally:
            is_over.set()
            thread.join()

    def _follow(self, handler: dg.PipesMessageHandler, is_over: threading.Event) -> None:
        heard = 0
        while True:
            was_over = is_over.is_set()
            with contextlib.suppress(OSError), open(self._path, "rb") as stream:  # opened anew: NFS shows what is new
                stream.seek(heard)
                *lines, _ = stream.read().split(b"\n")
                for line in lines:
                    heard += len(line) + 1
                    self._hear(line, handler)
            if was_over:
                return
            is_over.wait(MESSAGES_SECONDS)

    def _hear(self, line: bytes, handler: dg.PipesMessageHandler) -> None:
        try:
            message = json.loads(line)
        except ValueError:  # a node that fell left half a line
            return
        try:
            handler.handle_message(message)
        except Exception:
            handler.report_pipes_framework_exception(type(self).__name__, sys.exc_info())

    def no_messages_debug_text(self) -> str:
        """Where to look."""
        return f"Messages were expected in {self._path}."
