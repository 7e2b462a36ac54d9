"""Which files of the storage folder a browser may see, and their addresses on the server that `make ui` starts.

Pages, pictures and logs are shown; data are not: answers of respondents, questionnaires and prompts stay on the disk.
"""

import os
from pathlib import Path, PurePosixPath
from urllib.parse import quote

PAGES_VARIABLE = "VALUESASSETS_PAGES"
"""Names the server's address, where it is another than this: as when it is seen through a tunnel."""
DEFAULT_PAGES = "http://127.0.0.1:3001"
IN_THE_UI = "/pages"
"""Where the UI's own server leads to the pages': links outlive a change of ports."""
UI_VARIABLE = "VALUESASSETS_UI"
"""Names the address of the web UI, where it is another than this."""
DEFAULT_UI = "http://127.0.0.1:3000"
PUBLISHED = {"summaries": {".html"}, "jobs": {".txt", ".log"}, "dagster": set[str]()}
"""Endings of what is shown below a study's folder, by the folder in it."""
OF_AN_INSTRUMENT = {".html", ".png", ".svg", ".csv"}
"""The same of every other folder: each is an instrument's."""


def is_published(path: PurePosixPath) -> bool:
    """Whether a file may be shown.

    Args:
        path: relative to the storage folder, without `..`.

    >>> is_published(PurePosixPath("demo/survey/report/report.html"))
    True
    >>> is_published(PurePosixPath("demo/survey/respondents/respondents.parquet"))
    False
    """
    if len(path.parts) < 3 or path.is_absolute() or any(part.startswith(".") for part in path.parts):
        return False
    return path.suffix in PUBLISHED.get(path.parts[1], OF_AN_INSTRUMENT)


def pages_address() -> str:
    """Where the server is, without a slash at the end."""
    return (os.environ.get(PAGES_VARIABLE) or DEFAULT_PAGES).rstrip("/")


def ui_address() -> str:
    """Where the web UI is, without a slash at the end."""
    return (os.environ.get(UI_VARIABLE) or DEFAULT_UI).rstrip("/")


def page_link(storage_root: Path, path: Path, server: str = IN_THE_UI) -> str:
    """A published file as the UI links it: the UI knows where the server of the pages is, whatever port it has today.

    Args:
        server: `pages_address()` for those who do not see the UI: mails, logs.

    Raises:
        ValueError: the file does not lie below the storage folder, or is not published.

    >>> page_link(Path("storage"), Path("storage/demo_survey/survey/report/report.html"))
    '/pages/storage/demo_survey/survey/report/report.html'
    """
    relative = PurePosixPath(path.absolute().relative_to(storage_root.absolute()).as_posix())
    if not is_published(relative):
        raise ValueError(f"{path} is not among the files that are shown")
    return f"{server}/storage/{quote(str(relative))}"


def docs_link(page: str) -> str:
    """A page of the documentation as the UI links it.

    Args:
        page: file name without its ending, with `#section` where one is meant.
    """
    return f"{IN_THE_UI}/docs/{page}"
