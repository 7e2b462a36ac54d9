"""Candidates for a drafted task file, from the answers and from the places of keys in the text."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from valuesassets.instruments.psych_tasks.material.drafted_kinds import WHOLE_NUMBER, AnsweredMark, as_regex, is_mostly

LETTER = re.compile(r"[^\W\d_]")
WIDEST_RANGE = 1_000
"""Numbers with a wider range (times, amounts) are no scale."""
MOST_TEXTS = 20
NEARLY_ALL = 0.98
LISTS = (r"^[ \t]*[-*•][ \t]+(.+?)[ \t.]*$", r"\[([^\[\]\n]+)\]", r'"([^"\n]+)"', r"'([^'\n]+)'")
"""Ways in which a block may list its options: a line each, in brackets, in quotes."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def draft_candidates(marks: Sequence[AnsweredMark]) -> tuple[str, str]:
    """The value of `candidates` in a task file, and a sentence that says what to look at."""
    answers = [mark.answer for mark in marks]
    if is_mostly(answers, WHOLE_NUMBER):
        return _numbers(answers)
    if is_mostly(answers, LETTER):
        return _letters([mark for mark in marks if LETTER.fullmatch(mark.answer)])
    return _texts(marks)


def _numbers(answers: Sequence[str]) -> tuple[str, str]:
    numbers = [int(text) for text in answers if WHOLE_NUMBER.fullmatch(text)]
    low, high = min(numbers), max(numbers)
    if high - low > WIDEST_RANGE:
        return '"open"', f"numbers from {low} to {high} were answered: too many to ask each; or name a range"
    if low == high:
        return f"{{ range = [{low}, {low + 1}] }}", f"only {low} was answered: put the ends of the scale"
    return f"{{ range = [{low}, {high}] }}", f"{low} to {high} were answered: does the scale end there?"


def _texts(marks: Sequence[AnsweredMark]) -> tuple[str, str]:
    answers = [mark.answer for mark in marks]
    counts = Counter(answers)
    for regex in LISTS:
        pattern = re.compile(regex, re.MULTILINE)
        most = max(len({match[1] for match in pattern.finditer(mark.scopes["block"])}) for mark in marks)
        if len(counts) > most and _finds_options(pattern, marks, MOST_TEXTS):
            return f'{{ options = {quoted(regex)}, in = "block" }}', "texts that each block lists: does it list others?"
    common = [text for text, n in counts.most_common() if n >= 0.01 * len(answers)]
    listed = list(counts) if len(counts) <= MOST_TEXTS else common[:MOST_TEXTS]
    covered = sum(counts[text] for text in listed)
    if len(listed) < 2 or covered < 0.8 * len(answers):
        n = f"{len(counts)} different texts were answered" if len(counts) > 1 else "one text alone was answered"
        return '"open"', f"{n}: only what was answered is read; or name what may be (list, options, fill)"
    look = "these texts were answered: are there others?"
    if covered < len(answers):
        look = f"{len(answers) - covered} answers are none of these: which of them are mistakes?"
    return _listed(sorted(listed)), look


def _letters(marks: Sequence[AnsweredMark]) -> tuple[str, str]:
    """Keys: the same for everybody, or named in the instructions or in each block."""
    by_who: dict[int, set[str]] = {}
    for mark in marks:
        by_who.setdefault(mark.who, set()).add(mark.answer)
    letters, n = set().union(*by_who.values()), max(map(len, by_who.values()))
    if len(letters) == n > 1:
        return _listed(sorted(letters)), "everybody answered with these letters: are there others?"
    firsts = {mark.who: mark for mark in reversed(marks)}
    examples = sorted(firsts.values(), key=lambda mark: (-len(by_who[mark.who]), mark.who))[:5]
    if keys := next(filter(None, (_keys_like(mark, by_who[mark.who], marks) for mark in examples)), None):
        roles = _list_of(ORDINALS[: re.compile(keys).groups])
        value = f'{{ keys = {quoted(keys)}, roles = {roles}, in = "instructions" }}'
        return value, "everybody has letters of their own, which the instructions name: say what each is for"
    if options := next(filter(None, (_options_like(mark, marks) for mark in examples)), None):
        return f'{{ options = {quoted(options)}, in = "block" }}', "letters that each block names: does it name others?"
    if len(letters) < 2:
        return '"open"', "one letter alone was answered: name what else may be"
    return _listed(sorted(letters)), "letters differ between people, and none stands in the instructions: look there"


