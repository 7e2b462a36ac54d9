"""`position_bias`: the effect of the order of the options on answers, compared with the effect of the language."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.order_quality import Wording, judge_orders
from valuesassets.comparing.answer_grid import AnswerGrid, Cell
from valuesassets.comparing.item_statistics import NEAR_UNIFORM
from valuesassets.comparing.null_answers import kind_of
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.order_agreement import OrderAgreement, order_agreement
from valuesassets.measure.ratio_of_means import ratio_of_means
from valuesassets.measure.resampling import means_with_intervals, resample_counts, with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

ALL = "all"
ANSWERS = Wording(
    verb="answers",
    things="answers",
    changes="cross its own mean answer once the options are reversed",
    instead="read averages over both orders, never one order alone",
)
"""Words for a survey's answers in sentences about orders."""


def derive_position_bias(
    grid: AnswerGrid, study: Study, n_parameters: Mapping[Cell, int] | None = None
) -> dict[str, pd.DataFrame]:
    """The tables `position_bias/...`: position bias of every model, by response type, and of every cell.

    `order_sd_unit` and `language_sd_unit` are standard deviations of expected values between the two orders of a cell
    and between the languages of averaged answers, root mean squares over items; `order_to_language` is their ratio.

    Args:
        n_parameters: number of parameters of each cell's model, where its readings contain it.
    """
    values = _values(grid)
    sizes = {cell: n for cell, n in (n_parameters or {}).items() if n}
    types = np.array(grid.scales.response_types)
    rows = []
    for model in grid.models:
        cells = [*grid.places(model).values()]
        of_model = [sizes.get(grid.cells[place]) for place in cells]
        label = {
            "kind": kind_of(model, study),
            "model": model,
            "model_type": grid.model_types[cells[0]],
            "n_parameters": float(np.median([n for n in of_model if n])) if all(of_model) else np.nan,
        }
        for kind in (ALL, *dict.fromkeys(grid.scales.response_types)):
            items = np.flatnonzero((types == kind) | (kind == ALL))
            part = {name: array[cells][:, items] for name, array in values.items()}
            if np.isfinite(part["bias"]).any():
                rows.append(label | {"response_type": kind} | _row(part, study, model, kind))
    notes = [
        f"Intervals are {study.inference.level:.0%} intervals over items: bootstrap ones, and Fieller's of the ratio. "
        "The order's and the language's standard deviations are those of expected values in scale units, of questions "
        "with an order; their ratio rests on questions that two or more languages answered.",
        f"Near uniform: entropy at least {NEAR_UNIFORM:g} of a uniform answer's.",
        *_about_draws(grid),
        *grid.notes,
    ]
    if not sizes:
        notes.append("The readings do not say how many parameters their models have: nothing is set against size.")
    return {
        "by_response_type": TABLES["position_bias/by_response_type"].frame(rows),
        "cells": _cells(grid, values, sizes, study).join(_agreements(grid, study)),
        "notes": pd.DataFrame({"note": notes}),
    }


def _about_draws(grid: AnswerGrid) -> list[str]:
    if grid.draws is None:
        return []
    return [
        "Shares of draws differ between orders by chance: largest differences of drawn answers contain this noise, and "
        "are flagged only where exchanging draws between orders gives p < .01. Standard deviations are without it."
    ]


def _agreements(grid: AnswerGrid, study: Study) -> pd.DataFrame:
    """By cell: whether differences between its items in one order of the options replicate in the other order.

    Leans are slopes of log-probabilities along the scale, averaged over wordings. Position bias is an additive part of
    a lean and changes its sign when the options are reversed. Items are compared with other items with the same number
    of options, whose position bias is similar, and left out if there are none. Categorical items have no lean.
    """
    forward, backward = (mean_of_known(grid.scales.lean(side), axis=0) for side in grid.log_sides)
    rows = []
    for (model, language), first, second in zip(grid.cells, forward, backward, strict=True):
        agreement = _agreement(first, second, grid, study)
        quality = judge_orders(f"{model} in {language}", agreement, study.thresholds.reliability, ANSWERS)
        row = with_ends("order_agreement", agreement.agreement, (agreement.low, agreement.high))
        rows.append(row | {"share_changed": agreement.changed, "follows": quality.verdict, "note": quality.sentence})
    return pd.DataFrame(rows)


