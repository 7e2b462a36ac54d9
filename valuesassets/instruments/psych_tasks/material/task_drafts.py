"""Drafted task files: what transcripts themselves tell of their task, as TOML to begin a task file with."""

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
from valuesassets.instruments.psych_tasks.material.marks import BEFORE, Person, mark_person, people_of
from valuesassets.instruments.psych_tasks.material.statuses import ASKED, MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import BY_LINE, Kind, Task
from valuesassets.instruments.psych_tasks.material.transcripts import Shown
from valuesassets.records.errors import QuestionError
from valuesassets.records.marks import ANGLES, Transcript, find_marks

DELIMITERS = (ANGLES, ("{", "}"), ("[[", "]]"))
MOST_MARKS = 40
"""Of a block, usually, at most: more are a session, not a problem or a balloon."""
WORDS_OF_ITEM, MOST_ITEMS = 3, 60
"""Words by which an item is known that begins in its own way, and items at most that are known so."""
FLIPPED = "flipped"
YES = ("yes", "true", "1", "flipped", "reversed")


def draft_task(transcripts: Sequence[Transcript], source: str) -> str:
    """A task file for transcripts, with comments that say what to look at.

    Args:
        source: what they are from, for the first line.

    Raises:
        QuestionError: there is no answer between delimiters that are known.
    """
    texts = [transcript.text for transcript in transcripts]
    delimiters = find_delimiters(texts, source)
    block = find_block(texts, delimiters)
    shown = [Shown(each.experiment, each.participant, None, each.text) for each in transcripts]
    groups = group_marks(list(_answered(shown, delimiters, block)))
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
    return "\n".join([*_header(shown, experiments, source, drafted), drafted])


def find_delimiters(texts: Sequence[str], source: str) -> tuple[str, str]:
    """The delimiters that most answers stand between.

    Raises:
        QuestionError: none does.
    """

    def sound(delimiters: tuple[str, str]) -> int:
        found = [mark for text in texts for mark in find_marks(text, delimiters)[0]]
        n_faults = sum(mark.fault is not None for mark in found)
        return len(found) - 2 * n_faults

    best = max(DELIMITERS, key=sound)
    if sound(best) < 1:
        known = ", ".join(" ".join(pair) for pair in DELIMITERS)
        raise QuestionError(
            f"{source}: no answers between {known}; write a task file that names the delimiters (`delimiters`)"
        )
    return best


def find_block(texts: Sequence[str], delimiters: tuple[str, str]) -> str:
    """Where blocks begin: a line that begins alike before most marks; what items begin with where they begin
    differently; where all marks stand in one line, words in it; else `line`."""
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
    """What a line, an item may be known by: its first two words; the first alone, where that is a number or a label."""
    first, *others = text.split(" ")[:2]
    if others:
        yield as_regex(" ".join((first, *others)))
    if not others or any(map(str.isdigit, first)):
        yield as_regex(first)


def _inline(marked: Sequence[tuple[str, list[int]]], delimiters: tuple[str, str]) -> dict[str, dict[int, list[int]]]:
    """Words that stand behind marks in their line, by regular expression the places where they are found."""
    regexes: dict[str, None] = {}
    for text, starts in marked:
        for start, following in pairwise(starts):
            behind = text.find(delimiters[1], start) + len(delimiters[1])
            between = text[behind : following - len(delimiters[0])].lstrip(" .,;:!?)]\"'")
            regexes |= dict.fromkeys(rf"(?<!\S){each}" for each in _beginnings(between) if between.strip())
    return {
        regex: {
            who: places
            for who, (text, _) in enumerate(marked)
            if (places := [found.start() for found in re.finditer(regex, text)])
        }
        for regex in list(regexes)[:MOST_MARKS]
    }


