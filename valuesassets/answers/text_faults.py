"""What can be told of a written text without reading it: whether it holds words, goes round in circles, or echoes.

Whether it is on its topic cannot be told so: a text without a fault may still be about something else.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

LENGTHS = {True: 5, False: 12}
"""Characters of the pieces that are looked for again, by whether the script writes words without spaces."""
FEWEST_PIECES = 24
"""A shorter text is not judged by its pieces."""
MOST_REPEATED = 0.5
"""Share of a text's pieces that stood there before, from which on it goes round in circles."""
LAST_PART, MOST_REPEATED_AT_END = 0.4, 0.9
"""A text that goes on in circles to its end: of this last part, so much stood there before."""
MOST_ECHOED = 0.8
"""Share of a text's pieces that stand in its prompt, from which on it is an echo."""
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
SYLLABLE = re.compile(r"[\uac00-\ud7a3]")
"""A Korean one, which may be a word by itself."""


def has_words(text: str) -> bool:
    """Whether a text holds a word: two letters that stand together, a syllable, or a letter of a script without spaces.

    A letter with a vowel sign, as Hindi writes them, is a syllable; one with an accent is a letter.

    >>> has_words("925 917"), has_words("A. 3"), has_words("Yes"), has_words("是"), has_words("हाँ"), has_words("네")
    (False, False, True, True, True, True)
    """
    composed = unicodedata.normalize("NFC", text)
    is_mark = [unicodedata.category(each).startswith("M") for each in composed]
    plain = "".join(each for each, mark in zip(composed, is_mark, strict=True) if not mark)
    has_signs = any(each.isalpha() and mark for each, mark in zip(composed, is_mark[1:], strict=False))
    is_of_letters = re.search(r"[^\W\d_]{2}", plain) is not None
    return has_signs or is_of_letters or any(each.search(plain) for each in (WITHOUT_SPACES, SYLLABLE))


def repetition(text: str) -> str | None:
    """Why a text goes round in circles, in words; None where it does not, or is too short to tell.

    A text does whose pieces of twelve characters (five in scripts without spaces) stood in it before, half of them, or
    nearly all of its last part. Numbers count alike, so that a numbered list of the same sentence is a circle too.

    >>> repetition("I would ask him first. " * 4)
    '71% of it stood there before'
    >>> repetition("I would ask him first, since he may have a reason, and then tell the others what he said.")
    """
    pieces, seen = list(_pieces(text)), set[str]()
    if len(pieces) < FEWEST_PIECES:
        return None
    is_repeated = np.zeros(len(pieces))
    for place, piece in enumerate(pieces):
        is_repeated[place] = piece in seen
        seen.add(piece)
    share, last = is_repeated.mean(), is_repeated[int((1 - LAST_PART) * len(pieces)) :].mean()
    if share >= MOST_REPEATED:
        return f"{share:.0%} of it stood there before"
    return f"{last:.0%} of its last part stood there before" if last >= MOST_REPEATED_AT_END else None


def echo(text: str, prompts: Sequence[str]) -> str | None:
    """Why a text says nothing but what it was asked, in words; None where it says more.

    >>> echo("So: what do you do, and why? What do you do then", ["A friend lies. What do you do, and why?"])
    >>> echo("Well, a friend lies. What do you do, and why?", ["A friend lies. What do you do, and why?"])
    '82% of it stands in the prompt'
    """
    said = " ".join(text.split()).casefold()
    for prompt in prompts:
        asked = " ".join(prompt.split()).casefold()
        if asked.startswith(said):
            return "is a beginning of the prompt"
        pieces, known = list(_pieces(text)), set(_pieces(prompt))
        if len(pieces) >= FEWEST_PIECES and (share := sum(piece in known for piece in pieces) / len(pieces)) >= (
            MOST_ECHOED
        ):
            return f"{share:.0%} of it stands in the prompt"
    return None


def _pieces(text: str) -> Iterator[str]:
    """All pieces of a text, of letters in lower case; white space and numbers count alike."""
    plain = " ".join(re.sub(r"\d+", "0", text.casefold()).split())
    length = LENGTHS[2 * len(WITHOUT_SPACES.findall(plain)) > len(plain)]
    return (plain[place : place + length] for place in range(len(plain) - length + 1))
