r"""Reads what a model wrote as one of the options that it was shown, or says why it is none.

Evaluation packages take the first or the last letter or number of a text, so that they read "I am an AI" as option I,
"Antwort: C" as A and "1 or 2" as 1. Here an option is read only where the answer says that option and nothing else.
"""

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from valuesassets.answers.option_lines import (
    BARE,
    DELIMITER,
    NUMBER,
    OPEN_END,
    RANGE,
    LineReading,
    Options,
    Standing,
    no_reading,
    read_line,
)
from valuesassets.answers.plain_text import OPENING, plain_text, says_something
from valuesassets.records.errors import MissingData
from valuesassets.records.thoughts import is_cut_off
from valuesassets.records.trials import Answer, Status


class WrittenOption(NamedTuple):
    """What was read of a written answer: the option's code, its standing, and the reason where it is no option."""

    value: int | None
    standing: Standing
    reason: str | None


_BULLET = re.compile(r"(?:[>#*•‣▪·+]+|[-–—])\s+")
_COLON = r"[\"'”»)\]]*\s*[:=՝։]"
_NO_COLON = r"(?:\s+[–—-])?\s+"
_SENTENCE = re.compile(r".*[.!?。।։](?=\s)", re.DOTALL)


def read_option(text: str | None, options: Options) -> WrittenOption:
    """Read a whole text as one of the options.

    Behind the last answer cue, the first line must be a shown number or letter (alone, before a delimiter, or before
    its own option's text), an option's text alone, or that text followed by its own number. Case, closing punctuation,
    markdown and tags do not count, and digits may be of any script. A text that begins with one option and gives
    another one behind a cue, goes on with another option, or counts on (`1. ... 2. ...`) has two.

    >>> options = Options(("1", "2", "3"), ("yes", "no", "both"), (1, 2, 3), ("Answer",), ("don't know",))
    >>> [read_option(text, options).value for text in ("**Answer:** 2", "(٣)", "No!", "yes (1)", "3. As I live here")]
    [2, 3, 2, 1, 3]
    >>> [str(read_option(text, options).standing) for text in ("1 or 2", "not 3", "3.5", "7.", "Don't know.", "")]
    ['two_options', 'no_option', 'no_option', 'off_scale', 'dont_know', 'empty']
    """
    plain = plain_text(text or "")
    if not says_something(plain):
        return WrittenOption(None, Standing.EMPTY, "the text is empty")
    return _result(_read(plain, options))


def standing_of(answer: Answer, options: Options) -> WrittenOption:
    """Read an answer, which may have been refused or cut off.

    A text that ran out of tokens is an option where a whole line says it, or where the number stands before the whole
    text of its own option and a sentence ends there; else it might have gone on to say something else. A thought
    without an end is cut off too.

    Raises:
        MissingData: the answer failed for technical reasons, and is to be asked for again.
    """
    if answer.status is Status.REFUSED:
        return WrittenOption(None, Standing.REFUSED, answer.reason)
    if answer.status is not Status.OK:
        if is_cut_off(answer):
            return WrittenOption(None, Standing.CUT_OFF, answer.reason)
        raise MissingData(f"{answer.reason or answer.trial_id}: this answer failed; ask for it again")
    return _read_cut(answer.text or "", options) if answer.finish == "length" else read_option(answer.text, options)


def shown_number(text: str) -> int | None:
    """The number that an answer gives, among the options shown or not; None where it gives none, or several.

    >>> shown_number(" 9."), shown_number("-1"), shown_number("2 or 3"), shown_number("3.5")
    (9, -1, None, None)
    """
    line = next(_lines(plain_text(text), is_signed=True), "")
    match = NUMBER.match(line)
    if match is None or OPEN_END.match(line, match.end()) or RANGE.match(line, match.end()):
        return None
    rest = line[match.end() :]
    is_alone = BARE.fullmatch(rest) or DELIMITER.match(rest)
    return int(match[0]) if is_alone else None


def _result(reading: LineReading) -> WrittenOption:
    return WrittenOption(reading.value, reading.standing, reading.reason)


