"""Tests whether written answers depend on their batch: some are read again, each alone in one pass.

A text that was written in a batch equals the text written alone if, and only if, the model alone would draw each of its
tokens behind those before it. Nothing is therefore written again: one pass over prompt and text, without a cache, gives
the token that would have been drawn at every place, with the same keyed noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from valuesassets.models.engine import OutOfMemory, row_logits, within_memory
from valuesassets.models.keyed_draws import Draws
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.scoring import choose_sample
from valuesassets.models.wide_head import turned_head
from valuesassets.models.writing import AnswerRequest, draw_tokens
from valuesassets.records.trials import Answer, Status

CERTIFIED = 8
"""Most answers to read again."""
FEWEST = 2
"""Fewest answers to read again, if there are as many."""
SHARE = 0.25
"""Above the fewest, most tokens to read again, as a share of all tokens read and written. Reading a token costs at most
three quarters of writing it in a large batch, and less than half in a small one."""
ROWS = 128
"""Most places of a text whose logits are computed in one pass."""


@dataclass(frozen=True)
class GenerationCertificate:
    """Whether answers are the same when written alone.

    Attributes:
        answers: number of answers read again, each alone.
        equal_share: share of those whose every token is the one drawn alone.
        agrees: whether every other token was a near tie with the one drawn alone.
    """

    answers: int
    equal_share: float
    agrees: bool

    refusal = None
    """Answers are always stored, since each is one that the model may write."""

    @property
    def doubt(self) -> str | None:
        """The disagreement, in words; None where there is none, or where nothing could be read again."""
        if self.agrees or not self.answers:
            return None
        return (
            f"answers change with the batch where no two tokens were near a tie; {self.equal_share:.0%} of "
            f"{self.answers} that were read again alone came out the same"
        )


def certify_answers(
    loaded: LoadedModel, requests: Mapping[str, AnswerRequest], answers: Mapping[str, Answer]
) -> GenerationCertificate:
    """Read a sample of answers again, given by key with their tokens; one that does not fit alone is left out."""
    sample = choose_answers(requests, answers)
    results = [same for key in sample if (same := _compare(loaded, requests[key], answers[key])) is not None]
    share = sum(is_equal for is_equal, _ in results) / len(results) if results else 0.0
    return GenerationCertificate(len(results), share, bool(results) and all(is_near for _, is_near in results))


def choose_answers(requests: Mapping[str, AnswerRequest], answers: Mapping[str, Answer]) -> list[str]:
    """Keys of the answers to read again: that to the shortest prompt, which gets most padding, that to the longest and
    drawn ones while all stay below `SHARE`, then the cheapest."""
    lengths = {key: len(requests[key].prompt_ids) for key, answer in answers.items() if answer.status is Status.OK}
    costs = {key: length + len(answers[key].token_ids or ()) for key, length in lengths.items()}
    prompts = {requests[key].prompt_ids for key in costs}
    room = SHARE * (sum(map(len, prompts)) + sum(cost - lengths[key] for key, cost in costs.items()))
    sample = choose_sample(lengths, CERTIFIED)
    chosen: dict[str, int] = {}
    for key in [*sample[:1], *sample[:0:-1]]:
        if not chosen or sum(chosen.values()) + costs[key] <= room:
            chosen[key] = costs[key]
    for key in sorted(costs, key=lambda key: (costs[key], key)):
        if len(chosen) < FEWEST:
            chosen[key] = costs[key]
    return list(chosen)


def _compare(loaded: LoadedModel, request: AnswerRequest, answer: Answer) -> tuple[bool, bool] | None:
    """Whether all tokens of an answer are those drawn alone, and the others near ties; None if it does not fit."""
    tokens = answer.token_ids or ()
    places = len(tokens) + (answer.finish == "end")
    is_equal = is_near = True
    for start in range(0, places, ROWS):
        draws = _draw_alone(loaded, request, tokens, range(start, min(start + ROWS, places)))
        if draws is None:
            return None
        for row, place in enumerate(range(start, min(start + ROWS, places))):
            token = draws.tokens[row]
            is_same = token in loaded.eos_ids if place == len(tokens) else token == tokens[place]
            is_equal &= is_same and draws.is_finite[row]
            is_near &= draws.is_finite[row] and (is_same or draws.gaps[row] < draws.near[row])
    return is_equal, is_near


def _draw_alone(loaded: LoadedModel, request: AnswerRequest, tokens: tuple[int, ...], places: range) -> Draws | None:
    """The tokens drawn alone at some places of a text, each behind the tokens before it."""
    sequence = [*request.prompt_ids, *tokens[: places.stop - 1]]
    nodes = torch.tensor(places) + len(request.prompt_ids) - 1

    def read() -> Draws:
        ids = torch.tensor([sequence], device=loaded.device)
        with turned_head(loaded.model):
            logits = row_logits(loaded.model, torch.zeros_like(nodes), nodes, input_ids=ids, use_cache=False)
        return draw_tokens(logits, [request] * len(nodes), places, loaded.opened.dtype)

    try:
        return within_memory(read)
    except OutOfMemory:
        return None
