"""The route `top_logprobs`: of the next token only the likeliest are shown, so that labels' probabilities have bounds.

What is not shown is not zero: each token that is not shown may have as much as the least of those that are, and all of
them together what is missing to 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valuesassets.records.files import sha256_json
from valuesassets.records.intervals import bound_shares
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.thoughts import thought_tag
from valuesassets.records.trials import Reading, Status, Trial
from valuesassets.remote.provider import Provider
from valuesassets.remote.replies import Said
from valuesassets.remote.requests import Request, fault_in, named, new_request, texts_of, unread
from valuesassets.remote.shown_tokens import ID, ROUNDING, mass_of

OUTSIDE_KEPT = 5
RULES = "2"
"""Changes whenever a reading of the same response may come out differently."""


@dataclass(frozen=True)
class LabelBounds:
    """Between what labels' probabilities lie, and their sum.

    Attributes:
        low, high: (K,) each.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    p_valid: float
    p_valid_high: float

    @property
    def widest(self) -> float:
        """The widest interval of a label's share; 1 where no label is shown at all."""
        if self.p_valid <= 0:
            return 1.0
        shares = bound_shares(self.low, self.high, self.p_valid, self.p_valid_high)
        return max(high - low for low, high in shares)


def spellings(label: str) -> tuple[str, str]:
    """How a label may be written as the next token: as it stands, and behind a space."""
    return label, f" {label}"


def bound_labels(
    labels: Sequence[str], shown: Mapping[str, float], told: frozenset[str] = frozenset(), *, hides: bool = False
) -> LabelBounds:
    """The bounds of labels' probabilities, of the tokens that are shown.

    A shown token that begins the spelling of a label, and is none itself, may go on to it: what it has adds to that
    label's upper bound. One that is the spelling of a label and begins that of another ("1", "10") may do so too,
    unless the model has shown the longer one as a token of its own.

    Args:
        shown: probability of each token by its text; they sum to 1 at most, but for rounding.
        told: every token that the model is known to have.
        hides: whether a token with the text of one that is shown may have been lost, so that what is missing may be
            any label's.
    """
    own = {text: label for label, each in enumerate(labels) for text in spellings(each)}
    missing = max(1 - math.fsum(shown.values()), 0.0)
    least = missing if hides else min([missing, *shown.values()])
    low, high_more, going_on = [0.0] * len(labels), [0.0] * len(labels), 0.0
    for token, prob in shown.items():
        begun = begun_labels(token, own, told)
        if token in own:
            low[own[token]] += 0.0 if begun else prob
            begun |= {own[token]} if begun else set()
        for label in begun:
            high_more[label] += prob
        going_on += prob if begun else 0.0
    unseen = [1 if hides else sum(text not in shown for text in spellings(label)) for label in labels]
    high = [
        bottom + min(missing, count * least) + more for bottom, count, more in zip(low, unseen, high_more, strict=True)
    ]
    p_valid = min(math.fsum(low), 1.0)
    p_valid_high = min(p_valid + min(missing, sum(unseen) * least) + going_on, 1.0)
    return LabelBounds(tuple(low), tuple(min(each, 1.0) for each in high), p_valid, p_valid_high)


def begun_labels(token: str, own: Mapping[str, int], told: frozenset[str]) -> set[int]:
    """The labels that a token may go on to.

    Args:
        own: the label of each spelling.
    """
    begun = {
        label for text, label in own.items() if token and text != token and text.startswith(token) and text not in told
    }
    return begun - {own[token]} if token in own else begun


