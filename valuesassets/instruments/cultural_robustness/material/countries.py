"""Finds the country, and the persona where there are several, that an anchor (the 7 of an id `12-7`) stands for."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from valuesassets.answers.language_codes import language_code
from valuesassets.instruments.cultural_robustness.material.language_files import Line
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import InputError, MissingData, QuestionError
from valuesassets.records.places import STUDIES, load_facts
from valuesassets.records.text_tables import read_rows

FILE = "countries.csv"
PUBLISHED = STUDIES / "cultural_robustness" / FILE
"""The 36 countries of the published questions, in their order."""
PUBLISHED_PERSONAS = 3
"""Published questions with personas have all countries for each of three personas, one after the other."""
NUMBER = re.compile(r"[1-9]\d*", re.ASCII)


class Anchor(NamedTuple):
    """What an anchor names: a country (ISO 3166 alpha-2), and the number of the persona where there are several."""

    country: str
    persona: int | None = None


class Countries(NamedTuple):
    """The anchors of a file, by number.

    Attributes:
        is_published: whether they are the bundled ones, which fit only questions with as many anchors.
    """

    source: str
    anchors: dict[int, Anchor]
    is_published: bool = False


def load_countries(path: Path | None = None, *folders: Path) -> Countries:
    """What anchors are: as a file says, else as `countries.csv` in one of the folders, else as published.

    Raises:
        QuestionError: a line names no anchor or no country, or one twice; names file and line.
    """
    path = path or next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)
    is_published = path is None
    path = path or PUBLISHED
    anchors: dict[int, Anchor] = {}
    number_by_anchor: dict[Anchor, int] = {}
    for _, number, row in read_rows(path, ("anchor", "country"), QuestionError, by_line=True):
        where = f"{path}: line {number}"
        anchor, persona = row["anchor"], row.get("persona", "")
        for name, value in (("anchor", anchor), ("persona", persona)):
            if not NUMBER.fullmatch(value) and (value or name == "anchor"):
                raise QuestionError(f"{where}: {name} {value!r} found, a whole number from 1 was expected; mend it")
        named = Anchor(_country(row["country"], where, QuestionError), int(persona) if persona else None)
        if int(anchor) in anchors:
            raise QuestionError(f"{where}: anchor {anchor} stands there twice; keep one")
        if named in number_by_anchor:
            other = number_by_anchor[named]
            raise QuestionError(f"{where}: anchor {anchor} is {_in_words(named)}, as is anchor {other}; mend one")
        anchors[int(anchor)], number_by_anchor[named] = named, int(anchor)
    if not anchors:
        raise QuestionError(f"{path}: no anchor below its header; add a line for each")
    has_persona = {anchor.persona is not None for anchor in anchors.values()}
    if len(has_persona) > 1:
        raise QuestionError(f"{path}: some anchors have a persona and some have none; give it to all or to none")
    return Countries(str(path), anchors, is_published)


def anchor_countries(lines: Iterable[Line], countries: Countries) -> dict[tuple[str, int], Anchor]:
    """What the anchor of each question is.

    Where the file names no personas, a question with n times its anchors has n personas, one after the other.

    Raises:
        QuestionError: an anchor has no country; names file and line of the first.
    """
    by_question: dict[str, dict[int, Line]] = {}
    for line in lines:
        if line.anchor is not None:
            by_question.setdefault(line.question_id, {}).setdefault(line.anchor, line)
    anchor_by_place: dict[tuple[str, int], Anchor] = {}
    for question, anchors in by_question.items():
        named = _meant(anchors, countries)
        lacking = next((anchor for anchor in sorted(anchors) if anchor not in named), None)
        if lacking is not None:
            n = len(countries.anchors)
            numbers = f"{n} or {PUBLISHED_PERSONAS * n} are" if countries.is_published else f"{n} are"
            raise QuestionError(
                f"{anchors[lacking].where}: anchor {lacking} of question {question} has no country: it has "
                f"{len(anchors)} anchors, {numbers} known of {countries.source}; write a {FILE} "
                "(anchor,country[,persona])"
            )
        personas = {named[anchor].persona for anchor in anchors}
        for anchor in anchors:
            anchor_by_place[question, anchor] = named[anchor] if len(personas) > 1 else Anchor(named[anchor].country)
    return anchor_by_place


def _meant(anchors: Mapping[int, Line], countries: Countries) -> dict[int, Anchor]:
    """What the anchors of one question may be; empty where their number does not fit the file."""
    n_known, highest = len(countries.anchors), max(anchors)
    is_all = set(anchors) == set(range(1, highest + 1))
    if countries.is_published and not (is_all and highest in (n_known, PUBLISHED_PERSONAS * n_known)):
        return {}
    has_personas = any(anchor.persona is not None for anchor in countries.anchors.values())
    if has_personas or highest <= max(countries.anchors):
        return countries.anchors
    if set(countries.anchors) != set(range(1, n_known + 1)) or highest % n_known:
        return countries.anchors
    return {
        number: Anchor(countries.anchors[(number - 1) % n_known + 1].country, (number - 1) // n_known + 1)
        for number in range(1, highest + 1)
    }


def asked_countries(
    questions: pd.DataFrame, own: Iterable[str], anchors: int | None = None, seed: object = 0
) -> list[str]:
    """The countries that are asked about, in the order of their anchors.

    Args:
        questions: rows of all languages.
        own: countries of the languages; those among the anchors are always asked about.
        anchors: how many countries, seeded; all where it is None or more than there are.

    Raises:
        MissingData: there are more own countries than may be asked about.
    """
    anchored = questions.dropna(subset=["anchor"]).sort_values(["anchor"], kind="stable")
    countries = [str(country) for country in dict.fromkeys(anchored["country"])]
    if anchors is None or anchors >= len(countries):
        return countries
    kept = [country for country in countries if country in set(own)]
    if len(kept) > anchors:
        raise MissingData(
            f"anchors = {anchors}: the languages' own countries are {len(kept)} ({', '.join(kept)}); allow as many"
        )
    others = [country for country in countries if country not in kept]
    drawn = seeded(seed, "cultural_robustness", "countries").choice(len(others), anchors - len(kept), replace=False)
    chosen = {*kept, *(others[place] for place in drawn)}
    return [country for country in countries if country in chosen]


def of_countries(questions: pd.DataFrame, countries: Iterable[str]) -> pd.DataFrame:
    """The unanchored questions, and those of the anchored that name one of these countries."""
    is_kept = questions["country"].isna() | questions["country"].isin(list(countries))
    return pd.DataFrame(questions[is_kept]).reset_index(drop=True)


def read_own_countries(path: Path) -> dict[str, str]:
    """The country of each language, from a CSV file with `language,country`.

    Raises:
        InputError: a line names no language or no country, or one twice; names file and line.
    """
    own: dict[str, str] = {}
    for _, number, row in read_rows(path, ("language", "country"), InputError, by_line=True):
        where, language = f"{path}: line {number}", language_code(row["language"])
        if language is None:
            raise InputError(f"{where}: {row['language']!r} is no code of a language; write ISO 639-1 or 639-3")
        if language in own:
            raise InputError(f"{where}: {language} stands there twice; keep one")
        own[language] = _country(row["country"], where, InputError)
    return own


def _country(written: str, where: str, error: type[InputError]) -> str:
    if written not in set(load_facts("iso_countries.csv")["alpha2"]):
        raise error(f"{where}: {written!r} is no country; write its ISO 3166 code of two letters, such as AT")
    return written


def _in_words(anchor: Anchor) -> str:
    return anchor.country if anchor.persona is None else f"{anchor.country} of persona {anchor.persona}"
