"""`worldvaluesbench/probe_samples`: which people are sampled for which question, with their groups."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.material.backgrounds import FACTORS
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import RatingsError
from valuesassets.records.files import read_text
from valuesassets.records.frames import column, rows

EVERYBODY = "all"
SAMPLED_SPLIT = "test"
PUBLISHED_COLUMNS = {
    "Question": "question_id",
    "D_INTERVIEW": "participant_id",
    "Continent": "continent",
    "Urban / Rural": "settlement",
    "Education": "education",
}
"""Our names for the columns of the published probe."""
_LEVELS = {"Primary or No Education": "primary_or_none"} | {
    name: name.lower().replace(" ", "_")
    for name in ("Urban", "Rural", "Lower Secondary", "Upper to Post Secondary", "Tertiary")
}
COLUMNS = ["question_id", "participant_id", *FACTORS]
NOT_ASKED = "not_asked"
"""The key in `attrs` of samples from a file: number of rows with other questions, and number of all rows."""


@dataclass(frozen=True)
class People:
    """People and their answers: rows of `PARTICIPANTS` and of `VALUE_ANSWERS` in the same order."""

    participants: pd.DataFrame
    value_answers: pd.DataFrame


def choose_samples(
    dataset: People, questions: Sequence[ValueQuestion], probe: str | int, seed: int = 0
) -> pd.DataFrame:
    """The samples of a probe: everybody who answered and is in a group (`all`), N people of each group, or a file's.

    Returns:
        Rows of `question_id`, `participant_id` and the factors' levels.

    Raises:
        RatingsError: nobody answered and is in a group; or as `read_samples` and `draw_samples`.
    """
    written = str(probe)
    if written == EVERYBODY:
        in_a_group = _in_a_group(dataset.participants)
        chosen = [np.flatnonzero(in_a_group & _answered(dataset, question)) for question in questions]
        return _samples(dataset.participants, questions, chosen)
    if written.isdecimal():
        return draw_samples(dataset, questions, int(written), seed)
    return read_samples(Path(written), dataset, questions)


def draw_samples(dataset: People, questions: Sequence[ValueQuestion], n: int, seed: int = 0) -> pd.DataFrame:
    """N people who answered from each group with more than N of them in the split `test`.

    People are drawn for each question; the draw depends only on the seed, the question's id and the people.

    Raises:
        RatingsError: no group has more than N such people.

    Source: Zhao et al. (2024), section 4.1, and their `probe_set_preparation.py`.
    """
    if n < 1:
        raise RatingsError(f"probe: found {n}, a number of people from 1 was expected, or {EVERYBODY}")
    people = dataset.participants
    may_be_drawn = _in_a_group(people) & (people["split"] == SAMPLED_SPLIT).to_numpy()
    group = people.groupby(list(FACTORS), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    chosen = []
    for question in questions:
        places = np.flatnonzero(may_be_drawn & _answered(dataset, question))
        order = seeded(seed, "probe", question.id).permutation(places)
        order = order[np.argsort(group[order], kind="stable")]
        rank = np.arange(order.size) - np.searchsorted(group[order], group[order])
        is_large = np.bincount(group[order], minlength=group.max(initial=0) + 1)[group[order]] > n
        chosen.append(np.sort(order[(rank < n) & is_large]))
    return _samples(people, questions, chosen, f"with more than {n} people of the split {SAMPLED_SPLIT} ")


def read_samples(path: Path, dataset: People, questions: Sequence[ValueQuestion] = ()) -> pd.DataFrame:
    """The samples of a TSV file with the published columns (`Question`, ..., `D_INTERVIEW`), or ours.

    Args:
        questions: the questions to use; all of the file if empty. Rows of others are counted in `attrs[NOT_ASKED]`.

    Raises:
        RatingsError: a column is missing, a level is unknown, or a person is not in the data set, occurs twice or is in
            two groups.
    """
    text = read_text(path, "a table of samples", RatingsError)
    table = _table(path, text).rename(columns=PUBLISHED_COLUMNS)
    if missing := [name for name in COLUMNS if name not in table]:
        name = {ours: theirs for theirs, ours in PUBLISHED_COLUMNS.items()}[missing[0]]
        raise RatingsError(
            f"{path}: row 1: column {name} is missing; {', '.join(PUBLISHED_COLUMNS)} were expected, between tabs"
        )
    table = pd.DataFrame({name: column(table, name).str.strip() for name in COLUMNS})
    for factor, levels in FACTORS.items():
        table[factor] = column(table, factor).replace(_LEVELS)
        _refuse(path, table, ~column(table, factor).isin(levels), factor, f"one of {', '.join(levels)} was expected")
    resolve_people(str(path), column(table, "participant_id"), dataset.participants)
    is_known = column(table, "question_id").isin(list(dataset.value_answers.columns))
    _refuse(path, table, ~is_known, "question_id", "a question of the data set was expected")
    repeated = table.duplicated(subset=["question_id", "participant_id"])
    _refuse(path, table, repeated, "participant_id", "the question has this person already; keep one row")
    _refuse_two_groups(path, table)
    samples = table
    if questions:
        samples = rows(table, column(table, "question_id").isin([question.id for question in questions]))
    if samples.empty:
        raise RatingsError(f"{path}: holds nobody for the questions asked; name another file")
    samples = samples.reset_index(drop=True)
    samples.attrs[NOT_ASKED] = len(table) - len(samples), len(table)
    return samples


def resolve_people(source: str, ids: pd.Series, participants: pd.DataFrame) -> NDArray[np.int64]:
    """(n,) rows of the people of a file in the data set.

    Raises:
        RatingsError: a person is not in the data set, or several share the id.
    """
    unknown = ~ids.isin(participants["participant_id"])
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        person = str(ids.iloc[row])
        shared = participants.loc[participants["interview_id"].astype(str) == person, "participant_id"]
        if len(shared):
            why = (
                f"{len(shared)} people share this D_INTERVIEW; name them as the data set does, {shared.iloc[0]} and on"
            )
        else:
            why = "nobody in the data set has this id; is it another version of the data?"
        raise RatingsError(f"{source}: row {row + 2}: person {person}: {why}")
    distinct = ids.astype("category").cat
    return pd.Index(participants["participant_id"]).get_indexer(distinct.categories)[distinct.codes].astype(np.int64)


def _in_a_group(people: pd.DataFrame) -> NDArray[np.bool_]:
    has_level = [people[factor].notna().to_numpy(dtype=bool) for factor in FACTORS]
    return np.logical_and.reduce(has_level)


def _answered(dataset: People, question: ValueQuestion) -> NDArray[np.bool_]:
    codes = dataset.value_answers[question.id].to_numpy(float, na_value=np.nan)
    return codes >= max(question.lo, 0)


def _samples(
    people: pd.DataFrame, questions: Sequence[ValueQuestion], chosen: Sequence[NDArray[np.intp]], which: str = ""
) -> pd.DataFrame:
    places = np.concatenate(chosen) if chosen else np.empty(0, dtype=np.intp)
    if not places.size:
        raise RatingsError(
            f"probe: no group {which or 'with anybody '}who answered: {len(people)} people, of whom "
            f"{int(_in_a_group(people).sum())} have all of {', '.join(FACTORS)}; ask for fewer"
        )
    numbers = np.repeat(np.arange(len(chosen)), [len(each) for each in chosen])
    question_ids = pd.Categorical.from_codes(numbers, [question.id for question in questions])
    columns = {name: people[name].astype("category").iloc[places].array for name in ("participant_id", *FACTORS)}
    return pd.DataFrame({"question_id": question_ids} | columns)


def _table(path: Path, text: str) -> pd.DataFrame:
    try:
        return pd.read_csv(io.StringIO(text), sep="\t", dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as fault:
        reason = " ".join(str(fault).removeprefix("Error tokenizing data. C error: ").split())
        raise RatingsError(f"{path}: not a table: {reason}; mend the file there") from None


def _refuse_two_groups(path: Path, table: pd.DataFrame) -> None:
    """Check that each person has the same levels in every row, since people are resampled within their group."""
    for factor in FACTORS:
        first = table.groupby("participant_id", sort=False)[factor].transform("first")
        differs = (column(table, factor) != first).to_numpy()
        if differs.any():
            row = int(np.flatnonzero(differs)[0])
            person, level = table["participant_id"].iloc[row], table[factor].iloc[row]
            before = int(np.flatnonzero(column(table, "participant_id") == person)[0])
            raise RatingsError(
                f"{path}: row {row + 2}: {factor}: found {level} of person {person}, {first.iloc[row]} was expected, "
                f"as in row {before + 2}; a person is in one group: mend the row that is wrong"
            )


def _refuse(path: Path, table: pd.DataFrame, mask: pd.Series, name: str, expected: str) -> None:
    if mask.any():
        row = int(np.flatnonzero(mask)[0])
        raise RatingsError(f"{path}: row {row + 2}: {name}: found {table[name].iloc[row] or repr('')}, {expected}")
