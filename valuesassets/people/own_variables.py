"""All respondents of a survey's file with the survey's own variables: attributes as codes, and answers on scales."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.people.answer_codes import Column, as_codes, as_numbers, as_whole
from valuesassets.people.repeated_ids import Entry, RepeatedIds, settle_ids, shared_rows
from valuesassets.people.survey_file import find_countries, require_wave
from valuesassets.people.surveys import OTHER, Recode, SurveyMap, load_human_files
from valuesassets.people.tables import Table, open_table
from valuesassets.records.errors import HumanDataError

NO_COLUMN = "the file has no such column"
"""Reason why a variable is missing for everybody."""
NO_IDS = "the file has no such column: people are numbered by their rows"
"""Reason in the ledger where there is no column of ids."""
Codes = pd.arrays.IntegerArray
"""Integers, masked where the file is empty."""


@dataclass(frozen=True)
class Scale:
    """The scale of a column's answers.

    Attributes:
        values: consecutive codes of the answers after recoding.
        recode: code on the scale by code in the file, where they differ.
        missing: codes in the file that are not on the scale.
    """

    values: range
    recode: Recode = field(default_factory=dict)
    missing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Everyone:
    """All respondents of a file, in its order.

    Attributes:
        rows: (n,) index of each respondent's row in the file.
        ids: (n,) unique text ids; `interviews` are the ids in the file.
        countries: (n,) ISO 3166-1 numeric codes, and codes of samples that are not countries.
        weights: (n,) weights in the file, above 0.
        attributes: codes in the file, by column.
        answers: codes on the scale, by column; negative codes are reasons of missing answers (`people.surveys`).
        ledger: changes to rows, and missing columns.
    """

    path: Path
    rows: NDArray[np.intp]
    ids: NDArray[np.object_]
    interviews: NDArray[np.object_]
    countries: NDArray[np.int64]
    weights: Array
    attributes: dict[str, Codes]
    answers: dict[str, Codes]
    ledger: tuple[Entry, ...]


def read_everyone(
    path: Path,
    survey: str,
    scales: Mapping[str, Scale],
    attributes: Sequence[str],
    needed: Sequence[str],
    repeated_ids: RepeatedIds,
) -> Everyone:
    """All respondents of a file, including those of small countries and of additional samples.

    Names of columns are compared without case. A missing column is empty for everybody, with an entry in the ledger;
    without ids people are numbered by their rows.

    Args:
        survey: key in `human_files.toml`, which has the columns of countries, weights, ids and waves.
        scales: scales by column of an answer.
        attributes: columns of codes that are not recoded.
        needed: attributes that the file must have.

    Raises:
        HumanDataError: the file is of another wave; a needed column or all answers are missing; a country is unknown; a
            weight is not above 0; there are labels in place of codes, or a code off its scale.
    """
    survey_map, table = load_human_files().surveys[survey], open_table(path)
    country, weight = survey_map.country[0], survey_map.weight[0]
    column_of = _columns(table, survey_map, [*attributes, *scales], [country, *needed, weight])
    questions = [name for name in scales if name in column_of]
    if not questions:
        raise _unfit(table, survey_map, f"none of the {len(scales)} questions, such as {next(iter(scales))},")
    interviews, countries, weights = _read_identity(table, survey_map, column_of[country], column_of[weight])
    country_names = countries.astype(str).astype(object)
    repeated = shared_rows(interviews)
    shared_values = {survey_map.id[0]: interviews[repeated]}
    codes_by_name: dict[str, Codes] = {}
    columns = {column_of[name]: name for name in [*attributes, *questions] if name in column_of}
    for name, values in table.read(list(columns)):
        shared_values[name] = values[repeated]
        scale, column = scales.get(columns[name]), Column(name, path)
        if scale is None:
            codes_by_name[columns[name]] = as_whole(values, column, country_names)
        else:
            recode = dict.fromkeys(scale.missing, OTHER) | scale.recode
            codes_by_name[columns[name]] = as_codes(values, column, country_names, scale.values, recode)

    def is_again() -> NDArray[np.bool_]:
        is_duplicate = pd.DataFrame(shared_values).duplicated().to_numpy()
        if is_duplicate.any():  # duplicates so far: compare every column of the file
            every_value = {name: values[repeated] for name, values in table.read(table.names)}
            is_duplicate = pd.DataFrame(every_value).duplicated()
        return np.asarray(is_duplicate)

    settled = settle_ids(interviews, is_again, repeated_ids)
    rows = settled.rows
    lacking = [Entry("missing", name, len(rows), NO_COLUMN) for name in [*attributes, *scales] if name not in column_of]
    if table.named(survey_map.id[0]) is None:
        lacking.insert(0, Entry("missing", survey_map.id[0], len(rows), NO_IDS))
    nothing = pd.arrays.IntegerArray(np.zeros(len(rows), dtype=np.int16), np.ones(len(rows), dtype=bool))
    codes_of, answers = (
        {name: codes_by_name[name][rows] if name in codes_by_name else nothing.copy() for name in names}
        for names in (attributes, scales)
    )
    identity = interviews[rows].astype(str).astype(object), countries[rows], weights[rows]
    return Everyone(path, rows, settled.ids, *identity, codes_of, answers, (*settled.ledger, *lacking))


def _read_identity(
    table: Table, survey: SurveyMap, country: str, weight: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Ids, countries and weights of all rows, after a check of the survey's wave."""
    wave = {column: allowed for name, allowed in survey.wave.items() if (column := table.named(name)) is not None}
    id_column = table.named(survey.id[0])
    values_by_column = dict(table.read([country, weight, *wave, *([id_column] if id_column else [])]))
    if not len(values_by_column[country]):
        raise HumanDataError(f"{table.path}: no rows: nobody's answers are in it; is it cut off? fetch it again")
    for name, allowed in wave.items():
        require_wave(values_by_column[name], allowed, Column(name, table.path), survey)
    numbers = as_numbers(values_by_column[country], at := Column(country, table.path))
    find_countries(numbers, at)
    countries = numbers.astype(np.int64)
    country_names = countries.astype(str).astype(object)
    interviews = np.arange(1, len(country_names) + 1)
    if id_column:
        interviews = _interviews(values_by_column[id_column], Column(id_column, table.path), country_names)
    weights = _weights(values_by_column[weight], Column(weight, table.path), country_names)
    return interviews, countries, weights


