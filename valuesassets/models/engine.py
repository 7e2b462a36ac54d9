"""The engine: next-token log-probabilities at the ends of many token sequences, in as few forward passes as can be.

Sequences that begin alike are merged into a tree, so that the prompts of a question in all of its orders and every
beginning of an answer are one input. A node's position is its depth, and it sees itself and its ancestors: what comes
out at a node is what the model says after that sequence alone. Trees of about the same size go through together, and
the head is applied to the rows that are read, to no others.

Not every architecture honours such a mask or such positions. `find_tree_fault` tries; where one does not, sequences go
through as they are, padded on the right (`TokenTree.is_chain`).
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from valuesassets.models.placement import first_device

Tokens = tuple[int, ...]

BLOCK = 512
"""Vocabulary entries of which only the largest is looked at first when the likeliest tokens are sought."""

LARGEST_TREE = 512
"""Tokens of a tree beyond which another branch is no gain."""

WORTH_SHARING = 16
"""Fewest tokens that sequences begin with alike for it to be worth a common tree."""

TREE_TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}
"""Largest total variation between a distribution read in a tree and alone, by the rounding of each dtype."""


class OutOfMemory(Exception):
    """A batch did not fit into the memory of the device."""


@dataclass(frozen=True)
class TokenTree:
    """Token sequences merged where they begin alike; nodes in depth-first order, parents before children.

    Attributes:
        tokens: (N,) token id of each node.
        depths: (N,) position of each node in its sequence.
        ends: (N,) index behind a node's last descendant: node i is seen by i, ..., ends[i] - 1 and by no other.
        rows: the node at which each sequence ends.
    """

    tokens: Tokens
    depths: tuple[int, ...]
    ends: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def is_chain(self) -> bool:
        """Whether all sequences are beginnings of one: such a tree needs no mask but the model's own."""
        return self.depths[-1] == len(self.tokens) - 1


def grow_tree(sequences: Sequence[Tokens]) -> TokenTree:
    """The tree over non-empty token sequences.

    >>> tree = grow_tree([(5, 6, 7), (5,), (5, 8)])
    >>> tree.tokens, tree.depths, tree.ends, tree.rows
    ((5, 6, 7, 8), (0, 1, 2, 1), (4, 3, 3, 4), (2, 0, 3))
    """
    tokens: list[int] = []
    depths: list[int] = []
    ends: list[int] = []
    rows = [0] * len(sequences)
    path: list[int] = []  # the nodes from the root to the last one
    before: Tokens = ()

    def leave(depth: int) -> None:
        for node in path[depth:]:
            ends[node] = len(tokens)
        del path[depth:]

    for index in sorted(range(len(sequences)), key=sequences.__getitem__):
        sequence = sequences[index]
        leave(_shared_length(before, sequence))
        for depth in range(len(path), len(sequence)):
            path.append(len(tokens))
            tokens.append(sequence[depth])
            depths.append(depth)
            ends.append(0)
        rows[index] = path[-1]
        before = sequence
    leave(0)
    return TokenTree(tuple(tokens), tuple(depths), tuple(ends), tuple(rows))


def part_into_trees(sequences: Sequence[Tokens], most_rows: int) -> list[list[int]]:
    """Positions of the sequences of each tree: those that begin alike, in trees of bearable size.

    Both orders of a question share its text, the items of a battery their stem. Attention costs the square of a tree,
    so that a large one does not pay, unless what comes on top is next to nothing.

    >>> part_into_trees([(1,) * 20 + (2,), (3,) * 20, (1,) * 20], most_rows=9)
    [[2, 0], [1]]
    """
    parts: list[list[int]] = []
    size, before = 0, ()
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):
        sequence = sequences[index]
        shared = _shared_length(before, sequence)
        more = len(sequence) - shared
        is_bearable = size + more <= LARGEST_TREE or more < WORTH_SHARING
        if parts and shared >= WORTH_SHARING and is_bearable and len(parts[-1]) < most_rows:
            parts[-1].append(index)
            size += more
        else:
            parts.append([index])
            size = len(sequence)
        before = sequence
    return parts


def part_into_chains(sequences: Sequence[Tokens]) -> list[list[int]]:
    """Positions of the sequences that are beginnings of one another, so that every part makes a chain.

    >>> part_into_chains([(5, 6, 7), (5,), (5, 8)])
    [[1, 0], [2]]
    """
    parts: list[list[int]] = []
    before: Tokens = ()
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):
        if parts and sequences[index][: len(before)] == before:
            parts[-1].append(index)
        else:
            parts.append([index])
        before = sequences[index]
    return parts


