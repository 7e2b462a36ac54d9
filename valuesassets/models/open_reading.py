"""A reading in the making: what each inner node of a trial's trie is asked, what came back, and what it amounts to."""

import math
from collections.abc import Mapping

from valuesassets.models.engine import NextToken
from valuesassets.models.loading import LoadedModel
from valuesassets.models.spellings import SpelledPrompt, find_terminators
from valuesassets.models.token_trees import Tokens
from valuesassets.models.trie import NodeRead, sum_labels
from valuesassets.records.readings import UNRESOLVED_BELOW, Reading, Status

OUTSIDE_KEPT = 5


class OpenReading:
    """What has been read of one trial so far.

    Attributes:
        fault: why it cannot be read with this tokenizer, in words; None where it can.
        is_broken: whether a logit was NaN or infinite.
    """

    def __init__(self, loaded: LoadedModel, spelled: SpelledPrompt) -> None:
        self._tokenizer, self._spelled = loaded.tokenizer, spelled
        found = find_terminators(loaded.tokenizer, spelled, loaded.eos_ids)
        self._stops = {node: sorted(stops - set(spelled.trie.children[node])) for node, stops in found.items()}
        endless = [spelled.texts[node] for node, stops in self._stops.items() if not stops]
        self.fault = (
            f"tokenizer of {loaded.tokenizer.name}: no token of its own ends {endless[0]!r} where another label goes "
            "on from it; ask for labels of one length, or use another model"
            if endless
            else None
        )
        self._reads: dict[Tokens, NodeRead] = {}
        self._outside: dict[Tokens, list[tuple[int, float]]] = {}
        self.is_broken = False

    @property
    def is_whole(self) -> bool:
        """Whether every node has been read."""
        return len(self._reads) == len(self._spelled.trie.inner_nodes)

    def wanted(self, node: Tokens) -> tuple[int, ...]:
        """The tokens whose probabilities are needed at a node: its children, then what ends its label."""
        return (*self._spelled.trie.children[node], *self._stops.get(node, ()))

    def note(self, node: Tokens, read: NextToken) -> None:
        """Take what came back at a node."""
        children = self._spelled.trie.children[node]
        self.is_broken |= not read.is_finite
        probs = [math.exp(log_prob) for log_prob in read.log_probs] if read.is_finite else [0.0] * len(read.log_probs)
        self._reads[node] = NodeRead(tuple(probs[: len(children)]), math.fsum(probs[len(children) :]))
        if node not in self._spelled.trie.label_at:
            self._outside[node] = [(token, prob) for token, prob in read.likeliest if token not in children]

    def close(self, reading_key: str) -> Reading:
        """The reading, once every node has been read and none is broken; for whichever trial asks."""
        mass = sum_labels(self._spelled.trie, self._reads, len(self._spelled.spellings))
        resolution = mass.resolution_mass
        is_unresolved = resolution is not None and resolution < UNRESOLVED_BELOW
        return Reading(
            trial_id="",
            label_probs=None if is_unresolved else mass.label_probs,
            p_valid=None if is_unresolved else math.fsum(mass.label_probs),
            resolution_mass=resolution,
            resolution_mass_min=mass.resolution_mass_min,
            outside=self._likeliest_outside(mass.reach),
            status=Status.UNRESOLVED if is_unresolved else Status.OK,
            reason=f"after a label that another goes on from, the model stops or goes on with probability "
            f"{resolution:.2g} only, {UNRESOLVED_BELOW} is needed"
            if is_unresolved
            else None,
            reading_key=reading_key,
            label_tokens=None
            if is_unresolved
            else tuple(len(max(own, key=mass.spelling_probs.__getitem__)) for own in self._spelled.spellings),
        )

    def _likeliest_outside(self, reach: Mapping[Tokens, float]) -> tuple[tuple[str, float], ...]:
        found = [
            ((*node, token), reach[node] * prob) for node, tokens in self._outside.items() for token, prob in tokens
        ]
        found.sort(key=lambda entry: (-entry[1], entry[0]))
        prompt_ids = self._spelled.prompt_ids
        return tuple((self._tokenizer.continuation_text(prompt_ids, t), prob) for t, prob in found[:OUTSIDE_KEPT])
