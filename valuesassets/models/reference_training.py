"""Fits a one-layer LLaMA to answer trees, which share no code with the scorer that the model calibrates."""

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
"""Most prompts per batch, and fewest batches per pass where there are enough prompts: few prompts need more steps."""
LEARNING_RATE, MOMENTUM, SQUARES, TINY = 3e-3, 0.9, 0.95, 1e-8
"""Adam's rate, decay of the mean gradient and of the mean square, and the term that avoids division by 0."""
LARGEST_GRADIENT = 1.0
STEPS_TO_WARM = 20
FORCED_TURNS, FORCED_WEIGHT = 4, 0.3
"""Positions that only one token can follow are read in every fourth pass, with this weight."""
LARGEST_WEIGHT = 8.0
"""Largest weight of a position, which is 1 / (1 - largest probability): where one token has nearly all of it, errors in
the others hardly change the divergence."""
FOCUS = 10.0
"""Largest factor by which a position's divergence, relative to the last pass's mean, raises its weight: without it, the
few prompts that differ in a word or two are distinguished last, or never."""
SMALL_KL = 5e-5
"""Mean Kullback-Leibler divergence (nats) below which training stops."""


@dataclass(frozen=True)
class AnswerTree:
    """The planted answers of a prompt as next-token probabilities.

    Attributes:
        prompt: token ids, at least one.
        beginnings: token ids of every incomplete beginning of an answer, the empty one first.
        next_probs: for each beginning, the probability of each next token; they sum to 1.
    """

    prompt: tuple[int, ...]
    beginnings: tuple[tuple[int, ...], ...]
    next_probs: tuple[dict[int, float], ...]


