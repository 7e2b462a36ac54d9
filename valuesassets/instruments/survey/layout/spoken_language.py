"""Which language a text is in, where it is not the one that it should be in."""

import functools
import sys
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ISO_639_1 = {
    "bul": "bg", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "est": "et", "fin": "fi",
    "fra": "fr", "hrv": "hr", "hun": "hu", "ita": "it", "lit": "lt", "lvs": "lv", "nld": "nl", "pol": "pl",
    "por": "pt", "ron": "ro", "rus": "ru", "slk": "sk", "slv": "sl", "spa": "es", "swe": "sv",
}  # fmt: skip
"""The languages told apart: those of the study, and Russian, which stands beside two of them in bilingual forms."""
FEWEST_LETTERS = 40
"""Shorter texts are not judged."""
DOUBT = 0.01
"""A text is foreign whose probability of being in its own language is lower."""


def foreign_language(text: str, language: str) -> str | None:
    """The language (ISO 639-3) that a text is in, where that is not its own; None where it may be or where it is short.

    Source: the naive Bayes classifier over byte n-grams of Lui and Baldwin (2012), langid.py, as kept in py3langid.

    >>> foreign_language("Az emberek szabad választásokon választják meg a vezetőiket", "slk")
    'hun'
    >>> foreign_language("Ľudia si vyberajú svojich lídrov v slobodných voľbách", "slk") is None
    True
    """
    if language not in ISO_639_1 or sum(map(str.isalpha, text)) < FEWEST_LETTERS:
        return None
    chances = dict(_identifier().rank(text))
    if chances[ISO_639_1[language]] >= DOUBT:
        return None
    spoken = max(chances, key=lambda code: chances[code])
    return next(code for code, short in ISO_639_1.items() if short == spoken)


@functools.cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import LanguageIdentifier

    with resources.as_file(resources.files(sys.modules["py3langid"]) / "data" / "model.npz.xz") as model:
        identifier = LanguageIdentifier.from_modelpath(str(model), norm_probs=True)
    identifier.set_languages(list(ISO_639_1.values()))
    return identifier
