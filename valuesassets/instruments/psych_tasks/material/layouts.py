"""Layouts of a passage for a model: with the marks of the transcript, without them, or as a chat."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.instruments.psych_tasks.material.marks import TaskMark
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.records.readouts import Span
from valuesassets.records.trials import Turn

BEHIND_AN_ANSWER = ".,;:!?)]"
"""Punctuation after an answer, which is dropped where the answer becomes a turn."""


@dataclass(frozen=True)
class Slot:
    """A mark in a passage, and the answer that is shown there."""

    mark: TaskMark
    answer: str
    is_asked: bool


Piece = str | Slot
"""A part of a passage: text between marks, without delimiters, or a mark."""


@dataclass(frozen=True)
class LaidOut:
    """A passage as a model is shown it.

    Attributes:
        spans: the places of the asked marks, in order; `Span.set` is a place in `sets`.
        sets: the sets of candidates.
        close: texts that end an answer.
        chat: the passage as turns, for chat models.
    """

    prompt: str
    spans: tuple[Span, ...]
    sets: tuple[tuple[str, ...], ...]
    close: tuple[str, ...]
    chat: tuple[Turn, ...] | None = None


def pieces_of(text: str, marks: Sequence[TaskMark], task: Task, start: int = 0) -> list[Piece]:
    """A text, cut into texts and marks with their answers; marks without an answer are text.

    Args:
        marks: those of the text; their places count from `start`.
    """
    opening, closing = task.delimiters
    pieces: list[Piece] = []
    behind = 0
    for mark in marks:
        if mark.is_answer:
            pieces.append(text[behind : mark.start - start - len(opening)])
            pieces.append(Slot(mark, mark.answer or "", mark.is_asked))
            behind = mark.end - start + len(closing)
    return [*pieces, text[behind:]]


def lay_out_marked(pieces: Sequence[Piece], task: Task) -> LaidOut:
    """A passage word for word, with its delimiters."""
    opening, closing = task.delimiters
    prompt, sets = "", dict[tuple[str, ...], int]()
    spans: list[Span] = []
    for piece in pieces:
        if isinstance(piece, str):
            prompt += piece
            continue
        start = len(prompt) + len(opening)
        if piece.is_asked:
            spans.append(Span(start, start + len(piece.answer), sets.setdefault(piece.mark.candidates, len(sets))))
        prompt += f"{opening}{piece.answer}{closing}"
    return LaidOut(prompt, tuple(spans), tuple(sets), (closing,))


def lay_out_plain(pieces: Sequence[Piece]) -> LaidOut:
    """A passage without delimiters; a space directly before a mark belongs to its answer."""
    prompt, sets = "", dict[tuple[str, ...], int]()
    spans: list[Span] = []
    close: dict[str, None] = {}
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            prompt += piece
            continue
        space = " " if prompt.endswith(" ") else ""
        prompt = prompt.removesuffix(" ")
        if piece.is_asked:
            candidates = tuple(space + text for text in piece.mark.candidates)
            end = len(prompt) + len(space + piece.answer)
            spans.append(Span(len(prompt), end, sets.setdefault(candidates, len(sets))))
            following = next((each for each in pieces[place + 1 :] if isinstance(each, Slot) or each), "\n")
            close[following[0] if isinstance(following, str) else " "] = None
        prompt += space + piece.answer
    return LaidOut(prompt, tuple(spans), tuple(sets), tuple(dict.fromkeys([*close, "\n"])))


def with_chat(laid: LaidOut, pieces: Sequence[Piece], task: Task) -> LaidOut:
    """The same passage also as a chat: the user says the texts between marks, the assistant the answers.

    Marks with nothing but white space or closing punctuation between them share a turn. A passage that begins with a
    mark has no chat: nothing is left for the user to say.
    """
    turns: list[Turn] = []
    places: list[tuple[int, int]] = []
    between = ""
    for piece in pieces:
        if isinstance(piece, str):
            between += piece
            continue
        text = _user_text(between, is_first=not turns)
        if text:
            hint = f"\n{task.reply_hint}" if task.reply_hint and not turns else ""
            turns += [Turn("user", text + hint), Turn("assistant", piece.answer)]
            at = 0
        elif not turns:
            return laid
        else:
            before = turns[-1].text
            turns[-1] = Turn("assistant", f"{before} {piece.answer}")
            at = len(before)
        if piece.is_asked:
            places.append((sum(turn.role == "assistant" for turn in turns) - 1, at))
        between = ""
    spans = [span._replace(turn=turn, at=at) for span, (turn, at) in zip(laid.spans, places, strict=True)]
    return LaidOut(laid.prompt, tuple(spans), laid.sets, laid.close, tuple(turns))


def _user_text(text: str, is_first: bool) -> str:
    """What the user says between two marks, without the punctuation after the answer before."""
    return text.strip() if is_first else re.sub(rf"^\s*[{re.escape(BEHIND_AN_ANSWER)}]+", "", text).strip()
