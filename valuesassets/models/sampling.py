"""Answers drawn from a model: the second channel, which knows nothing of labels."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from valuesassets.models.forward import BatchBudget, Passage, plan_batches, read_passages
from valuesassets.models.loading import LoadedModel

MAX_NEW_TOKENS = 8
"""Enough for a space, two digits and what ends the line, however a tokenizer cuts them."""

Tokens = tuple[int, ...]
_Draws = tuple[int, Tokens, int]
"""Position of a prompt, tokens drawn so far, and how many draws have begun so."""


def sample_answers(
    loaded: LoadedModel,
    prompts: Sequence[str],
    n: int,
    seed: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Counter[str]]:
    """How often each text comes up in `n` independent answers to each prompt, drawn at temperature 1.

    Tokens are drawn from the whole vocabulary. An answer is a line: it ends with its first newline (kept), at the end
    of the text, or after `MAX_NEW_TOKENS`. Draws that have begun alike are carried together and parted by a multinomial
    draw, which is the same distribution at a fraction of the passes.

    Args:
        seed: of the draws; a prompt's answers do not depend on the other prompts.
        on_progress: called with (answers ended, answers).

    Raises:
        ScoringError: NaN or infinite logits; names model and prompt.
    """
    prompt_ids = [tuple(ids) for ids in loaded.tokenizer.encode(prompts)]
    seeds = [[seed, *hashlib.sha256(prompt.encode()).digest()] for prompt in prompts]
    answers: list[Counter[str]] = [Counter() for _ in prompts]
    begun: list[_Draws] = [(index, (), n) for index in range(len(prompts))]
    for length in range(1, MAX_NEW_TOKENS + 1):
        begun, ended = _extend(loaded, prompt_ids, begun, seeds)
        for index, tokens, count in [*ended, *(begun if length == MAX_NEW_TOKENS else [])]:
            answers[index][loaded.tokenizer.continuation_text(prompt_ids[index], tokens)] += count
        if on_progress:
            on_progress(sum(map(Counter.total, answers)), n * len(prompts))
    return answers


def _extend(
    loaded: LoadedModel, prompt_ids: Sequence[Tokens], begun: Sequence[_Draws], seeds: Sequence[list[int]]
) -> tuple[list[_Draws], list[_Draws]]:
    """Every draw one token longer: those that go on, and those that have ended."""
    passages = [
        Passage((*prompt_ids[index], *tokens), (len(prompt_ids[index]) + len(tokens) - 1,), f"prompt {index}")
        for index, tokens, _ in begun
    ]
    plan = plan_batches(passages, BatchBudget.for_device(loaded.device))
    going_on: list[_Draws] = []
    ended: list[_Draws] = []
    for position, log_probs in read_passages(loaded, passages, plan):
        index, tokens, count = begun[position]
        probs = log_probs[0].double().exp().numpy()
        drawn = np.random.default_rng([*seeds[index], *tokens]).multinomial(count, probs / probs.sum())
        for token in np.flatnonzero(drawn).tolist():
            longer = (*tokens, token)
            if token in loaded.eos_ids:
                ended.append((index, tokens, int(drawn[token])))
            elif "\n" in loaded.tokenizer.continuation_text(prompt_ids[index], longer):
                ended.append((index, longer, int(drawn[token])))
            else:
                going_on.append((index, longer, int(drawn[token])))
    return going_on, ended