def _agreement(forward: Array, backward: Array, grid: AnswerGrid, study: Study) -> OrderAgreement:
    """Agreement of (I,) leans in one order with leans in the other order."""
    same_length = [np.flatnonzero(grid.scales.n_options == n) for n in np.unique(grid.scales.n_options)]
    level = study.inference.level

    def around(values: Array, means: Array) -> Array:
        centred = np.full(values.shape, np.nan)
        for items in same_length:
            if np.isfinite(values[items]).sum() > 1:  # a single item has no mean to be compared with
                centred[items] = values[items] - mean_of_known(means[items], axis=0)
        return centred

    both = np.where(np.isfinite(forward + backward), 1.0, np.nan)
    forward, backward = forward * both, backward * both
    middle = (forward + backward) / 2
    raw = order_agreement(around(forward, middle), around(backward, middle), grid.items, level)
    # Position bias that all items share cancels in the average over orders, and is no error of a lean.
    own = order_agreement(around(forward, forward), around(backward, backward), grid.items, level)
    return replace(own, changed=raw.changed, pull=raw.pull, pull_share=raw.pull_share)


def _values(grid: AnswerGrid) -> dict[str, Array]:
    """(C, I) values by name, NaN if missing.

    They are position bias, variance between orders without that of draws, expected value and its variance by drawing,
    and near-uniformity (0 or 1).
    """
    forward, backward = grid.sides
    effect = grid.scales.expected_unit(forward) - grid.scales.expected_unit(backward)
    share = grid.entropy_bits / np.log2(grid.scales.n_options)
    noise = 0.0 if grid.draws is None else grid.draws.mean_noise
    return {
        "bias": mean_of_known(np.abs(forward - backward).max(axis=-1), axis=0),
        # The variance of two values is half of their squared difference.
        # Drawing adds to it, in each of W wordings, twice the variance of that wording's average over both orders.
        "order_variance": mean_of_known(effect**2 / 2, axis=0) - 2 * len(effect) * noise,
        "noise": np.broadcast_to(noise, grid.answers.shape[:2]),
        "expected": grid.scales.expected_unit(grid.answers),
        "near_uniform": np.where(np.isnan(share), np.nan, share >= NEAR_UNIFORM),
    }


def _row(part: dict[str, Array], study: Study, *purpose: str) -> dict[str, Any]:
    n_cells, n_items = part["bias"].shape
    random = seeded(study.seed, "position_bias", *purpose)
    counts, level = resample_counts(n_items, study.inference.resamples, random), study.inference.level
    bias, near = (
        means_with_intervals(mean_of_known(part[name], axis=0), counts, level) for name in ("bias", "near_uniform")
    )
    by_language = mean_of_known((part["expected"] - mean_of_known(part["expected"], axis=0)) ** 2, axis=0)
    n = np.isfinite(part["expected"]).sum(axis=0)
    noise = mean_of_known(np.where(np.isfinite(part["expected"]), part["noise"], np.nan), axis=0)
    language = np.where(n > 1, by_language * n / np.maximum(n - 1, 1) - noise, np.nan)
    order = np.where(np.isfinite(language), mean_of_known(part["order_variance"], axis=0), np.nan)
    both = np.isfinite(order)
    row = bias.columns("position_bias_magnitude") | near.columns("share_near_uniform")
    row |= {"n_cells": n_cells, "n_items": bias.n, "n_items_ratio": int(both.sum()), "note": None}
    if not both.any():
        return row | {"note": "no question with an order that two languages answered: nothing to set the order against"}
    order_variance, language_variance = order[both].mean(), language[both].mean()
    row |= {
        "order_sd_unit": np.sqrt(max(order_variance, 0)),
        "language_sd_unit": np.sqrt(max(language_variance, 0)),
    }
    if not np.any(language[both] > 0):
        note = "the languages' answers do not differ at all: there is no signal to set the order against"
        return row | {"note": note}
    ratio = ratio_of_means(order[both], language[both], level)
    lowest, *rest = (np.sqrt(np.maximum(each, 0)) for each in (ratio.low, ratio.value, ratio.high))
    return row | with_ends("order_to_language", rest[0], (lowest, rest[1]))


def _cells(grid: AnswerGrid, values: dict[str, Array], sizes: Mapping[Cell, int], study: Study) -> pd.DataFrame:
    random = seeded(study.seed, "position_bias", "cells")
    counts = resample_counts(len(grid.items), study.inference.resamples, random)
    bias = means_with_intervals(values["bias"], counts, study.inference.level)
    return grid.labels.assign(
        model_type=grid.model_types,
        n_parameters=[float(sizes.get(cell, np.nan)) for cell in grid.cells],
        **bias.columns("position_bias_magnitude"),
        order_sd_unit=np.sqrt(np.maximum(mean_of_known(values["order_variance"]), 0)),
        share_near_uniform=mean_of_known(values["near_uniform"]),
        n_items=bias.n,
    )
