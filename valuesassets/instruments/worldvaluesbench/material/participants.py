"""`worldvaluesbench/participants`: the people of WVS-7 with their 42 attributes, groups and splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF, FACTORS, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.probe_samples import People
from valuesassets.instruments.worldvaluesbench.material.splits import SplitRule, split_people
from valuesassets.instruments.worldvaluesbench.material.value_answers import (
    derive_value_answers,
    question_ids,
    scales_of,
)
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions
from valuesassets.people.answer_codes import Column, require_none
from valuesassets.people.own_variables import Codes, Everyone, read_everyone
from valuesassets.people.repeated_ids import Entry, RepeatedIds
from valuesassets.people.surveys import load_human_files
from valuesassets.records.errors import HumanDataError

SURVEY = "wvs7"
NEEDED = tuple(attribute for attribute in ATTRIBUTE_OF.values() if attribute != "B_COUNTRY")
"""The columns, besides country and weight, without which nobody is in a group."""


@dataclass(frozen=True)
class Dataset(People):
    """People in the order of the survey's file, with rows of `LEDGER`: changed rows and missing answers, and why."""

    ledger: pd.DataFrame


def read_participants(
    path: Path,
    questions: Sequence[ValueQuestion] | None = None,
    repeated_ids: RepeatedIds = "renumber",
    splits: SplitRule = "seed",
) -> Dataset:
    """The data set of a file of WVS-7.

    Args:
        path: .csv, .sav, .dta or .parquet, with the codes of the survey.
        questions: all 239 if left out.
        repeated_ids: the treatment of people who share their D_INTERVIEW with others.

    Raises:
        HumanDataError: the file cannot be used; names file, column, codes and what to do.
    """
    chosen = list(load_value_questions().values()) if questions is None else questions
    backgrounds = load_backgrounds()
    names = [attribute.id for attribute in backgrounds.attributes]
    people = read_everyone(path, SURVEY, scales_of(chosen), names, NEEDED, repeated_ids)
    weights = pd.Series(people.weights)
    columns: dict[str, object] = {
        "participant_id": people.ids,
        "interview_id": people.interviews,
        "country": people.countries,
        "weight": weights / weights.groupby(people.countries).transform("mean"),
        "split": split_people(people.ids.tolist(), splits),
    }
    columns |= {factor: _levels(people, factor, level_of) for factor, level_of in backgrounds.levels.items()}
    participants = pd.DataFrame(columns | people.attributes)
    _require_groups(participants, path)
    value_answers = derive_value_answers(people.ids, people.answers)
    return Dataset(participants, value_answers, _ledger(people, participants, value_answers))


def _levels(people: Everyone, factor: str, level_of: Mapping[int, str]) -> NDArray[np.object_]:
    """(n,) level of each person; None if the code is missing, or the list has no continent for the country."""
    name = ATTRIBUTE_OF[factor]
    codes = people.attributes[name].to_numpy(dtype=np.float64, na_value=np.nan)
    if factor != "continent":
        is_wrong = (codes >= 0) & ~np.isin(codes, list(level_of))
        what = f"are none of its codes {', '.join(map(str, level_of))}"
        countries = people.countries.astype(str).astype(object)
        require_none(is_wrong, codes, Column(name, people.path), countries, what)
    levels = pd.Series(codes).map(pd.Series(level_of, dtype=object)).astype(object)
    return levels.where(levels.notna(), None).to_numpy(dtype=object)


def _require_groups(participants: pd.DataFrame, path: Path) -> None:
    groups = participants[list(FACTORS)].dropna().drop_duplicates()
    if len(groups) < 2:
        what = f"one, {', '.join(groups.iloc[0])}" if len(groups) else "none"
        raise HumanDataError(
            f"{path}: people of two groups ({', '.join(FACTORS)}) were expected, found {what}; name a file of several "
            "countries or of all their people"
        )


def _ledger(people: Everyone, participants: pd.DataFrame, value_answers: pd.DataFrame) -> pd.DataFrame:
    """Entries for changed rows, for people without a factor's level, and for missing answers by question and reason."""
    entries = list(people.ledger)
    lacking = {entry.subject for entry in entries if entry.what == "missing"}
    why = load_human_files().missing
    for factor in FACTORS:
        if n := int(participants[factor].isna().sum()):
            entries.append(Entry("missing", factor, n, f"{ATTRIBUTE_OF[factor]} says no {factor}: in no group"))
    for question in question_ids(value_answers):
        codes: Codes = people.answers[question]
        if question in lacking:
            continue
        silent_codes, counts = np.unique(codes[codes < 0].to_numpy(dtype=np.int64), return_counts=True)
        reasons = {why[int(code)]: int(n) for code, n in zip(silent_codes[::-1], counts[::-1], strict=True)}
        if n := int(codes.isna().sum()):
            reasons["the file holds nothing"] = n
        entries += [Entry("missing", question, n, reason) for reason, n in reasons.items()]
    return pd.DataFrame(entries, columns=pd.Index(Entry._fields))
