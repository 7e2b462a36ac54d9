"""`survey/respondents`: one row per person with country, weight, answers in codes of EVS 2017, and indicators.

Every analysis of people starts from this table. Its `attrs["notes"]` name what is left out, and why.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.answers.language_codes import known_languages
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.material.indicators import INDICATORS, components, own_indicators
from valuesassets.instruments.survey.plants.planted_people import plant_people
from valuesassets.people.survey_file import People, read_people
from valuesassets.people.surveys import NOTHING, OTHER
from valuesassets.people.variables import load_variables
from valuesassets.records.questions import Question
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

COLUMNS = TABLES["respondents"].names  # before the questions and the ten indicators
TAKEN = {*COLUMNS, *INDICATORS}  # names that a question's column cannot have


def derive_respondents(study: Study, questions: Mapping[str, Sequence[Question]]) -> pd.DataFrame:
    """The respondents of the study's countries: from its files, drawn from the plants, or none.

    Args:
        questions: by language; those of the indicators are read too.

    Returns:
        One row per respondent: `COLUMNS` (weights with mean 1 in a country), a column per question (Int16: <NA> if the
        file has nothing, negative without an answer, see `people.surveys`), and the ten indicators (float, NaN if a
        part is missing).

    Raises:
        HumanDataError: a file is not usable.
    """
    ids = {question.id for each in questions.values() for question in each}
    notes: list[str] = []
    people: list[People] = []
    if study.human.source == "planted":
        people = plant_people(study, questions)
    elif study.human.source == "files":
        ids |= {base_id(part) for indicator in INDICATORS for part in components(indicator)}
        people = _read_files(study, ids, notes)
    return _one_table(people, sorted(ids, key=_in_form_order), notes)


def answer_column(question: str) -> str:
    """The column of a question: its id, unless another column has that name.

    >>> answer_column("v7"), answer_column("country")
    ('v7', 'country (question)')
    """
    return f"{question} (question)" if question in TAKEN else question


def answer_codes(respondents: pd.DataFrame, question: str) -> NDArray[np.int16]:
    """(n,) answer codes of one question: negative without an answer, `NOTHING` if the file has nothing."""
    return respondents[answer_column(question)].to_numpy(dtype=np.int16, na_value=NOTHING)


def _read_files(study: Study, ids: Collection[str], notes: list[str]) -> list[People]:
    """The people of every file; a country in several files is taken from the first."""
    wanted = {*study.countries.values(), *study.human.countries}
    spoken = _codes_of_languages(study) if study.human.interview_language == "own" else None
    people_of_files: list[People] = []
    source: dict[str, str] = {}
    for file in study.human.files:
        people, notes_of_file = read_people(file, ids, wanted, spoken)
        notes += notes_of_file
        countries = set(people.rows["country"])
        for country in sorted(countries & source.keys()):
            notes.append(f"{file.path.name}: {country} is taken from {source[country]}, which the study names first.")
        rows = people.rows["country"].isin([*(countries - source.keys())]).to_numpy()
        answers = {question: codes[rows] for question, codes in people.answers.items()}
        people_of_files.append(People(people.rows.loc[rows], answers))
        source |= dict.fromkeys(countries - source.keys(), file.path.name)
    for country in sorted(wanted - source.keys()):
        names = ", ".join(file.path.name for file in study.human.files)
        notes.append(f"{country}: no respondents in {names}: nothing is compared with its people.")
    return people_of_files


def _codes_of_languages(study: Study) -> dict[str, set[str]]:
    """By country, the ISO 639 codes of the study's languages there."""
    codes: dict[str, set[str]] = {}
    for language, country in study.countries.items():
        facts = known_languages().get(language)
        codes.setdefault(country, set()).update({language, facts.short} - {""} if facts else {language})
    return codes


def _one_table(people: Sequence[People], ids: Sequence[str], notes: list[str]) -> pd.DataFrame:
    """All people in one table with a column for every question."""
    empty = pd.DataFrame({name: pd.Series(dtype=float if name == "weight" else object) for name in COLUMNS})
    rows = pd.concat([each.rows for each in people], ignore_index=True) if people else empty
    answers = {}
    for question in ids:
        codes = [each.answers.get(question, np.zeros(len(each.rows), np.int16)) for each in people]
        answers[question] = np.concatenate([np.zeros(0, np.int16), *codes])
    for later, earlier in load_variables().depends_on.items():
        if later in answers and earlier in answers:
            repeats = (answers[later] == answers[earlier]) & (answers[later] > 0)
            if repeats.any():  # a repeated choice is no second choice
                answers[later][repeats] = OTHER
                named = f"{repeats.sum()} respondents named the same twice"
                notes.append(f"{later} after {earlier}: {named}; their second choice counts as none.")
    parts = {base_id(part) for indicator in INDICATORS for part in components(indicator)}
    codes_by_part = {part: answers.get(part, np.zeros(len(rows), np.int16)) for part in parts}
    own = own_indicators({part: np.where(codes > 0, codes, np.nan) for part, codes in codes_by_part.items()})
    weights = rows["weight"] / rows.groupby("country")["weight"].transform("mean")
    columns = {
        answer_column(question): pd.arrays.IntegerArray(codes, codes == NOTHING) for question, codes in answers.items()
    }
    table = pd.DataFrame({name: rows[name] for name in COLUMNS} | {"weight": weights} | columns | own)
    table.attrs["notes"] = notes + _unanswered(rows["country"].to_numpy(), answers)
    return table


def _unanswered(countries: NDArray[np.object_], answers: Mapping[str, NDArray[np.int16]]) -> list[str]:
    """A note for each country with questions that nobody answered."""
    notes = []
    for name in sorted(set(countries)):
        here = np.flatnonzero(countries == name)
        if silent := [question for question, codes in answers.items() if not (codes[here] > 0).any()]:
            notes.append(f"{name}: nobody answered {', '.join(silent)}: left out for this country.")
    return notes


def _in_form_order(question: str) -> tuple[str, int, str]:
    """The sort key of an id: v9 comes before v10."""
    digits = "".join(filter(str.isdigit, question))
    return question[:1], int(digits or 0), question
