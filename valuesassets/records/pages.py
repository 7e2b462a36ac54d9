"""Which files of the storage folder a browser may see, and their addresses on the server of `valuesassets ui`.

Pages, pictures and logs are shown. Data are not: respondents' answers, questionnaires and prompts stay on the disk.
"""

import os
from pathlib import Path, PurePosixPath
from urllib.parse import quote

PAGES_VARIABLE = "VALUESASSETS_PAGES"
"""The environment variable for another address of the pages' server, for example behind a tunnel."""
DEFAULT_PAGES = "http://127.0.0.1:3001"
IN_THE_UI = "/pages"
"""Path of the UI's server that redirects to the pages' server, so that links outlive a change of ports."""
UI_VARIABLE = "VALUESASSETS_UI"
"""The environment variable for another address of the web UI."""
DEFAULT_UI = "http://127.0.0.1:3000"
PUBLISHED = {"summaries": {".html"}, "jobs": {".txt", ".log"}, "dagster": set[str]()}
"""Endings of the files that are shown, by folder in a study's folder."""
OF_AN_INSTRUMENT = {".html", ".png", ".svg", ".csv"}
"""Endings of the files that are shown in an instrument's folder, which is any other one."""


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
    """The address of the pages' server, without a slash at the end."""
    return (os.environ.get(PAGES_VARIABLE) or DEFAULT_PAGES).rstrip("/")


def ui_address() -> str:
    """The address of the web UI, without a slash at the end."""
    return (os.environ.get(UI_VARIABLE) or DEFAULT_UI).rstrip("/")


def page_link(storage_root: Path, path: Path, server: str = IN_THE_UI) -> str:
    """The link to a published file in the UI, which redirects to the pages' server on whatever port it has.

    Args:
        server: `pages_address()` for links outside the UI: mails, logs.

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
    """The link to a page of the documentation in the UI.

    Args:
        page: file name without its ending, optionally with `#section`.
    """
    return f"{IN_THE_UI}/docs/{page}"
