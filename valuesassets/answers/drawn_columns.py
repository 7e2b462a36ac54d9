"""Columns of `probe_distributions` that only a study with drawn families has: what drawing does to each answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.measure.drawn_answers import exchanged_p, mean_interval, mean_variance_of
from valuesassets.measure.drawn_distances import cramer_noise_of, half_squares_noise_of
from valuesassets.measure.seeding import seeded
from valuesassets.records.settings.draws import LEAST_OPTIONS
from valuesassets.records.trials import Reading, Trial

Row = dict[str, Any]
COUNTS = ("n_drawn", "n_read", "n_read_forward", "n_read_reversed")
NUMBERS = ("draw_noise", "cramer_noise", "mean_unit_low", "mean_unit_high", "position_bias_p")
COLUMNS = (*COUNTS, *NUMBERS)
"""The columns; numbers are empty where probabilities were read."""


def has_draws(readings: Sequence[Reading]) -> bool:
    """Whether any reading is of drawn answers."""
    return any(reading.n_drawn is not None for reading in readings)


def why_few(reading: Reading) -> str | None:
    """Why a reading of drawn answers does not suffice; None where it does, or where probabilities were read."""
    n_read = _n_read(reading)
    if reading.n_drawn is None or reading.label_counts is None or n_read >= LEAST_OPTIONS:
        return None
    return f"{n_read} of {reading.n_drawn} drawn answers are an option, {LEAST_OPTIONS} or more are needed"


def count_columns(orders: Sequence[Trial], by_trial: Mapping[str, Reading]) -> Row:
    """The columns `COUNTS` of a question, and empty `NUMBERS`."""
    readings = {trial.order: by_trial[trial.trial_id] for trial in orders}
    n_read = {order: _n_read(reading) for order, reading in readings.items()}
    return {
        "n_drawn": sum(reading.n_drawn or 0 for reading in readings.values()),
        "n_read": sum(n_read.values()),
        "n_read_forward": n_read.get("forward", 0),
        "n_read_reversed": n_read.get("reversed", 0),
        **dict.fromkeys(NUMBERS),
    }


def drawn_numbers(
    orders: Sequence[Trial],
    by_trial: Mapping[str, Reading],
    over: Sequence[str],
    places: Sequence[int] | None,
    *question: object,
) -> Row:
    """The columns `NUMBERS` of a drawn question; none where probabilities were read.

    Args:
        over: the orders over which answers are averaged.
        places: position of each option on the analysis scale, by increasing codes; None for a scale without an order.
        question: names the question, for random numbers.
    """
    counts = {trial.order: _counts(trial, by_trial[trial.trial_id]) for trial in orders}
    averaged = [counts[order] for order in over]
    if any(each is None for each in averaged):
        return {}
    random = seeded("position bias", *question)
    row: Row = {"position_bias_p": exchanged_p(counts["forward"], counts["reversed"], random)}
    drawn = np.array(averaged)
    return row | (_without_order(drawn) if places is None else _along_scale(drawn, np.array(places, dtype=float)))


def _along_scale(counts: Array, places: Array) -> Row:
    """Noise and interval of the mean of (V, K) counts on a scale with an order."""
    order = np.argsort(places)
    unit, drawn = (places[order] - places.min()) / np.ptp(places), counts[:, order]
    n = drawn.sum(axis=1)
    shares, squares = drawn / n[:, None], n.size**2
    low, high = mean_interval(drawn, unit)
    return {
        "draw_noise": float(mean_variance_of(shares, n, unit).sum() / squares),
        "cramer_noise": float(cramer_noise_of(shares, n, unit).sum() / squares),
        "mean_unit_low": low,
        "mean_unit_high": high,
    }


def _without_order(counts: Array) -> Row:
    n = counts.sum(axis=1)
    return {"cramer_noise": float(half_squares_noise_of(counts / n[:, None], n).sum() / n.size**2)}


def _counts(trial: Trial, reading: Reading) -> Any:
    """(K,) drawn answers by increasing codes; None where probabilities were read."""
    return None if reading.label_counts is None else np.array(reading.label_counts)[np.argsort(trial.values)]


def _n_read(reading: Reading) -> int:
    return sum(reading.label_counts or ())
