"""Next-token log-probabilities at the ends of many token sequences, in as few forward passes as possible.

Sequences that begin alike are merged into a tree, so that one input holds all prompts of a question and all beginnings
of an answer. A node's position is its depth, and it sees itself and its ancestors: its output is the model's output for
that sequence alone. Where an architecture honours no such mask or positions (`find_tree_fault`), sequences are read one
by one, padded on the right (`TokenTree.is_chain`). The head computes only the rows that are read.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from valuesassets.models.token_trees import TokenTree, grow_tree
from valuesassets.models.tree_masks import tree_masks
from valuesassets.records.errors import ScoringError
from valuesassets.spelling.tokens import NextToken, Tokens

BLOCK = 512
"""Tokens of the vocabulary in a block: the search for the likeliest tokens looks at each block's largest first."""
MASKED_ON = {"cpu"}
"""Devices on which chains that are padded on the right get a mask. No token sees the padding behind it, and without a
mask a GPU uses faster kernels. A CPU would gain nothing, and its readings would change in their last bits."""
TREE_TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}
"""Largest total variation that rounding explains between a distribution read in a tree and alone, by dtype."""
MEMORY_SIGNS = ("can't allocate memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")
"""Words in errors of other types that mean out of memory."""


Result = TypeVar("Result")


class OutOfMemory(Exception):
    """A batch did not fit into the device's memory."""


@dataclass(frozen=True)
class CachedPrefix:
    """A prefix that sequences share, and its cached keys and values, which reading beside them leaves unchanged."""

    tokens: Tokens
    cache: Any


def read_batch(
    model: Any,
    trees: Sequence[TokenTree],
    token_ids: Sequence[Sequence[int]],
    n_likeliest: int,
    prefix: CachedPrefix | None = None,
) -> list[NextToken]:
    """Next-token log-probabilities of some tokens at every row of a batch's trees, in order; float32 or better.

    Args:
        n_likeliest: how many of the most probable tokens to report.
        prefix: the cached prefix before every tree.

    Raises:
        OutOfMemory: the batch is too large for the device.
        ScoringError: as `row_logits`.
    """
    return within_memory(lambda: read_rows(_logits(model, trees, prefix), token_ids, n_likeliest))


def within_memory(read: Callable[[], Result]) -> Result:
    """The result of `read` without gradients; OutOfMemory if it does not fit, once its own memory is free again."""
    try:
        with torch.inference_mode():
            return read()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    # Outside the handler: within it, the error keeps every tensor of the failed batch alive.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    raise OutOfMemory


def is_out_of_memory(error: Exception) -> bool:
    """Whether a library's error means out of memory."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or any(sign in str(error) for sign in MEMORY_SIGNS)


def find_tree_fault(model: Any) -> str | None:
    """Try whether an architecture can read a tree of two branches: None if so, else the reason in words.

    The second branch's output must be independent of the first branch, depend on its positions, and equal the branch
    read alone. The first two are tested to the bit, since a tolerance for half precision would hide faults.
    """
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return "it takes no positions"
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = [number * 7919 % vocabulary for number in range(1, 61)]
    ids[8], ids[56] = sorted((ids[8], ids[56]))  # so that the tested branch comes last in the tree
    first, second, changed_first = (*ids[:8], *ids[8:56]), (*ids[:8], *ids[56:]), (*ids[:9], *ids[9:56][::-1])
    everything = [range(vocabulary)] * 2

    def read(tree: TokenTree) -> Tensor:
        """Next-token probabilities behind every sequence of a tree, (sequences, vocabulary)."""
        return torch.tensor([row.log_probs for row in read_batch(model, [tree], everything[: len(tree.rows)], 1)]).exp()

    tree = grow_tree([first, second])
    try:
        in_tree, beside_another = read(tree), read(grow_tree([changed_first, second]))
        by_index = read(replace(tree, depths=tuple(range(len(tree.tokens)))))
        alone = torch.cat([read(grow_tree([sequence])) for sequence in (first, second)])
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on them: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if not torch.equal(in_tree[1], beside_another[1]):
        return "a branch of a tree sees the others"
    if torch.equal(in_tree[1], by_index[1]):
        return "it goes by the order of the tokens and not by the positions it is given"
    gap = float((in_tree - alone).abs().sum(dim=1).max()) / 2
    return None if gap <= TREE_TOLERANCE[model.dtype] else f"in a tree its answers differ by {gap:.1g}"


def first_device(model: Any) -> str:
    """The device that a model expects its token ids on, however its layers are spread."""
    embedding = model.get_input_embeddings()
    # accelerate leaves weights that wait on the disk or in the CPU's memory on `meta` until they are needed.
    place = getattr(getattr(embedding, "_hf_hook", None), "execution_device", None)
    if place is None:
        place = embedding.weight.device
    return f"cuda:{place}" if isinstance(place, int) else str(place)


def _logits(model: Any, trees: Sequence[TokenTree], prefix: CachedPrefix | None) -> Tensor:
    """Logits (rows, vocabulary) at the rows of a batch's trees; without a prefix, all are chains or none is."""
    device, width = first_device(model), max(len(tree.tokens) for tree in trees)
    tokens = _padded([tree.tokens for tree in trees], width, lambda _: 0)
    inputs: dict[str, Any]
    if prefix is None and all(tree.is_chain for tree in trees):
        inputs = {}
        if torch.device(device).type in MASKED_ON:
            sizes = torch.tensor([[len(tree.tokens)] for tree in trees])
            inputs = {"attention_mask": (torch.arange(width) < sizes).long().to(device)}
    else:
        before = len(prefix.tokens) if prefix else 0
        positions = (_padded([tree.depths for tree in trees], width, lambda _: 0) + before).to(device)
        # A padded position sees itself: one that sees nothing gives NaN.
        ends = _padded([tree.ends for tree in trees], width, lambda node: node + 1).to(device)
        is_seen = torch.ones(len(trees), width, before, dtype=torch.bool, device=device)
        inputs = {"position_ids": positions, "attention_mask": tree_masks(model, ends, positions, is_seen)}
    inputs |= {"past_key_values": prefix.cache, "use_cache": True} if prefix else {"use_cache": False}
    batch_rows = torch.tensor([index for index, tree in enumerate(trees) for _ in tree.rows])
    nodes = torch.tensor([node for tree in trees for node in tree.rows])

    return row_logits(model, batch_rows, nodes, input_ids=tokens.to(device), **inputs)


