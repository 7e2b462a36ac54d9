"""Draws answers from a model as text, without code of the scorer: the second channel of calibration."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.records.errors import ScoringError
from valuesassets.spelling.tokens import Tokens

MAX_NEW_TOKENS = 8
"""Enough for a space, two digits and the end of the line, however a tokenizer cuts them."""


def sample_answers(
    loaded: LoadedModel,
    prompts: Sequence[str],
    n: int,
    seed: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Counter[str]]:
    """How often each text comes up in `n` independent answers to each prompt, drawn at temperature 1.

    Tokens are drawn from the whole vocabulary. An answer is a line: it ends with its first newline (kept), at the end
    of the text, or after `MAX_NEW_TOKENS`. Draws with equal beginnings are one row, split by a multinomial draw, which
    is the same distribution in a fraction of the passes. A prompt's answers do not depend on the other prompts.

    Args:
        on_progress: called with (prompts answered, all prompts).

    Raises:
        ScoringError: NaN or infinite logits; names model and prompt.
    """
    answers = []
    for prompt in prompts:
        with torch.inference_mode():
            answers.append(_answers(loaded, prompt, n, [seed, *hashlib.sha256(prompt.encode()).digest()]))
        if on_progress:
            on_progress(len(answers), len(prompts))
    return answers


def _answers(loaded: LoadedModel, prompt: str, n: int, seed: list[int]) -> Counter[str]:
    prompt_ids = tuple(loaded.tokenizer.encode([prompt])[0])
    answers: Counter[str] = Counter()

    def text(tokens: Tokens) -> str:
        return loaded.tokenizer.continuation_text(prompt_ids, tokens)

    beginnings: list[tuple[Tokens, int]] = [((), n)]
    next_tokens, cache = [list(prompt_ids)], None
    for _ in range(MAX_NEW_TOKENS):
        probs, cache = _next_probs(loaded, next_tokens, cache, prompt)
        going_on: list[tuple[int, Tokens, int]] = []
        for row, (tokens, count) in enumerate(beginnings):
            counts = np.random.default_rng([*seed, *tokens]).multinomial(count, probs[row] / probs[row].sum())
            for token in np.flatnonzero(counts).tolist():
                longer = (*tokens, token)
                if token in loaded.eos_ids:
                    answers[text(tokens)] += int(counts[token])
                elif "\n" in text(longer):
                    answers[text(longer)] += int(counts[token])
                else:
                    going_on.append((row, longer, int(counts[token])))
        beginnings = [(tokens, count) for _, tokens, count in going_on]
        if not beginnings:
            break
        next_tokens = [[tokens[-1]] for tokens, _ in beginnings]
        cache.batch_select_indices(torch.tensor([row for row, _, _ in going_on], device=loaded.device))
    for tokens, count in beginnings:
        answers[text(tokens)] += count
    return answers


def _next_probs(loaded: LoadedModel, tokens: list[list[int]], cache: Any, prompt: str) -> tuple[Any, Any]:
    """(rows, vocabulary) probabilities of the next token, and the cache with everything read so far."""
    output = loaded.model(
        input_ids=torch.tensor(tokens, device=loaded.device), past_key_values=cache, use_cache=True, logits_to_keep=1
    )
    probs = output.logits[:, -1].double().softmax(dim=1)
    if not bool(torch.isfinite(probs).all()):
        raise ScoringError(f"{loaded.model_id}: NaN or infinite logits at prompt {prompt[-60:]!r}")
    return probs.cpu().numpy(), output.past_key_values
