"""Measures the share of words that a damaged text layer has spoiled.

Glyphs without a character and letters of a foreign alphabet show in the words themselves. A letter that was lost shows
by its frequency in the bundled questionnaire of the language, which has the same kind of sentences.
"""

import functools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binom

from valuesassets.answers.language_codes import LATIN, scripts_of
from valuesassets.instruments.survey.material.forms.layout.text_layer import (
    OWN_LETTERS,
    foreign_languages,
    is_damaged,
    script_share,
)
from valuesassets.records.errors import StudyError
from valuesassets.records.files import read_toml
from valuesassets.records.places import STUDIES, bundled_names

DAMAGED_SHARE = 0.02
"""Least share of damaged words at which no model is asked. Sound forms have at most 0.1 %; forms without one common
letter have 5 %."""
FEWEST_WORDS = 100  # fewer words are not judged
RARER = 8  # a lost letter is at least this many times rarer than in the bundled questionnaire
CHANCE = 1e-3  # greatest p-value of a lost letter if it were half as frequent as in the bundled questionnaire
MOST_NAMED = 9  # lost letters that a message names
MORE_LETTERS = {
    "ces": "ďňóťú", "dan": "é", "deu": "é", "est": "šž", "fin": "åšž", "fra": "âæêëîïôœùûüÿ", "hrv": "đ", "hun": "úű",
    "ita": "éìíîòóú", "lvs": "ō", "nld": "áàéèêëíïóöúü", "nor": "éèêóòô", "por": "âàêôõúü", "ron": "șțşţ",
    "slk": "äďĺňóôŕ", "slv": "ćđ", "spa": "úü", "swe": "éàü",
}  # fmt: skip
"""Letters that texts of a language may have and shorter ones often lack."""


@dataclass(frozen=True)
class DamagedWords:
    """How many of some words are damaged.

    Attributes:
        words: number of words.
        n_spoiled: number with a glyph without a character, or a letter foreign to the language.
        example: the commonest spoiled word.
        lost: letters of the language that are missing, though its sentences need them.
        share_lost: share of the words of the bundled questionnaire that have one of these letters.
    """

    words: int
    n_spoiled: int = 0
    example: str = ""
    lost: str = ""
    share_lost: float = 0.0

    @property
    def share(self) -> float:
        """Share of damaged words, in [0, 1]: the larger of the two shares, since a word may count in both."""
        return max(self.n_spoiled / self.words, self.share_lost) if self.words else 0.0

    def __str__(self) -> str:
        parts = [f"such as {self.example[:40]!r}"] * bool(self.example)
        more = " and others" * (len(self.lost) > MOST_NAMED)
        parts += [f"lost letters: {' '.join(self.lost[:MOST_NAMED])}{more}"] * bool(self.lost)
        return f"{self.share:.1%} of {self.words:,} words are damaged ({', '.join(parts)})"


def damaged_words(texts: Sequence[str], language: str) -> DamagedWords:
    """The damage of texts in a language; fewer than `FEWEST_WORDS` words count as sound.

    >>> damaged_words(["Jak waŒna jest praca?"] * 30, "pol").share
    0.25
    """
    damage = _damaged_words(texts, language)
    if damage.share < DAMAGED_SHARE:
        return damage
    # In a bilingual form, sound text in the other language is no evidence about this language.
    others = foreign_languages(texts, language)
    own = [text for text, other in zip(texts, others, strict=True) if other is None or _is_spoiled(text, other)]
    return _damaged_words(own, language)


def _damaged_words(texts: Iterable[str], language: str) -> DamagedWords:
    words = [*_words(texts)]
    if len(words) < FEWEST_WORDS:
        return DamagedWords(len(words))
    spoiled = Counter(word for word in words if is_damaged(word) or _is_foreign(word, language))
    example = spoiled.most_common(1)[0][0] if spoiled else ""
    lost = "".join(_lost_letters(words, language))
    expected = bundled_words(language)
    share_lost = sum(any(letter in word for letter in lost) for word in expected) / len(expected) if lost else 0.0
    return DamagedWords(len(words), spoiled.total(), example, lost, share_lost)


def _is_spoiled(text: str, language: str) -> bool:
    return any(is_damaged(word) or _is_foreign(word, language) for word in _words([text]))


def _is_foreign(word: str, language: str) -> bool:
    """Whether a word has letters that neither the language nor names and terms in Latin letters have."""
    letters = [letter for letter in word.casefold() if letter.isalpha()]
    own_script = script_share("".join(letters), language, 1)
    beyond_ascii = [letter for letter in letters if not letter.isascii()]
    if own_script is None:
        return False
    if LATIN not in scripts_of(language):
        # Latin words are names and terms; a whole alphabet moved into Latin's accents is neither.
        return own_script < 1 and not (own_script == 0 and len(beyond_ascii) < max(2, len(letters) / 2))
    if own_script == 0 or not (alphabet := alphabet_of(language)):
        return False
    return any(letter not in alphabet for letter in beyond_ascii)


def _lost_letters(words: list[str], language: str) -> Iterator[str]:
    """Letters beyond ASCII that almost no word has; each word counts once, and words in capitals may drop accents."""
    own, expected = ({word for word in each if not word.isupper()} for each in (words, bundled_words(language)))
    observed, usual = (Counter(letter for word in each for letter in set(word)) for each in (own, expected))
    for letter, count in sorted(usual.items()):
        rate = count / len(expected)
        is_rare = letter.isalpha() and not letter.isascii() and observed[letter] * RARER <= rate * len(own)
        if is_rare and binom.cdf(observed[letter], len(own), rate / 2) < CHANCE:
            yield letter


@functools.cache
def bundled_words(language: str) -> tuple[str, ...]:
    """The words of the bundled questionnaire in a language, if there is one."""
    if language not in bundled_names("questionnaires", ".toml"):
        return ()
    table = read_toml(STUDIES / "questionnaires" / f"{language}.toml", "a questionnaire's words", StudyError)
    return tuple(word for word in _words(_strings(table["questions"])) if not word.isupper())


@functools.cache
def alphabet_of(language: str) -> frozenset[str]:
    """A language's letters: those of its bundled words, and those listed here; empty without bundled words."""
    if not bundled_words(language):
        return frozenset()
    lexicon = STUDIES / "lexicons" / f"{language}.toml"
    strings = [*_strings(read_toml(lexicon, "a lexicon", StudyError))] if lexicon.exists() else []
    letters = {letter for word in (*_words(strings), *bundled_words(language)) for letter in word if letter.isalpha()}
    return frozenset({*letters, *OWN_LETTERS.get(language, ""), *MORE_LETTERS.get(language, "")})


def _strings(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from _strings(part)


def _words(texts: Iterable[str]) -> Iterator[str]:
    """The words of texts with letters or damaged glyphs, in lower case except words in capitals."""
    for text in texts:
        for word in unicodedata.normalize("NFC", text).split():
            if is_damaged(word):
                yield word
            elif any(map(str.isalpha, word)):
                yield word if word.isupper() and len(word) > 1 else word.casefold()
