"""Whether what a model wrote depends on what stood beside it: some answers are read again, each alone in one pass.

A text that was written in a batch is the one that is written alone if, and only if, the model alone would choose each
of its tokens behind those before it. So nothing is written again: one pass over prompt and text, without a cache, says
what would have been chosen at every place, by the same keyed noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from valuesassets.models.engine import OutOfMemory, row_logits, within_memory
from valuesassets.models.keyed_draws import Drawn
from valuesassets.models.loading import LoadedModel
from valuesassets.models.scoring import choose_sample
from valuesassets.models.wide_head import turned_head
from valuesassets.models.writing import Asked, draw_tokens
from valuesassets.records.trials import Answer, Status

CERTIFIED = 8
"""Most answers that are read again."""
FEWEST = 2
"""Fewest, where there are as many."""
SHARE = 0.25
"""Most tokens that are read again for more than the fewest, over all that were read and written. To read a token costs
at most some three quarters of writing one among many, and less than a half among few."""
ROWS = 128
"""Most places of a text at which the head's product is taken in one pass."""


@dataclass(frozen=True)
class GenerationCertificate:
    """Whether answers come out the same alone.

    Attributes:
        answers: how many were read again, each alone.
        equal_share: in how many of those each token is the one that is chosen alone.
        agrees: whether each token that is not was as good as equal to the one chosen.
    """

    answers: int
    equal_share: float
    agrees: bool

    @property
    def doubt(self) -> str | None:
        """What disagrees, in words; None where nothing does, or nothing could be read again."""
        if self.agrees or not self.answers:
            return None
        return (
            f"answers change with the batch where no two tokens were near a tie; {self.equal_share:.0%} of "
            f"{self.answers} that were read again alone came out the same"
        )


def certify_answers(
    loaded: LoadedModel, asked: Mapping[str, Asked], answers: Mapping[str, Answer]
) -> GenerationCertificate:
    """Read a sample of answers again; one that does not fit into the memory alone is left out.

    Args:
        asked: what was asked, by key.
        answers: by key, with the tokens that were written.
    """
    sample = choose_answers(asked, answers)
    found = [same for key in sample if (same := _compare(loaded, asked[key], answers[key])) is not None]
    share = sum(is_equal for is_equal, _ in found) / len(found) if found else 0.0
    return GenerationCertificate(len(found), share, bool(found) and all(is_near for _, is_near in found))


def choose_answers(asked: Mapping[str, Asked], answers: Mapping[str, Answer]) -> list[str]:
    """Keys of a few answers: that to the shortest prompt, which most padding stands before, and others if not too much.

    To the longest prompt, then drawn ones, as long as they keep below `SHARE`; else the cheapest.
    """
    lengths = {key: len(asked[key].prompt_ids) for key, answer in answers.items() if answer.status is Status.OK}
    costs = {key: length + len(answers[key].token_ids or ()) for key, length in lengths.items()}
    prompts = {asked[key].prompt_ids for key in costs}
    room = SHARE * (sum(map(len, prompts)) + sum(cost - lengths[key] for key, cost in costs.items()))
    drawn = choose_sample(lengths, CERTIFIED)
    chosen: dict[str, int] = {}
    for key in [*drawn[:1], *drawn[:0:-1]]:
        if not chosen or sum(chosen.values()) + costs[key] <= room:
            chosen[key] = costs[key]
    for key in sorted(costs, key=lambda key: (costs[key], key)):
        if len(chosen) < FEWEST:
            chosen[key] = costs[key]
    return list(chosen)


def _compare(loaded: LoadedModel, asked: Asked, answer: Answer) -> tuple[bool, bool] | None:
    """Whether all tokens of an answer are those chosen alone, and whether those that are not were near ties.

    None where the answer does not fit into the memory.
    """
    tokens = answer.token_ids or ()
    places = len(tokens) + (answer.finish == "end")
    is_equal = is_near = True
    for start in range(0, places, ROWS):
        drawn = _choices(loaded, asked, tokens, range(start, min(start + ROWS, places)))
        if drawn is None:
            return None
        for row, place in enumerate(range(start, min(start + ROWS, places))):
            chosen = drawn.tokens[row]
            is_same = chosen in loaded.eos_ids if place == len(tokens) else chosen == tokens[place]
            is_equal &= is_same and drawn.is_finite[row]
            is_near &= drawn.is_finite[row] and (is_same or drawn.gaps[row] < drawn.near[row])
    return is_equal, is_near


def _choices(loaded: LoadedModel, asked: Asked, tokens: tuple[int, ...], places: range) -> Drawn | None:
    """What is chosen alone at some places of a text, each behind the tokens before it."""
    sequence = [*asked.prompt_ids, *tokens[: places.stop - 1]]
    nodes = torch.tensor(places) + len(asked.prompt_ids) - 1

    def read() -> Drawn:
        ids = torch.tensor([sequence], device=loaded.device)
        with turned_head(loaded.model):
            logits = row_logits(loaded.model, torch.zeros_like(nodes), nodes, input_ids=ids, use_cache=False)
        return draw_tokens(logits, [asked] * len(nodes), places, loaded.opened.dtype)

    try:
        return within_memory(read)
    except OutOfMemory:
        return None