def _read(plain: str, options: Options) -> LineReading:
    """Read a plain text: what stands behind the last cue, unless that is nothing, or another option begins the text."""
    at_once, behind = _read_lines(plain, options), _behind_cue(plain, options)
    if behind is None:
        return at_once
    behind_cue = _read_lines(behind, options)
    if len({each.place for each in (at_once, behind_cue) if each.standing is Standing.OPTION}) > 1:
        return no_reading(Standing.TWO_OPTIONS, "begins with one option and ends with another", plain.strip())
    return behind_cue


def _behind_cue(plain: str, options: Options) -> str | None:
    """The text behind the last cue with any; a cue without a colon counts where it begins a sentence, and an option
    stands behind it."""
    for end, has_colon in _cue_ends(plain, options.cues):
        behind = plain[end:]
        if says_something(behind) and (has_colon or _read_lines(behind, options).standing is Standing.OPTION):
            return behind
    return None


def _cue_ends(plain: str, cues: tuple[str, ...]) -> Iterator[tuple[int, bool]]:
    """The ends of the cues in a text from the last one, and whether a colon stands there."""
    if (pattern := _cue_pattern(cues)) is not None:
        for match in reversed(list(pattern.finditer(plain))):
            before = plain[: match.start()].rstrip(" \t" + OPENING)
            if match["colon"] or not before or before[-1] in "\n.!?:;":
                yield match.end(), bool(match["colon"])


@functools.lru_cache(maxsize=256)
def _cue_pattern(cues: tuple[str, ...]) -> re.Pattern[str] | None:
    words = sorted((plain_text(cue).split() for cue in cues), key=lambda each: (-len(each), each))
    any_cue = "|".join(r"\s+".join(map(re.escape, each)) for each in words if each)
    return re.compile(rf"(?<!\w)(?:{any_cue})(?:(?P<colon>{_COLON})|{_NO_COLON})", re.IGNORECASE) if any_cue else None


def _lines(plain: str, *, is_signed: bool) -> Iterator[str]:
    """The lines that say something, without bullets, quotes and brackets before them."""
    for line in plain.splitlines():
        if says_something(line):
            line, bullet = line.strip(), _BULLET.match(line.strip())
            if bullet and not (is_signed and bullet[0][0] in "-–—+"):
                line = line[bullet.end() :]
            yield re.sub(r"^[–—](?=\d)", "-", line.lstrip(OPENING + " ")).rstrip()


def _read_lines(plain: str, options: Options) -> LineReading:
    """Read the first line, unless the following ones go on with another option."""
    is_signed = any(label.startswith("-") for label in options.labels)
    lines = list(_lines(plain, is_signed=is_signed))
    if not lines:
        return LineReading(Standing.EMPTY, "nothing stands there")
    first = read_line(lines[0], options)
    if first.standing is Standing.OPTION:
        following = lines[1:2] if first.is_plain else lines[1:]
        others = (each for each in (read_line(line, options) for line in following))
        if any(other.place not in (None, first.place) and (other.is_plain or not first.is_plain) for other in others):
            return no_reading(Standing.TWO_OPTIONS, "goes on with another option", lines[0])
    return first


def _read_cut(text: str, options: Options) -> WrittenOption:
    """Read a text that ran out of tokens, whose last line is not whole."""
    plain = plain_text(text)
    whole = plain.rpartition("\n")[0]
    has_lines = says_something(whole)
    parts = (_read(whole, options), _read(plain, options)) if has_lines else _read_begun(plain, options)
    if all(part.standing is Standing.OPTION for part in parts) and parts[0].place == parts[1].place:
        return _result(parts[1])
    return WrittenOption(None, Standing.CUT_OFF, "the answer ran out of tokens")


def _read_begun(line: str, options: Options) -> tuple[LineReading, LineReading]:
    """Read a line that is not whole, up to its last sentence's end and on, where both say a label and its text."""
    sentence = _SENTENCE.match(line)
    begun, full = _read(sentence[0] if sentence else "", options), _read(line, options)
    nothing = LineReading(Standing.CUT_OFF)
    return (begun, full) if begun.has_both and full.has_both else (nothing, nothing)
