"""Respondents of a survey's file: the rows that count, their countries, weights and answers."""

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.people.answer_codes import SHOWN, Column, as_answers, as_numbers
from valuesassets.people.missing_labels import unlabelled
from valuesassets.people.surveys import NOTHING, Samples, SurveyMap, load_human_files
from valuesassets.people.tables import Table, open_table
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import HumanDataError
from valuesassets.records.places import load_facts
from valuesassets.records.settings.human import HumanFile

FEWEST = 30
"""Fewest respondents that can represent a country."""
UNWEIGHTED = "none"
"""Setting `weight` of a file with equal weights for everyone."""

Rows = NDArray[np.bool_]
Places = NDArray[np.object_]


@dataclass(frozen=True)
class People:
    """Respondents and their answers, one row each.

    Attributes:
        rows: country, respondent_id, survey, source, weight (from the file).
        answers: by question, (n,) codes of EVS 2017; negative for missing answers, `NOTHING` where the file is empty.
    """

    rows: pd.DataFrame
    answers: dict[str, NDArray[np.int16]]


def read_people(
    file: HumanFile,
    questions: Collection[str],
    countries: Collection[str],
    spoken: Mapping[str, Collection[str]] | None = None,
) -> tuple[People, list[str]]:
    """The respondents of these countries in one file, with notes for readers of the results.

    Args:
        questions: canonical ids; questions that are not in the survey are left out.
        countries: ISO 3166-1 alpha-2.
        spoken: codes of the languages of interviews that count, by country; None for all interviews.

    Raises:
        HumanDataError: the file is not the survey's, or not usable; names file, column, country and codes.
    """
    survey, table = load_human_files().surveys[file.survey], open_table(file.path)
    columns = {
        question: column
        for question, name in survey.column_of.items()
        if question in questions and (column := table.named(name)) is not None
    }
    country, identity = _first_column(table, survey.country), _first_column(table, survey.id)
    if country is None or not columns:
        raise _not_this_survey(table, file, survey)
    is_unweighted = (file.weight or "").casefold() == UNWEIGHTED
    weights_of = (file.weight,) if file.weight else survey.weight
    weight = None if is_unweighted else _first_column(table, weights_of)
    wave = {column: values for name, values in survey.wave.items() if (column := table.named(name)) is not None}
    sample = table.named(survey.samples.column) if survey.samples else None
    language = None if spoken is None else _interview_language(table, file, survey)
    columns_to_read = (country, weight, identity, sample, language, *wave)
    values_by_column = dict(table.read([name for name in columns_to_read if name is not None]))
    if not len(values_by_column[country]):
        raise HumanDataError(f"{table.path}: no rows: nobody's answers are in it; is it cut off? fetch it again")
    for name, values in wave.items():
        require_wave(values_by_column[name], values, Column(name, table.path), survey)
    if weight is None and not is_unweighted:
        raise HumanDataError(
            f"{table.path}: no weights: no column {' or '.join(weights_of)} among its {len(table.names)}; name another "
            f'with weight = "...", or say weight = "{UNWEIGHTED}" if everyone shall count the same'
        )
    notes: list[str] = []
    places = find_countries(values_by_column[country], Column(country, table.path))
    is_included = np.isin(places, list(countries))
    if survey.samples and sample:
        is_included &= first_samples(
            values_by_column[sample], places, is_included, survey.samples, Column(sample, table.path), notes
        )
    if spoken is not None and language is not None:
        is_included &= interviewed_in(
            values_by_column[language], places, is_included, spoken, Column(language, table.path), notes
        )
    weights = np.ones(len(places))
    if weight is None:
        notes.append(f"{table.path.name}: read without weights, as the study says: everyone counts the same.")
    else:
        weights, has_weight = weighted(values_by_column[weight], is_included, places, Column(weight, table.path), notes)
        is_included &= has_weight
    rows = np.flatnonzero(drop_small(is_included, places, table.path, notes))
    people = pd.DataFrame(
        {
            "country": places[rows],
            "respondent_id": identities(
                values_by_column.get(identity or ""), rows, places, Column(str(identity), table.path)
            ),
            "survey": file.survey,
            "source": table.path.name,
            "weight": weights[rows],
        }
    )
    questions_of = {column: question for question, column in columns.items()}
    letters: set[str] = set()
    answers = {
        question: as_answers(
            values[rows],
            Column(column, table.path, question),
            places[rows],
            load_variables().option_count(question) or 0,
            survey.recode(question),
            survey.form_missing,
        )
        for column, values in table.read(list(questions_of))
        for question in [questions_of[column]]
        for _ in [letters.update(unlabelled(values[rows]))]
    }
    if letters and table.path.suffix.lower() == ".dta":
        notes.append(
            f"{table.path.name}: no label says what {', '.join(sorted(letters))} mean: such answers count as asked "
            "for and not given; label them in the file (not asked, don't know)."
        )
    if len(rows) and not any((codes < NOTHING).any() for codes in answers.values()):
        notes.append(
            f"{table.path.name}: no code says why an answer is missing, so that every rate of don't know is 0."
        )
    return People(people, answers), notes


