"""The words of texts that forms keep with HTML or Markdown, and signs that a text quotes another answer."""

import re
from html.parser import HTMLParser

from valuesassets.instruments.survey.material.forms.exchange.entries import QUOTES_ANSWER

SILENT = {"script", "style"}
INLINE = {"a", "abbr", "b", "em", "font", "i", "mark", "s", "small", "span", "strong", "sub", "sup", "u"}
HTML = (
    "address area article aside audio base big blockquote body br button canvas caption center cite code col colgroup "
    "dd del details dfn div dl dt embed fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hr "
    "html iframe img input ins kbd label legend li link main map meta nav nobr noscript object ol optgroup option p "
    "param picture pre q samp script section select source strike style summary svg table tbody td textarea tfoot th "
    "thead title tr tt ul var video wbr"
)
BLOCKS = frozenset(HTML.split())
"""The other elements of HTML; what else stands in angle brackets is a text's own, such as `<your town>`."""
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
        self._handle(tag, self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._handle(tag, self.get_starttag_text() or "")

    def _handle(self, tag: str, written: str) -> None:
        is_markup = tag in BLOCKS or ":" in tag
        self.parts += [] if tag in INLINE else [" "] if is_markup else [written]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT and self._silent > 0
        self._handle(tag, f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts += [] if self._silent else [data]


def plain_text(written: object) -> str:
    """The words of a text in HTML, in one line; empty where there is none.

    >>> plain_text("How <b>happy</b><br>are&nbsp;you in <TOWN>?"), plain_text("a < b"), plain_text(None)
    ('How happy are you in <TOWN>?', 'a < b', '')
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
