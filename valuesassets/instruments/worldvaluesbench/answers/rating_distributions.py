"""`worldvaluesbench/rating_distributions`: what a model answers to each question, for each profile and without one."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from valuesassets.answers.estimators import COLUMNS
from valuesassets.answers.probe_distributions import NUMBERS, Cell, derive_probe_distributions
from valuesassets.instruments.worldvaluesbench.material.profiles import parse_profile
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions
from valuesassets.records.errors import StorageError
from valuesassets.records.files import write_text
from valuesassets.records.questions import OPTION_COUNTS, ResponseType
from valuesassets.records.trials import Reading, Trial, main_trials

BESIDE = ("prob_forward", "prob_reversed", "p_valid", "position_bias")
"""Columns of a file of ratings by which they are judged: the answer in either order, how often any is given, and the
largest difference between both orders."""
BY_COUNT = {n: kind for kind, n in OPTION_COUNTS.items() if kind is not ResponseType.ACTION}
HEADER_LIMIT = 10_000
"""Characters that a header of ratings has at most."""


def response_type_of(question: ValueQuestion) -> ResponseType:
    """The kind of a question's scale, which has an order whatever its length."""
    return BY_COUNT.get(len(question.values), ResponseType.FREQUENCY)


def derive_rating_distributions(trials: Sequence[Trial], readings: Sequence[Reading], cell: Cell) -> pd.DataFrame:
    """Rows of `rating_distributions`: `question_id` is the asked one, with its profile where it has one.

    Raises:
        MissingData: a trial has no reading.
    """
    asked, questions = main_trials(trials), load_value_questions()
    types = {name: str(response_type_of(questions[name])) for name in {trial.question_id for trial in asked}}
    found = pd.DataFrame(derive_probe_distributions(asked, readings, cell, types))
    # A cell in which nothing could be read is a result too: its numbers are empty, not of another kind.
    return found.astype(dict.fromkeys([*NUMBERS, *COLUMNS, "estimator_disagreement"], float))


def write_ratings(path: Path, found: pd.DataFrame, attributes: Sequence[str]) -> None:
    """Write a model's answers in the form that ratings made elsewhere come in, of one wording.

    `question_id`, a column per attribute (empty where it is not named), `response_value`, `prob` (empty where the
    prompt could not be read), and `BESIDE`.
    """
    asked = found["question_id"].str.partition("@")
    profiles = [parse_profile(str(key)) for key in asked[2]]
    columns = {name: [profile.get(name) for profile in profiles] for name in attributes}
    rows = pd.DataFrame({"question_id": asked[0], **columns})
    rows["response_value"], rows["prob"] = found["response_value"], found["prob_averaged"]
    beside = found.rename(columns={"position_bias_magnitude": "position_bias"})
    rows[list(BESIDE)] = beside[list(BESIDE)]
    write_text(path, rows.to_csv(index=False))


def require_ratings_place(path: Path) -> None:
    """See that what `write_ratings` would take the place of is nothing, or ratings of the same form.

    Raises:
        StorageError: the file is another; it is left as it is.
    """
    if not path.is_file():
        return
    with open(path, encoding="utf-8", errors="replace") as stream:
        found = stream.readline(HEADER_LIMIT).strip().split(",")
    kept = [name for name in found if name not in BESIDE]
    if found != [""] and not (found[0] == "question_id" and kept[-2:] == ["response_value", "prob"]):
        raise StorageError(
            f"{path}: is there already and not ratings, whose header is question_id, ..., response_value, prob, ...; "
            "choose another name for the output"
        )