def _first_column(table: Table, names: Sequence[str]) -> str | None:
    return next((column for name in names if (column := table.named(name)) is not None), None)


def _interview_language(table: Table, file: HumanFile, survey: SurveyMap) -> str:
    language_names = (file.language,) if file.language else survey.language
    column = _first_column(table, language_names)
    if column is None:
        raise HumanDataError(
            f"{table.path}: no column {' or '.join(language_names)} with the language of the interview, which "
            'human.interview_language = "own" needs; name it with language = "...", or say interview_language = "any"'
        )
    return column


def interviewed_in(
    values: NDArray,
    places: Places,
    is_included: Rows,
    spoken: Mapping[str, Collection[str]],
    column: Column,
    notes: list[str],
) -> Rows:
    """Rows of people interviewed in a language of their country; notes say how many others are left out.

    The region of a code, such as AT in `de-AT`, is ignored.

    Raises:
        HumanDataError: nobody of a country was interviewed in its languages; names the codes in the file.
    """
    kinds, is_kept = pd.factorize(values, use_na_sentinel=False), np.ones(len(places), dtype=bool)
    codes = np.array([_written(kind).casefold().replace("_", "-").partition("-")[0] for kind in kinds[1]], dtype=object)
    written = codes[kinds[0]]
    for country in sorted(set(places[is_included])):
        is_here = is_included & (places == country)
        languages = sorted(spoken.get(country, ()))
        in_own_language = is_here & np.isin(written, languages)
        if not in_own_language.any():
            sample = ", ".join(sorted(set(map(str, written[is_here])))[:SHOWN])
            raise HumanDataError(
                f"{column}, country {country}: nobody was interviewed in {' or '.join(languages)}, "
                f'found {sample}; codes of ISO 639 were expected: name another column with language = "...", or say '
                'human.interview_language = "any"'
            )
        is_kept &= ~is_here | in_own_language
        if n_others := int((is_here & ~in_own_language).sum()):
            notes.append(
                f"{column.path.name}: {n_others} of {is_here.sum()} respondents of {country} were interviewed in "
                "another language than the study asks in, and are left out (human.interview_language)."
            )
    return is_kept


def _not_this_survey(table: Table, file: HumanFile, survey: SurveyMap) -> HumanDataError:
    """The error for a file of another survey, with the survey that its columns suggest."""
    shares = {
        name: float(np.mean([table.named(column) is not None for column in other.column_of.values()]))
        for name, other in load_human_files().surveys.items()
        if name != file.survey and _first_column(table, other.country) is not None
    }
    likely = max(shares, key=lambda name: shares[name], default=None)
    advice = "is it the file that survey names, with its variables' own names?"
    if likely is not None and shares[likely] > 0:
        advice = f'it looks like {load_human_files().surveys[likely].title}: say survey = "{likely}"'
    return HumanDataError(
        f"{table.path}: not {survey.title}: no column {' or '.join(survey.country)} with the country, or none of the "
        f"survey's questions, among its {len(table.names)} columns; {advice}"
    )


def require_wave(values: NDArray, allowed: Sequence[int], column: Column, survey: SurveyMap) -> None:
    """Raise an error if a file is of another wave or study than the survey's.

    Raises:
        HumanDataError: a year, wave or study number is not allowed.
    """
    numbers = as_numbers(values, column)
    wrong = np.unique(numbers[~np.isnan(numbers) & ~np.isin(numbers, allowed)])
    if len(wrong):
        sample = ", ".join(f"{value:g}" for value in wrong[:SHOWN])
        expected = f"{allowed[0]} to {allowed[-1]}" if len(allowed) > 2 else " or ".join(map(str, allowed))
        raise HumanDataError(
            f"{column}: {sample} is of another wave or study, {expected} was expected of {survey.title}; name that file"
        )


@functools.cache
def known_codes() -> dict[str, str | None]:
    """ISO 3166-1 alpha-2 by every known code, as text; None for samples that are not countries."""
    table = load_facts("iso_countries.csv")
    alpha2_by_code = {
        str(code): alpha2
        for column in ("numeric", "alpha3", "alpha2")
        for code, alpha2 in zip(table[column], table["alpha2"], strict=True)
    }
    further_codes = load_human_files().countries
    also = {code: alpha2 for alpha2, codes in further_codes.also.items() for code in codes}
    return alpha2_by_code | also | dict.fromkeys(further_codes.left_out)


