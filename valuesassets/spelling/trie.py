"""The trie over the spellings of a question's labels, and the exact probability of each label.

A node is identified by the tokens behind the prompt that lead to it.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valuesassets.spelling.tokens import Tokens


@dataclass(frozen=True)
class Trie:
    """The spellings of a question's labels as a tree of tokens.

    Attributes:
        label_at: the label (its position) that ends at a node.
        children: next tokens of each inner node, sorted; parents come before children.
    """

    label_at: Mapping[Tokens, int]
    children: Mapping[Tokens, Tokens]

    @property
    def inner_nodes(self) -> tuple[Tokens, ...]:
        """The nodes whose next-token distribution is needed."""
        return tuple(self.children)

    @property
    def shared_nodes(self) -> tuple[Tokens, ...]:
        """Inner nodes where one label ends and another continues."""
        return tuple(node for node in self.children if node in self.label_at)


def build_trie(spellings: Sequence[Sequence[Tokens]]) -> Trie:
    """Build the trie over the labels' token sequences; identical sequences of one label count once.

    >>> trie = build_trie([[(1,)], [(1, 0)]])
    >>> trie.inner_nodes, trie.shared_nodes
    (((), (1,)), ((1,),))
    """
    label_at = {tokens: label for label, sequences in enumerate(spellings) for tokens in sequences}
    children: dict[Tokens, set[int]] = defaultdict(set)
    for tokens in label_at:
        for depth in range(len(tokens)):
            children[tokens[:depth]].add(tokens[depth])
    ordered = sorted(children, key=lambda node: (len(node), node))
    return Trie(label_at, {node: tuple(sorted(children[node])) for node in ordered})


@dataclass(frozen=True)
class NodeRead:
    """The probability of each child of an inner node, and P(stop), the mass of terminators (0 where no label ends)."""

    child_probs: tuple[float, ...]
    stop_prob: float


@dataclass(frozen=True)
class LabelMass:
    """The exact probability of every label, and how well shared nodes could be resolved.

    Attributes:
        label_probs: (K,) not renormalised; each the sum over its label's `spelling_probs`.
        reach: probability of reaching each inner node.
        resolution_mass, resolution_mass_min: P(stop) + P(go on) at shared nodes, weighted by `reach`; None without any.
    """

    label_probs: tuple[float, ...]
    spelling_probs: Mapping[Tokens, float]
    reach: Mapping[Tokens, float]
    resolution_mass: float | None
    resolution_mass_min: float | None


def sum_labels(trie: Trie, reads: Mapping[Tokens, NodeRead], labels: int) -> LabelMass:
    r"""The probability of each label: the product of steps along each of its spellings, summed over them.

    At a node where one label ends and another continues, all probability that reaches it is divided between stopping
    and going on: P(stop) / r and P(go on) / r with r = P(stop) + P(go on), so that none is lost.

    Args:
        reads: what was read at each inner node.
        labels: number of labels, K.

    >>> trie = build_trie([[(1,)], [(1, 0)]])
    >>> mass = sum_labels(trie, {(): NodeRead((0.8,), 0.0), (1,): NodeRead((0.3,), 0.6)}, 2)
    >>> [round(p, 6) for p in mass.label_probs], round(mass.resolution_mass, 6)
    ([0.533333, 0.266667], 0.9)
    """
    spelled: dict[Tokens, float] = {}
    reach: dict[Tokens, float] = {(): 1.0}
    resolutions: list[tuple[float, float]] = []
    for node, tokens in trie.children.items():
        node_read, arriving = reads[node], reach[node]
        if node in trie.label_at:
            resolution = node_read.stop_prob + math.fsum(node_read.child_probs)
            resolutions.append((arriving, resolution))
            arriving = arriving / resolution if resolution > 0 else 0.0
            spelled[node] = arriving * node_read.stop_prob
        for token, prob in zip(tokens, node_read.child_probs, strict=True):
            child = (*node, token)
            if child in trie.children:
                reach[child] = arriving * prob
            else:
                spelled[child] = arriving * prob
    probs = [0.0] * labels
    for tokens, prob in spelled.items():
        probs[trie.label_at[tokens]] += prob
    return LabelMass(tuple(probs), spelled, reach, *_summarise(resolutions))


def _summarise(resolutions: Sequence[tuple[float, float]]) -> tuple[float | None, float | None]:
    """Mean and minimum of the second entries; the mean is weighted by the first entries, if these are not all 0."""
    if not resolutions:
        return None, None
    masses = [mass for _, mass in resolutions]
    total = math.fsum(weight for weight, _ in resolutions)
    mean = math.fsum(w * mass for w, mass in resolutions) / total if total > 0 else math.fsum(masses) / len(masses)
    return mean, min(masses)
