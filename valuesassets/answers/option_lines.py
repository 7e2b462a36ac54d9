"""Reads one line as an option of a trial: by its label, by its text, or by both."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from valuesassets.answers.plain_text import ENDING, OPENING, POINTS, says_something, words_of


class Standing(StrEnum):
    """What a written answer amounts to."""

    OPTION = "option"
    NO_OPTION = "no_option"
    TWO_OPTIONS = "two_options"
    OFF_SCALE = "off_scale"
    DONT_KNOW = "dont_know"
    EMPTY = "empty"
    CUT_OFF = "cut_off"
    REFUSED = "refused"


@dataclass(frozen=True)
class Options:
    """The options of a trial as they were shown, and the words of its language.

    Attributes:
        labels: (K,) numbers or letters before the options, such as `"1"`, `"-2"` or `"A"`.
        texts: (K,) the options' texts in the same order; empty where a number stood alone.
        values: (K,) the option codes in the same order.
        cues: words that introduce an answer, as the lexicon has them, without a colon.
        missing: words for don't know or no answer.
    """

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    values: tuple[int, ...]
    cues: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


BARE = re.compile(rf"[\s{re.escape(ENDING + POINTS)}]*")
"""What may stand behind an option and says nothing."""
NUMBER = re.compile(r"([+-]?)(0?[1-9]\d*|0)(?!\d|[.,:'٫]\d|\w)")
_LETTER = re.compile(r"([A-Za-z])(?![\w'])")
RANGE = re.compile(r"\s*[-–—~]\s*(\d+)(?!\d)")
OPEN_END = re.compile(r"\s*[/⁄%‰°^+?]")
DELIMITER = re.compile(rf"[{re.escape(ENDING)}]*\s*(?:[.,:;。、։]|(?<=[)\]}}])|(?:–|—|-(?=\s)|\((?=\D*$)))")
_LETTER_DELIMITER = re.compile(r"\s*(?:\.(?=\s)|[):\]](?=\s))")
_BEFORE_TEXT = re.compile(rf"[\s{re.escape(ENDING + OPENING + POINTS)}=→>–—-]*")
_LABEL_LAST = re.compile(rf"(.+?)([\s:;,.=|–—{re.escape(OPENING)}-]+?)(-?\d+|[A-Za-z])[\s{re.escape(ENDING)}.!]*")
_STANDING_ALONE = re.compile(r"(?<![\w/])(?<!\d[.,])-?\d+(?![\w/%])(?![.,]\d)")
_LETTER_ALONE = re.compile(r"(?<![\w'])[A-Za-z](?=[.,;:)\]]|$)")
_QUOTED = 60
"""Most characters of a text in a reason."""


@dataclass(frozen=True)
class LineReading:
    """What a line, or a text, says.

    Attributes:
        place: the option's place among those shown.
        is_plain: whether the option stands there alone or with its own text, not before other words.
        has_both: whether its label and its text stand there.
    """

    standing: Standing
    reason: str | None = None
    place: int | None = None
    value: int | None = None
    is_plain: bool = False
    has_both: bool = False


def _option(options: Options, place: int, *, is_plain: bool = True, has_both: bool = False) -> LineReading:
    return LineReading(Standing.OPTION, None, place, options.values[place], is_plain, has_both)


def no_reading(standing: Standing, why: str, line: str) -> LineReading:
    """The reading of a line that is no option."""
    quoted = line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"
    return LineReading(standing, f"{why}: {quoted!r}")


def read_line(line: str, options: Options) -> LineReading:
    """Read a line of plain text, which may begin with a label, end with one behind its text, or be a text alone."""
    words = words_of(line)
    whole = [place for place, text in enumerate(_texts(options)) if text and text == words]
    labelled = _read_label_first(line, options)
    if len(whole) > 1 or (whole and labelled.is_plain and labelled.place != whole[0]):
        return no_reading(Standing.TWO_OPTIONS, "may be one option or another", line)
    if whole:
        return _option(options, whole[0])
    if labelled.standing is not Standing.NO_OPTION:
        return labelled
    last = _read_label_last(line, options)
    if last.standing is not Standing.NO_OPTION:
        return last
    return no_reading(Standing.DONT_KNOW, "says no answer", line) if _is_missing(line, options) else labelled


def _read_label_first(line: str, options: Options) -> LineReading:
    """Read a line that begins with a label."""
    unread = no_reading(Standing.NO_OPTION, "is no option", line)
    are_letters = options.labels[0].isalpha()
    match = (_LETTER if are_letters else NUMBER).match(line)
    if match is None:
        return unread
    labels, rest = [_canonical(label) for label in options.labels], line[match.end() :]
    place = labels.index(_canonical(match[0])) if _canonical(match[0]) in labels else None
    if _range_of(line, match.end(), labels):
        return no_reading(Standing.TWO_OPTIONS, "says a range", line)
    if OPEN_END.match(rest):
        return unread
    if place is None:
        return _read_foreign(line, rest, options)
    if BARE.fullmatch(rest):
        return _option(options, place)
    return _read_behind_label(line, rest, place, options)


def _read_behind_label(line: str, rest: str, place: int, options: Options) -> LineReading:
    """Read what follows a shown label in its line."""
    words_behind = rest[_end(_BEFORE_TEXT, rest) :]
    own = _text_at_start(words_behind, options)
    if own is not None:
        return _option(options, place, has_both=True) if place in own else _two(line)
    if _is_missing(words_behind, options):
        return no_reading(Standing.DONT_KNOW, "says no answer", line)
    if _other_labels(rest, place, options):
        return _two(line)
    delimiter = _LETTER_DELIMITER if options.labels[0].isalpha() else DELIMITER
    is_said = bool(delimiter.match(rest)) and says_something(words_behind)
    return _option(options, place, is_plain=False) if is_said else no_reading(Standing.NO_OPTION, "is no option", line)


def _read_foreign(line: str, rest: str, options: Options) -> LineReading:
    """Read a line that begins with a number or letter that was not shown."""
    is_letter = options.labels[0].isalpha()
    if not is_letter and _is_missing(rest[_end(_BEFORE_TEXT, rest) :], options):
        return no_reading(Standing.DONT_KNOW, "says no answer", line)
    if BARE.fullmatch(rest) or (not is_letter and DELIMITER.match(rest)):
        return no_reading(Standing.OFF_SCALE, f"is none of {options.labels[0]} to {options.labels[-1]}", line)
    return no_reading(Standing.NO_OPTION, "is no option", line)


def _read_label_last(line: str, options: Options) -> LineReading:
    """Read an option's text that is followed by a label."""
    match = _LABEL_LAST.fullmatch(line)
    unread = no_reading(Standing.NO_OPTION, "is no option", line)
    if match is None:
        return unread
    labels, words = [_canonical(label) for label in options.labels], words_of(match[1])
    signed, label = _canonical(match[3]), _canonical(match[3].lstrip("-"))
    label = signed if signed in labels else label
    own = {place for place, text in enumerate(_texts(options)) if text and text == words}
    if not own or label not in labels:
        return unread
    place = labels.index(label)
    return _option(options, place, has_both=True) if place in own else _two(line)


