"""The route `top_logprobs`: the server shows only the likeliest next tokens, so that labels' probabilities have bounds.

Tokens not shown have what is missing to 1 together, and each at most as much as the least likely one that is shown.
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
from valuesassets.remote.replies import ParsedResponse
from valuesassets.remote.requests import Request, fault_in, new_request, texts_of, trial_name, unreadable
from valuesassets.remote.shown_tokens import ID, ROUNDING, mass_of

OUTSIDE_KEPT = 5
RULES = "2"
"""Changes whenever a reading of the same response may come out differently."""


@dataclass(frozen=True)
class LabelBounds:
    """Lower and upper bounds of the labels' probabilities, (K,) `low` and `high`, and of their sum, `p_valid`."""

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
    """The texts of a label as the next token: as it is, and behind a space."""
    return label, f" {label}"


def bound_labels(
    labels: Sequence[str],
    probs: Mapping[str, float],
    known_tokens: frozenset[str] = frozenset(),
    *,
    hides: bool = False,
) -> LabelBounds:
    """Bounds of the labels' probabilities, given the tokens that are shown.

    A shown token that begins a spelling of a label may continue to it: its probability adds to that label's upper
    bound. A token that spells one label and begins another ("1", "10") may do so too, unless the model has shown the
    longer one as a single token.

    Args:
        probs: probability of each shown token by its text; the sum is at most 1, up to rounding.
        known_tokens: every token that the model is known to have.
        hides: whether a token with the same text as a shown one may have been lost, so that the missing probability
            may be any label's.
    """
    label_of_text = {text: label for label, each in enumerate(labels) for text in spellings(each)}
    missing = max(1 - math.fsum(probs.values()), 0.0)
    least = missing if hides else min([missing, *probs.values()])
    low, high_more, going_on = [0.0] * len(labels), [0.0] * len(labels), 0.0
    for token, prob in probs.items():
        labels_begun = begun_labels(token, label_of_text, known_tokens)
        if token in label_of_text:
            low[label_of_text[token]] += 0.0 if labels_begun else prob
            labels_begun |= {label_of_text[token]} if labels_begun else set()
        for label in labels_begun:
            high_more[label] += prob
        going_on += prob if labels_begun else 0.0
    unseen = [1 if hides else sum(text not in probs for text in spellings(label)) for label in labels]
    high = [
        bottom + min(missing, count * least) + more for bottom, count, more in zip(low, unseen, high_more, strict=True)
    ]
    p_valid = min(math.fsum(low), 1.0)
    p_valid_high = min(p_valid + min(missing, sum(unseen) * least) + going_on, 1.0)
    return LabelBounds(tuple(low), tuple(min(each, 1.0) for each in high), p_valid, p_valid_high)


def begun_labels(token: str, label_of_text: Mapping[str, int], known_tokens: frozenset[str]) -> set[int]:
    """The labels that a token may continue to, given the label of each spelling."""
    labels = {
        label
        for text, label in label_of_text.items()
        if token and text != token and text.startswith(token) and text not in known_tokens
    }
    return labels - {label_of_text[token]} if token in label_of_text else labels


