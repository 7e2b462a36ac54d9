"""How far orders move answers: `position_bias`, computed again."""

import math

import numpy as np
import pandas as pd
from scipy import optimize, stats

from valuesassets_tests.recomputed.basics import drawn_items, drawn_means, entropy_bits, mean_of
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.families import leans
from valuesassets_tests.recomputed.grid import LEVEL, Grid, Study


def of_position(study: Study, check: Check) -> None:
    """`position_bias/...`: how far orders move answers, beside languages, and whether leans come back in the other."""
    grid = study.grid
    forward, backward = grid.sides
    bias = mean_of(np.abs(forward - backward).max(axis=-1), axis=0)
    effect = mean_of((grid.expected(forward) - grid.expected(backward)) ** 2 / 2, axis=0)
    expected = grid.expected(grid.answers)
    share = entropy_bits(grid.answers) / np.log2(grid.n_options)
    near = np.where(np.isnan(share), np.nan, share >= 0.95)
    types = np.array(grid.types)
    rows, drawn, random = [], {"position_bias_magnitude": [], "share_near_uniform": []}, None
    random = np.random.default_rng(3)
    for model in grid.models:
        cells = grid.of(model)
        for kind in ("all", *dict.fromkeys(grid.types)):
            items = np.flatnonzero((types == kind) | (kind == "all"))
            part = np.ix_(cells, items)
            if not np.isfinite(bias[part]).any():
                continue
            counts = drawn_items(items.size, random)
            of_bias, of_near = mean_of(bias[part], axis=0), mean_of(near[part], axis=0)
            n = np.isfinite(expected[part]).sum(axis=0)
            language = np.ma.filled(np.ma.masked_invalid(expected[part]).var(axis=0, ddof=1).astype(float), np.nan)
            language[n < 2] = np.nan
            order = np.where(np.isfinite(language), mean_of(effect[part], axis=0), np.nan)
            row = {"model": model, "response_type": kind, "n_cells": len(cells), "n_items": np.isfinite(of_bias).sum()}
            row |= {"position_bias_magnitude": mean_of(of_bias), "share_near_uniform": mean_of(of_near)}
            both = np.isfinite(order)
            row |= {"n_items_ratio": both.sum(), "order_sd_unit": np.nan, "language_sd_unit": np.nan}
            row["order_to_language"] = np.nan
            row |= dict.fromkeys(("order_to_language_low", "order_to_language_high"), np.nan)
            if both.any():
                sds = math.sqrt(order[both].mean()), math.sqrt(language[both].mean())
                row |= {"order_sd_unit": sds[0], "language_sd_unit": sds[1], "order_to_language": sds[0] / sds[1]}
                ends = [math.sqrt(max(end, 0)) for end in _fieller(order[both], language[both])]
                row |= dict(zip(("order_to_language_low", "order_to_language_high"), ends, strict=True))
            drawn["position_bias_magnitude"].append(drawn_means(of_bias, counts))
            drawn["share_near_uniform"].append(drawn_means(of_near, counts))
            rows.append(row)
    own = pd.DataFrame(rows)
    keys, table = ["model", "response_type"], "position_bias/by_response_type"
    check.equal(table, keys, own)
    for name, each in drawn.items():
        check.ends(table, keys, own, name, np.stack(each, axis=1), own["n_items"])
    _of_cells(grid, check, bias, effect, near)


FEWEST = 20
"""Items below which a ratio has no interval."""


def _fieller(over: np.ndarray, under: np.ndarray) -> tuple[float, float]:
    """The ratios r at which the mean of over - r under is just told from 0, by t and by Hall's t, found by bisection.

    NaN of too few items.
    """
    if len(over) < FEWEST:
        return math.nan, math.nan
    most, value = stats.t.ppf((1 + LEVEL) / 2, len(over) - 1), over.mean() / under.mean()

    def beyond(r: float) -> float:
        rest = over - r * under
        u, skewness = rest.mean() / rest.std(ddof=1), stats.skew(rest)
        hall = u + skewness * u**2 / 3 + skewness**2 * u**3 / 27 + skewness / (6 * len(rest))
        return math.sqrt(len(rest)) * min(np.sign(u) * u, np.sign(u) * hall) - most

    def end(sign: int) -> float:
        far = value + sign * abs(value)
        while beyond(far) < 0:
            far += sign * abs(value)
        return optimize.brentq(beyond, value + sign * 1e-9 * abs(value), far, xtol=1e-13)

    return end(-1), end(1)


def _of_cells(grid: Grid, check: Check, bias: np.ndarray, effect: np.ndarray, near: np.ndarray) -> None:
    rows = []
    leaning = mean_of(leans(grid, grid.sides), axis=1)
    for place, (model, language) in enumerate(grid.cells):
        row = {"model": model, "language": language, "position_bias_magnitude": mean_of(bias[place])}
        row |= {"order_sd_unit": math.sqrt(mean_of(effect[place])), "share_near_uniform": mean_of(near[place])}
        rows.append(row | {"n_items": np.isfinite(bias[place]).sum()} | _agreement(grid, *leaning[:, place]))
    own, keys, table = pd.DataFrame(rows), ["model", "language"], "position_bias/cells"
    check.equal(table, keys, own)
    drawn = drawn_means(bias, drawn_items(len(grid.items), np.random.default_rng(4)))
    check.ends(table, keys, own, "position_bias_magnitude", drawn, own["n_items"])


def _agreement(grid: Grid, forward: np.ndarray, backward: np.ndarray) -> dict[str, float]:
    """1 - var(pull) / mean(lean^2) over items set apart from those of as many options, with a jackknife interval."""
    known = np.isfinite(forward + backward)
    alike = [np.flatnonzero(known & (grid.n_options == n)) for n in np.unique(grid.n_options)]
    leaned, pulled, is_changed = [], [], []
    for items in [each for each in alike if each.size > 1]:
        one, other = forward[items], backward[items]
        middle = ((one + other) / 2).mean()
        is_changed += list((one > middle) != (other > middle))
        one, other = one - one.mean(), other - other.mean()
        leaned += list((one + other) / 2)
        pulled += list((one - other) / 2)
    lean, pull = np.array(leaned), np.array(pulled)

    def agreement(keep: np.ndarray) -> float:
        return 1 - pull[keep].var(ddof=1) / np.mean(lean[keep] ** 2)

    n, everything = lean.size, np.ones(lean.size, dtype=bool)
    whole = agreement(everything)
    without = np.array([agreement(np.arange(n) != item) for item in range(n)])
    scaled = -np.log(np.maximum(1 - without, 1e-12))
    error = math.sqrt((n - 1) / n * np.sum((scaled - scaled.mean()) ** 2))
    reach, at = stats.t.ppf((1 + LEVEL) / 2, n - 1) * error, -math.log(max(1 - whole, 1e-12))
    low, high = (min(max(1 - math.exp(-end), 0), 1) for end in (at - reach, at + reach))
    found = {"order_agreement": whole, "order_agreement_low": low, "order_agreement_high": high}
    return found | {"share_changed": float(np.mean(is_changed))}
