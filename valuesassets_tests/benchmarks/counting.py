"""How much a model had to do, counted where it is done; and how much each algorithm says that it takes."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise, takewhile
from typing import Any

import torch

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.spelling.spellings import spell_labels
from valuesassets_tests.benchmarks.workload import Asked

Ids = tuple[int, ...]


@dataclass
class Counts:
    """Calls of the body, tokens it was given (padding too), and rows that the head turned into logits."""

    calls: int = 0
    tokens: int = 0
    head_rows: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.calls + other.calls, self.tokens + other.tokens, self.head_rows + other.head_rows)

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(self.calls - other.calls, self.tokens - other.tokens, self.head_rows - other.head_rows)

    def copy(self) -> "Counts":
        """The counts at this moment."""
        return Counts(**asdict(self))


@contextlib.contextmanager
def counting(model: Any) -> Iterator[Counts]:
    """Counts, growing as the model works. What a module gives out is counted, whatever hooks gathered before it."""
    counts = Counts()

    def embedded(_module: object, _inputs: object, output: torch.Tensor) -> None:
        counts.calls += 1
        counts.tokens += output.shape[:-1].numel()

    def read(_module: object, _inputs: object, output: torch.Tensor) -> None:
        counts.head_rows += output.shape[:-1].numel()

    handles = [
        model.get_input_embeddings().register_forward_hook(embedded),
        model.get_output_embeddings().register_forward_hook(read),
    ]
    try:
        yield counts
    finally:
        for handle in handles:
            handle.remove()


@dataclass(frozen=True)
class Sequences:
    """The token sequences of one question, one pair of entries per order.

    Attributes:
        prompts: the prompt's tokens.
        reads: every sequence after which the next token is asked for, prompts among them.
    """

    prompts: tuple[Ids, ...]
    reads: tuple[Ids, ...]
    ten_points: int = field(default=0)


def find_sequences(loaded: LoadedModel, asked: Asked) -> Sequences:
    """Every sequence that the exact answer to a question needs."""
    spelled = [spell_labels(loaded.tokenizer, trial.prompt, trial.labels) for trial in asked]
    reads = {(*one.prompt_ids, *node) for one in spelled for node in one.trie.inner_nodes}
    has_ten = sum("10" in trial.labels for trial in asked)
    return Sequences(tuple(one.prompt_ids for one in spelled), tuple(sorted(reads)), has_ten)


def seed_counts(sequences: Iterable[Sequences]) -> Counts:
    """One prompt at a time, all its positions through the head; prompts with "10" twice, the second time with "1"."""
    counts = Counts()
    for one in sequences:
        lengths = [len(prompt) for prompt in one.prompts]
        assert one.ten_points in (0, len(lengths))
        tokens = sum(lengths) + (sum(lengths) + len(lengths) if one.ten_points else 0)
        counts += Counts(len(lengths) + one.ten_points, tokens, tokens)
    return counts


def needed_counts(sequences: Iterable[Sequences]) -> Counts:
    """The least that exact answers take: every different beginning of the set's sequences once, every read once.

    `calls` is 0: how many batches that takes is the engine's affair.
    """
    reads = sorted(read for one in sequences for read in one.reads)
    tokens = sum(len(read) - _shared(before, read) for before, read in pairwise([(), *reads]))
    return Counts(0, tokens, len(reads))


def _shared(one: Ids, other: Ids) -> int:
    """How many tokens two sequences begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def lm_eval_counts(requests: Sequence[tuple[Ids, Ids]]) -> Counts:
    """One call for every different sequence up to a continuation's last token, all its positions through the head."""
    sequences = {context + continuation[:-1] for context, continuation in requests}
    tokens = sum(map(len, sequences))
    return Counts(len(sequences), tokens, tokens)
