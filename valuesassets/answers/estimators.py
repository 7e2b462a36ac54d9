"""Alternative estimates of an answer distribution, stored beside the main one for comparison only.

docs/estimators.md describes their assumptions. An estimate that cannot be computed is null, with its reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from valuesassets.answers.orders import averaged_orders, cyclic_shifts
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import Distribution, distribution, tvd
from valuesassets.records.errors import MissingData
from valuesassets.records.trials import Reading, Trial

Probs = Array

ESTIMATES = {
    "label_likelihood": ("label_likelihood", "label_likelihood_per_token"),
    "content_free": ("content_free",),
    "pride": ("pride",),
}
"""The estimates that each estimator of a study computes; the column of an estimate is `prob_<estimate>`."""
COLUMNS = tuple(f"prob_{name}" for names in ESTIMATES.values() for name in names)

PRIOR_QUESTIONS = 3
"""Fewest other questions from which a prior over positions is computed."""


def share_per_token(probs: Probs, n_tokens: Sequence[int]) -> Probs:
    """Label-sequence likelihood, length-normalised: p_i^(1/n_i) / sum_j p_j^(1/n_j). It sums to 1.

    Long labels are not less probable for their length alone, but labels with predictable last tokens are favoured.

    Args:
        probs: (K,) probability of each label's token sequence after the prompt.
        n_tokens: (K,) number of tokens of that sequence, at least 1.

    Raises:
        MissingData: all labels have probability 0.

    Source: Brown et al. (2020), Language Models are Few-Shot Learners, section 2.4 (likelihood per token); `acc_norm`
    of lm-evaluation-harness divides by bytes instead.

    >>> share_per_token(np.array([0.25, 0.5]), [2, 1]).tolist()
    [0.5, 0.5]
    """
    return _share(probs ** (1 / np.asarray(n_tokens, dtype=float)))


def share_over_baseline(probs: Probs, baseline: Probs) -> Probs:
    """Answers relative to a baseline, normalised: (p_i / b_i) / sum_j (p_j / b_j).

    With the answer to the prompt without its question as baseline, this is the normalised exponential of the pointwise
    mutual information of answer and question. With a prior over positions as baseline it is PriDe's debiased answer.

    Args:
        probs, baseline: (K,) each up to a constant factor; the baseline is positive.

    Raises:
        MissingData: the baseline is 0 for some answer, or `probs` is 0 for all.

    Source: Zhao et al. (2021), Calibrate Before Use, section 5 (W = diag(b)^-1, normalised here without their softmax);
    Holtzman et al. (2021), Surface Form Competition, equation of PMI_DC; Zheng et al. (2024), section 4.

    >>> share_over_baseline(np.array([0.5, 0.25]), np.array([0.5, 0.25])).tolist()
    [0.5, 0.5]
    """
    if not np.all(baseline > 0):
        raise MissingData(f"the baseline has no probability on answer {int(np.argmin(baseline)) + 1} of those shown")
    # Scaled before dividing: a very small baseline would make the ratio infinite.
    return _share(probs * (baseline.min() / baseline))


def position_prior(shares: Probs) -> Probs:
    """One question's prior over positions: softmax_d of the mean over orders of log P(d | order). It sums to 1.

    In the K cyclic orders every option occurs once at every position, so the options' own probabilities contribute the
    same sum to each position d and cancel. Position bias remains.

    Args:
        shares: (orders, K) probability of each position in each of K cyclic shifts.

    Raises:
        MissingData: a position has probability 0 in some order.

    Source: Zheng et al. (2024), Large Language Models Are Not Robust Multiple Choice Selectors, section 4.1.

    >>> position_prior(np.array([[0.9, 0.1], [0.9, 0.1]])).round(3).tolist()
    [0.9, 0.1]
    """
    if not np.all(shares > 0):
        raise MissingData(f"position {int(np.argmin(shares.min(axis=0))) + 1} has no probability in some order")
    return _share(np.exp(np.log(shares).mean(axis=0)))


@dataclass
class Item:
    """One question under one wording, with the readings of all its trials.

    Attributes:
        readings: (trial, reading) by order, for each estimator; the key None holds those of the question itself.
    """

    question_id: str
    wording: int
    readings: dict[str | None, dict[str, tuple[Trial, Reading]]] = field(default_factory=dict)

    def entries(self, estimator: str | None) -> dict[str, tuple[Trial, Reading]]:
        """(trial, reading) by order; empty where the estimator has no trials."""
        return self.readings.get(estimator, {})


Estimated = tuple[Mapping[str, Probs], str | None]
"""(estimates by name, why others are missing); estimates are (K,) in the order of increasing codes."""


def estimate_items(
    trials: Iterable[Trial], by_trial: Mapping[str, Reading], estimators: Sequence[str]
) -> dict[tuple[str, int], Estimated]:
    """The estimates of every item of a cell, by (asked id, wording); empty without estimators.

    Args:
        by_trial: the reading of every trial, by trial id.
        estimators: keys of `ESTIMATES`.
    """
    items: dict[tuple[str, int], Item] = {}
    for trial in trials if estimators else ():
        item = items.setdefault((trial.asked_id, trial.wording), Item(trial.question_id, trial.wording))
        item.readings.setdefault(trial.estimator, {})[trial.order] = trial, by_trial[trial.trial_id]
    priors = _position_priors(items.values()) if "pride" in estimators else []
    makers: dict[str, Callable[[Item], Probs]] = {
        "label_likelihood": lambda item: _over_orders(item, "label_likelihood", _likelihood),
        "label_likelihood_per_token": lambda item: _over_orders(item, "label_likelihood", _likelihood_per_token),
        "content_free": lambda item: np.mean([_calibrated(item, order) for order in _averaged(item)], axis=0),
        "pride": lambda item: _pride(item, priors),
    }
    wanted = [name for estimator in estimators for name in ESTIMATES[estimator]]
    return {key: _estimated(item, {name: makers[name] for name in wanted}) for key, item in items.items()}


def estimate_columns(answered: Sequence[Mapping[str, Any]], estimated: Estimated | None) -> list[dict[str, Any]]:
    """The columns of estimates beside the main answer of an item, one row per row of `answered`.

    Args:
        answered: the item's rows: `response_value`, increasing, and `prob_averaged`, null if it was not read.
        estimated: None where the study has no estimators.
    """
    nulls = dict.fromkeys([*COLUMNS, "estimator_disagreement", "estimator_reason"])
    if estimated is None:
        return [nulls] * len(answered)
    if answered[0]["prob_averaged"] is None:
        return [nulls | {"estimator_reason": "the question itself was not read"}] * len(answered)
    main = distribution([row["response_value"] for row in answered], [row["prob_averaged"] for row in answered])
    probs_by_name, reason = estimated
    distances = [tvd(main, Distribution(main.values, probs)) for probs in probs_by_name.values()]
    shared = nulls | {"estimator_disagreement": max(distances, default=None), "estimator_reason": reason}
    return [
        shared | {f"prob_{name}": float(probs[k]) for name, probs in probs_by_name.items()}
        for k in range(len(answered))
    ]


def _share(mass: Probs) -> Probs:
    total = mass.sum()
    if not total > 0:
        raise MissingData("no probability on any answer")
    return mass / total


def _label_probs(trial: Trial, reading: Reading) -> Probs:
    if reading.label_probs is None:
        raise MissingData(f"{trial.trial_id}: {reading.reason}")
    return np.asarray(reading.label_probs, dtype=float)


def _on_scale(trial: Trial, shares: Probs) -> Probs:
    """Shares reordered from the order shown to the order of increasing codes."""
    return shares[np.argsort(trial.values)]


def _likelihood(trial: Trial, reading: Reading) -> Probs:
    return _share(_label_probs(trial, reading))


def _likelihood_per_token(trial: Trial, reading: Reading) -> Probs:
    probs = _label_probs(trial, reading)
    if reading.label_tokens is None:
        raise MissingData(f"{trial.trial_id}: it is not known how many tokens its labels have; read it again")
    return share_per_token(probs, reading.label_tokens)


def _over_orders(item: Item, estimator: str, make: Callable[[Trial, Reading], Probs]) -> Probs:
    entries = item.entries(estimator).values()
    if not entries:
        raise MissingData("not every option has a text of its own")
    return np.mean([_on_scale(trial, make(trial, reading)) for trial, reading in entries], axis=0)


def _averaged(item: Item) -> list[str]:
    return averaged_orders({order: trial.values for order, (trial, _) in item.entries(None).items()})


def _calibrated(item: Item, order: str) -> Probs:
    trial, reading = item.entries(None)[order]
    if order not in item.entries("content_free"):
        raise MissingData(f"{trial.trial_id}: not asked without its question")
    free_trial, free_reading = item.entries("content_free")[order]
    probs, baseline = _label_probs(trial, reading), _label_probs(free_trial, free_reading)
    try:
        return _on_scale(trial, share_over_baseline(probs, baseline))
    except MissingData as error:
        raise MissingData(f"{free_trial.trial_id}: {error}") from None


def _cyclic_shares(item: Item) -> Probs:
    """(K, K): probability of each position in each cyclic order, forward first."""
    forward = item.entries(None)["forward"][0].values
    by_values = {entry[0].values: entry for entry in item.entries(None).values()}
    shifts = cyclic_shifts(forward)
    if not all(shift in by_values for shift in shifts):
        raise MissingData(f"asked in {len(by_values)} orders, not in all {len(shifts)} cyclic ones")
    return np.array([_share(_label_probs(*by_values[shift])) for shift in shifts])


def _position_priors(items: Iterable[Item]) -> list[tuple[Item, Probs]]:
    """The prior of every item for which one can be computed."""
    priors = []
    for item in items:
        with suppress(MissingData):
            priors.append((item, position_prior(_cyclic_shares(item))))
    return priors


def _pride(item: Item, priors: Sequence[tuple[Item, Probs]]) -> Probs:
    """The forward answer relative to the prior of other questions with the same number of options and wording.

    A question with conditions counts once, with its mean prior, and its items are left out together.
    """
    forward = _cyclic_shares(item)[0]
    others: dict[str, list[Probs]] = {}
    for other, prior in priors:
        is_alike = other.wording == item.wording and len(prior) == len(forward)
        if is_alike and other.question_id != item.question_id:
            others.setdefault(other.question_id, []).append(prior)
    if len(others) < PRIOR_QUESTIONS:
        raise MissingData(f"{len(others)} other questions with {len(forward)} options, {PRIOR_QUESTIONS} are needed")
    prior = np.mean([np.mean(of_question, axis=0) for of_question in others.values()], axis=0)
    return _on_scale(item.entries(None)["forward"][0], share_over_baseline(forward, prior))


def _estimated(item: Item, makers: Mapping[str, Callable[[Item], Probs]]) -> Estimated:
    probs: dict[str, Probs] = {}
    reasons: dict[str, list[str]] = {}
    for name, make in makers.items():
        try:
            probs[name] = make(item)
        except MissingData as error:
            reasons.setdefault(str(error), []).append(name)
    reason = "; ".join(f"{', '.join(names)}: {message}" for message, names in reasons.items())
    return probs, reason or None
