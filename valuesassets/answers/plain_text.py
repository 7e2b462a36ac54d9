"""What a text says apart from its form: in NFKC, with ASCII digits, without markdown, tags and invisible characters."""

import functools
import re
import unicodedata

_BREAKS = re.compile(r"<br\s*/?>|</(?:p|div|li|answer|response|output)>", re.IGNORECASE)
_TAGS = re.compile(r"</?[A-Za-z][^<>\n]*>|<\|[^<>|\n]*\|>|\[/?[A-Z_]{3,}\]")
_LATEX = re.compile(r"\\(?:boxed|text(?:bf|it)?|mathbf|mathrm)\s*\{([^{}\n]*)\}")
_DOLLARS = re.compile(r"\$([^$\n]+)\$")
_FENCE = re.compile(r"```[A-Za-z]*(?=\s|$)|\\[()\[\]]")
_EMPHASIS = re.compile(r"(?<!\w)[*_`]+|[*_`]+(?!\w)")
_MINUS = dict.fromkeys(map(ord, "\u2010\u2011\u2212\ufe63\uff0d"), "-")
_QUOTES = dict.fromkeys(map(ord, "’‘ʼ`´"), "'")
_KEYCAP = "\ufe0e\ufe0f\u20e3"
_NO_NUMBER = ("<super>", "<sub>", "<fraction>")
"""Unicode's decompositions of digits that are none of a number's own: in "3²" and "3½"."""

OPENING = "\"'“”„«»‹›「『(["
ENDING = "\"'“”«»‹›」』)]}"
POINTS = ".,:;!…。、।։|"
_EDGES = " \t" + OPENING + ENDING + POINTS + "-–—"


def plain_text(text: str) -> str:
    """A text in Unicode's NFKC form with ASCII digits, and without markdown, tags and invisible characters."""
    text = "".join(map(_plain_character, text)).translate(_MINUS)
    for pattern, plain in (
        (_BREAKS, "\n"),
        (_TAGS, " "),
        (_FENCE, ""),
        (_DOLLARS, r"\1"),
        (_LATEX, r"\1"),
        (_EMPHASIS, ""),
    ):
        text = pattern.sub(plain, text)
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def words_of(text: str) -> str:
    """The words of a text to compare: without case, doubled white space and punctuation at the ends."""
    plain = unicodedata.normalize("NFKC", plain_text(text).casefold()).replace("i̇", "i").replace("ı", "i")
    return " ".join(plain.split()).strip(_EDGES)


def says_something(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


@functools.lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    if character in _KEYCAP or unicodedata.category(character) == "Cf":
        return ""
    if unicodedata.decomposition(character).startswith(_NO_NUMBER) and unicodedata.category(character) == "No":
        return "^"
    plain = unicodedata.normalize("NFKC", character)
    return "".join(str(unicodedata.decimal(each, each)) for each in plain)
