"""How functions that take long show how far they are."""

# pyright: strict, reportMissingTypeStubs=false

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

OnProgress = Callable[[int, int], None]
"""Called with (done, total)."""
Progress = Callable[[str], AbstractContextManager[OnProgress]]
"""Gives, for what is being done, a block within which its progress is shown."""


@contextmanager
def silent(title: str) -> Generator[OnProgress, None, None]:
    """A block within which no progress is shown."""
    yield lambda done, total: None