def row_logits(model: Any, batch_rows: Tensor, nodes: Tensor, **inputs: Any) -> Tensor:
    """Logits (rows, vocabulary) of one pass, float32 or better, at places (rows,) of sequences (rows,) in the batch.

    Raises:
        ScoringError: the model does not use its output embedding as a module, so that no rows can be selected.
    """

    # Only the head's input is cut: what an architecture does after its head (scaling, capping) still happens.
    def gather(_module: object, arguments: tuple[Tensor]) -> tuple[Tensor]:
        hidden = arguments[0]
        return (hidden[batch_rows.to(hidden.device), nodes.to(hidden.device)],)

    handle = model.get_output_embeddings().register_forward_pre_hook(gather)
    try:
        logits = model(return_dict=True, **inputs).logits
    finally:
        handle.remove()
    if logits.ndim != 2 or logits.shape[0] != len(nodes):
        raise ScoringError(
            f"{model.config.name_or_path}: logits of shape {tuple(logits.shape)}, {len(nodes)} rows were expected; "
            "this architecture does not use its output embedding as a module"
        )
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _padded(rows: Sequence[Sequence[int]], width: int, fill: Callable[[int], int]) -> Tensor:
    return torch.tensor([[*row, *map(fill, range(len(row), width))] for row in rows])


def read_rows(logits: Tensor, token_ids: Sequence[Sequence[int]], n_likeliest: int) -> list[NextToken]:
    """The result of `read_batch` from rows of logits; all other numbers stay on the device."""
    high, log_norm, is_finite = _normalise(logits)
    top, tokens = _likeliest(logits, high, min(n_likeliest, logits.shape[1]))
    width = max(map(len, token_ids))
    columns = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in token_ids], device=logits.device)
    chosen_logits = logits.gather(1, columns)
    log_probs = (chosen_logits.double() - log_norm).tolist()
    top_probs = (top.double() - log_norm).exp().tolist()
    return [
        NextToken(tuple(row[: len(ids)]), tuple(zip(top_ids, probs, strict=True)), finite)
        for row, ids, top_ids, probs, finite in zip(
            log_probs, token_ids, tokens.tolist(), top_probs, is_finite.tolist(), strict=True
        )
    ]


def _normalise(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Largest logit of every block (rows, blocks), log-sum-exp of each row (rows, 1), and which rows are finite.

    On a CPU one row is processed at a time, so that it stays in the cache. The sum is taken block by block: torch would
    split a sum over the whole row among threads, and its last bits would depend on their number.
    """
    parts = []
    for rows in logits.split(1 if logits.device.type == "cpu" else len(logits)):
        low, high = by_block(rows, torch.amin), by_block(rows, torch.amax)
        largest = high.amax(1, keepdim=True)
        total = by_block((rows - largest).exp_(), torch.sum).sum(1, keepdim=True)
        log_norm = total.double().log_() + largest.double()
        parts.append((high, log_norm, torch.isfinite(low).all(1) & torch.isfinite(high).all(1)))
    highs, log_norms, finite = zip(*parts, strict=True)
    return torch.cat(highs), torch.cat(log_norms), torch.cat(finite)


def by_block(rows: Tensor, reduce: Callable[..., Tensor]) -> Tensor:
    """`reduce` over every block of the vocabulary, (rows, blocks); the last block may be shorter."""
    whole = rows.shape[1] // BLOCK * BLOCK
    blocks = [reduce(rows[:, :whole].unflatten(1, (-1, BLOCK)), 2)] if whole else []
    if whole < rows.shape[1]:
        blocks.append(reduce(rows[:, None, whole:], 2))
    return torch.cat(blocks, 1)


def _likeliest(logits: Tensor, high: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest logits of each row and their tokens, sought in the blocks with the largest maxima."""
    vocabulary = logits.shape[1]
    blocks = high.topk(min(count, high.shape[1])).indices
    candidates = (blocks[:, :, None] * BLOCK + torch.arange(BLOCK, device=logits.device)).flatten(1)
    beyond = candidates >= vocabulary
    values = logits.gather(1, candidates.clamp_max(vocabulary - 1)).masked_fill_(beyond, -torch.inf)
    top = values.topk(count)
    return top.values, candidates.gather(1, top.indices)