@dataclass(frozen=True)
class TopEntry:
    """A trial with labels, read from the likeliest next tokens."""

    trial: Trial
    requests: tuple[Request]
    max_width: float

    @property
    def key(self) -> str:
        """The key of the reading."""
        return sha256_json([self.requests[0].key, list(self.trial.labels), self.max_width, RULES])

    def __str__(self) -> str:
        return trial_name(self.trial)

    def record(self, responses: Sequence[ParsedResponse], model: str, known_tokens: frozenset[str]) -> Reading:
        """The reading made of the shown tokens; `unresolved` where its bounds are too wide."""
        fault = fault_in(responses, self.trial, self.key, model)
        if fault is not None:
            return fault
        (response,) = responses
        probs = dict[str, float]()
        for token, log_prob in (response.log_probs or {}).items():
            text = as_spelled(token, self.trial.labels)
            probs[text] = probs.get(text, 0.0) + math.exp(log_prob)
        if (mass := mass_of_shown(response)) > 1 + ROUNDING:
            probs = {token: prob / mass for token, prob in probs.items()}
        bounds = bound_labels(self.trial.labels, probs, known_tokens, hides=response.may_hide_tokens)
        width = bounds.widest
        if width > self.max_width:
            reason = (
                f"the {len(probs)} likeliest tokens have {math.fsum(probs.values()):.3f} of the probability, labels "
                f"{bounds.p_valid:.3f}: a label's share is known to within {width:.3f}, {self.max_width:g} is wanted; "
                f"{explain_width(self.trial.labels, probs, known_tokens, hides=response.may_hide_tokens)}"
            )
            return unreadable(self.key, self.trial, Status.UNRESOLVED, reason, response.model_version)
        spelled_texts = {text for label in self.trial.labels for text in spellings(label)}
        outside = sorted(((-prob, token) for token, prob in probs.items() if token not in spelled_texts))[:OUTSIDE_KEPT]
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
            model_version=response.model_version,
        )


def as_spelled(token: str, labels: Sequence[str]) -> str:
    """A token's text, if a server writes a label behind a space as an entry of a vocabulary.

    >>> as_spelled("▁1", ["1", "2"]), as_spelled("Ġ2", ["1", "2"]), as_spelled("▁x", ["1", "2"])
    (' 1', ' 2', '▁x')
    """
    return f" {token[1:]}" if token[:1] in ("▁", "Ġ") and token[1:] in labels else token


def mass_of_shown(response: ParsedResponse) -> float:
    """The sum of the probabilities in a response."""
    return mass_of((response.log_probs or {}).values())


def explain_width(
    labels: Sequence[str], probs: Mapping[str, float], known_tokens: frozenset[str], *, hides: bool
) -> str:
    """Which token keeps the bounds of labels wide, and what to do about it, in words."""
    if all(token.startswith(ID) for token in probs):
        return "tokens are named by their ids: leave return_tokens_as_token_ids out of the parameters"
    label_of_text = {text: label for label, each in enumerate(labels) for text in spellings(each)}
    labels_by_token = {token: going for token in probs if (going := begun_labels(token, label_of_text, known_tokens))}
    others = {
        token: prob for token, prob in probs.items() if token not in label_of_text and token not in labels_by_token
    }
    missing = max(1 - math.fsum(probs.values()), 0.0)
    going_on = max(labels_by_token, key=probs.__getitem__, default="")
    outside = max(others, key=others.__getitem__, default="")
    most = max(probs.get(going_on, 0.0), others.get(outside, 0.0), missing)
    if going_on and probs[going_on] == most:
        label = labels[min(labels_by_token[going_on])]
        return (
            f"in the way is {going_on!r} with {most:.3f}, which may go on to {label!r}: ask by route = 'token_ids' or "
            "'echo', which know, or let the model write (Generate)"
        )
    if outside and others[outside] == most and thought_tag(outside):
        return f"in the way is {outside!r} with {most:.3f}, which begins a thought: use a model that can answer at once"
    if outside and others[outside] == most:
        return (
            f"in the way is {outside!r} with {most:.3f}, which is no label: say in `system` that the number alone is "
            "the answer, or let the model write (Generate)"
        )
    remedy = "of tokens with one text the server may show the last alone; ask in a chat, or " if hides else ""
    return f"in the way is what is not shown, {missing:.3f}: {remedy}raise `top` or `max_width`"


def top_entries(
    provider: Provider, identity: Sequence[str], trials: Sequence[Trial], prompting: Prompting, max_width: float
) -> list[TopEntry]:
    """Prepare one request for each trial."""
    return [
        TopEntry(
            trial,
            (
                new_request(
                    identity,
                    provider.tokens_body(trial, prompting),
                    texts_of(trial, prompting),
                    1,
                    provider.parse_tokens,
                ),
            ),
            max_width,
        )
        for trial in trials
    ]
