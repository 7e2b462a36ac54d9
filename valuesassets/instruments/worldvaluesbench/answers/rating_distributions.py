"""`worldvaluesbench/rating_distributions`: a model's distributions for each question and profile, and without one."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from valuesassets.answers.estimators import COLUMNS
from valuesassets.answers.probe_distributions import NUMBERS, Cell, derive_probe_distributions
from valuesassets.instruments.worldvaluesbench.material.backgrounds import parse_profile
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions
from valuesassets.records.errors import StorageError
from valuesassets.records.files import write_text
from valuesassets.records.questions import OPTION_COUNTS, ResponseType
from valuesassets.records.trials import Reading, Trial, main_trials

BESIDE = ("prob_forward", "prob_reversed", "p_valid", "position_bias")
"""Quality columns of a ratings file: the answer in each order, P_valid, and the largest difference between orders."""
BY_COUNT = {n: kind for kind, n in OPTION_COUNTS.items() if kind is not ResponseType.ACTION}
HEADER_LIMIT = 10_000
"""The longest header of a ratings file, in characters."""


def response_type_of(question: ValueQuestion) -> ResponseType:
    """The response type of a question, which is ordinal at any length."""
    return BY_COUNT.get(len(question.values), ResponseType.FREQUENCY)


def derive_rating_distributions(trials: Sequence[Trial], readings: Sequence[Reading], cell: Cell) -> pd.DataFrame:
    """Rows of `rating_distributions`; `question_id` includes the profile, if there is one.

    Raises:
        MissingData: a trial has no reading.
    """
    main, questions = main_trials(trials), load_value_questions()
    types = {name: str(response_type_of(questions[name])) for name in {trial.question_id for trial in main}}
    ratings = pd.DataFrame(derive_probe_distributions(main, readings, cell, types))
    # Without this, a cell in which nothing could be read has columns of another type.
    return ratings.astype(dict.fromkeys([*NUMBERS, *COLUMNS, "estimator_disagreement"], float))


def write_ratings(path: Path, ratings: pd.DataFrame, attributes: Sequence[str]) -> None:
    """Write a model's answers to one wording as a file of ratings.

    Its columns are `question_id`, the attributes (empty if the prompt does not name them), `response_value`, `prob`
    (empty if the prompt could not be read), and `BESIDE`.
    """
    asked_as = ratings["question_id"].str.partition("@")
    profiles = [parse_profile(str(key)) for key in asked_as[2]]
    columns = {name: [profile.get(name) for profile in profiles] for name in attributes}
    rows = pd.DataFrame({"question_id": asked_as[0], **columns})
    rows["response_value"], rows["prob"] = ratings["response_value"], ratings["prob_averaged"]
    beside = ratings.rename(columns={"position_bias_magnitude": "position_bias"})
    rows[list(BESIDE)] = beside[list(BESIDE)]
    write_text(path, rows.to_csv(index=False))


def require_ratings_place(path: Path) -> None:
    """Check that `write_ratings` would replace nothing but ratings of the same form.

    Raises:
        StorageError: the file exists and has another content.
    """
    if not path.is_file():
        return
    with open(path, encoding="utf-8", errors="replace") as stream:
        header = stream.readline(HEADER_LIMIT).strip().split(",")
    names = [name for name in header if name not in BESIDE]
    if header != [""] and not (header[0] == "question_id" and names[-2:] == ["response_value", "prob"]):
        raise StorageError(
            f"{path}: exists and holds no ratings, whose header is question_id, ..., response_value, prob, ...; choose "
            "another name for the output"
        )
