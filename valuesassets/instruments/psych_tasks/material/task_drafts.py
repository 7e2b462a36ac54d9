"""Drafted task files: the kinds, blocks and candidates that transcripts show, as TOML to begin a task file with."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from valuesassets.instruments.psych_tasks.material.drafted_candidates import draft_candidates, quoted
from valuesassets.instruments.psych_tasks.material.drafted_kinds import (
    MOSTLY,
    AnsweredMark,
    Group,
    as_regex,
    before_regex,
    group_marks,
    words_before,
)
from valuesassets.instruments.psych_tasks.material.marks import BEFORE, mark_person, people_of
from valuesassets.instruments.psych_tasks.material.statuses import ASKED, MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import BY_LINE, Kind, Task
from valuesassets.instruments.psych_tasks.material.transcripts import TaskTranscript
from valuesassets.records.errors import QuestionError
from valuesassets.records.marks import ANGLES, Transcript, find_marks

DELIMITERS = (ANGLES, ("{", "}"), ("[[", "]]"))
MOST_MARKS = 40
"""Largest usual number of marks in a block: more are a session, not a problem or a balloon."""
WORDS_OF_ITEM, MOST_ITEMS = 3, 60
"""Number of first words that identify an item, and largest number of items identified so."""
FLIPPED = "flipped"
YES = ("yes", "true", "1", "flipped", "reversed")


def draft_task(transcripts: Sequence[Transcript], source: str) -> str:
    """A task file for transcripts, with comments that say what to look at.

    Args:
        source: the name of their file, for the first line.

    Raises:
        QuestionError: no answer stands between any of `DELIMITERS`.
    """
    texts = [transcript.text for transcript in transcripts]
    delimiters = find_delimiters(texts, source)
    block = find_block(texts, delimiters)
    without_presentation = [TaskTranscript(each.experiment, each.participant, None, each.text) for each in transcripts]
    groups = group_marks(list(_answered_marks(without_presentation, delimiters, block)))
    block_says = "up to the end of a mark's line" if block == BY_LINE else "does an item, a problem begin there?"
    experiments = list(dict.fromkeys(each.experiment for each in transcripts))
    lines = [
        f"name = {quoted(_slug(experiments[0]))}",
        f"delimiters = [{', '.join(map(quoted, delimiters))}]",
        f"block = {quoted(block)}  # {block_says}",
        "feedback = true  # false where no later text shows what answers led to (surveys, choices without outcomes)",
        *_reversed(transcripts),
        *_kinds(groups),
    ]
    drafted = "\n".join(lines) + "\n"
    return "\n".join([*_header(without_presentation, experiments, source, drafted), drafted])


def find_delimiters(texts: Sequence[str], source: str) -> tuple[str, str]:
    """The delimiters that most answers stand between.

    Raises:
        QuestionError: none does.
    """

    def sound(delimiters: tuple[str, str]) -> int:
        marks = [mark for text in texts for mark in find_marks(text, delimiters)[0]]
        return len(marks) - 2 * sum(mark.fault is not None for mark in marks)

    best = max(DELIMITERS, key=sound)
    if sound(best) < 1:
        pairs = ", ".join(" ".join(pair) for pair in DELIMITERS)
        raise QuestionError(
            f"{source}: no answers between {pairs}; write a task file that names the delimiters (`delimiters`)"
        )
    return best


def find_block(texts: Sequence[str], delimiters: tuple[str, str]) -> str:
    """The beginning of blocks: that of a line before most marks, or words in the line where all marks stand in one.

    Else the first words of all items, where items have several lines; else `line`.
    """
    marked = [(text, [mark.start for mark in find_marks(text, delimiters)[0]]) for text in texts]
    marked = [(text, starts) for text, starts in marked if starts]
    headers: dict[str, dict[int, list[int]]] = {}
    n_lines = n_behind_another = 0
    for who, (text, _) in enumerate(marked):
        place, is_behind = 0, False
        for line in text.split("\n"):
            if delimiters[0] in line:
                n_lines, n_behind_another = n_lines + 1, n_behind_another + is_behind
            elif line.strip():
                for beginning in _beginnings(line):
                    headers.setdefault(f"^{beginning}", {}).setdefault(who, []).append(place)
            is_behind = delimiters[0] in line if line.strip() else is_behind
            place += len(line) + 1
    fewest = 3 if n_behind_another >= 0.8 * n_lines else 2
    if n_lines <= len(marked):  # all marks of a transcript stand in one line
        headers |= _inline(marked, delimiters)
    scored = {regex: score for regex, places in headers.items() if (score := _as_block(places, marked, fewest))}
    if scored:
        return max(scored, key=lambda regex: scored[regex])
    return _listed_items(marked, delimiters) or BY_LINE


def _beginnings(text: str) -> Iterator[str]:
    """Beginnings that may identify a line or an item: two words; or the first alone, if it is a number or a label."""
    first, *others = text.split(" ")[:2]
    if others:
        yield as_regex(" ".join((first, *others)))
    if not others or any(map(str.isdigit, first)):
        yield as_regex(first)


def _inline(marked: Sequence[tuple[str, list[int]]], delimiters: tuple[str, str]) -> dict[str, dict[int, list[int]]]:
    """The places of words behind marks in their line, by their regular expression and the transcript."""
    regexes: dict[str, None] = {}
    for text, starts in marked:
        for start, following in pairwise(starts):
            behind = text.find(delimiters[1], start) + len(delimiters[1])
            between = text[behind : following - len(delimiters[0])].lstrip(" .,;:!?)]\"'")
            regexes |= dict.fromkeys(rf"(?<!\S){each}" for each in _beginnings(between) if between.strip())
    return {regex: _places(regex, marked) for regex in list(regexes)[:MOST_MARKS]}


def _places(regex: str, marked: Sequence[tuple[str, list[int]]]) -> dict[int, list[int]]:
    """The places of all matches, by the number of the transcript, where there is one."""
    places = {
        who: [match.start() for match in re.finditer(regex, text, re.MULTILINE)] for who, (text, _) in enumerate(marked)
    }
    return {who: starts for who, starts in places.items() if starts}


def _listed_items(marked: Sequence[tuple[str, list[int]]], delimiters: tuple[str, str]) -> str | None:
    """A regular expression for the beginnings of items of several lines that all begin differently; None without.

    An item begins behind the line of the mark before. The first item begins like an item of another transcript, else as
    many lines before its mark as most others.
    """
    beginnings: dict[str, None] = {}
    firsts: list[list[str]] = []
    sizes = Counter[int]()
    for text, starts in marked:
        lines = [line for line in text.split("\n") if line.strip()]
        answered = [number for number, line in enumerate(lines) if delimiters[0] in line]
        if len(answered) != len(starts):
            return None
        sizes.update(later - earlier for earlier, later in pairwise(answered))
        begun = [as_regex(" ".join(line.split(" ")[:WORDS_OF_ITEM])) for line in lines]
        beginnings |= dict.fromkeys(begun[number + 1] for number in answered[:-1])
        firsts.append(begun[: answered[0] + 1])
    if not sizes or min(sizes) < 2:
        return None
    ((most, _),) = sizes.most_common(1)
    for begun in firsts:
        if not set(begun) & set(beginnings):
            beginnings[begun[max(0, len(begun) - most)]] = None
    n_items = sum(len(starts) for _, starts in marked)
    if not 2 <= len(beginnings) <= min(MOST_ITEMS, n_items / 2):
        return None
    regex = f"^(?:{'|'.join(sorted(beginnings))})"
    places = _places(regex, marked)
    return regex if places and _as_block(places, marked, 2) else None


def _as_block(
    places: dict[int, list[int]], marked: Sequence[tuple[str, list[int]]], fewest: int
) -> tuple[int, float, int] | None:
    """A score of these places as the beginnings of blocks, the higher the better; None where they are no beginnings.

    Args:
        fewest: smallest mean number of blocks with marks in a transcript.
    """
    n_before, counts = 0, []
    for who, begun in places.items():
        starts = marked[who][1]
        n_before += begun[0] < starts[0]
        ends = [*begun[1:], len(marked[who][0])]
        counts += [sum(start <= mark < end for mark in starts) for start, end in zip(begun, ends, strict=True)]
    n_blocks = sum(count > 0 for count in counts)
    is_everywhere = n_before >= MOSTLY * len(marked)
    is_one_block = n_blocks >= MOSTLY * len(counts) and median(counts) <= MOST_MARKS
    if not (is_everywhere and is_one_block and n_blocks >= fewest * len(marked)):
        return None
    return n_blocks, n_blocks / len(counts), -sum(begun[0] for begun in places.values())


def _answered_marks(
    transcripts: Sequence[TaskTranscript], delimiters: tuple[str, str], block: str
) -> Iterator[AnsweredMark]:
    anything = Kind(name="anything", before=r"\S", candidates="open")
    task = Task(name="draft", delimiters=delimiters, block=block, kinds=(anything,))
    for who, each in enumerate(transcripts):
        person = mark_person(each, task)
        for mark in person.marks:
            if mark.is_answer:
                opened = mark.start - len(delimiters[0])
                start = max(0, opened - BEFORE)
                words = words_before(each.text[start:opened], delimiters[1], start > 0)
                scopes = {
                    "block": each.text[person.starts[mark.block - 1] : opened],
                    "instructions": person.instructions,
                }
                yield AnsweredMark(who, (mark.answer or "").strip(), words, scopes)


def _kinds(groups: Sequence[Group]) -> Iterator[str]:
    names = Counter[str]()
    for words, marks in groups:
        value, look = draft_candidates(marks)
        counts = ", ".join(f"{_short(text)} {n}" for text, n in Counter(mark.answer for mark in marks).most_common(6))
        name = max((re.sub(r"\\d|[^a-z]", "", word.lower()) for word in words[:2]), key=len, default="") or "answer"
        names[name] += 1
        yield ""
        yield "[[kinds]]"
        yield f"# {len(marks)} marks in {len({mark.who for mark in marks})} transcripts: {counts}"
        yield f"name = {quoted(name if names[name] == 1 else f'{name}_{names[name]}')}"
        yield f"before = {quoted(before_regex(words))}" + ("" if words else "  # any text: no words stand before all")
        yield f"candidates = {value}  # {look}"


def _reversed(transcripts: Sequence[Transcript]) -> Iterator[str]:
    """The line that says whose scale was reversed, where transcripts have such a field."""
    fields = [(each.model_extra or {}).get(FLIPPED) for each in transcripts]
    values = [value for value in dict.fromkeys(map(_toml_value, fields)) if value is not None]
    if not values:
        return
    yes = [value for value in values if value.strip("'").lower() in YES]
    no = [value for value in values if value not in yes]
    listed_yes, listed_no = ", ".join(yes or ["true"]), ", ".join(no or ["false"])
    line = f"reversed = {{ field = '{FLIPPED}', yes = [{listed_yes}], no = [{listed_no}] }}"
    lacking = sum(_toml_value(value) is None for value in fields)
    yield f"# {line}  # {lacking} transcripts lack it" if lacking else f"{line}  # which of them is which?"


def _toml_value(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(value) if isinstance(value, str) else str(value) if isinstance(value, int) else None


def _header(
    transcripts: Sequence[TaskTranscript], experiments: Sequence[str], source: str, drafted: str
) -> Iterator[str]:
    """Comments on the draft as a whole: its source, how many marks it covers, and how many experiments it mixes."""
    task = Task.model_validate(tomllib.loads(drafted))
    counts = Counter(mark.status for person in people_of(transcripts, task) for mark in person.marks)
    n_asked, n_unlisted, n = sum(counts[status] for status in ASKED), counts[MarkStatus.UNLISTED], len(transcripts)
    yield f"# Drafted from {_short(source, 200)}: {n} transcripts. Look at each line before you rely on it."
    yield f"# {n_asked} of {counts.total()} marks can be asked so; at {n_unlisted} the answer is no candidate."
    if len(experiments) > 1:
        names = ", ".join(map(_short, experiments[:5]))
        yield f"# {len(experiments)} experiments ({names}): one task file each is clearer where they are unlike."


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or "task"


def _short(text: str, most: int = 30) -> str:
    text = "".join(character if character.isprintable() else " " for character in text)
    return text if len(text) <= most else f"{text[: most - 1]}…"