def _columns(table: Table, survey: SurveyMap, names: Sequence[str], needed: Sequence[str]) -> dict[str, str]:
    column_of = {name: column for name in [*names, *needed] if (column := table.named(name)) is not None}
    if lacking := [name for name in dict.fromkeys(needed) if name not in column_of]:
        raise _unfit(table, survey, f"no column {' or '.join(lacking)}")
    return column_of


def _unfit(table: Table, survey: SurveyMap, what: str) -> HumanDataError:
    return HumanDataError(
        f"{table.path}: {what} among its {len(table.names)} columns, as {survey.title} has them; name that survey's "
        "file, with its variables' own names"
    )


def _weights(values: NDArray, column: Column, countries: NDArray[np.object_]) -> Array:
    weights = as_numbers(values, column)
    is_wrong = ~((weights > 0) & np.isfinite(weights))
    if is_wrong.any():
        first = np.flatnonzero(is_wrong)[0]
        value = "no weight" if np.isnan(weights[first]) else f"{weights[first]:g}"
        raise HumanDataError(
            f"{column}, country {countries[first]}: {value} in data row {first + 1} ({is_wrong.sum()} such rows), a "
            "number above 0 was expected of everyone; mend or remove these rows"
        )
    return weights


def _interviews(values: NDArray, column: Column, countries: NDArray[np.object_]) -> NDArray[np.int64]:
    ids = as_whole(values, column, countries)
    if ids.isna().any():
        raise HumanDataError(f"{column}: {ids.isna().sum()} rows have no id; fill or remove them")
    return ids.to_numpy(dtype=np.int64)
