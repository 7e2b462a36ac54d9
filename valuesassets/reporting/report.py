"""One page for a reader: what can be claimed, whether the instrument works, what was found, and where it comes from."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Protocol

from markupsafe import Markup

from valuesassets.records.templates import template
from valuesassets.reporting.methods import bibtex
from valuesassets.reporting.page_parts import claims_section, origins_section
from valuesassets.reporting.parts import Claim, Gate, Section, planned
from valuesassets.reporting.run import Run

TEMPLATES = "valuesassets.reporting"
METHODS = Section("methods", "Methods paragraph and citations")
FIRST_SCREEN = '<script type="application/json" id="first-screen">'
ROOM = 32
"""Characters kept for the page's own size, which is only known when it is written."""


@dataclass(frozen=True)
class PageTitle:
    """A page's name, as its files are called, its title, and whether answers on it were made up beforehand."""

    name: str
    title: str
    is_planted: bool = False


class Words(Protocol):
    """What an instrument's `report.py` gives: its sections, gates, claims, methods and sources.

    It may also have `within_study(run)`, which gives the run without what was never in its study, and
    `beside_claims(section, run)`, which adds to the section of claims.
    """

    def opening(self, run: Run) -> Section:
        """What the page opens with; the run has its gates by then."""
        ...

    def sections(self, run: Run) -> Sequence[Section]:
        """Below the claims, in their order."""
        ...

    def gates(self, run: Run) -> Sequence[Gate]:
        """The checks of the study and their outcome."""
        ...

    def claims(self, run: Run) -> Sequence[Claim]:
        """What the run supports and what it does not."""
        ...

    def methods(self, run: Run) -> Sequence[str]:
        """Sentences for a paper."""
        ...

    def sources(self, run: Run) -> Sequence[str]:
        """Keys of the entries of what the run rests on."""
        ...


def render_report(run: Run, words: Words, made_at: str | None = None) -> str:
    """The report as one HTML page that needs nothing else; the same run gives the same page.

    Args:
        run: what was made; the reason stands in the place of what was not. Where it has no gates, the words have.
        words: the instrument's `report` module.
        made_at: when the report was made; left out where not given.
    """
    run = getattr(words, "within_study", lambda run: run)(run)
    run = replace(run, gates=planned(run.gates or words.gates(run), run.study.by_plan))
    sections = words.sections(run)
    claims = claims_section(run, words.claims(run), sections)
    getattr(words, "beside_claims", lambda section, run: None)(claims, run)
    whole = (words.opening(run), claims, *sections, METHODS, origins_section(run))
    return render_page(run, whole, words.methods(run), words.sources(run), made_at)


def render_page(
    title: PageTitle | Run,
    sections: Sequence[Section],
    methods: Sequence[str],
    sources: Sequence[str],
    made_at: str | None = None,
) -> str:
    """Sections as one HTML page that needs nothing else.

    Args:
        of: the name and title of the page, and whether answers are planted.
        sections: in their order; `METHODS` stands where the methods are shown.
        methods: sentences for a paper.
        sources: keys of the entries of what was used.
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
        bibtex=bibtex(tuple(sources)),
        script=Markup(script),  # noqa: S704  # ours
        first_screen=Markup(first_screen(sections)),  # noqa: S704  # escaped there
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        size=" " * ROOM,
    )
    size = f"{len(page.encode()) / 1e6:.1f} MB"
    return page.replace(f"This page has {' ' * ROOM}", f"This page has {size:<{ROOM}}", 1)


def first_screen(sections: Sequence[Section]) -> str:
    """What a page says first, as JSON for programs: answers by model, questions, and checks that failed."""
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
    """What `first_screen` wrote into a page; empty where it has none."""
    begin = page.find(FIRST_SCREEN)
    if begin < 0:
        return {}
    return json.JSONDecoder().raw_decode(page, begin + len(FIRST_SCREEN))[0]


def filled(package: str, name: str, **values: Any) -> str:
    """The template `<name>.html.jinja` of a package, filled, without newlines around it."""
    return template(package, name).render(values).strip("\n")
