"""The report as one HTML page: claims, gates, sections of analyses, methods and origins."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Protocol

from markupsafe import Markup

from valuesassets.records.templates import template
from valuesassets.reporting.methods import bibtex, packaged
from valuesassets.reporting.page_parts import claims_section, origins_section
from valuesassets.reporting.parts import Claim, Gate, Section, planned
from valuesassets.reporting.run import Run

TEMPLATES = "valuesassets.reporting"
METHODS = Section("methods", "Methods paragraph and citations")
FIRST_SCREEN = '<script type="application/json" id="first-screen">'
ROOM = 32
"""The characters reserved for the size of the page, which is known only once the page is written."""


@dataclass(frozen=True)
class PageTitle:
    """The name of a page and of its files, its title, and whether its answers are planted."""

    name: str
    title: str
    is_planted: bool = False


class Words(Protocol):
    """The functions of an instrument's `report.py`: its sections, gates, claims, methods and sources.

    It may also have `within_study(run)`, which returns the run without data that are not part of its study, and
    `beside_claims(section, run)`, which adds to the section of claims.
    """

    def opening(self, run: Run) -> Section:
        """The first section of the page; the run has its gates by then."""
        ...

    def sections(self, run: Run) -> Sequence[Section]:
        """The sections below the claims, in their order."""
        ...

    def gates(self, run: Run) -> Sequence[Gate]:
        """The checks of the study with their outcomes."""
        ...

    def claims(self, run: Run) -> Sequence[Claim]:
        """The claims that the run supports and those that it does not support."""
        ...

    def methods(self, run: Run) -> Sequence[str]:
        """The sentences of the methods paragraph."""
        ...

    def sources(self, run: Run) -> Sequence[str]:
        """The keys of the sources that the run rests on."""
        ...


def render_report(run: Run, words: Words, made_at: str | None = None) -> str:
    """The report as one HTML page that needs nothing else; the same run gives the same page.

    Args:
        run: the study and its results, with the reason in place of a missing one; without gates, `words` gives them.
        words: the instrument's `report` module.
        made_at: the time at which the report was made, for its head; None leaves it out.
    """
    run = getattr(words, "within_study", lambda run: run)(run)
    run = replace(run, gates=planned(run.gates or words.gates(run), run.study.by_plan))
    sections = words.sections(run)
    claims = claims_section(run, words.claims(run), sections)
    getattr(words, "beside_claims", lambda section, run: None)(claims, run)
    whole = (words.opening(run), claims, *sections, METHODS, origins_section(run))
    methods = (*words.methods(run), *packaged(run))
    return render_page(run, whole, methods, words.sources(run), made_at, run.packages)


def render_page(
    title: PageTitle | Run,
    sections: Sequence[Section],
    methods: Sequence[str],
    sources: Sequence[str],
    made_at: str | None = None,
    packages: Mapping[str, str] | None = None,
) -> str:
    """Sections as one HTML page that needs nothing else.

    Args:
        title: the name and title of the page, and whether its answers are planted.
        sections: the sections in their order; the methods stand in the place of `METHODS`.
        methods: the sentences of the methods paragraph.
        sources: the keys of the sources.
        made_at: the time at which the page was made; None leaves it out.
        packages: the versions of packages to cite besides, by name.
    """
    script = (resources.files(TEMPLATES) / "page.js").read_text(encoding="utf-8")
    page = filled(
        TEMPLATES,
        "page",
        study=title,
        sections=sections,
        made_at=made_at,
        is_planted=title.is_planted,
        methods=" ".join(methods),
        bibtex=bibtex(tuple(sources), packages),
        script=Markup(script),  # noqa: S704  # ours
        first_screen=Markup(first_screen(sections)),  # noqa: S704  # escaped there
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        size=" " * ROOM,
    )
    size = f"{len(page.encode()) / 1e6:.1f} MB"
    return page.replace(f"This page has {' ' * ROOM}", f"This page has {size:<{ROOM}}", 1)


def first_screen(sections: Sequence[Section]) -> str:
    """The first screen of a page as JSON for programs: answers by model, questions, and checks that failed."""
    opening = next((section for section in sections if section.boxes), None)
    content = {
        "answers": dict(opening.lead) if opening else {},
        "questions": [
            {"question": box.question, "answer": box.answer, "because": box.because}
            for box in (opening.boxes if opening else ())
        ],
        "failed": [
            {"check": gate.sentence, "found": gate.found, "by_plan": gate.by_plan}
            for section in sections
            for gate in section.gates
            if gate.outcome == "failed"
        ],
    }
    return json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")


def read_first_screen(page: str) -> dict[str, Any]:
    """The content that `first_screen` wrote into a page; empty if the page has none."""
    begin = page.find(FIRST_SCREEN)
    if begin < 0:
        return {}
    return json.JSONDecoder().raw_decode(page, begin + len(FIRST_SCREEN))[0]


def filled(package: str, name: str, **values: Any) -> str:
    """The template `<name>.html.jinja` of a package filled with values, without newlines around it."""
    return template(package, name).render(values).strip("\n")
