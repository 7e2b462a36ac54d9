"""Everyone in a survey's file by the survey's own variables: codes of columns, and answers on their own scales."""

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
"""Why a variable is missing of everybody."""
NO_IDS = "the file has no such column: people are numbered by their rows"
"""What the ledger says of the column of ids where there is none."""
Codes = pd.arrays.IntegerArray
"""Whole numbers, masked where the file holds nothing."""


@dataclass(frozen=True)
class Scale:
    """How a column's codes become answers.

    Attributes:
        values: the answers' codes, one after the other, after recoding.
        recode: what a code of the file is on the scale, where that is another.
        missing: codes of the file that are no place on the scale.
    """

    values: range
    recode: Recode = field(default_factory=dict)
    missing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Everyone:
    """The people of a file, in its order.

    Attributes:
        rows: (n,) number of each one's row in the file, from 0 on.
        ids: (n,) text, none twice; `interviews` are the ids as the file has them.
        countries: (n,) ISO 3166-1 numeric, and codes of samples beside them.
        weights: (n,) above 0, as the file has them.
        attributes: by column, codes as the file has them.
        answers: by column, codes on its scale; negative: why there is no answer (`people.surveys`).
        ledger: what was done to rows, and what the file lacks.
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
    """Everyone in a file: no country is left out, as being small or as a sample beside another.

    Columns are found whatever their case. One that is not there holds nothing for anybody, and the ledger says so;
    without ids people are numbered by their rows.

    Args:
        survey: its key in `human_files.toml`, which knows the columns of countries, weights, ids and waves.
        scales: by column of an answer.
        attributes: columns of codes that stay as they are.
        needed: attributes without which the file is of no use.

    Raises:
        HumanDataError: another wave; a needed column is missing, or all answers are; a country that is none, a weight
            that is not above 0, labels in place of codes, a code off its scale.
    """
    known, table = load_human_files().surveys[survey], open_table(path)
    column_of = _columns(table, known, [*attributes, *scales], [known.country[0], *needed, known.weight[0]])
    asked = [name for name in scales if name in column_of]
    if not asked:
        raise _unfit(table, known, f"none of the {len(scales)} questions, such as {next(iter(scales))},")
    who = _read_who(table, known, column_of[known.country[0]], column_of[known.weight[0]])
    countries = who.countries.astype(str).astype(object)
    repeated = shared_rows(who.interviews)
    alike = {known.id[0]: who.interviews[repeated]}
    found: dict[str, Codes] = {}
    columns = {column_of[name]: name for name in [*attributes, *asked] if name in column_of}
    for name, values in table.read(list(columns)):
        alike[name] = values[repeated]
        scale, at = scales.get(columns[name]), Column(name, path)
        codes = as_whole(values, at, countries) if scale is None else _on_scale(values, at, countries, scale)
        found[columns[name]] = codes

    def is_again() -> NDArray[np.bool_]:
        again = pd.DataFrame(alike).duplicated().to_numpy()
        if again.any():  # in what was read: is it so in every column of the file?
            again = pd.DataFrame({name: values[repeated] for name, values in table.read(table.names)}).duplicated()
        return np.asarray(again)

    settled = settle_ids(who.interviews, is_again, repeated_ids)
    rows = settled.rows
    lacking = [Entry("missing", name, len(rows), NO_COLUMN) for name in [*attributes, *scales] if name not in column_of]
    if table.named(known.id[0]) is None:
        lacking.insert(0, Entry("missing", known.id[0], len(rows), NO_IDS))
    return Everyone(
        path,
        rows,
        settled.ids,
        who.interviews[rows].astype(str).astype(object),
        who.countries[rows],
        who.weights[rows],
        {name: found[name][rows] if name in found else _nothing(len(rows)) for name in attributes},
        {name: found[name][rows] if name in found else _nothing(len(rows)) for name in scales},
        (*settled.ledger, *lacking),
    )


@dataclass(frozen=True)
class _Who:
    interviews: NDArray[np.int64]
    countries: NDArray[np.int64]
    weights: Array


def _read_who(table: Table, survey: SurveyMap, country: str, weight: str) -> _Who:
    """Ids, countries and weights of all rows, once they are seen to be of the survey's wave."""
    wave = {column: allowed for name, allowed in survey.wave.items() if (column := table.named(name)) is not None}
    identity = table.named(survey.id[0])
    about = dict(table.read([country, weight, *wave, *([identity] if identity else [])]))
    if not len(about[country]):
        raise HumanDataError(f"{table.path}: no rows: nobody's answers are in it; is it cut off? fetch it again")
    for name, allowed in wave.items():
        require_wave(about[name], allowed, Column(name, table.path), survey)
    numbers = as_numbers(about[country], at := Column(country, table.path))
    find_countries(numbers, at)
    countries = numbers.astype(np.int64)
    named = countries.astype(str).astype(object)
    interviews = np.arange(1, len(named) + 1)
    if identity:
        interviews = _interviews(about[identity], Column(identity, table.path), named)
    return _Who(interviews, countries, _weights(about[weight], Column(weight, table.path), named))


def _columns(table: Table, survey: SurveyMap, names: Sequence[str], needed: Sequence[str]) -> dict[str, str]:
    found = {name: column for name in [*names, *needed] if (column := table.named(name)) is not None}
    if lacking := [name for name in dict.fromkeys(needed) if name not in found]:
        raise _unfit(table, survey, f"no column {' or '.join(lacking)}")
    return found


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
        found = "no weight" if np.isnan(weights[first]) else f"{weights[first]:g}"
        raise HumanDataError(
            f"{column}, country {countries[first]}: {found} in data row {first + 1} ({is_wrong.sum()} such rows), a "
            "number above 0 was expected of everyone; mend or remove these rows"
        )
    return weights


def _interviews(values: NDArray, column: Column, countries: NDArray[np.object_]) -> NDArray[np.int64]:
    ids = as_whole(values, column, countries)
    if ids.isna().any():
        raise HumanDataError(f"{column}: {ids.isna().sum()} rows have no id; fill or remove them")
    return ids.to_numpy(dtype=np.int64)


def _on_scale(values: NDArray, column: Column, countries: NDArray[np.object_], scale: Scale) -> Codes:
    recode = dict.fromkeys(scale.missing, OTHER) | scale.recode
    return as_codes(values, column, countries, scale.values, recode)


def _nothing(n: int) -> Codes:
    return pd.arrays.IntegerArray(np.zeros(n, dtype=np.int16), np.ones(n, dtype=bool))
