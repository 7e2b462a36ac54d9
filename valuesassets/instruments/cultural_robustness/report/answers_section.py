"""Which answers count: what is wrong with the others, language by language, and the pages that show them."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from valuesassets.instruments.cultural_robustness.answers.answer_quality import STATUSES
from valuesassets.records.frames import parts_of
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Section
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import draw_figures

UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
OK = "ok"


def answers(run: Run, name: str) -> list[Section]:
    """The section, with a place for each model that its point leads to.

    Of the run's `found`, `answer_pages` is by model and language where the page of its answers is.
    """
    section, frames = Section("answers", run.analyses[name].title), run.tables
    faults = frames.get("question_report")
    if faults is not None and len(faults):
        tabulate(section, "Faults and warnings of the questions.", faults)
    quality = section.need(run.table(name))
    if quality is None:
        return [section]
    section.paragraphs += [
        "An answer is empty if it holds neither a word nor a single number, and failed if nothing was written. It is "
        "an echo if it repeats its prompt, and a loop if it repeats itself. It is in the wrong language if its own "
        "language has a probability below .01, and truncated if it ended because of its length. The instrument does "
        "not check whether an answer is on topic. Only answers that are ok, or of a status that a study keeps, are "
        "compared; published scores count all answers that are not blank. A language is left out, and named below, if "
        "too few of its answers count.",
    ]
    counts = status_table(quality)
    section.markup = str(_places(counts, anchors_of(quality), run.found.get("answer_pages", {})))
    draw_figures(section, run, name, tells_missing=False)
    tabulate(section, "Answers by status.", counts)
    dropped = frames.get("dropped")
    if dropped is not None and not len(dropped):
        section.paragraphs.append("No language was left out.")
    tabulate(section, "Languages that are left out, and why.", dropped if dropped is not None else [])
    return [section]


def anchors_of(quality: pd.DataFrame | None) -> dict[str, str]:
    """Where on the page the answers of each model are; no two models have the same place."""
    models = [] if quality is None else list(dict.fromkeys(map(str, quality["model"])))
    return {model: f"answers-{number}-{UNSAFE.sub('-', model)}" for number, model in enumerate(models, 1)}


def status_table(quality: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for each model and language: how many answers are ok, and how many of each fault that there is."""
    faults = [name for name in STATUSES if name != OK and name in set(quality["status"])]
    counts = []
    for (model, language), part in parts_of(quality, ["model", "language"]):
        n = Counter(part["status"])
        row = {"model": model, "language": language, "answers": len(part), "ok": n[OK], "share_ok": n[OK] / len(part)}
        counts.append(row | {name: n[name] for name in faults})
    return counts


def _places(counts: list[dict[str, Any]], anchors: Mapping[str, str], pages: Mapping[str, Mapping[str, str]]) -> Markup:
    """For each model a heading and its languages, each with a link to the page of its answers where there is one."""
    markup = Markup("")
    for model, anchor in anchors.items():
        links = [_language(row, pages.get(model, {})) for row in counts if row["model"] == model]
        markup += Markup('<h3 id="{}">{}</h3>\n<p>{}</p>\n').format(anchor, model, Markup(", ").join(links))
    return markup


def _language(row: Mapping[str, Any], pages: Mapping[str, str]) -> Markup:
    words = Markup("{} ({:,} of {:,} ok)").format(row["language"], row["ok"], row["answers"])
    address = pages.get(str(row["language"]))
    return words if address is None else Markup('<a href="{}">{}</a>').format(address, words)
