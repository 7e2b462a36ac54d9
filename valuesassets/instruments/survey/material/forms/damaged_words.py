"""The share of words that a damaged text layer has spoiled, measured by a language's own letters and how often it uses
them.

Glyphs without a character and letters of no alphabet that the language has are seen in the words themselves. A letter
that fell out leaves words that look like others: it is missed by its frequency in the bundled questionnaire of the
language, which has the same kind of sentences.
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
"""Share of damaged words from which no model is asked. Sound forms have 0.1 % at most; those that have lost a single
common letter 5 %."""
FEWEST_WORDS = 100
"""Fewer words are not judged."""
RARER = 8
"""A letter is lost that is so many times rarer than in the bundled questionnaire."""
CHANCE = 1e-3
"""Greatest probability of so few words with a letter, were it half as frequent as in the bundled questionnaire."""


MOST_SHOWN = 9
"""So many lost letters are named."""
MORE_LETTERS = {
    "ces": "ďňóťú", "dan": "é", "deu": "é", "est": "šž", "fin": "åšž", "fra": "âæêëîïôœùûüÿ", "hrv": "đ", "hun": "úű",
    "ita": "éìíîòóú", "lvs": "ō", "nld": "áàéèêëíïóöúü", "nor": "éèêóòô", "por": "âàêôõúü", "ron": "șțşţ",
    "slk": "äďĺňóôŕ", "slv": "ćđ", "spa": "úü", "swe": "éàü",
}  # fmt: skip
"""Letters that texts of a language may have and shorter ones often lack."""


@dataclass(frozen=True)
class DamagedWords:
    """How much of some words is damaged.

    Attributes:
        words: how many were looked at.
        n_spoiled: of them, those that hold a glyph without a character, or a letter of no alphabet of the language.
        example: the commonest of those.
        lost: letters of the language that are missing, though its sentences cannot do without them.
        share_lost: share of the words that have one of these letters in the bundled questionnaire.
    """

    words: int
    n_spoiled: int = 0
    example: str = ""
    lost: str = ""
    share_lost: float = 0.0

    @property
    def share(self) -> float:
        """Share of the words that are damaged, in [0, 1]; the larger of both, since a word may count in either."""
        return max(self.n_spoiled / self.words, self.share_lost) if self.words else 0.0

    def __str__(self) -> str:
        said = [f"such as {self.example[:40]!r}"] * bool(self.example)
        more = " and others" * (len(self.lost) > MOST_SHOWN)
        said += [f"lost letters: {' '.join(self.lost[:MOST_SHOWN])}{more}"] * bool(self.lost)
        return f"{self.share:.1%} of {self.words:,} words are damaged ({', '.join(said)})"


def damaged_words(texts: Sequence[str], language: str) -> DamagedWords:
    """How many of the words of some texts in a language are damaged; of fewer than `FEWEST_WORDS`, none.

    >>> damaged_words(["Jak waŒna jest praca?"] * 30, "pol").share
    0.25
    """
    found = _damaged_words(texts, language)
    if found.share < DAMAGED_SHARE:
        return found
    # Of a bilingual form, what is sound in its other language says nothing of its own.
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
    """Whether a word holds what no word of the language does, nor one of another language that may stand beside it."""
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
    """Letters beyond ASCII that nearly no word has; each word counts once, however often a form repeats it.

    Words in capitals do not count: some drop their accents.
    """
    own, expected = ({word for word in each if not word.isupper()} for each in (words, bundled_words(language)))
    observed, usual = (Counter(letter for word in each for letter in set(word)) for each in (own, expected))
    for letter, count in sorted(usual.items()):
        rate = count / len(expected)
        is_rare = letter.isalpha() and not letter.isascii() and observed[letter] * RARER <= rate * len(own)
        if is_rare and binom.cdf(observed[letter], len(own), rate / 2) < CHANCE:
            yield letter


@functools.cache
def bundled_words(language: str) -> tuple[str, ...]:
    """The words of the bundled questionnaire in a language; none where there is none."""
    if language not in bundled_names("questionnaires", ".toml"):
        return ()
    found = read_toml(STUDIES / "questionnaires" / f"{language}.toml", "a questionnaire's words", StudyError)
    return tuple(word for word in _words(_strings(found["questions"])) if not word.isupper())


@functools.cache
def alphabet_of(language: str) -> frozenset[str]:
    """The letters beyond ASCII that a language's bundled words have, and those that it is known by."""
    lexicon = STUDIES / "lexicons" / f"{language}.toml"
    said = [*_strings(read_toml(lexicon, "a lexicon", StudyError))] if lexicon.exists() else []
    letters = {letter for word in (*_words(said), *bundled_words(language)) for letter in word if letter.isalpha()}
    return (
        frozenset({*letters, *OWN_LETTERS.get(language, ""), *MORE_LETTERS.get(language, "")})
        if bundled_words(language)
        else frozenset()
    )


def _strings(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for each in found.values() if isinstance(found, dict) else found:
            yield from _strings(each)


def _words(texts: Iterable[str]) -> Iterator[str]:
    """The words of texts that have letters, or glyphs without a character; those that are not all capitals, small."""
    for text in texts:
        for word in unicodedata.normalize("NFC", text).split():
            if is_damaged(word):
                yield word
            elif any(map(str.isalpha, word)):
                yield word if word.isupper() and len(word) > 1 else word.casefold()
