"""Codes of languages: as files, model cards and people write them; ISO 639-3, names and scripts of each."""

import functools
from dataclasses import dataclass

from valuesassets.records.places import STUDIES

OTHER_CODES = {"ua": "ukr"}
"""Codes that data sets use and no standard has: the country's, in place of the language's."""
LATIN = "LATIN"


@dataclass(frozen=True)
class KnownLanguage:
    """What is known of a language.

    Attributes:
        code: ISO 639-3.
        short: ISO 639-1; empty where it has none.
        identifier: what the identifier of languages calls it; empty where it is not told from others.
        names: in English, the usual one first.
        scripts: beginnings of its letters' Unicode names, such as CYRILLIC; several where it is written in several.
        family: its language family, of Indo-European languages the branch; empty for made languages and creoles.
    """

    code: str
    short: str
    identifier: str
    names: tuple[str, ...]
    scripts: tuple[str, ...] = (LATIN,)
    family: str = ""


@functools.cache
def known_languages() -> dict[str, KnownLanguage]:
    """The languages of which more is known than the code, by ISO 639-3."""
    lines = (STUDIES / "facts" / "languages.csv").read_text(encoding="utf-8").splitlines()[1:]
    fields = (line.split(",") for line in lines)
    return {
        code: KnownLanguage(code, short, identifier, tuple(names.split("|")), tuple(scripts.split("|")), family)
        for code, short, identifier, names, scripts, family in fields
    }


@functools.cache
def _codes() -> dict[str, str]:
    """ISO 639-3 by every code that may be written."""
    listed = (STUDIES / "facts" / "iso_639_3.txt").read_text(encoding="utf-8").split()
    short = {language.short: code for code, language in known_languages().items() if language.short}
    return {code: code for code in listed} | short | OTHER_CODES


def language_code(written: str) -> str | None:
    """ISO 639-3 of a code of ISO 639-1 or 639-3, or `ua`; None where it is none of these.

    Latvian's `lv` is `lvs`, the language that forms are in, where ISO 639-3 has a group of languages under `lav`.

    >>> language_code("ua"), language_code("el"), language_code("deu"), language_code("xx")
    ('ukr', 'ell', 'deu', None)
    """
    return _codes().get(written)


def language_named(written: str) -> str | None:
    """ISO 639-3 of a language by its English name or its code, whatever the case; None where nothing is called so.

    >>> language_named("German"), language_named("SV"), language_named("klingonese")
    ('deu', 'swe', None)
    """
    asked = " ".join(written.split()).casefold()
    return language_names().get(asked) or language_code(asked)


@functools.cache
def language_names() -> dict[str, str]:
    """ISO 639-3 by English name, in small letters."""
    return {name.casefold(): code for code, language in known_languages().items() for name in language.names}


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts that a language (ISO 639-3) may be written in; Latin where nothing is known.

    >>> scripts_of("ell"), scripts_of("srp")
    (('GREEK',), ('CYRILLIC', 'LATIN'))
    """
    known = known_languages().get(language)
    return (LATIN,) if known is None else known.scripts
