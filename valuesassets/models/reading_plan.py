"""Plans forward passes: prompts merged into prefix trees, long prefixes cached."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.shared_prefixes import SharedPrefix, find_prefixes
from valuesassets.models.spelled_trials import SpelledTrial
from valuesassets.models.token_trees import (
    BatchBudget,
    TokenTree,
    grow_tree,
    part_into_chains,
    part_into_trees,
    plan_batches,
)
from valuesassets.spelling.tokens import Tokens


@dataclass(frozen=True)
class Row:
    """One next-token distribution to read: behind a prompt and the beginning of an answer (`node`)."""

    key: str
    node: Tokens
    sequence: Tokens


@dataclass(frozen=True)
class Part:
    """Rows that are read in one tree, behind a cached prefix; an empty prefix where the tree holds whole sequences."""

    rows: tuple[Row, ...]
    prefix: Tokens = ()

    @cached_property
    def tree(self) -> TokenTree:
        """The tree over what follows the prefix."""
        return grow_tree([row.sequence[len(self.prefix) :] for row in self.rows])


def list_rows(entries: Iterable[SpelledTrial]) -> list[Row]:
    """List every row that the trials need."""
    return [
        Row(entry.key, node, (*entry.spelled.prompt_ids, *node))
        for entry in entries
        for node in entry.spelled.trie.inner_nodes
    ]


def part_rows(loaded: LoadedModel, rows: Sequence[Row], most_rows: int, notes: list[str]) -> list[Part]:
    """Group rows into parts; `notes` gets what a person should know about the plan."""
    if loaded.tree_fault is not None:
        notes.append(f"read one sequence per row: {loaded.tree_fault}")
        return chains(rows)
    parts_beside, rest = _keep_prefixes(loaded, rows, most_rows, notes)
    return whole_trees(loaded, rest, most_rows, notes) + parts_beside


def whole_trees(loaded: LoadedModel, rows: Sequence[Row], most_rows: int, notes: list[str]) -> list[Part]:
    """Group rows into trees of whole sequences, cut to the model's window where larger trees cannot be read."""
    trees = _parts(rows, part_into_trees([row.sequence for row in rows], most_rows))
    window = loaded.opened.window

    def exceeds(part: Part) -> bool:
        return window is not None and not part.tree.is_chain and len(part.tree.tokens) > window

    if window is None or not any(map(exceeds, trees)) or loaded.tree_window_fault is None:
        return trees
    notes.append(f"trees were cut to the model's window of {window} tokens: {loaded.tree_window_fault}")
    return [part for tree in trees for part in (_cut(tree.rows, most_rows, window) if exceeds(tree) else [tree])]


def _cut(rows: Sequence[Row], most_rows: int, window: int) -> list[Part]:
    """Split a tree into trees within the window and chains for longer rows, or into chains alone if that is less."""
    long = [row for row in rows if len(row.sequence) > window]
    short = [row for row in rows if len(row.sequence) <= window]
    trees = _parts(short, part_into_trees([row.sequence for row in short], most_rows, window=window))
    return min(trees + chains(long), chains(rows), key=lambda parts: sum(len(part.tree.tokens) for part in parts))


def chains(rows: Sequence[Row]) -> list[Part]:
    """Group rows into parts whose sequences are beginnings of one another."""
    return _parts(rows, part_into_chains([row.sequence for row in rows]))


def order_batches(parts: Sequence[Part], indices: Iterable[int], budget: BatchBudget) -> list[list[int]]:
    """Indices of the parts in each batch: parts without a prefix first, then the parts of one prefix after another."""
    groups: dict[Tokens, list[int]] = {}
    for index in indices:
        groups.setdefault(parts[index].prefix, []).append(index)
    return [
        [indices_here[position] for position in batch]
        for prefix, indices_here in groups.items()
        for batch in plan_batches([parts[index].tree for index in indices_here], budget, len(prefix))
    ]


def _keep_prefixes(
    loaded: LoadedModel, rows: Sequence[Row], most_rows: int, notes: list[str]
) -> tuple[list[Part], list[Row]]:
    """The parts that are read beside cached prefixes, and the rows that are left."""
    sequences = [row.sequence for row in rows]
    prefixes = find_prefixes(sequences)
    if prefixes and loaded.prefix_fault is not None:
        notes.append(f"what prompts begin with was read with every tree: {loaded.prefix_fault}")
        return [], list(rows)
    parts_beside: list[Part] = []
    indices_beside: set[int] = set()
    for prefix in prefixes:
        parts = _part_beside(loaded, rows, prefix, most_rows)
        if parts:
            parts_beside += parts
            indices_beside.update(prefix.members)
    return parts_beside, [row for index, row in enumerate(rows) if index not in indices_beside]


def _part_beside(loaded: LoadedModel, rows: Sequence[Row], prefix: SharedPrefix, most_rows: int) -> list[Part]:
    """The parts of one prefix; none where they exceed the model's window and cannot be read beyond it."""
    members, window = [rows[index] for index in prefix.members], loaded.opened.window
    sequences, beginning = [row.sequence for row in members], members[0].sequence[: prefix.length]
    parts = _parts(members, part_into_trees(sequences, most_rows, prefix.length), beginning)

    def exceed(parts: Sequence[Part]) -> bool:
        return window is not None and max(len(part.tree.tokens) for part in parts) + prefix.length > window

    if exceed(parts) and loaded.prefix_window_fault is not None:
        parts = _parts(members, part_into_trees(sequences, most_rows, prefix.length, window), beginning)
        return [] if exceed(parts) else parts
    return parts


def _parts(rows: Sequence[Row], places: Iterable[Sequence[int]], prefix: Tokens = ()) -> list[Part]:
    return [Part(tuple(rows[place] for place in group), prefix) for group in places]