def _shared_length(one: Tokens, other: Tokens) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@dataclass(frozen=True)
class BatchBudget:
    """How much goes through a model at once.

    Attributes:
        tokens: padded tokens in a batch; a larger tree goes alone.
        rows: rows read in a batch: each costs a few float32 per vocabulary entry.
    """

    tokens: int
    rows: int

    @staticmethod
    def for_device(device: str) -> "BatchBudget":
        """Small batches keep a CPU's caches warm; a GPU wants them large."""
        return BatchBudget(1536, 64) if device == "cpu" else BatchBudget(16384, 512)

    def halved(self) -> "BatchBudget":
        """Half of both, at least one."""
        return BatchBudget(max(self.tokens // 2, 1), max(self.rows // 2, 1))


def plan_batches(trees: Sequence[TokenTree], budget: BatchBudget) -> list[list[int]]:
    """Positions of the trees of each batch, largest first, chains apart: a function of the trees and the budget alone.

    >>> trees = [grow_tree([(1,) * n, (2,)]) for n in (2, 9, 3)]
    >>> plan_batches(trees, BatchBudget(tokens=10, rows=9))
    [[1], [2, 0]]
    """
    batches: list[list[int]] = []
    width = rows = 0
    is_chain = None
    for index in sorted(range(len(trees)), key=lambda i: (trees[i].is_chain, -len(trees[i].tokens), i)):
        tree = trees[index]
        fits = batches and (len(batches[-1]) + 1) * width <= budget.tokens and rows + len(tree.rows) <= budget.rows
        if fits and tree.is_chain == is_chain:
            batches[-1].append(index)
            rows += len(tree.rows)
        else:
            batches.append([index])
            width, rows, is_chain = len(tree.tokens), len(tree.rows), tree.is_chain
    return batches


@dataclass(frozen=True)
class NextToken:
    """What a model says comes next at one row.

    Attributes:
        log_probs: natural logarithm of the probability of each token asked for, in the order asked.
        likeliest: the most probable tokens of all and their probabilities.
        is_finite: whether every logit of the row is a number; where not, the others mean nothing.
    """

    log_probs: tuple[float, ...]
    likeliest: tuple[tuple[int, float], ...]
    is_finite: bool


def read_batch(
    model: Any, trees: Sequence[TokenTree], asked: Sequence[Sequence[int]], n_likeliest: int
) -> list[NextToken]:
    """What comes next at every row of the trees of one batch, in order; log-softmax in float32 or better.

    Args:
        asked: token ids to report, one sequence per row.
        n_likeliest: how many of the most probable tokens to report.

    Raises:
        OutOfMemory: the batch is too large for the device.
        TypeError: the model's head is no module of its own, so that its rows cannot be gathered.
    """
    is_full = False
    try:
        with torch.inference_mode():
            return _read_rows(_logits(model, trees), asked, n_likeliest)
    except torch.OutOfMemoryError:
        is_full = True
    except RuntimeError as error:
        is_full = "can't allocate memory" in str(error) or "not enough memory" in str(error)
        if not is_full:
            raise
    # Out of the handlers: until they end, the error keeps every tensor of the failed batch alive.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    raise OutOfMemory


def find_tree_fault(model: Any) -> str | None:
    """Why an architecture cannot read trees, in words; None where it can. Found by trying, on a tree of two branches.

    The first branch is long, so that the second one's positions and what it may see differ clearly from what a model
    would take that goes by the order of the tokens alone.
    """
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return "it takes no positions"
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = [number * 7919 % vocabulary for number in range(1, 61)]
    sequences = [(*ids[:8], *ids[8:56]), (*ids[:8], *ids[56:])]
    rest = [range(vocabulary)] * 2

    def read(trees: list[TokenTree]) -> list[Tensor]:
        rows = [row for tree in trees for row in read_batch(model, [tree], rest[: len(tree.rows)], 1)]
        return [torch.tensor(row.log_probs).exp() for row in rows]

    try:
        in_tree = read([grow_tree(sequences)])
    except (RuntimeError, TypeError, ValueError) as error:
        return f"it fails on them: {str(error).splitlines()[0][:120]}"
    alone = read([grow_tree([sequence]) for sequence in sequences])
    apart = max(float((a - b).abs().sum()) / 2 for a, b in zip(in_tree, alone, strict=True))
    if not apart <= TREE_TOLERANCE[model.dtype]:
        return f"its answers differ by {apart:.1g} when they are read in a tree"
    return None


def count_padded(trees: Sequence[TokenTree], plan: Sequence[Sequence[int]]) -> int:
    """Tokens that go through the model, padding included."""
    return sum(len(batch) * len(trees[batch[0]].tokens) for batch in plan)


def _logits(model: Any, trees: Sequence[TokenTree]) -> Tensor:
    """Logits (rows, vocabulary) at the rows of some trees, all of them chains or none."""
    device, width = first_device(model), max(len(tree.tokens) for tree in trees)
    tokens = _padded([tree.tokens for tree in trees], width, lambda _: 0)
    if all(tree.is_chain for tree in trees):
        sizes = torch.tensor([[len(tree.tokens)] for tree in trees])
        inputs = {"attention_mask": (torch.arange(width) < sizes).long()}
    else:
        depths = _padded([tree.depths for tree in trees], width, lambda _: 0)
        # A row of padding sees itself: one that sees nothing gives NaN.
        ends = _padded([tree.ends for tree in trees], width, lambda node: node + 1)
        inputs = {"position_ids": depths, "attention_mask": _tree_mask(ends.to(device), model.dtype)}
    inputs = {name: tensor.to(device) for name, tensor in inputs.items()}
    batch_rows = torch.tensor([index for index, tree in enumerate(trees) for _ in tree.rows])
    nodes = torch.tensor([node for tree in trees for node in tree.rows])

    # The head sees only the rows read; what an architecture does after its head (scaling, capping) stays its own.
    def gather(_module: object, arguments: tuple[Tensor]) -> tuple[Tensor]:
        hidden = arguments[0]
        return (hidden[batch_rows.to(hidden.device), nodes.to(hidden.device)],)

    handle = model.get_output_embeddings().register_forward_pre_hook(gather)
    try:
        logits = model(input_ids=tokens.to(device), use_cache=False, **inputs).logits
    finally:
        handle.remove()
    if logits.ndim != 2 or logits.shape[0] != len(nodes):
        raise TypeError(f"logits of shape {tuple(logits.shape)}, {len(nodes)} rows were expected")
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _padded(rows: Sequence[Sequence[int]], width: int, fill: Callable[[int], int]) -> Tensor:
    return torch.tensor([[*row, *map(fill, range(len(row), width))] for row in rows])


def _tree_mask(ends: Tensor, dtype: torch.dtype) -> Tensor:
    """Additive mask (batch, 1, width, width): 0 where a node may look, the lowest number elsewhere.

    A boolean mask would be added as 0 and 1 by eager attention.
    """
    node = torch.arange(ends.shape[1], device=ends.device)
    is_seen = (node[:, None] >= node) & (node[:, None] < ends[:, None, :])
    mask = torch.zeros(is_seen.shape, dtype=dtype, device=ends.device)
    return mask.masked_fill_(~is_seen, torch.finfo(dtype).min)[:, None]


def _read_rows(logits: Tensor, asked: Sequence[Sequence[int]], n_likeliest: int) -> list[NextToken]:
    """Normalise rows of logits and keep what was asked for; the rest of the vocabulary never leaves the device."""
    high, log_norm, is_finite = _normalise(logits)
    top, tokens = _likeliest(logits, high, min(n_likeliest, logits.shape[1]))
    width = max(map(len, asked))
    wanted = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in asked], device=logits.device)
    picked = logits.gather(1, wanted)
    log_probs = (picked.double() - log_norm.double()).tolist()
    top_probs = (top.double() - log_norm.double()).exp().tolist()
    return [
        NextToken(tuple(row[: len(ids)]), tuple(zip(likely, probs, strict=True)), finite)
        for row, ids, likely, probs, finite in zip(
            log_probs, asked, tokens.tolist(), top_probs, is_finite.tolist(), strict=True
        )
    ]


