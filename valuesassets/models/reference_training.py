"""Fits a one-layer LLaMA to answer trees: a step over a batch of prompts takes some milliseconds on one core.

The trees are the reference model's own road from texts to tokens: it shares no code with the scorer that the model
calibrates.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from valuesassets.models.reference_llama import (
    HEADS,
    HIDDEN,
    ROPE_BASE,
    Array,
    Positions,
    Weights,
    gradients,
    new_weights,
    read_positions,
)
from valuesassets.records.errors import TokenizerError
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer

PROMPTS_PER_BATCH, BATCHES_PER_PASS = 24, 5
"""Most prompts in a batch, and fewest batches in a pass where there are prompts enough: few prompts need more steps."""
LEARNING_RATE, MOMENTUM, SQUARES, TINY = 3e-3, 0.9, 0.95, 1e-8
"""Of Adam: the rate, how much of the mean gradient and of the mean square is kept, and what keeps it from 0."""
LARGEST_GRADIENT = 1.0
STEPS_TO_WARM = 20
FORCED_TURNS, FORCED_WEIGHT = 4, 0.3
"""Positions that only one token may follow come up in every fourth pass, with this weight."""
LARGEST_WEIGHT = 8.0
"""Where one token takes nearly all, an error in the shares of the rest hardly shows in the divergence: such positions
weigh 1 / (1 - largest probability), up to this."""
FOCUS = 10.0
"""A position weighs more by its divergence over the last pass's mean, up to this many times: few prompts that differ in
a word or two are else told apart last, or never."""
SMALL_KL = 5e-5
"""Mean Kullback-Leibler divergence (nats) at which further passes are not worth their time."""


@dataclass(frozen=True)
class AnswerTree:
    """What follows a prompt, merged over all of its answers.

    Attributes:
        prompt: token ids, at least one.
        beginnings: token ids of every beginning of an answer that something follows, the empty one first.
        next_probs: per beginning, the probability of each next token; sums to 1.
    """

    prompt: tuple[int, ...]
    beginnings: tuple[tuple[int, ...], ...]
    next_probs: tuple[dict[int, float], ...]


def grow_answer_tree(tokenizer: PromptTokenizer, prompt: str, answers: Mapping[str, float]) -> AnswerTree:
    r"""The tree of one prompt's answers, cut as the tokenizer cuts prompt and answer together.

    An answer that does not end its line is followed by the end of the text; one that does is complete.

    Args:
        answers: probability of each whole answer text (` 1\n`); sums to 1.

    Raises:
        TokenizerError: the prompt's tokens change when an answer follows.
    """
    asked = {text: prob for text, prob in answers.items() if prob > 0}
    prompt_ids, *joint = tokenizer.encode([prompt, *(prompt + text for text in asked)])
    mass: dict[tuple[int, ...], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (text, prob), ids in zip(asked.items(), joint, strict=True):
        if ids[: len(prompt_ids)] != prompt_ids:
            raise TokenizerError(f"{prompt[-40:]!r}: its tokens change when the planted answer {text!r} follows")
        answer = ids[len(prompt_ids) :] + ([] if text.endswith("\n") else [tokenizer.hf.eos_token_id])
        for depth, token in enumerate(answer):
            mass[tuple(answer[:depth])][token] += prob
    beginnings = tuple(sorted(mass, key=lambda beginning: (len(beginning), beginning)))
    totals = [math.fsum(mass[beginning].values()) for beginning in beginnings]
    next_probs = tuple(
        {token: prob / total for token, prob in sorted(mass[beginning].items())}
        for beginning, total in zip(beginnings, totals, strict=True)
    )
    return AnswerTree(tuple(prompt_ids), beginnings, next_probs)


@dataclass(frozen=True)
class Fit:
    """How far a fit came: mean and largest KL (nats) over the positions of its last pass."""

    passes: int
    mean_kl: float
    max_kl: float


@dataclass(frozen=True)
class Batch:
    """What is read of some prompts in one pass, and what should come out.

    Attributes:
        probs: (R, answer tokens + 1) probability of each next token; 0 for the last, all tokens that no answer holds.
        weight: (R,) of each position.
    """

    at: Positions
    probs: Array
    weight: Array


@dataclass(frozen=True)
class Vocabulary:
    """The tokens that a reference model is trained on: those of its prompts, and among them those of its answers.

    Attributes:
        places: by token id, the row of `embed`.
        answers: by token id, the column of `head`.
        n_others: how many tokens no answer holds; they share what `head` gives to its last column.
    """

    places: dict[int, int]
    answers: dict[int, int]
    n_others: int

    @classmethod
    def of(cls, trees: Sequence[AnswerTree], size: int) -> "Vocabulary":
        """The vocabulary of trees, of a tokenizer of some size."""
        answers = sorted({token for tree in trees for next_probs in tree.next_probs for token in next_probs})
        known = sorted({token for tree in trees for token in tree.prompt} | set(answers))
        return cls(
            {token: n for n, token in enumerate(known)},
            {token: n for n, token in enumerate(answers)},
            size - len(answers),
        )


def fit(
    trees: Sequence[AnswerTree],
    vocabulary: Vocabulary,
    passes: int,
    seed: int,
    on_pass: Callable[[int, float], None] | None = None,
) -> tuple[Weights, Fit]:
    """Train a one-layer model until its answers follow the trees.

    Args:
        passes: most passes over all prompts; the learning rate falls to nearly nothing over them.
        on_pass: called with (passes done, mean KL in nats).
    """
    random = np.random.default_rng(seed)
    weights, step = _in_one_piece(new_weights(len(vocabulary.places), len(vocabulary.answers), random))
    by_length = sorted(trees, key=lambda tree: (len(tree.prompt) + len(tree.beginnings), tree.prompt))
    size = min(PROMPTS_PER_BATCH, -(-len(trees) // BATCHES_PER_PASS))
    parts = [by_length[start : start + size] for start in range(0, len(trees), size)]
    turns = [[stack(part, vocabulary, turn) for part in parts] for turn in range(FORCED_TURNS)]
    done, mean_kl, max_kl, steps = 0, math.inf, math.inf, 0
    while done < passes and mean_kl > SMALL_KL:
        weighted, weight, max_kl = 0.0, 0.0, 0.0
        for index in random.permutation(len(parts)):
            batch = turns[done % FORCED_TURNS][index]
            kl, found = _fall(weights, batch, vocabulary, mean_kl)
            steps += 1
            warm, left = min(1.0, steps / STEPS_TO_WARM), 1 - steps / (passes * len(parts))
            step(found, LEARNING_RATE * (warm * math.sin(math.pi / 2 * left) ** 2 + 0.002), steps)
            weighted += float(kl @ batch.weight)
            weight += float(batch.weight.sum())
            max_kl = max(max_kl, float(kl.max()))
        done, mean_kl = done + 1, weighted / weight
        if on_pass:
            on_pass(done, mean_kl)
    return weights, Fit(done, mean_kl, max_kl)


def stack(trees: Sequence[AnswerTree], vocabulary: Vocabulary, turn: int | None = None) -> Batch:
    """Prompts side by side, each followed by the last tokens of its beginnings, which see their own path only.

    Args:
        turn: which of the positions that only one token may follow are read, of `FORCED_TURNS`; all where it is None.
    """
    tokens: dict[int, int] = {}
    pairs: dict[tuple[int, int], int] = {}

    def pair(token: int, place: int) -> int:
        tokens.setdefault(token, len(tokens))
        return pairs.setdefault((token, place), len(pairs))

    keys, reads, seen, probs, weight = [], [], [], [], []
    for number, tree in enumerate(trees):
        following = list(zip(tree.beginnings, tree.next_probs, strict=True))
        asked = [
            (beginning, next_probs)
            for n, (beginning, next_probs) in enumerate(following, number)
            if turn is None or len(next_probs) > 1 or n % FORCED_TURNS == turn
        ]
        paths = sorted({beginning[:depth] for beginning, _ in asked for depth in range(1, len(beginning) + 1)})
        length = len(tree.prompt)
        column = {path: length + n for n, path in enumerate(paths)}
        own = [pair(token, place) for place, token in enumerate(tree.prompt)]
        own += [pair(path[-1], length - 1 + len(path)) for path in paths]
        keys.append(own)
        reads.append([own[column.get(beginning, length - 1)] for beginning, _ in asked])
        seen.append([[*range(length), *(column[b[:depth]] for depth in range(1, len(b) + 1))] for b, _ in asked])
        for _, next_probs in asked:
            row = [0.0] * (len(vocabulary.answers) + 1)
            for token, prob in next_probs.items():
                row[vocabulary.answers[token]] = prob
            probs.append(row)
            largest = max(next_probs.values())
            weight.append(FORCED_WEIGHT if len(next_probs) == 1 else min(LARGEST_WEIGHT, 1 / (1 - largest)))
    if turn is not None and not any(reads):
        return stack(trees, vocabulary)  # every answer is sure, and none of them is of this turn
    n_places, n_reads = max(map(len, keys)), max(map(len, reads))
    mask = np.full((len(trees), 1, n_reads, n_places), -np.inf, dtype=np.float32)
    mask[..., 0] = 0  # what is padded sees something too
    for prompt, of_prompt in enumerate(seen):
        for n, columns in enumerate(of_prompt):
            mask[prompt, 0, n, columns] = 0
    place = np.array([place for _, place in pairs])
    frequencies = ROPE_BASE ** (-np.arange(0, HIDDEN // HEADS, 2) / (HIDDEN // HEADS))
    pair_tokens = np.array([tokens[token] for token, _ in pairs])
    padded_keys, padded_reads = _padded(keys, n_places), _padded(reads, n_reads)
    rows = np.array([prompt * n_reads + n for prompt, each in enumerate(reads) for n in range(len(each))])
    row_tokens = pair_tokens[padded_reads.ravel()[rows]]
    at = Positions(
        np.array([vocabulary.places[token] for token in tokens]),
        pair_tokens,
        np.exp(1j * place[:, None, None] * frequencies).astype(np.complex64),
        padded_keys,
        padded_reads,
        mask,
        rows,
        {
            "rows": _sum_by(row_tokens, len(tokens)),
            "pairs": _sum_by(pair_tokens, len(tokens)),
            "values": _sum_by(pair_tokens[padded_keys.ravel()], len(tokens)),
            "keys": _sum_by(padded_keys.ravel(), len(pairs)),
            "reads": _sum_by(padded_reads.ravel(), len(pairs)),
        },
    )
    return Batch(at, np.array(probs, dtype=np.float32), np.array(weight, dtype=np.float32))


def divergences(logits: Array, probs: Array, n_others: int) -> tuple[Array, Array]:
    """KL(probs || model) in nats of each row, and what the model says; `n_others` tokens share the last logit each."""
    logits = logits - logits.max(axis=1, keepdims=True)
    powers = np.exp(logits)
    powers[:, -1] *= n_others
    totals = powers.sum(axis=1, keepdims=True)
    log_ratios = np.log(np.maximum(probs, np.finfo(np.float32).tiny)) - logits + np.log(totals)
    return np.einsum("ij,ij->i", probs, log_ratios), powers / totals


def _fall(weights: Weights, batch: Batch, vocabulary: Vocabulary, mean_kl: float) -> tuple[Array, Weights]:
    """The KL of each position read, and the gradient of their weighted mean."""
    logits, way = read_positions(weights, batch.at)
    kl, said = divergences(logits, batch.probs, vocabulary.n_others)
    focus = np.minimum(1 + kl / np.float32(mean_kl), np.float32(FOCUS)) * batch.weight / batch.weight.sum()
    return kl, gradients(weights, batch.at, way, (said - batch.probs) * focus[:, None])


def _in_one_piece(weights: Weights) -> tuple[Weights, Callable[[Weights, float, int], None]]:
    """The weights as parts of one array, and a step of Adam over all of it: one call instead of one for each."""
    whole = np.concatenate([each.ravel() for each in weights.values()])
    ends = np.cumsum([each.size for each in weights.values()])[:-1]
    parts = {
        name: part.reshape(each.shape)
        for (name, each), part in zip(weights.items(), np.split(whole, ends), strict=True)
    }
    mean, square = np.zeros_like(whole), np.zeros_like(whole)

    def step(found: Weights, rate: float, steps: int) -> None:
        gradient = np.concatenate([found[name].ravel() for name in parts])
        length = math.sqrt(float(gradient @ gradient))
        gradient *= np.float32(min(1.0, LARGEST_GRADIENT / (length + 1e-6)))
        mean[:] = MOMENTUM * mean + (1 - MOMENTUM) * gradient
        np.square(gradient, out=gradient)
        square[:] = SQUARES * square + (1 - SQUARES) * gradient
        spread = np.sqrt(square / np.float32(1 - SQUARES**steps)) + np.float32(TINY)
        np.subtract(whole, np.float32(rate / (1 - MOMENTUM**steps)) * mean / spread, out=whole)

    return parts, step


def _padded(rows: Sequence[Sequence[int]], width: int) -> Array:
    return np.array([[*row, *[0] * (width - len(row))] for row in rows])


def _sum_by(places: Array, size: int) -> csr_array:
    """The matrix by which rows are added up at their places."""
    ones = np.ones(len(places), dtype=np.float32)
    return csr_array((ones, (places, np.arange(len(places)))), shape=(size, len(places)))