def find_countries(codes: NDArray, column: Column) -> Places:
    """(n,) ISO 3166-1 alpha-2 of numeric, alpha-2 or alpha-3 codes; None for samples that are not countries.

    Raises:
        HumanDataError: a code is unknown or missing.

    >>> find_countries(np.array([276.0, 40.0]), Column("country", Path("people.sav"))).tolist()
    ['DE', 'AT']
    """
    place, kinds = pd.factorize(codes, use_na_sentinel=False)
    texts = [_written(kind) for kind in kinds]
    count = dict(zip(texts, np.bincount(place, minlength=len(kinds)), strict=True))
    unknown = [f"{text} ({n} rows)" for text, n in count.items() if text not in known_codes()]
    if unknown:
        raise HumanDataError(
            f"{column}: unknown country code {', '.join(unknown[:SHOWN])}; ISO 3166-1 codes were expected (276, DE or "
            "DEU): mend or remove these rows"
        )
    return np.array([known_codes()[text] for text in texts], dtype=object)[place]


def _written(code: Any) -> str:
    if code is None or code != code:
        return "no code"
    text = f"{code:g}" if isinstance(code, float) else str(code).strip().upper()
    return text.lstrip("0") if text.isdigit() else text


def first_samples(
    values: NDArray, places: Places, is_included: Rows, samples: Samples, column: Column, notes: list[str]
) -> Rows:
    """Rows of the first sample of each country; samples are never pooled, because their designs differ."""
    kinds, is_kept = as_numbers(values, column), np.ones(len(places), dtype=bool)
    for country in sorted(set(places[is_included])):
        is_here = places == country
        present = [kind for kind in samples.order if np.any(is_here & (kinds == kind))]
        if len(present) > 1:
            is_kept &= ~is_here | (kinds == present[0])
            sizes = [f"{samples.order[kind]} ({np.sum(is_here & (kinds == kind))})" for kind in present]
            notes.append(f"{column.path.name}: {country} has samples of {' and '.join(sizes)}: the first is taken.")
    return is_kept


def weighted(
    values: NDArray, is_included: Rows, places: Places, column: Column, notes: list[str]
) -> tuple[Array, Rows]:
    """(n,) weights, and whether they are above 0; respondents with a weight of 0 or none are left out, with a note.

    Raises:
        HumanDataError: a weight of an included row is negative or infinite, so the column is not a weight.
    """
    weights = as_numbers(values, column)
    broken = is_included & ((weights < 0) | np.isinf(weights))
    if broken.any():
        raise HumanDataError(
            f"{column}, country {places[broken][0]}: {weights[broken][0]:g} is no weight ({np.sum(broken)} rows), "
            'numbers above 0 were expected; name another column with weight = "..."'
        )
    has_weight = weights > 0
    for country in sorted(set(places[is_included & ~has_weight])):
        is_here = is_included & (places == country)
        notes.append(
            f"{column.path.name}: {np.sum(is_here & ~has_weight)} of {np.sum(is_here)} respondents of {country} have "
            f"no weight in {column.name} and are left out."
        )
    return weights, has_weight


def drop_small(is_included: Rows, places: Places, path: Path, notes: list[str]) -> Rows:
    """The included rows, without countries of fewer than `FEWEST` respondents."""
    is_kept = is_included.copy()
    for country in sorted(set(places[is_included])):
        is_here = is_included & (places == country)
        if is_here.sum() < FEWEST:
            is_kept &= ~is_here
            notes.append(
                f"{path.name}: {np.sum(is_here)} respondents of {country}, fewer than {FEWEST}: the country is left "
                "out."
            )
    return is_kept


def identities(values: NDArray | None, rows: NDArray[np.intp], places: Places, column: Column) -> NDArray[np.object_]:
    """Each respondent's id as text, or the number of their row where there is no column of ids.

    Raises:
        HumanDataError: two respondents of a country share an id, or a respondent has none.
    """
    if values is None:
        return (rows + 1).astype(str).astype(object)
    ids = values[rows]
    if pd.isna(ids).any():
        raise HumanDataError(
            f"{column}: {pd.isna(ids).sum()} rows have no id, one of its own was expected of each; fill or remove them"
        )
    is_whole = ids.dtype != object and np.array_equal(ids, np.rint(ids)) and bool(np.all(np.abs(ids) < 2**63))
    names = (ids.astype(np.int64) if is_whole else ids).astype(str).astype(object)
    keys = pd.DataFrame({"country": places[rows], "name": names})
    twice = keys[keys.duplicated(keep=False).to_numpy()]
    if len(twice):
        country, name = twice.iloc[0]
        times = int(((twice["country"] == country) & (twice["name"] == name)).sum())
        raise HumanDataError(
            f"{column}: {name} stands {times} times in {country}, once was expected ({len(twice)} rows share an id); "
            "remove the repeated rows"
        )
    return names