def _listed_items(marked: Sequence[tuple[str, list[int]]], delimiters: tuple[str, str]) -> str | None:
    """Any of the words that items of several lines begin with, where each begins in its own way; None without.

    An item begins behind the line of the mark before; the first one where another transcript has an item that begins
    so, else as many lines before its mark as most others.
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
    places = {
        who: [found.start() for found in re.finditer(regex, text, re.MULTILINE)] for who, (text, _) in enumerate(marked)
    }
    known = {who: found for who, found in places.items() if found}
    return regex if known and _as_block(known, marked, 2) else None


def _as_block(
    places: dict[int, list[int]], marked: Sequence[tuple[str, list[int]]], fewest: int
) -> tuple[int, float, int] | None:
    """How good a beginning of blocks lines are that stand at these places; None where they are none.

    Args:
        fewest: blocks with marks of a transcript, on average, at least.
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


def _answered(shown: Sequence[Shown], delimiters: tuple[str, str], block: str) -> Iterator[AnsweredMark]:
    anything = Kind(name="anything", before=r"\S", candidates="open")
    task = Task(name="draft", delimiters=delimiters, block=block, kinds=(anything,))
    for who, each in enumerate(shown):
        person = mark_person(each, task)
        for mark in person.marks:
            if mark.is_answer:
                opened = mark.start - len(delimiters[0])
                begun = max(0, opened - BEFORE)
                words = words_before(each.text[begun:opened], delimiters[1], begun > 0)
                yield AnsweredMark(who, (mark.answer or "").strip(), words, _scopes(person, mark.block, opened))


def _scopes(person: Person, block: int, opened: int) -> dict[str, str]:
    return {"block": person.shown.text[person.starts[block - 1] : opened], "instructions": person.instructions}


def _kinds(groups: Sequence[Group]) -> Iterator[str]:
    names = Counter[str]()
    for words, marks in groups:
        value, look = draft_candidates(marks)
        seen = ", ".join(f"{_short(text)} {n}" for text, n in Counter(mark.answer for mark in marks).most_common(6))
        name = max((re.sub(r"\\d|[^a-z]", "", word.lower()) for word in words[:2]), key=len, default="") or "answer"
        names[name] += 1
        yield ""
        yield "[[kinds]]"
        yield f"# {len(marks)} marks in {len({mark.who for mark in marks})} transcripts: {seen}"
        yield f"name = {quoted(name if names[name] == 1 else f'{name}_{names[name]}')}"
        yield f"before = {quoted(before_regex(words))}" + ("" if words else "  # any text: no words stand before all")
        yield f"candidates = {value}  # {look}"


def _reversed(transcripts: Sequence[Transcript]) -> Iterator[str]:
    """The line that says whose scale ran the other way, where transcripts say so."""
    said = [(each.model_extra or {}).get(FLIPPED) for each in transcripts]
    values = [value for value in dict.fromkeys(map(_toml_value, said)) if value is not None]
    if not values:
        return
    yes = [value for value in values if value.strip("'").lower() in YES]
    no = [value for value in values if value not in yes]
    said_yes, said_no = ", ".join(yes or ["true"]), ", ".join(no or ["false"])
    line = f"reversed = {{ field = '{FLIPPED}', yes = [{said_yes}], no = [{said_no}] }}"
    lacking = sum(_toml_value(value) is None for value in said)
    yield f"# {line}  # {lacking} transcripts lack it" if lacking else f"{line}  # which of them is which?"


def _toml_value(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(value) if isinstance(value, str) else str(value) if isinstance(value, int) else None


def _header(shown: Sequence[Shown], experiments: Sequence[str], source: str, drafted: str) -> Iterator[str]:
    task = Task.model_validate(tomllib.loads(drafted))
    counts = Counter(mark.status for person in people_of(shown, task) for mark in person.marks)
    asked, unlisted = sum(counts[status] for status in ASKED), counts[MarkStatus.UNLISTED]
    yield f"# Drafted from {_short(source, 200)}: {len(shown)} transcripts. Look at each line before you rely on it."
    yield f"# {asked} of {counts.total()} marks can be asked so; at {unlisted} the answer is no candidate."
    if len(experiments) > 1:
        named = ", ".join(map(_short, experiments[:5]))
        yield f"# {len(experiments)} experiments ({named}): one task file each is clearer where they are unlike."


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or "task"


def _short(text: str, most: int = 30) -> str:
    text = "".join(character if character.isprintable() else " " for character in text)
    return text if len(text) <= most else f"{text[: most - 1]}…"
