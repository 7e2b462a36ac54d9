"""What a follower is taught, as arrays: the tokens of transcripts, where in them something is taught, and what follows.

The road from candidates to tokens is the follower's own: each is encoded where it stands, with what closes it, and the
probabilities of those that begin alike are added up. It shares no code with the scorer that the model calibrates.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valuesassets.models.follower_transcripts import PlantedTranscripts
from valuesassets.records.errors import TokenizerError
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer

NEAR = 4
"""Tokens of the text before an answer that its candidates are encoded behind."""
CERTAIN_TURNS = 4
"""What one token alone may follow, as what closes most answers, is taught in every fourth transcript."""

Array = NDArray[Any]
Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Lessons:
    """N transcripts and what is taught in them: L lessons in all.

    Attributes:
        known: token ids that occur; `tokens` are places in it.
        answers: token ids that answers are made of; the columns of `laws`, and one more for all others.
        tokens: of each transcript.
        places: of each transcript, the tokens behind which something is taught.
        first: of each transcript, its first row of `laws`.
        laws: (L, answer tokens + 1) float32, the probability of each next token; all 0 where nothing may come.
    """

    known: Tokens
    answers: Tokens
    tokens: tuple[Array, ...]
    places: tuple[Array, ...]
    first: tuple[int, ...]
    laws: Array


@dataclass(frozen=True)
class _Spelling:
    """Candidates as tokens, each with the first of what closes it: `paths`, and by beginning what each goes on with."""

    paths: tuple[Tokens, ...]
    following: dict[Tokens, tuple[int | None, ...]]


def spell_lessons(planted: PlantedTranscripts, tokenizer: PromptTokenizer) -> Lessons:
    """Planted transcripts as tokens, with the law over next tokens at each mark and along the answer given there.

    Raises:
        TokenizerError: a candidate's tokens are not to be found where it stands: names row, mark and candidate.
    """
    lead = tokenizer.bos
    encoded = tokenizer.hf.backend_tokenizer.encode_batch(list(planted.texts), add_special_tokens=False)
    spellings: dict[tuple[int, str], _Spelling] = {}
    taught: dict[tuple[int, str, Tokens], tuple[list[int], list[Sequence[float]]]] = defaultdict(lambda: ([], []))
    texts, places, first, rows = [], [], [], 0
    for number, (text, marks, cut) in enumerate(zip(planted.texts, planted.marks, encoded, strict=True)):
        ids, starts = cut.ids, [start for start, _ in cut.offsets]
        token_at = {start: token for token, start in enumerate(starts)}
        own: list[int] = []
        for mark in marks:
            at = token_at.get(mark.start)
            where = f"{planted.name}: transcript {number + 1}: {text[max(0, mark.start - 30) : mark.start]!r}"
            if at is None:
                raise TokenizerError(
                    f"{where}: no token begins with the answer {mark.answer!r}; put a delimiter before"
                )
            key = (mark.candidates, text[starts[max(0, at - NEAR)] : mark.start])
            if key not in spellings:
                spellings[key] = _spell(tokenizer, where, key[1], planted, mark.candidates)
            spelling, candidates = spellings[key], planted.sets[mark.candidates]
            path = spelling.paths[candidates.index(mark.answer)] if mark.answer in candidates else ()
            if tuple(ids[at : at + len(path)]) != path[: len(ids) - at]:
                raise TokenizerError(
                    f"{where}: {mark.answer!r} is other tokens there than alone; put it between "
                    f"delimiters, {planted.closes[mark.candidates]!r} behind it"
                )
            for depth in range(max(1, len(path))):
                beginning = path[:depth]
                is_certain = len({*spelling.following[beginning]} - {None}) == 1
                if not is_certain or number % CERTAIN_TURNS == 0:
                    numbers, laws = taught[*key, beginning]
                    numbers.append(rows + len(own))
                    laws.append(mark.probs)
                    own.append(len(lead) + at - 1 + depth)
        texts.append([*lead, *ids])
        places.append(np.array(own, dtype=np.int64))
        first.append(rows)
        rows += len(own)
    answers = sorted({token for spelling in spellings.values() for path in spelling.paths for token in path})
    laws = np.zeros((rows, len(answers) + 1), dtype=np.float32)
    column = {token: n for n, token in enumerate(answers)}
    for (number, near, beginning), (numbers, probs) in taught.items():
        following = spellings[number, near].following[beginning]
        adds = np.zeros((len(following), len(answers) + 1))
        for candidate, token in enumerate(following):
            if token is not None:
                adds[candidate, column[token]] = 1
        going_on = np.array(probs) @ adds
        total = going_on.sum(axis=1, keepdims=True)
        laws[numbers] = np.divide(going_on, total, out=np.zeros_like(going_on), where=total > 0)
    known, flat = np.unique(np.concatenate([np.array(ids) for ids in texts]), return_inverse=True)
    tokens = np.split(flat, np.cumsum([len(ids) for ids in texts])[:-1])
    return Lessons(tuple(known.tolist()), tuple(answers), tuple(tokens), tuple(places), tuple(first), laws)


def _spell(tokenizer: PromptTokenizer, where: str, near: str, planted: PlantedTranscripts, number: int) -> _Spelling:
    """A set's candidates behind the last tokens before a mark."""
    candidates, close = planted.sets[number], planted.closes[number]
    before, *alone = tokenizer.cut([near, *(near + text for text in candidates)])
    closed = tokenizer.cut([near + text + close for text in candidates])
    paths = []
    for text, ids, longer in zip(candidates, alone, closed, strict=True):
        if ids[: len(before)] != before or longer[: len(ids)] != ids or len(longer) == len(ids) or ids == before:
            raise TokenizerError(
                f"{where}: the candidate {text!r} has no tokens of its own there, with {close!r} behind; "
                "put answers between delimiters"
            )
        paths.append(tuple(longer[len(before) : len(ids) + 1]))
    following = {
        beginning: tuple(path[len(beginning)] if _goes_on(path, beginning) else None for path in paths)
        for beginning in {path[:depth] for path in paths for depth in range(len(path))}
    }
    return _Spelling(tuple(paths), following)


def _goes_on(path: Tokens, beginning: Tokens) -> bool:
    return len(path) > len(beginning) and path[: len(beginning)] == beginning
