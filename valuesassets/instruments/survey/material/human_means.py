"""`survey/human_means`: people's mean answer per country and question, computed or published.

Published means have no distribution, weights or interval (docs/human_data.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.material.analysis_scale import REORDERED, analysis_places
from valuesassets.instruments.survey.material.respondents import answer_codes, answer_column
from valuesassets.people.tables import open_table
from valuesassets.people.weighted_shares import design_effect
from valuesassets.records.errors import HumanDataError
from valuesassets.records.questions import Question
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

QUESTION_COLUMN = "question_id"


def derive_human_means(
    respondents: pd.DataFrame, study: Study, questions: Mapping[str, Sequence[Question]]
) -> pd.DataFrame:
    """Mean answers on the analysis scale, with the ends of each scale; categorical questions have none.

    Returns:
        Rows of `human_means`: weighted means in scale units; n is null if it is not published. `attrs["notes"]` name
        what is left out.

    Raises:
        HumanDataError: the file of published means is not usable.
    """
    scales = {code: _scales(each) for code, each in questions.items() if code in study.languages}
    notes: list[str] = []
    if study.human.source == "means" and study.human.means is not None:
        means = _published(study.human.means, study, scales, notes)
    else:
        means = list(_computed(respondents, study, scales))
    rows = []
    for language, question, mean, n, effect, source in means:
        places = scales[language][question].values()
        effective = n / effect if n and effect else None
        label = (study.countries[language], language, question, mean, min(places), max(places))
        rows.append((*label, n, effect, effective, source))
    table = pd.DataFrame(rows, columns=pd.Index(TABLES["human_means"].names)).astype(
        {"n": "Int64"} | dict.fromkeys(("mean", "low", "high", "design_effect", "effective_n"), float)
    )
    table.attrs["notes"] = notes
    return table


Scales = Mapping[str, Mapping[int, int]]  # the place of each answer of each question on the analysis scale
Mean = tuple[str, str, float, int | None, float | None, str]
"""Language, question, mean answer, number of respondents, design effect of their weights, and source."""


def _scales(questions: Sequence[Question]) -> Scales:
    place = analysis_places(questions)
    return {
        question.id: {value: place(question.id, value) for value in question.values}
        for question in questions
        if question.response_type.is_ordinal
    }


def _computed(respondents: pd.DataFrame, study: Study, scales: Mapping[str, Scales]) -> Iterator[Mean]:
    weights = respondents["weight"].to_numpy(dtype=float)
    for language, places_by_question in scales.items():
        here = np.flatnonzero((respondents["country"] == study.countries[language]).to_numpy(dtype=bool))
        people = respondents.iloc[here]
        for question, places in places_by_question.items():
            if answer_column(question) not in people:
                continue
            codes = answer_codes(people, question)
            mass = np.array([weights[here][codes == value].sum() for value in places])
            if mass.sum() > 0:
                mean = float(mass @ np.array(list(places.values()), dtype=float) / mass.sum())
                is_one = np.isin(codes, list(places))
                effect = design_effect(weights[here][is_one])
                yield language, question, mean, int(is_one.sum()), effect, str(people["source"].iloc[0])


def _published(path: Path, study: Study, scales: Mapping[str, Scales], notes: list[str]) -> list[Mean]:
    """Rows of a CSV file with a row per question and a column per language or country."""
    table = open_table(path)
    if QUESTION_COLUMN not in table.names:
        raise HumanDataError(
            f"{path}: no column {QUESTION_COLUMN} among {', '.join(table.names[:5])}; published means have it, and a "
            "column per language (deu) or country (DE)"
        )
    columns = dict(table.read(table.names))
    ids = [str(each).strip() for each in columns[QUESTION_COLUMN]]
    twice = sorted({each for each in ids if ids.count(each) > 1})
    if twice:
        raise HumanDataError(
            f"{path}: column {QUESTION_COLUMN}: {twice[0]} stands twice; leave one row of each question"
        )
    means: list[Mean] = []
    for language, places_by_question in scales.items():
        country = study.countries[language]
        column = next((name for name in (language, country) if name in table.names), None)
        if column is None:
            note = f"{language}: {path.name} has neither a column {language} nor {country}: no means of its people."
            notes.append(note)
            continue
        values = columns[column]
        if values.dtype == object:
            where = next(i for i, value in enumerate(values) if isinstance(value, str))
            raise HumanDataError(
                f"{path}: column {column}, {ids[where]}: '{values[where]}' found, a number was expected; mend it there"
            )
        for question, mean in zip(ids, values, strict=True):
            places = places_by_question.get(question)
            if places is None or np.isnan(mean):
                continue
            if question in REORDERED:
                note = f"{question}: its codes are not in the order of what they mean: a mean of codes is left out."
                notes.append(note)
                continue
            low, high = min(places.values()), max(places.values())
            if not low <= mean <= high:
                raise HumanDataError(
                    f"{path}: column {column}, {question}: {mean:g} is outside the scale {low} to {high}; is it this "
                    "question, and the codes of EVS 2017?"
                )
            means.append((language, question, float(mean), None, None, path.name))
    if not any(name in table.names for each in scales for name in (each, study.countries[each])) and scales:
        raise HumanDataError(
            f"{path}: no column for any language or country of the study ({', '.join(scales)}); name its columns so"
        )
    notes[:] = dict.fromkeys(notes)
    return means