@dataclass(frozen=True)
class TopEntry:
    """A trial with labels, read off the likeliest tokens."""

    trial: Trial
    requests: tuple[Request]
    max_width: float

    @property
    def key(self) -> str:
        """What the reading is known by."""
        return sha256_json([self.requests[0].sent, list(self.trial.labels), self.max_width, RULES])

    def __str__(self) -> str:
        return named(self.trial)

    def record(self, said: Sequence[Said], model: str, told: frozenset[str]) -> Reading:
        """What the tokens that are shown amount to; `unresolved` where they leave too much open."""
        fault = fault_in(said, self.trial, self.key, model)
        if fault is not None:
            return fault
        (one,) = said
        shown = dict[str, float]()
        for token, log_prob in (one.shown or {}).items():
            text = as_spelled(token, self.trial.labels)
            shown[text] = shown.get(text, 0.0) + math.exp(log_prob)
        if (mass := mass_of_shown(one)) > 1 + ROUNDING:
            shown = {token: prob / mass for token, prob in shown.items()}
        bounds = bound_labels(self.trial.labels, shown, told, hides=one.hides)
        width = bounds.widest
        if width > self.max_width:
            reason = (
                f"the {len(shown)} likeliest tokens have {math.fsum(shown.values()):.3f} of the probability, labels "
                f"{bounds.p_valid:.3f}: a label's share is known to within {width:.3f}, {self.max_width:g} is wanted; "
                f"{in_the_way(self.trial.labels, shown, told, hides=one.hides)}"
            )
            return unread(self.key, self.trial, Status.UNRESOLVED, reason, one.model_version)
        own = {text for label in self.trial.labels for text in spellings(label)}
        outside = sorted(((-prob, token) for token, prob in shown.items() if token not in own))[:OUTSIDE_KEPT]
        return Reading(
            trial_id=self.trial.trial_id,
            label_probs=bounds.low,
            p_valid=bounds.p_valid,
            resolution_mass=None,
            resolution_mass_min=None,
            outside=tuple((token, -prob) for prob, token in outside),
            status=Status.OK,
            reason=None,
            reading_key=self.key,
            label_probs_high=bounds.high,
            p_valid_high=bounds.p_valid_high,
            model_version=one.model_version,
        )


def as_spelled(token: str, labels: Sequence[str]) -> str:
    """A token as text, where a server shows a label behind a space by its entry in a vocabulary.

    >>> as_spelled("▁1", ["1", "2"]), as_spelled("Ġ2", ["1", "2"]), as_spelled("▁x", ["1", "2"])
    (' 1', ' 2', '▁x')
    """
    return f" {token[1:]}" if token[:1] in ("▁", "Ġ") and token[1:] in labels else token


def mass_of_shown(said: Said) -> float:
    """The sum of the probabilities that a response shows."""
    return mass_of((said.shown or {}).values())


def in_the_way(labels: Sequence[str], shown: Mapping[str, float], told: frozenset[str], *, hides: bool) -> str:
    """Which token keeps labels' shares from being known, and what to do about it, in words."""
    if all(token.startswith(ID) for token in shown):
        return "tokens are named by their ids: leave return_tokens_as_token_ids out of the parameters"
    own = {text: label for label, each in enumerate(labels) for text in spellings(each)}
    begun = {token: going for token in shown if (going := begun_labels(token, own, told))}
    others = {token: prob for token, prob in shown.items() if token not in own and token not in begun}
    missing = max(1 - math.fsum(shown.values()), 0.0)
    going_on = max(begun, key=shown.__getitem__, default="")
    other = max(others, key=others.__getitem__, default="")
    most = max(shown.get(going_on, 0.0), others.get(other, 0.0), missing)
    if going_on and shown[going_on] == most:
        label = labels[min(begun[going_on])]
        return (
            f"in the way is {going_on!r} with {most:.3f}, which may go on to {label!r}: ask by route = 'token_ids' or "
            "'echo', which know, or let the model write (Generate)"
        )
    if other and others[other] == most and thought_tag(other):
        return f"in the way is {other!r} with {most:.3f}, which begins a thought: use a model that can answer at once"
    if other and others[other] == most:
        return (
            f"in the way is {other!r} with {most:.3f}, which is no label: say in `system` that the number alone is the "
            "answer, or let the model write (Generate)"
        )
    lost = "of tokens with one text the server may show the last alone; ask in a chat, or " if hides else ""
    return f"in the way is what is not shown, {missing:.3f}: {lost}raise `top` or `max_width`"


def top_entries(
    provider: Provider, identity: Sequence[str], trials: Sequence[Trial], prompting: Prompting, max_width: float
) -> list[TopEntry]:
    """A request for each trial."""
    return [
        TopEntry(
            trial,
            (new_request(identity, provider.to_show(trial, prompting), texts_of(trial), 1, provider.shown),),
            max_width,
        )
        for trial in trials
    ]
