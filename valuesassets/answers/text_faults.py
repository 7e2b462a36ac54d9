"""Automatic checks of written texts: whether a text has words, repeats itself, or only echoes its prompt.

They do not check the topic: a text that passes may still be off topic.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

LENGTHS = {True: 5, False: 12}
"""Number of characters of the pieces that are compared, by whether the script has no spaces between words."""
FEWEST_PIECES = 24
"""Fewest pieces of a text that can be judged."""
MOST_REPEATED = 0.5
"""A text is repetitive from this share of pieces that occur in it before."""
LAST_PART, MOST_REPEATED_AT_END = 0.4, 0.9
"""A text is also repetitive from this share in its last part (the first number)."""
MOST_ECHOED = 0.8
"""A text is an echo from this share of pieces that occur in its prompt."""
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
SYLLABLE = re.compile(r"[\uac00-\ud7a3]")
"""A Korean syllable, which may be a word by itself."""


def has_words(text: str) -> bool:
    """Whether a text has a word: two adjacent letters, a syllable, or a letter of a script without spaces.

    A letter with a vowel sign, as in Hindi, is a syllable; a letter with an accent is a letter.

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
    """Why a text is repetitive, in words; None where it is not, or is too short to judge.

    A text is repetitive if half of its pieces of twelve characters (five in scripts without spaces), or nearly all of
    those in its last part, occur in it before. All numbers count as equal, so a numbered list of one sentence is too.

    >>> repetition("I would ask him first. " * 4)
    '71% of it stood there before'
    >>> repetition("I would ask him first, since he may have a reason, and then tell the others what he said.")
    """
    pieces, earlier = list(_pieces(text)), set[str]()
    if len(pieces) < FEWEST_PIECES:
        return None
    is_repeated = np.zeros(len(pieces))
    for place, piece in enumerate(pieces):
        is_repeated[place] = piece in earlier
        earlier.add(piece)
    share, last = is_repeated.mean(), is_repeated[int((1 - LAST_PART) * len(pieces)) :].mean()
    if share >= MOST_REPEATED:
        return f"{share:.0%} of it stood there before"
    return f"{last:.0%} of its last part stood there before" if last >= MOST_REPEATED_AT_END else None


def echo(text: str, prompts: Sequence[str]) -> str | None:
    """Why a text only repeats its prompt, in words; None where it says more.

    >>> echo("So: what do you do, and why? What do you do then", ["A friend lies. What do you do, and why?"])
    >>> echo("Well, a friend lies. What do you do, and why?", ["A friend lies. What do you do, and why?"])
    '82% of it stands in the prompt'
    """
    written = " ".join(text.split()).casefold()
    for prompt in prompts:
        prompt_text = " ".join(prompt.split()).casefold()
        if prompt_text.startswith(written):
            return "is a beginning of the prompt"
        pieces, prompt_pieces = list(_pieces(text)), set(_pieces(prompt))
        share = sum(piece in prompt_pieces for piece in pieces) / max(len(pieces), 1)
        if len(pieces) >= FEWEST_PIECES and share >= MOST_ECHOED:
            return f"{share:.0%} of it stands in the prompt"
    return None


def _pieces(text: str) -> Iterator[str]:
    """All pieces of a text in lower case; white space is normalised, and all numbers count as equal."""
    plain = " ".join(re.sub(r"\d+", "0", text.casefold()).split())
    length = LENGTHS[2 * len(WITHOUT_SPACES.findall(plain)) > len(plain)]
    return (plain[place : place + length] for place in range(len(plain) - length + 1))
