"""The language of a text, by its script and by the classifier py3langid among candidate languages."""

import copy
import functools
import sys
import unicodedata
from collections.abc import Collection
from importlib import resources
from typing import TYPE_CHECKING

from valuesassets.answers.language_codes import known_languages, scripts_of

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

DOUBT = 0.01
"""A text is foreign if the probability of its own language is lower than this."""
MOSTLY = 0.5
"""A text is in a script if more than this share of its letters are."""


def n_letters(text: str) -> int:
    """Number of letters of a text.

    >>> n_letters("15%."), n_letters("Πόσο;")
    (0, 4)
    """
    return sum(map(str.isalpha, text))


def script_share(text: str, scripts: Collection[str], fewest: int = 1) -> float | None:
    """Share of a text's letters that belong to some scripts; None where it has fewer letters than `fewest`.

    >>> script_share("Πόσο καλά", ["GREEK"]), script_share("12", ["LATIN"])
    (1.0, None)
    """
    letters = [letter for letter in text if letter.isalpha()]
    if len(letters) < max(fewest, 1):
        return None
    return sum(_script_of_letter(letter) in scripts for letter in letters) / len(letters)


@functools.cache
def _script_of_letter(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def is_in_other_script(text: str, language: str) -> bool:
    """Whether most letters of a text are not in a script of its language; False for a text without letters.

    >>> is_in_other_script("Yes.", "ell"), is_in_other_script("15%.", "ell"), is_in_other_script("Ναι.", "ell")
    (True, False, False)
    """
    share = script_share(text, scripts_of(language))
    return share is not None and 1 - share > MOSTLY


def can_be_told(language: str) -> bool:
    """Whether the classifier knows a language (ISO 639-3)."""
    facts = known_languages().get(language)
    return facts is not None and bool(facts.identifier)


def language_chances(text: str, among: Collection[str]) -> dict[str, float]:
    """Probability of each of some languages (ISO 639-3), the most likely first; only those the classifier knows.

    Source: the naive Bayes classifier over byte n-grams of Lui and Baldwin (2012), langid.py, as kept in py3langid.

    >>> chances = language_chances("Az emberek szabad választásokon választják meg a vezetőiket", ["slk", "hun", "eng"])
    >>> next(iter(chances)), chances["slk"] < 0.01
    ('hun', True)
    """
    facts = known_languages()
    codes: dict[str, list[str]] = {}
    for language in among:
        if can_be_told(language):
            codes.setdefault(facts[language].identifier, []).append(language)
    if not codes:
        return {}
    return {language: chance for code, chance in _ranked(text, frozenset(codes)) for language in codes[code]}


def foreign_language(text: str, language: str, among: Collection[str], fewest: int) -> str | None:
    """The language of a text if it is not the expected one; None if it may be the expected one, or cannot be judged.

    Args:
        among: candidate languages, ISO 639-3.
        fewest: texts with fewer letters are not judged.

    >>> foreign_language("Ľudia si vyberajú svojich lídrov v slobodných voľbách", "slk", ["slk", "hun"], 20) is None
    True
    """
    if not can_be_told(language) or n_letters(text) < fewest:
        return None
    chances = language_chances(text, {*among, language})
    return None if chances[language] >= DOUBT else next(iter(chances))


@functools.lru_cache(maxsize=4096)
def _ranked(text: str, codes: frozenset[str]) -> tuple[tuple[str, float], ...]:
    """The classifier's languages with their probabilities; cached, because models often repeat the same text."""
    return tuple((code, float(chance)) for code, chance in _identifier(codes).rank(text))


@functools.cache
def _identifier(codes: frozenset[str]) -> "LanguageIdentifier":
    """The classifier restricted to some of its languages; its tables are loaded once."""
    identifier = copy.copy(_whole_identifier())
    identifier.set_languages(sorted(codes))
    return identifier


@functools.cache
def _whole_identifier() -> "LanguageIdentifier":
    from py3langid.langid import LanguageIdentifier

    with resources.as_file(resources.files(sys.modules["py3langid"]) / "data" / "model.npz.xz") as model:
        return LanguageIdentifier.from_modelpath(str(model), norm_probs=True)
