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
        "Published scores of diversity and robustness embed a model's answers in each language and measure how far "
        "apart the languages are. Languages are apart in an embedder's space whatever the texts say, and so are "
        "arbitrary answers. Each score is therefore shown with its null: the value that the same formula gives for the "
        "questions themselves, which say the same in every language. The null of csp comes from answers with a country "
        "that are permuted among the questions, so that they have nothing to do with them.",
        *_null_sentences(published_scores),
        "Published scores have no intervals here, because their authors give none. The sections below say what can be "
        "concluded about culture.",
    ]
    draw_figures(section, run, "scores", "seed_and_null", tells_missing=False)
    if not len(published_scores):
        section.refusals.append("published scores: none was handed to the report")
    tabulate(
        section,
        "Published scores and their nulls.",
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
