"""Answers by question, as distributions on the analysis scale: what the analyses of cells and countries work on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.analysis_scale import analysis_value, is_ordinal, on_analysis_scale
from valuesassets.measure.distances import jsd_distance, wasserstein1_unit
from valuesassets.records.distribution import Distribution, distribution
from valuesassets.records.errors import ScaleMismatch

Cell = tuple[str, str]
Answered = dict[str, "Answer"]


@dataclass(frozen=True)
class Answer:
    """One question's answer distribution, and how it was asked."""

    response_type: str
    is_converted: bool
    distribution: Distribution

    @property
    def is_ordinal(self) -> bool:
        """Whether W1 and means make sense."""
        return is_ordinal(self.response_type)


def parts_of(rows: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """The rows of every combination of these columns, in the order of their first appearance."""
    for key, part in rows.groupby(list(columns), sort=False):
        yield tuple(map(str, key if isinstance(key, tuple) else (key,))), part


def answers_by_cell(answers: pd.DataFrame, column: str = "prob") -> dict[Cell, Answered]:
    """Distributions by (model, language) and question.

    Args:
        answers: as `usable_answers` gives them.
        column: which probabilities: averaged (`prob`), `prob_forward` or `prob_reversed`.
    """
    cells: dict[Cell, Answered] = {}
    for (model, language, question_id), rows in parts_of(answers, ["model", "language", "question_id"]):
        first = rows.iloc[0]
        found = on_analysis_scale(question_id, rows["response_value"], rows[column])
        answer = Answer(str(first["response_type"]), bool(first["is_converted"]), found)
        cells.setdefault((model, language), {})[question_id] = answer
    return cells


def answers_by_country(human: pd.DataFrame) -> dict[str, dict[str, Distribution]]:
    """Human distributions by country and question; of a country asked in several languages, the first."""
    countries: dict[str, dict[str, Distribution]] = {}
    for (country, _, question_id), rows in parts_of(human, ["country", "language", "question_id"]):
        found = on_analysis_scale(question_id, rows["response_value"], rows["prob"])
        countries.setdefault(country, {}).setdefault(question_id, found)
    return countries


def pooled(countries: Mapping[str, Mapping[str, Distribution]]) -> dict[str, Distribution]:
    """The pooled answer: every country counts the same."""
    by_question: dict[str, list[Distribution]] = {}
    for answered in countries.values():
        for question_id, found in answered.items():
            by_question.setdefault(question_id, []).append(found)
    for question_id, (first, *others) in by_question.items():
        if any(not np.array_equal(first.values, other.values) for other in others):
            scales = sorted({tuple(each.values.tolist()) for each in (first, *others)})
            raise ScaleMismatch(f"{question_id}: countries answered on different scales {scales}; align their codes")
    return {
        question_id: Distribution(of_countries[0].values, np.mean([each.probs for each in of_countries], axis=0))
        for question_id, of_countries in by_question.items()
    }


def always_first(question_id: str, like: Distribution) -> Distribution:
    """Always the first option shown, averaged over both orders: half on the first and half on the last code listed."""
    ends = [analysis_value(question_id, int(code)) for code in (like.values.min(), like.values.max())]
    return distribution(like.values, np.isin(like.values, ends).astype(float))


@dataclass(frozen=True)
class Apart:
    """Mean distances over shared items, and how many items each mean rests on; None where no item is shared."""

    jsd_distance: float | None
    n_items: int
    w1_unit: float | None
    n_items_w1: int


def apart(
    one: Mapping[str, Answer], other: Mapping[str, Distribution], leave_out: frozenset[str] = frozenset()
) -> Apart:
    """How far two sets of answers are apart: Jensen-Shannon over all shared items, W1 over those with an order."""
    shared = [
        question_id
        for question_id, answer in one.items()
        if question_id in other
        and question_id not in leave_out
        and np.array_equal(answer.distribution.values, other[question_id].values)
    ]
    jsd = [jsd_distance(one[question_id].distribution, other[question_id]) for question_id in shared]
    w1 = [
        wasserstein1_unit(one[question_id].distribution, other[question_id])
        for question_id in shared
        if one[question_id].is_ordinal
    ]
    return Apart(float(np.mean(jsd)) if jsd else None, len(jsd), float(np.mean(w1)) if w1 else None, len(w1))


def of_level(answered: Mapping[str, Answer]) -> Answered:
    """The answers that may be compared in level: list items asked as statements are left out."""
    return {question_id: answer for question_id, answer in answered.items() if not answer.is_converted}