def _keys_like(example: AnsweredMark, letters: set[str], marks: Sequence[AnsweredMark]) -> str | None:
    """A regular expression for the keys of one person in the instructions that finds those of all; None without."""
    if not 2 <= len(letters) <= len(ORDINALS):
        return None
    text = example.scopes["instructions"]
    places = [(match.start(), match[0]) for match in re.finditer(rf"(?<!\w)[{''.join(letters)}](?!\w)", text)]
    windows = sorted(_windows(places, len(letters)), key=lambda window: window[-1][0] - window[0][0])
    for window in windows[:8]:
        for n_words in (3, 2, 1, 0):
            before = re.search(rf"(?:\S+\s+){{{n_words}}}\S*$", text[: window[0][0]])
            if before is not None:
                regex = _with_groups(text, before.start(), window)
                if _finds_keys(re.compile(regex), marks):
                    return regex
    return None


def _windows(places: Sequence[tuple[int, str]], n: int) -> Iterator[list[tuple[int, str]]]:
    """The shortest runs of places with all `n` letters, one from each place on."""
    for start in range(len(places)):
        for end in range(start + n, len(places) + 1):
            if len({letter for _, letter in places[start:end]}) == n:
                yield list(places[start:end])
                break


def _with_groups(text: str, start: int, places: Sequence[tuple[int, str]]) -> str:
    """A regular expression for the text from `start` to the last place, with a group for each letter."""
    regex, grouped = "", set[str]()
    for place, letter in places:
        regex += as_regex(text[start:place]) + (r"\w" if letter in grouped else r"(\w)")
        grouped.add(letter)
        start = place + 1
    return regex


def _finds_keys(regex: re.Pattern[str], marks: Sequence[AnsweredMark]) -> bool:
    """Whether the instructions of nearly all marks name their answer as one of distinct keys."""
    texts = {mark.scopes["instructions"] for mark in marks}
    keys = {text: match.groups() if (match := regex.search(text)) else () for text in texts}
    answered = [(mark.answer, keys[mark.scopes["instructions"]]) for mark in marks]
    n_matches = sum(answer in groups and len(set(groups)) == len(groups) for answer, groups in answered)
    return n_matches >= NEARLY_ALL * len(marks)


def _options_like(example: AnsweredMark, marks: Sequence[AnsweredMark]) -> str | None:
    """A regular expression for the answer's place in its block that finds nearly all answers; None without."""
    text, letter = example.scopes["block"], re.escape(example.answer)
    for match in re.finditer(rf"(\S*\s+)?([^\s\w]*)(?<!\w){letter}(?!\w)([^\s\w]*)", text):
        before, opening, closing = (match[group] or "" for group in (1, 2, 3))
        for words in (before, ""):
            if not words + opening + closing:
                continue
            # Without a word before it, the end of any word, or a number, would match.
            key = r"(\w)" if words else r"(?<!\w)([^\W\d_])"
            regex = as_regex(words + opening) + key + as_regex(closing)
            if _finds_options(re.compile(regex), marks):
                return regex
    return None


def _finds_options(regex: re.Pattern[str], marks: Sequence[AnsweredMark], most: int = len(ORDINALS)) -> bool:
    """Whether the blocks of nearly all marks name their answer among 2 to `most` options."""
    n_matches = 0
    for mark in marks:
        options = {match[1] for match in regex.finditer(mark.scopes["block"])}
        n_matches += mark.answer in options and 2 <= len(options) <= most
    return n_matches >= NEARLY_ALL * len(marks)


def _listed(texts: Sequence[str]) -> str:
    return f"{{ list = {_list_of(texts)} }}"


def _list_of(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def quoted(text: str) -> str:
    r"""A text as a TOML string.

    >>> print(quoted("\\d+"), quoted("it's"))
    '\d+' "it's"
    """
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
