"""Distinguishes notes for the interviewer from the question's text by capitals and marks, not by words."""

import itertools
import re
from collections.abc import Sequence

from valuesassets.instruments.survey.material.forms.layout.lines import Line

ROUTE = re.compile(r"\s*(?:[-–—_]{3,}|[-–—_]*\s*[>→⇒►]|\.{4,}|…{3,}|\.*_{3,}).*$")
"""Arrows to the next question, or dots or lines to write on, and the rest of the line."""
LETTERS = re.compile(r"[^\W\d_]+")
NUMBERS = re.compile(r"\b[^\W\d_]{1,2}\d+[a-z]?\b|\b\d+[a-z]\b")  # of questions: `Q12a`, `P8`, `12a`


def is_note(text: str) -> bool:
    """Whether a line is in capitals, as instructions are; numbers of questions do not count.

    >>> is_note("SHOW CARD 12 – READ OUT"), is_note("WEITER MIT F12a"), is_note("The EU"), is_note("1 2 3")
    (True, True, False, False)
    """
    letters = "".join(LETTERS.findall(NUMBERS.sub("", text)))
    return len(letters) >= 4 and letters.upper() == letters


def opens_note(text: str) -> bool:
    """Whether a line begins with words in capitals and a colon, as notes for the interviewer do.

    >>> opens_note("INTERVIEWER: Accept what is said."), opens_note("Now: think.")
    (True, False)
    """
    head, colon, _ = text.partition(":")
    return bool(colon) and is_note(head) and len(LETTERS.findall(head)) <= 6


def without_notes(text: str) -> str:
    """A text without notes in capitals or brackets, and without the arrow to another question.

    >>> without_notes("would you say you are…READ OUT…"), without_notes("no ----> GO TO Q14"), without_notes("the EU")
    ('would you say you are…', 'no', 'the EU')
    >>> without_notes("It is bad [DO NOT READ OUT]"), without_notes("in [Britain]?")
    ('It is bad', 'in Britain?')
    """
    text = ROUTE.sub("", text)
    text = re.sub(r"[\[(]([^\])]*)[\])]", lambda match: "" if is_note(match[1]) else match[0], text)
    for run in _capital_runs(text):
        text = text.replace(run, "…" if "…" in run or "..." in run else " ")
    text = re.sub(r"\[([^\]]*)\]", lambda match: match[1].strip(" ,"), text)
    text = re.sub(r"\s+([,.;])", r"\1", re.sub(r"\s+", " ", text))
    return re.sub(r"…[\s….]*…", "…", text).strip()


def _capital_runs(text: str) -> list[str]:
    """Two or more words in capitals in a row, with the dots around them."""
    runs = []
    for is_capital, run in itertools.groupby(LETTERS.finditer(text), key=lambda word: word[0].isupper()):
        words = list(run)
        if is_capital and sum(len(word[0]) > 1 for word in words) >= 2:
            before = re.sub(r"[\s….]+$", "", text[: words[0].start()])
            after = re.sub(r"^[\s….!:–-]+", "", text[words[-1].end() :])
            runs.append(text[len(before) : len(text) - len(after)])
    return runs


def spoken(lines: Sequence[Line]) -> list[Line]:
    """The lines without notes, and without their continuation lines in the same type."""
    kept: list[Line] = []
    note: Line | None = None
    for line in lines:
        if line.is_boxed_note or is_note(line.text):
            note = None
        elif opens_note(line.text) or (kept and line.text.startswith("(") and line.is_bold != kept[0].is_bold):
            note = line
        elif note is None or not kept or not line.is_bold == note.is_bold != kept[0].is_bold:
            note = None
            kept.append(line)
    return kept


def item_text(text: str) -> str:
    """An item without notes, the dots before it, and a comma at its end."""
    return without_notes(text).lstrip("…. ").rstrip(" ,;")


def question_text(stem: str, item: str | None) -> str:
    """The whole question: the stem, and the item where there is one.

    >>> question_text("How often do you follow politics…", "on the radio?")
    'How often do you follow politics on the radio?'
    """
    return f"{re.sub(r'[ ….]*…[ ….]*$|[ .]*[.]{3}$', '', stem)} {item}".strip() if item else stem
