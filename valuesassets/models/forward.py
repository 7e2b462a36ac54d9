"""One forward pass over a batch plan: next-token log-probabilities at the positions that are read, and only there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from valuesassets.models.loading import LoadedModel
from valuesassets.records.errors import ScoringError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Passage:
    """A token sequence and the positions after which the next token is asked for.

    Attributes:
        tokens: token ids.
        positions: indices into `tokens`.
        name: for messages.
    """

    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    name: str


@dataclass(frozen=True)
class BatchBudget:
    """How much goes through a model at once.

    Attributes:
        tokens: padded tokens in a batch; a longer passage goes alone.
        rows: positions read in a batch: each costs one float32 per vocabulary entry.
    """

    tokens: int
    rows: int

    @staticmethod
    def for_device(device: str) -> "BatchBudget":
        """Small batches keep a CPU's caches warm; a GPU wants them large."""
        return BatchBudget(1024, 64) if device == "cpu" else BatchBudget(16384, 256)


def plan_batches(passages: Sequence[Passage], budget: BatchBudget) -> list[list[int]]:
    """Indices of the passages of each batch, longest first: a function of lengths and budget alone.

    >>> passages = [Passage((1,) * n, (0,), "") for n in (2, 9, 3)]
    >>> plan_batches(passages, BatchBudget(tokens=10, rows=9))
    [[1], [2, 0]]
    """
    batches: list[list[int]] = []
    width = rows = 0
    for index in sorted(range(len(passages)), key=lambda i: (-len(passages[i].tokens), i)):
        length, reads = len(passages[index].tokens), len(passages[index].positions)
        if batches and (len(batches[-1]) + 1) * width <= budget.tokens and rows + reads <= budget.rows:
            batches[-1].append(index)
            rows += reads
        else:
            batches.append([index])
            width, rows = length, reads
    return batches


def read_passages(
    loaded: LoadedModel, passages: Sequence[Passage], plan: Sequence[Sequence[int]]
) -> Iterator[tuple[int, "torch.Tensor"]]:
    """Each passage's index with its log-probabilities, (positions, vocabulary) in float32 on the CPU, in plan order.

    Raises:
        ScoringError: a logit is NaN or infinite; names model and passage.
    """
    import torch

    for batch in plan:
        chosen = [passages[index] for index in batch]
        with torch.inference_mode():
            logits = _logits(loaded, chosen).float()
        finite = torch.isfinite(logits).all(dim=1).tolist()
        owners = [passage for passage in chosen for _ in passage.positions]
        for passage, is_finite in zip(owners, finite, strict=True):
            if not is_finite:
                exact = loaded.opened.dtype == "float32"
                what_to_do = "the weights are damaged: download or save them again" if exact else "ask for float32"
                raise ScoringError(
                    f"{loaded.model_id}: NaN or infinite logits at {passage.name} "
                    f"(dtype {loaded.opened.dtype}); {what_to_do}"
                )
        log_probs = torch.log_softmax(logits, dim=1).cpu()
        parts = torch.split(log_probs, [len(passage.positions) for passage in chosen])
        yield from zip(batch, parts, strict=True)


def _logits(loaded: LoadedModel, passages: Sequence[Passage]) -> "torch.Tensor":
    """Logits (rows, vocabulary) at the positions read, in order. Padded on the right: no position shifts."""
    import torch

    width = max(len(passage.tokens) for passage in passages)
    tokens = torch.zeros(len(passages), width, dtype=torch.long)
    mask = torch.zeros(len(passages), width, dtype=torch.long)
    for row, passage in enumerate(passages):
        tokens[row, : len(passage.tokens)] = torch.tensor(passage.tokens)
        mask[row, : len(passage.tokens)] = 1
    rows = torch.tensor([row for row, passage in enumerate(passages) for _ in passage.positions])
    columns = torch.tensor([position for passage in passages for position in passage.positions])
    rows, columns = rows.to(loaded.device), columns.to(loaded.device)

    # The head sees only the rows read; what an architecture does after its head (scaling, capping) stays its own.
    def gather(_module: object, inputs: tuple["torch.Tensor"]) -> tuple["torch.Tensor"]:
        return (inputs[0][rows, columns],)

    head = loaded.model.get_output_embeddings()
    if head is None:
        raise ScoringError(f"model {loaded.model_id}: no output embedding; a causal language model was expected")
    handle = head.register_forward_pre_hook(gather)
    try:
        logits = loaded.model(
            input_ids=tokens.to(loaded.device), attention_mask=mask.to(loaded.device), use_cache=False
        ).logits
    finally:
        handle.remove()
    if logits.shape[0] != len(rows) or logits.ndim != 2:
        raise ScoringError(
            f"model {loaded.model_id}: logits of shape {tuple(logits.shape)}, {len(rows)} rows were expected; "
            "this architecture does not use its output embedding as a module"
        )
    return logits
