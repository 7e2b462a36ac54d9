"""The lessons of a follower as arrays: transcripts as tokens, the places with lessons, and the probabilities there.

Each candidate is encoded in place with the text that closes it, and the probabilities of those that begin alike are
added up. The code is shared with no scorer, which the model calibrates.
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
"""Tokens of the text before an answer behind which its candidates are encoded."""
CERTAIN_TURNS = 4
"""Places where only one token can follow, such as ends of answers, are lessons in every fourth transcript."""

Array = NDArray[Any]
Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Lessons:
    """The L lessons of N transcripts: a lesson is a place and the probabilities of its next tokens.

    Attributes:
        token_ids: token ids that occur; `tokens` holds indices into it.
        answers: token ids of which answers consist: the columns of `targets`, which has one more for all others.
        tokens: each transcript's tokens.
        places: each transcript's tokens behind which there is a lesson.
        first: each transcript's first row of `targets`.
        targets: (L, answer tokens + 1) float32, the probability of each next token; all 0 where no token can follow.
    """

    token_ids: Tokens
    answers: Tokens
    tokens: tuple[Array, ...]
    places: tuple[Array, ...]
    first: tuple[int, ...]
    targets: Array


@dataclass(frozen=True)
class _Spelling:
    """Candidates as tokens, each with its first closing token (`paths`), and their next tokens by beginning."""

    paths: tuple[Tokens, ...]
    following: dict[Tokens, tuple[int | None, ...]]


def spell_lessons(planted: PlantedTranscripts, tokenizer: PromptTokenizer) -> Lessons:
    """Turn planted transcripts into lessons: next-token probabilities at each mark and along the answer there.

    Raises:
        TokenizerError: a candidate's tokens differ where it stands; the message names row, mark and candidate.
    """
    lead = tokenizer.bos
    encoded = tokenizer.hf.backend_tokenizer.encode_batch(list(planted.texts), add_special_tokens=False)
    spellings: dict[tuple[int, str], _Spelling] = {}
    lessons: dict[tuple[int, str, Tokens], tuple[list[int], list[Sequence[float]]]] = defaultdict(lambda: ([], []))
    texts, places, first, rows = [], [], [], 0
    for number, (text, marks, cut) in enumerate(zip(planted.texts, planted.marks, encoded, strict=True)):
        ids, starts = cut.ids, [start for start, _ in cut.offsets]
        token_at = {start: token for token, start in enumerate(starts)}
        places_here: list[int] = []
        for mark in marks:
            first_token = token_at.get(mark.start)
            where = f"{planted.name}: transcript {number + 1}: {text[max(0, mark.start - 30) : mark.start]!r}"
            if first_token is None:
                raise TokenizerError(
                    f"{where}: no token begins with the answer {mark.answer!r}; put a delimiter before"
                )
            key = (mark.candidates, text[starts[max(0, first_token - NEAR)] : mark.start])
            if key not in spellings:
                spellings[key] = _spell(tokenizer, where, key[1], planted, mark.candidates)
            spelling, candidates = spellings[key], planted.sets[mark.candidates]
            path = spelling.paths[candidates.index(mark.answer)] if mark.answer in candidates else ()
            if tuple(ids[first_token : first_token + len(path)]) != path[: len(ids) - first_token]:
                raise TokenizerError(
                    f"{where}: {mark.answer!r} is other tokens there than alone; put it between "
                    f"delimiters, {planted.closes[mark.candidates]!r} behind it"
                )
            for depth in range(max(1, len(path))):
                beginning = path[:depth]
                is_certain = len({*spelling.following[beginning]} - {None}) == 1
                if not is_certain or number % CERTAIN_TURNS == 0:
                    numbers, targets = lessons[*key, beginning]
                    numbers.append(rows + len(places_here))
                    targets.append(mark.probs)
                    places_here.append(len(lead) + first_token - 1 + depth)
        texts.append([*lead, *ids])
        places.append(np.array(places_here, dtype=np.int64))
        first.append(rows)
        rows += len(places_here)
    answers = sorted({token for spelling in spellings.values() for path in spelling.paths for token in path})
    targets = np.zeros((rows, len(answers) + 1), dtype=np.float32)
    column = {token: n for n, token in enumerate(answers)}
    for (number, near, beginning), (numbers, probs) in lessons.items():
        following = spellings[number, near].following[beginning]
        adds = np.zeros((len(following), len(answers) + 1))
        for candidate, token in enumerate(following):
            if token is not None:
                adds[candidate, column[token]] = 1
        next_probs = np.array(probs) @ adds
        total = next_probs.sum(axis=1, keepdims=True)
        targets[numbers] = np.divide(next_probs, total, out=np.zeros_like(next_probs), where=total > 0)
    token_ids, flat = np.unique(np.concatenate([np.array(ids) for ids in texts]), return_inverse=True)
    tokens = np.split(flat, np.cumsum([len(ids) for ids in texts])[:-1])
    return Lessons(tuple(token_ids.tolist()), tuple(answers), tuple(tokens), tuple(places), tuple(first), targets)


def _spell(tokenizer: PromptTokenizer, where: str, near: str, planted: PlantedTranscripts, number: int) -> _Spelling:
    """Spell a set's candidates behind the last tokens before a mark."""
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
        beginning: tuple(
            path[len(beginning)] if len(path) > len(beginning) and path[: len(beginning)] == beginning else None
            for path in paths
        )
        for beginning in {path[:depth] for path in paths for depth in range(len(path))}
    }
    return _Spelling(tuple(paths), following)
