"""`OpenReading`: the tokens to ask for at each node of a trial's trie, and the reading made from the answers."""

import math
from collections.abc import Mapping

from valuesassets.records.trials import UNRESOLVED_BELOW, Reading, Status
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.spellings import SpelledPrompt
from valuesassets.spelling.tokens import NextToken, Tokens
from valuesassets.spelling.trie import NodeRead, sum_labels

OUTSIDE_KEPT = 5


class OpenReading:
    """A reading in progress: the tokens to ask for at each inner node of a trial's trie, and the answers so far.

    Attributes:
        fault: why the trial cannot be read with this tokenizer, in words; None where it can.
        is_broken: whether a logit was NaN or infinite.
    """

    def __init__(
        self, tokenizer: PromptTokenizer, spelled: SpelledPrompt, stops: Mapping[Tokens, frozenset[int]]
    ) -> None:
        """Begin a reading; `stops` are the tokens that end a label, at each node where another continues."""
        self._tokenizer, self._spelled = tokenizer, spelled
        self._stops = {node: sorted(ends - set(spelled.trie.children[node])) for node, ends in stops.items()}
        endless = [spelled.texts[node] for node, ends in self._stops.items() if not ends]
        self.fault = (
            f"tokenizer of {tokenizer.name}: no token of its own ends {endless[0]!r} where another label goes "
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
        """The tokens whose probabilities are needed at a node: its children, then the tokens that end its label."""
        return (*self._spelled.trie.children[node], *self._stops.get(node, ()))

    def note(self, node: Tokens, answer: NextToken) -> None:
        """Record the answer at a node."""
        children = self._spelled.trie.children[node]
        self.is_broken |= not answer.is_finite
        probs = (
            [math.exp(log_prob) for log_prob in answer.log_probs] if answer.is_finite else [0.0] * len(answer.log_probs)
        )
        self._reads[node] = NodeRead(tuple(probs[: len(children)]), math.fsum(probs[len(children) :]))
        if node not in self._spelled.trie.label_at:
            self._outside[node] = [(token, prob) for token, prob in answer.likeliest if token not in children]

    def close(self, reading_key: str) -> Reading:
        """The reading, once every node has been read and none is broken; its trial id is still empty."""
        mass = sum_labels(self._spelled.trie, self._reads, len(self._spelled.spellings))
        resolution = mass.resolution_mass
        is_unresolved = resolution is not None and resolution < UNRESOLVED_BELOW
        lengths = tuple(
            len(max(spellings, key=mass.spelling_probs.__getitem__)) for spellings in self._spelled.spellings
        )
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
            label_tokens=None if is_unresolved else lengths,
        )

    def _likeliest_outside(self, reach: Mapping[Tokens, float]) -> tuple[tuple[str, float], ...]:
        continuations = [
            ((*node, token), reach[node] * prob) for node, tokens in self._outside.items() for token, prob in tokens
        ]
        continuations.sort(key=lambda entry: (-entry[1], entry[0]))
        prompt_ids = self._spelled.prompt_ids
        return tuple(
            (self._tokenizer.continuation_text(prompt_ids, t), prob) for t, prob in continuations[:OUTSIDE_KEPT]
        )
