"""The words of texts that forms keep with HTML or Markdown, and signs that a text quotes another answer."""

import re
from html.parser import HTMLParser

from valuesassets.instruments.survey.material.forms.exchange.entries import QUOTES_ANSWER

SILENT = {"script", "style"}
INLINE = {"a", "abbr", "b", "em", "font", "i", "mark", "s", "small", "span", "strong", "sub", "sup", "u"}
MARKS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
LEANING = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_\n]*[^\s*_])\1(?![\w*])")
LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")
HEADING = re.compile(r"^#{1,6}\s+", re.MULTILINE)
QUOTED = re.compile(r"\$\{[^{}]*\}")
"""`${q://QID1/ChoiceGroup/SelectedChoices}`, `${e://Field/name}`, `${name}`."""
EXPRESSION = re.compile(r"\{(?=\S)[^{}]*\}")
"""`{q1.question}`, `{TOKEN:FIRSTNAME}`, `{if(...)}`."""


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        self.parts += [] if tag in INLINE else [" "]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT and self._silent > 0
        self.parts += [] if tag in INLINE else [" "]

    def handle_data(self, data: str) -> None:
        self.parts += [] if self._silent else [data]


def plain_text(written: object) -> str:
    """The words of a text in HTML, in one line; empty where there is none.

    >>> plain_text("How <b>happy</b><br>are&nbsp;you?"), plain_text("a < b"), plain_text(None)
    ('How happy are you?', 'a < b', '')
    """
    text = "" if written is None else str(written)
    if "<" in text or "&" in text:
        words = _Words()
        words.feed(text)
        words.close()
        text = "".join(words.parts)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def without_marks(text: str) -> str:
    """A text without the signs of Markdown for bold and leaning words, headings and links.

    >>> without_marks("## How **happy** are _you_? 2 * 3 * 4, my_own_name")
    'How happy are you? 2 * 3 * 4, my_own_name'
    """
    return LEANING.sub(r"\2", MARKS.sub(r"\2", LINK.sub(r"\1", HEADING.sub("", text.strip()))))


def why_quoting(*texts: str | None, signs: re.Pattern[str] = QUOTED) -> str | None:
    """Why texts cannot be asked: the first place where they quote an answer; None where they quote none.

    >>> why_quoting("You said ${q://QID1/ChoiceTextEntryValue}?").split(": ")[1], why_quoting("How are you?")
    ('${q://QID1/ChoiceTextEntryValue}', None)
    """
    match = next((match for text in texts if text and (match := signs.search(text))), None)
    return f"{QUOTES_ANSWER}: {match[0][:60]}" if match else None