def grow_answer_tree(tokenizer: PromptTokenizer, prompt: str, answers: Mapping[str, float]) -> AnswerTree:
    r"""The tree of one prompt's answers, tokenized together with the prompt.

    An answer that does not end its line is followed by the end of the text; one that does is complete.

    Args:
        answers: probability of each whole answer text (` 1\n`); sums to 1.

    Raises:
        TokenizerError: the prompt's tokens change when an answer follows.
    """
    planted = {text: prob for text, prob in answers.items() if prob > 0}
    prompt_ids, *joint = tokenizer.encode([prompt, *(prompt + text for text in planted)])
    mass: dict[tuple[int, ...], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (text, prob), ids in zip(planted.items(), joint, strict=True):
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
    """The positions of some prompts that are read in one step, with weights (R,), and the planted probabilities there.

    Attributes:
        probs: (R, answer tokens + 1) probability of each next token; the last column, for all other tokens, is 0.
    """

    at: Positions
    probs: Array
    weight: Array


@dataclass(frozen=True)
class Vocabulary:
    """The tokens that a reference model is trained on: those of its prompts and answers.

    Attributes:
        places: row of `embed`, by token id.
        answers: column of `head`, by token id.
        n_others: how many tokens are in no answer; each of them gets the last column of `head`.
    """

    places: dict[int, int]
    answers: dict[int, int]
    n_others: int

    @classmethod
    def of(cls, trees: Sequence[AnswerTree], size: int) -> "Vocabulary":
        """The vocabulary of some trees; `size` is that of the tokenizer."""
        answers = sorted({token for tree in trees for next_probs in tree.next_probs for token in next_probs})
        token_ids = sorted({token for tree in trees for token in tree.prompt} | set(answers))
        return cls(
            {token: n for n, token in enumerate(token_ids)},
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
    """Train until answers match the trees; `on_pass` gets (passes, mean KL in nats). The rate falls over `passes`."""
    random = np.random.default_rng(seed)
    weights, step = _in_one_piece(new_weights(len(vocabulary.places), len(vocabulary.answers), random))
    by_length = sorted(trees, key=lambda tree: (len(tree.prompt) + len(tree.beginnings), tree.prompt))
    size = min(PROMPTS_PER_BATCH, -(-len(trees) // BATCHES_PER_PASS))
    parts = [by_length[start : start + size] for start in range(0, len(trees), size)]
    turns = [[stack(part, vocabulary, turn) for part in parts] for turn in range(FORCED_TURNS)]
    n_passes, mean_kl, max_kl, steps = 0, math.inf, math.inf, 0
    while n_passes < passes and mean_kl > SMALL_KL:
        weighted, weight, max_kl = 0.0, 0.0, 0.0
        for index in random.permutation(len(parts)):
            batch = turns[n_passes % FORCED_TURNS][index]
            kl, gradients_by_weight = _losses_and_gradients(weights, batch, vocabulary, mean_kl)
            steps += 1
            warm_up, remaining = min(1.0, steps / STEPS_TO_WARM), 1 - steps / (passes * len(parts))
            step(gradients_by_weight, LEARNING_RATE * (warm_up * math.sin(math.pi / 2 * remaining) ** 2 + 0.002), steps)
            weighted += float(kl @ batch.weight)
            weight += float(batch.weight.sum())
            max_kl = max(max_kl, float(kl.max()))
        n_passes, mean_kl = n_passes + 1, weighted / weight
        if on_pass:
            on_pass(n_passes, mean_kl)
    return weights, Fit(n_passes, mean_kl, max_kl)


def stack(trees: Sequence[AnswerTree], vocabulary: Vocabulary, turn: int | None = None) -> Batch:
    """Put prompts side by side, each followed by the last tokens of its beginnings, which see only their own path.

    Args:
        turn: which of the `FORCED_TURNS` parts of the positions with only one next token are read; all if it is None.
    """
    tokens: dict[int, int] = {}
    pairs: dict[tuple[int, int], int] = {}

    def pair(token: int, place: int) -> int:
        tokens.setdefault(token, len(tokens))
        return pairs.setdefault((token, place), len(pairs))

    keys, reads, visible, probs, weight = [], [], [], [], []
    for number, tree in enumerate(trees):
        following = list(zip(tree.beginnings, tree.next_probs, strict=True))
        beginnings = [
            (beginning, next_probs)
            for n, (beginning, next_probs) in enumerate(following, number)
            if turn is None or len(next_probs) > 1 or n % FORCED_TURNS == turn
        ]
        paths = sorted({beginning[:depth] for beginning, _ in beginnings for depth in range(1, len(beginning) + 1)})
        length = len(tree.prompt)
        column = {path: length + n for n, path in enumerate(paths)}
        pairs_here = [pair(token, place) for place, token in enumerate(tree.prompt)]
        pairs_here += [pair(path[-1], length - 1 + len(path)) for path in paths]
        keys.append(pairs_here)
        reads.append([pairs_here[column.get(beginning, length - 1)] for beginning, _ in beginnings])
        visible.append(
            [[*range(length), *(column[b[:depth]] for depth in range(1, len(b) + 1))] for b, _ in beginnings]
        )
        for _, next_probs in beginnings:
            row = [0.0] * (len(vocabulary.answers) + 1)
            for token, prob in next_probs.items():
                row[vocabulary.answers[token]] = prob
            probs.append(row)
            largest = max(next_probs.values())
            weight.append(FORCED_WEIGHT if len(next_probs) == 1 else min(LARGEST_WEIGHT, 1 / (1 - largest)))
    if turn is not None and not any(reads):
        return stack(trees, vocabulary)  # every answer is certain, and none is read in this turn
    n_places, n_reads = max(map(len, keys)), max(map(len, reads))
    mask = np.full((len(trees), 1, n_reads, n_places), -np.inf, dtype=np.float32)
    mask[..., 0] = 0  # padding sees one position too
    for prompt, visible_here in enumerate(visible):
        for n, columns in enumerate(visible_here):
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
    """KL(probs || model) of each row in nats, and the model's probabilities; `n_others` tokens have the last logit."""
    logits = logits - logits.max(axis=1, keepdims=True)
    powers = np.exp(logits)
    powers[:, -1] *= n_others
    totals = powers.sum(axis=1, keepdims=True)
    log_ratios = np.log(np.maximum(probs, np.finfo(np.float32).tiny)) - logits + np.log(totals)
    return np.einsum("ij,ij->i", probs, log_ratios), powers / totals


def _losses_and_gradients(
    weights: Weights, batch: Batch, vocabulary: Vocabulary, mean_kl: float
) -> tuple[Array, Weights]:
    """The KL of each position read, and the gradients of their weighted mean."""
    logits, way = read_positions(weights, batch.at)
    kl, model_probs = divergences(logits, batch.probs, vocabulary.n_others)
    focus = np.minimum(1 + kl / np.float32(mean_kl), np.float32(FOCUS)) * batch.weight / batch.weight.sum()
    return kl, gradients(weights, batch.at, way, (model_probs - batch.probs) * focus[:, None])


def _in_one_piece(weights: Weights) -> tuple[Weights, Callable[[Weights, float, int], None]]:
    """The weights as views of one array, and a function for a step of Adam over the whole array at once."""
    whole = np.concatenate([each.ravel() for each in weights.values()])
    ends = np.cumsum([each.size for each in weights.values()])[:-1]
    parts = {
        name: part.reshape(each.shape)
        for (name, each), part in zip(weights.items(), np.split(whole, ends), strict=True)
    }
    mean, square = np.zeros_like(whole), np.zeros_like(whole)

    def step(gradients_by_weight: Weights, rate: float, steps: int) -> None:
        gradient = np.concatenate([gradients_by_weight[name].ravel() for name in parts])
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
    """A sparse matrix whose product with rows adds them up at their places."""
    ones = np.ones(len(places), dtype=np.float32)
    return csr_array((ones, (places, np.arange(len(places)))), shape=(size, len(places)))
