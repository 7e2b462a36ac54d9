"""What steps print, kept in files as Dagster keeps it, without four processes for each capture (named in dagster.yaml).

Dagster starts a `tail` and a Python process for each of the two streams, to repeat what is written to the files. Here a
thread does it, and what was written last is repeated too. Files and their places are Dagster's.
"""

import os
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Self

from dagster._core.execution.compute_logs import redirect_to_file
from dagster._core.storage.compute_log_manager import CapturedLogContext, ComputeIOType
from dagster._core.storage.local_compute_log_manager import IO_TYPE_EXTENSION, LocalComputeLogManager
from dagster._serdes import ConfigurableClassData
from dagster._utils import ensure_file, touch_file

SECONDS = 0.25
"""Between two looks at what was written."""
AT_ONCE = 1 << 16


class CapturedLogManager(LocalComputeLogManager):
    """Dagster's local files of what steps print; the process that captures repeats it by itself."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """The manager that dagster.yaml describes."""
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def capture_logs(self, log_key: Sequence[str]) -> Generator[CapturedLogContext, None, None]:
        """A block of which both streams are kept in the files of this key, and repeated."""
        streams = ((ComputeIOType.STDOUT, sys.stdout), (ComputeIOType.STDERR, sys.stderr))
        (out, stdout), (err, stderr) = (
            (self.get_captured_local_path(log_key, IO_TYPE_EXTENSION[kind]), stream) for kind, stream in streams
        )
        with captured(stdout, out), captured(stderr, err):
            yield CapturedLogContext(log_key)
        touch_file(self.complete_artifact_path(log_key))


@contextmanager
def captured(stream: IO[str], path: str) -> Iterator[None]:
    """A block of which all that is written to a stream goes to a file, and from there to where the stream went."""
    ensure_file(path)
    descriptor = _descriptor(stream)
    if descriptor is None:  # a stream of a test, which has no file
        yield
        return
    with os.fdopen(os.dup(descriptor), "wb", buffering=0) as target, open(path, "rb") as written:
        is_over = threading.Event()
        repeating = threading.Thread(target=_repeat, args=(written, target, is_over), daemon=True)
        repeating.start()
        try:
            with redirect_to_file(stream, path):
                yield
        finally:
            is_over.set()
            repeating.join()


def _descriptor(stream: IO[str]) -> int | None:
    try:
        return stream.fileno()
    except (OSError, AttributeError, ValueError):
        return None


def _repeat(written: IO[bytes], target: IO[bytes], is_over: threading.Event) -> None:
    """Copy what is written to a file until it is over and all was copied."""
    while True:
        was_over = is_over.wait(SECONDS)
        while part := written.read(AT_ONCE):
            try:
                target.write(part)
            except OSError:  # nobody reads any more; the file has it
                return
        if was_over:
            return
