"""The smallest shift that a study would find, told before its models are asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid, answer_grid
from valuesassets.comparing.shift import FEWEST_BATTERIES, require_enough
from valuesassets.comparing.shift_power import ShiftPower, power_of_shift
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.measures.shift import batteries_of
from valuesassets.measure.means import mean_of_known
from valuesassets.records.errors import MissingData
from valuesassets.records.questions import Question
from valuesassets.records.study import Study

ASSUMED = 0.04
"""Standard deviation of what a wording does to a question, in scale units, while `before` has not been read."""
STAND_IN = "people"


@dataclass(frozen=True)
class PredictedShift:
    """What a study would find of one shift towards one country.

    Attributes:
        power: None where there is a `reason`.
        is_read: whether the family before the change has been read; else the people's answers stand in for its own.
    """

    shift: str
    toward: str
    is_read: bool
    power: ShiftPower | None
    reason: str | None = None


def predict_shifts(
    study: Study, answers: pd.DataFrame | None, human: pd.DataFrame, questions: Mapping[str, Sequence[Question]]
) -> Iterator[PredictedShift]:
    """The smallest shift of each `[shift]` towards each of its countries.

    Args:
        answers: usable answers by wording of the families read so far; None where there are none.
        human: rows of `HUMAN_DISTRIBUTIONS`.
        questions: by language.

    Raises:
        MissingData: there are no people.
    """
    if human.empty:
        raise MissingData("no people of any country, so that no direction is known; see [human]")
    n_tests = sum(len(shift.toward) for shift in study.shift.values())
    for name, shift in study.shift.items():
        grid, is_read = _grid(study, shift.befores, answers, human, questions)
        for country in shift.toward:
            try:
                power = _power(grid, is_read, country, shift.drift, study, questions, study.inference.alpha / n_tests)
            except MissingData as error:
                yield PredictedShift(name, country, is_read, None, str(error))
            else:
                yield PredictedShift(name, country, is_read, power)


def _grid(
    study: Study,
    befores: Sequence[str],
    answers: pd.DataFrame | None,
    human: pd.DataFrame,
    questions: Mapping[str, Sequence[Question]],
) -> tuple[AnswerGrid, bool]:
    """The answers before the change, and whether they are the family's own."""
    fewest = study.thresholds.respondents
    own = None if answers is None else answers[answers["model"].isin(befores)]
    if own is not None and len(own):
        return answer_grid(pd.DataFrame(own), human, fewest).of_level(), True
    return answer_grid(_people_as_answers(human, questions), human, fewest).of_level(), False


def _people_as_answers(human: pd.DataFrame, questions: Mapping[str, Sequence[Question]]) -> pd.DataFrame:
    """The first country's answers to every question, in the form of a model's."""
    kinds = {question.id: str(question.response_type) for each in questions.values() for question in each}
    first = human.drop_duplicates("question_id")[["question_id", "country", "language"]]
    rows = human.merge(first, on=["question_id", "country", "language"])
    types = [kinds.get(base_id(question)) for question in rows["question_id"]]
    rows = rows.assign(response_type=types, model=STAND_IN, model_type="multi", is_converted=False, p_valid=1.0)
    sides = dict.fromkeys(("prob_forward", "prob_reversed"), rows["prob"])
    return pd.DataFrame(rows.assign(**sides, language=STAND_IN)[rows["response_type"].notna()])


def _power(
    grid: AnswerGrid,
    is_read: bool,
    country: str,
    drift: float,
    study: Study,
    questions: Mapping[str, Sequence[Question]],
    alpha: float,
) -> ShiftPower:
    """What would be found of a move towards one country.

    Raises:
        MissingData: the country has no people, or too little is shared.
    """
    if country not in grid.countries:
        raise MissingData(f"no people of {country} in the study's files")
    by_wording = mean_of_known(np.moveaxis(grid.scales.expected_unit(grid.sides.mean(axis=0)), 1, 0), axis=0)
    if not is_read:
        by_wording = np.repeat(by_wording, study.elicitation.wordings, axis=0)
    power = power_of_shift(
        by_wording,
        grid.scales.variance_unit(mean_of_known(grid.answers, axis=0)),
        grid.scales.expected_unit(grid.people),
        grid.countries.index(country),
        batteries_of(grid.items, questions),
        drift,
        alpha,
        None if is_read else ASSUMED,
    )
    if power.effective_batteries < FEWEST_BATTERIES:
        require_enough(power.n_items, len(grid.countries), power.effective_batteries)
    return power