def _normalise(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The largest logit of every block (rows, blocks), the logarithm of each row's sum (rows, 1), and which are finite.

    A CPU goes row by row: a row stays in its cache over all that is done to it. The sum goes block by block: one over
    the whole row would be shared out among threads, and its last bits would depend on their number.
    """
    parts = []
    for rows in logits.split(1 if logits.device.type == "cpu" else len(logits)):
        low, high = _by_block(rows, torch.amin), _by_block(rows, torch.amax)
        largest = high.amax(1, keepdim=True)
        total = _by_block((rows - largest).exp_(), torch.sum).sum(1, keepdim=True)
        log_norm = total.log_() + largest
        parts.append((high, log_norm, torch.isfinite(low).all(1) & torch.isfinite(high).all(1)))
    highs, log_norms, finite = zip(*parts, strict=True)
    return torch.cat(highs), torch.cat(log_norms), torch.cat(finite)


def _by_block(rows: Tensor, reduce: Callable[..., Tensor]) -> Tensor:
    """`reduce` over every block of the vocabulary, (rows, blocks); the last block may be a short one."""
    whole = rows.shape[1] // BLOCK * BLOCK
    blocks = [reduce(rows[:, :whole].unflatten(1, (-1, BLOCK)), 2)] if whole else []
    if whole < rows.shape[1]:
        blocks.append(reduce(rows[:, None, whole:], 2))
    return torch.cat(blocks, 1)


def _likeliest(logits: Tensor, high: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest logits of each row and their tokens: they lie in the blocks with the largest maxima."""
    vocabulary = logits.shape[1]
    blocks = high.topk(min(count, high.shape[1])).indices
    candidates = (blocks[:, :, None] * BLOCK + torch.arange(BLOCK, device=logits.device)).flatten(1)
    beyond = candidates >= vocabulary
    values = logits.gather(1, candidates.clamp_max(vocabulary - 1)).masked_fill_(beyond, -torch.inf)
    found = values.topk(count)
    return found.values, candidates.gather(1, found.indices)
