"""What published scores give for translations of one question and for arbitrary answers, beside what models get."""

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.report.pictures import published_rows
from valuesassets.records.frames import parts_of
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Section
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import draw_figures


def published(run: Run) -> Section:
    """What published scores give without any culture, before anything is said of culture."""
    section = Section("published-scores", "What published scores give for translations and for arbitrary answers")
    scores = section.need(run.table("scores"))
    if scores is None:
        return section
    published_scores = published_rows(scores)
    section.paragraphs += [
        "Published scores of diversity and robustness embed what a model answers in each language and look how far "
        "apart the languages are. Languages are apart in an embedder's space whatever is said in them, and so are "
        "arbitrary answers. So each score stands here beside its null: what the same formula gives for the questions "
        "themselves, which say the same in every language, and, of csp, for answers with a country dealt anew among "
        "the questions, which have nothing to do with them.",
        *_null_sentences(published_scores),
        "No interval is given with published scores, as their authors give none; what can be said of culture stands "
        "in the sections below.",
    ]
    draw_figures(section, run, "scores", "seed_and_null", tells_missing=False)
    if not len(published_scores):
        section.refusals.append("published scores: none was handed to the report")
    tabulate(
        section,
        "Published scores, each beside its null.",
        published_scores,
        ("model", "score", "value", "null", "n_questions", "n_languages", "reason"),
    )
    return section


def _null_sentences(scores: pd.DataFrame) -> list[str]:
    """What is got without any culture, in numbers."""
    nulls = {
        str(name): part["null"].dropna().to_numpy(float) for (name,), part in parts_of(scores, ["score"]) if len(part)
    }
    ranges = {name: _range(each) for name, each in nulls.items() if each.size}
    of_questions = [
        f"{name} {ranges[name]}" for name in ("seed_diversity", "seed_robustness", "cd", "cr") if name in ranges
    ]
    of_arbitrary = [f"{name} {ranges[name]}" for name in ("csp", "csp_question") if name in ranges]
    sentences = [f"Translations of one and the same question get {', '.join(of_questions)}."] if of_questions else []
    if of_arbitrary:
        sentences.append(f"Answers that have nothing to do with their question get {', '.join(of_arbitrary)}.")
    return sentences


def _range(values: np.ndarray) -> str:
    """One number, or the least and the largest."""
    low, high = f"{values.min():.3f}", f"{values.max():.3f}"
    return low if low == high else f"{low} to {high}"
