"""Which language a form speaks, by what it prints for "don't know" and "no answer"."""

import unicodedata

from valuesassets.instruments.survey.lexicon import bundled_lexicons, load_lexicon

FEWEST = 5
"""Printed so often, the words of another language are no accident."""
LONG_ENOUGH = 4
"""Letters from which on a word is one language's own; short ones stand in many."""


def language_spoken(text: str, declared: str) -> str | None:
    """The language that a form is in, where it says so and that is not the language declared; None otherwise.

    >>> language_spoken("Don't know No answer " * 5, "deu"), language_spoken("weiß nicht", "deu")
    ('eng', None)
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    if declared not in bundled_lexicons() or _said(folded, declared):
        return None
    times, language = max((_said(folded, language), language) for language in bundled_lexicons())
    return language if times >= FEWEST else None


def _said(folded: str, language: str) -> int:
    phrases = [phrase for phrase in load_lexicon(language).missing_answers if len(phrase) >= LONG_ENOUGH]
    return sum(folded.count(phrase.casefold()) for phrase in phrases)
