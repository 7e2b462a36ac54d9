"""The content of the front page: for each study, the pages that exist."""

import html
import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from valuesassets.records.home import SHIPPED
from valuesassets.records.places import NO_STUDIES

REPORTS, PICTURES = "*/report/report.html", "*/cultural_map/cultural_map.png"
REVIEWS, SUMMARIES = "*/*/[!.]*.review.html", "summaries/[!.]*.html"
"""Patterns of the pages in a study's folder."""
GUIDE = ("first_run", "own_questionnaire", "own_model", "report", "slurm", "automation", "troubleshooting")
"""The pages of the documentation that a new user needs, in that order; they link to the others."""
FIRST_CHARACTERS = 4096
REVIEW_END, FAULTS_END = ".review.html", ".faults.json"


class Link(NamedTuple):
    """A link to a page, with a note such as its date."""

    title: str
    address: str
    note: str = ""


def study_pages(storage: Path) -> dict[str, dict[str, list[Link]]]:
    """The pages of all studies in a storage folder, by study and kind; empty for kinds that do not exist yet."""
    studies = (folder for folder in sorted(storage.glob("[!.]*/")) if folder.name not in NO_STUDIES)
    return {folder.name: _pages_of(storage, folder) for folder in studies}


def documents() -> list[Link]:
    """Links to the pages of the documentation that a new user needs."""
    guide = {name: SHIPPED / "docs" / f"{name}.md" for name in GUIDE}
    headings = {name: path.read_text("utf-8").partition("\n")[0] for name, path in guide.items() if path.is_file()}
    return [Link(heading.lstrip("# ").strip(), f"/docs/{name}.html") for name, heading in headings.items()]


def _pages_of(storage: Path, folder: Path) -> dict[str, list[Link]]:
    def link(path: Path, title: str, note: str = "") -> Link:
        return Link(title, f"/storage/{quote(path.relative_to(storage).as_posix())}", note)

    def dated_links(places: str, title: str) -> list[Link]:
        paths = sorted(path for path in folder.glob(places) if path.is_file())
        label = f"{title} ({{}})" if len(paths) > 1 else title
        times = [datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M") for path in paths]
        titles = [label.format(path.relative_to(folder).parts[0]) for path in paths]
        return [link(*entry) for entry in zip(paths, titles, times, strict=True)]

    reviews, summaries = sorted(folder.glob(REVIEWS)), sorted(folder.glob(SUMMARIES))
    return {
        "reports": dated_links(REPORTS, "Report"),
        "pictures": dated_links(PICTURES, "Cultural map"),
        "reviews": [link(path, path.name.removesuffix(REVIEW_END), _faults_beside(path)) for path in reviews],
        "summaries": [link(path, _title_of(path) or path.stem.replace("_", " ")) for path in summaries],
    }


def study_titles(storage: Path) -> dict[str, str]:
    """The titles of studies with a report, by their names."""
    reports = ((path.relative_to(storage).parts[0], path) for path in sorted(storage.glob(f"*/{REPORTS}")))
    return {name: title for name, path in reports if (title := _title_of(path))}


def _title_of(page: Path) -> str:
    """The title in a page's head; empty where it has none."""
    with suppress(OSError, UnicodeDecodeError):
        if page.is_symlink() or not page.is_file():
            return ""
        with page.open(encoding="utf-8") as stream:
            _, _, rest = stream.read(FIRST_CHARACTERS).partition("<title>")
        return html.unescape(rest.partition("</title>")[0]) if "</title>" in rest else ""
    return ""


def _faults_beside(review: Path) -> str:
    """The number of open faults beside a review page, in words; empty where it is unknown."""
    with suppress(OSError, ValueError, TypeError):
        count = len(json.loads(review.with_name(review.name.removesuffix(REVIEW_END) + FAULTS_END).read_bytes()))
        return "no fault" if count == 0 else f"{count} fault{'s' if count > 1 else ''}"
    return ""