def _two(line: str) -> LineReading:
    return no_reading(Standing.TWO_OPTIONS, "says more than one option", line)


def _range_of(line: str, start: int, labels: Sequence[str]) -> bool:
    """Whether a number goes on as a range to another shown number."""
    match = RANGE.match(line, start)
    return match is not None and _canonical(match[1]) in labels


def _text_at_start(words_behind: str, options: Options) -> set[int] | None:
    """The places of the longest of the options' texts with which some words begin; None where they begin with none."""
    words = words_of(words_behind)
    places = [
        (len(text), place)
        for place, text in enumerate(_texts(options))
        if text and re.match(rf"{re.escape(text)}(?!\w)", words)
    ]
    longest = max(places, default=(0, 0))[0]
    return {place for size, place in places if size == longest} if places else None


def _other_labels(words_behind: str, place: int, options: Options) -> bool:
    """Whether some words hold another shown label by itself."""
    alone = _LETTER_ALONE if options.labels[0].isalpha() else _STANDING_ALONE
    labels = {_canonical(label) for label in options.labels} - {_canonical(options.labels[place])}
    return any(_canonical(each) in labels for each in alone.findall(words_behind))


def _is_missing(line: str, options: Options) -> bool:
    """Whether a line, or its first sentence, says don't know or no answer, or several such words."""
    missing = _missing(options.missing)
    for sentence in (line, re.split(r"[.!…。।։](?=\s|$)", line, maxsplit=1)[0]):
        parts = [words_of(part) for part in re.split(r"[/,;]", sentence)]
        if words_of(sentence) in missing or all(part in missing for part in parts):
            return True
    return False


def _end(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0


def _canonical(label: str) -> str:
    """A label without leading zeros, plus signs and case."""
    return str(int(label)) if label.lstrip("+-").isdecimal() else label.casefold()


@functools.lru_cache(maxsize=4096)
def _texts(options: Options) -> tuple[str, ...]:
    return tuple(map(words_of, options.texts))


@functools.lru_cache(maxsize=256)
def _missing(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(words_of, words))
