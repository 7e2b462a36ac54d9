"""Language codes: the codes used in files and model cards, with ISO 639-3, names and scripts of each language."""

import functools
from dataclasses import dataclass

from valuesassets.records.places import STUDIES

OTHER_CODES = {"ua": "ukr"}
"""Codes in data sets that no standard has: a country's code in place of the language's."""
LATIN = "LATIN"


@dataclass(frozen=True)
class KnownLanguage:
    """Facts about a language.

    Attributes:
        code: ISO 639-3.
        short: ISO 639-1; empty where it has none.
        identifier: its code in the language classifier; empty where the classifier does not know it.
        names: English names, the usual one first.
        scripts: its scripts, as the first words of its letters' Unicode names, such as CYRILLIC.
        family: its language family, or its branch of Indo-European; empty for constructed languages and creoles.
    """

    code: str
    short: str
    identifier: str
    names: tuple[str, ...]
    scripts: tuple[str, ...] = (LATIN,)
    family: str = ""


@functools.cache
def known_languages() -> dict[str, KnownLanguage]:
    """The languages with known facts, by ISO 639-3."""
    lines = (STUDIES / "facts" / "languages.csv").read_text(encoding="utf-8").splitlines()[1:]
    fields = (line.split(",") for line in lines)
    return {
        code: KnownLanguage(code, short, identifier, tuple(names.split("|")), tuple(scripts.split("|")), family)
        for code, short, identifier, names, scripts, family in fields
    }


@functools.cache
def _codes() -> dict[str, str]:
    """ISO 639-3 by every known code."""
    listed = (STUDIES / "facts" / "iso_639_3.txt").read_text(encoding="utf-8").split()
    short = {language.short: code for code, language in known_languages().items() if language.short}
    return {code: code for code in listed} | short | OTHER_CODES


def language_code(written: str) -> str | None:
    """ISO 639-3 of a code of ISO 639-1 or 639-3, or of `ua`; None for other codes.

    Latvian's `lv` is `lvs`, the language of questionnaires; `lav` is a group of languages in ISO 639-3.

    >>> language_code("ua"), language_code("el"), language_code("deu"), language_code("xx")
    ('ukr', 'ell', 'deu', None)
    """
    return _codes().get(written)


def language_named(written: str) -> str | None:
    """ISO 639-3 of a language by its English name or code in upper or lower case; None for unknown names.

    >>> language_named("German"), language_named("SV"), language_named("klingonese")
    ('deu', 'swe', None)
    """
    name = " ".join(written.split()).casefold()
    return language_names().get(name) or language_code(name)


@functools.cache
def language_names() -> dict[str, str]:
    """ISO 639-3 by English name in lower case."""
    return {name.casefold(): code for code, language in known_languages().items() for name in language.names}


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts of a language (ISO 639-3); Latin for unknown languages.

    >>> scripts_of("ell"), scripts_of("srp")
    (('GREEK',), ('CYRILLIC', 'LATIN'))
    """
    facts = known_languages().get(language)
    return (LATIN,) if facts is None else facts.scripts
