"""What the front page lists: per study, what has been made that a person can read."""

import html
import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from valuesassets.desk.pages.documentation import REPOSITORY
from valuesassets.records.places import NO_STUDIES

REPORTS, PICTURES = "*/report/report.html", "*/cultural_map/cultural_map.png"
REVIEWS, SUMMARIES = "*/*/[!.]*.review.html", "summaries/[!.]*.html"
"""Where they lie below a study's folder, in the folders of its instruments."""
GUIDE = ("first_run", "own_questionnaire", "own_model", "report", "slurm", "automation", "troubleshooting")
"""The pages of the documentation that a new user needs, in that order; the others are found from them."""
FIRST_CHARACTERS = 4096
REVIEW_END, FAULTS_END = ".review.html", ".faults.json"


class Link(NamedTuple):
    """A page that is there, and what is known of it."""

    title: str
    address: str
    said: str = ""


def study_pages(storage: Path) -> dict[str, dict[str, list[Link]]]:
    """What a browser can see of the studies of a storage folder, by name and kind; empty where it is not made yet."""
    studies = (folder for folder in sorted(storage.glob("[!.]*/")) if folder.name not in NO_STUDIES)
    return {folder.name: _pages_of(storage, folder) for folder in studies}


def documents() -> list[Link]:
    """The guide; all pages are found from each of them."""
    guide = {name: REPOSITORY / "docs" / f"{name}.md" for name in GUIDE}
    headings = {name: path.read_text("utf-8").partition("\n")[0] for name, path in guide.items() if path.is_file()}
    return [Link(heading.lstrip("# ").strip(), f"/docs/{name}.html") for name, heading in headings.items()]


def _pages_of(storage: Path, folder: Path) -> dict[str, list[Link]]:
    def link(path: Path, title: str, said: str = "") -> Link:
        return Link(title, f"/storage/{quote(path.relative_to(storage).as_posix())}", said)

    def made(places: str, title: str) -> list[Link]:
        found = sorted(path for path in folder.glob(places) if path.is_file())
        several = f"{title} ({{}})" if len(found) > 1 else title
        times = [datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M") for path in found]
        titles = [several.format(path.relative_to(folder).parts[0]) for path in found]
        return [link(*each) for each in zip(found, titles, times, strict=True)]

    reviews, summaries = sorted(folder.glob(REVIEWS)), sorted(folder.glob(SUMMARIES))
    return {
        "reports": made(REPORTS, "Report"),
        "pictures": made(PICTURES, "Cultural map"),
        "reviews": [link(path, path.name.removesuffix(REVIEW_END), _faults_beside(path)) for path in reviews],
        "summaries": [link(path, _title_of(path) or path.stem.replace("_", " ")) for path in summaries],
    }


def study_titles(storage: Path) -> dict[str, str]:
    """The titles of studies that a report was written of, by their names."""
    reports = ((path.relative_to(storage).parts[0], path) for path in sorted(storage.glob(f"*/{REPORTS}")))
    return {name: title for name, path in reports if (title := _title_of(path))}


def _title_of(page: Path) -> str:
    """The title that a page gives itself at its beginning; empty where it has none."""
    with suppress(OSError, UnicodeDecodeError):
        if page.is_symlink() or not page.is_file():
            return ""
        with page.open(encoding="utf-8") as stream:
            _, _, rest = stream.read(FIRST_CHARACTERS).partition("<title>")
        return html.unescape(rest.partition("</title>")[0]) if "</title>" in rest else ""
    return ""


def _faults_beside(review: Path) -> str:
    """How many faults are not settled; empty where nobody has counted."""
    with suppress(OSError, ValueError, TypeError):
        count = len(json.loads(review.with_name(review.name.removesuffix(REVIEW_END) + FAULTS_END).read_bytes()))
        return "no fault" if count == 0 else f"{count} fault{'s' if count > 1 else ''}"
    return ""
