"""Tables of families: what repeats, whether it is like their countries, and how far the options' order moves it."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from valuesassets_tests.recomputed.basics import (
    DRAWS,
    at_least,
    drawn_items,
    mean_of,
    orders_of,
)
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import LEVEL, RELIABLE, Grid, Study
from valuesassets_tests.recomputed.related import groups_of, related_p
from valuesassets_tests.recomputed.testing import check_tests

LEAST_PROB = 1e-9
SPLITS = 200
Effects = dict[frozenset, float]


def leans(grid: Grid, probs: np.ndarray) -> np.ndarray:
    """(..., I) slopes of log-probabilities on places from 0 to 1, by least squares; NaN without an order."""
    found = np.full(probs.shape[:-1], np.nan)
    for item in np.flatnonzero(grid.is_ordinal):
        x = grid.unit[item, : grid.n_options[item]]
        logs = np.log(np.maximum(probs[..., item, : x.size], LEAST_PROB))
        found[..., item] = (logs - logs.mean(axis=-1, keepdims=True)) @ (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    return found


def components(values: np.ndarray, names: Sequence[str]) -> Effects:
    """Variance of every effect of a crossed design with gaps, from all pairs of values.

    Half the squared difference of two values that share the levels of S and no others has as expectation the variances
    of all effects that are not within S; what is within S is that of S = nothing less that, and inclusion and exclusion
    over S give single effects.
    """
    kept = [axis for axis, size in enumerate(values.shape) if size > 1]
    places = np.argwhere(np.isfinite(values))
    found = values[tuple(places.T)]
    one, other = np.triu_indices(len(found), 1)
    shared = np.zeros(len(one), dtype=int)
    for bit, axis in enumerate(kept):
        shared |= (places[one, axis] == places[other, axis]).astype(int) << bit
    halves = (found[one] - found[other]) ** 2 / 2
    n, sums = np.bincount(shared, minlength=2 ** len(kept)), np.bincount(shared, halves, minlength=2 ** len(kept))
    whole = 2 ** len(kept) - 1
    total = sums[0] / n[0]
    within = {mask: total - (sums[mask] / n[mask] if mask != whole else 0) for mask in range(whole + 1)}
    return {
        frozenset(names[axis] for bit, axis in enumerate(kept) if mask >> bit & 1): sum(
            (-1) ** (mask.bit_count() - part.bit_count()) * within[part]
            for part in range(whole + 1)
            if part & mask == part
        )
        for mask in range(1, whole + 1)
    }


def _share_again(effects: Effects, wanted: Sequence[frozenset], sizes: dict[str, int]) -> float:
    """Variance of what is wanted over that and what orders and wordings add to averages."""
    signal = max(sum(effects.get(each, 0) for each in wanted), 0)
    noise = 0.0
    for effect in wanted:
        for r in (1, 2):
            for conditions in itertools.combinations(sizes, r):
                variance = effects.get(effect | set(conditions), 0)
                noise += max(variance, 0) / math.prod(sizes[each] for each in conditions)
    return signal / (signal + noise) if signal + noise > 0 else 0.0


def _coefficient(values: np.ndarray, wanted: Sequence[frozenset]) -> float:
    """Of (O, W, L, I) values: the share of what is wanted that other orders and wordings would show again."""
    names, sizes = ("order", "wording", "language", "item"), {"order": values.shape[0], "wording": values.shape[1]}
    return _share_again(components(values, names), wanted, sizes)


def _centred(values: np.ndarray) -> np.ndarray:
    """(L, I) less each item's mean; NaN for an item of one language."""
    return np.where(np.isfinite(values).sum(axis=0) > 1, values - mean_of(values, axis=0), np.nan)


def _unstretched(values: np.ndarray) -> np.ndarray:
    """(O, W, L, I) leans, each language's regression on those of all languages taken off."""
    of_language = mean_of(mean_of(values, axis=0), axis=0)
    common = mean_of(of_language, axis=0)
    common = common - mean_of(common)
    free = values.copy()
    for language, own in enumerate(of_language):
        known = np.isfinite(own)
        if np.ptp(common[known]) > 0:
            free[:, :, language] -= stats.linregress(common[known], own[known]).slope * common
    return free


def _likeness(centred: np.ndarray, items: np.ndarray) -> np.ndarray:
    """(pairs,) mean products over some items of every two languages."""
    part = centred[:, items]
    pairs = itertools.combinations(range(len(part)), 2)
    return np.array([mean_of(part[a] * part[b]) for a, b in pairs])


def of_reliability(study: Study, check: Check) -> None:
    """`reliability/...`: coefficients, sources of variance, and whether languages differ alike in other conditions."""
    grid = study.grid
    gone = np.broadcast_to(grid.converted[..., None], grid.sides.shape)
    sides = np.where(gone, np.nan, grid.sides)
    ordinal = grid.is_ordinal
    expected, leaning = grid.expected(sides)[..., ordinal], leans(grid, sides)[..., ordinal]
    language, pattern = frozenset({"language"}), frozenset({"language", "item"})
    people = grid.expected(grid.people)[:, ordinal]
    apart = _centred(people) ** 2
    n = np.isfinite(people).sum(axis=0)
    between_countries = math.sqrt(np.mean(np.nansum(apart, axis=0)[n > 1] / (n[n > 1] - 1)))
    random = np.random.default_rng(1)
    rows, sources, tests, halves = [], [], [], []
    for model in grid.models:
        values, own = expected[:, :, grid.of(model)], _unstretched(leaning[:, :, grid.of(model)])
        shared = np.isfinite(values).all(axis=(0, 1)).sum(axis=0) >= 3
        values_there = values[..., shared]
        n_orders, n_wordings, n_languages, n_items = values_there.shape
        row: dict[str, Any] = {
            "model": model,
            "threshold": RELIABLE,
            "level": LEVEL,
            "countries_sd_unit": between_countries,
        }
        row |= {"n_languages": n_languages, "n_items": n_items, "n_orders": n_orders, "n_wordings": n_wordings}
        assert n_wordings == 1, "the demonstration asks in one wording, in which nothing else is measured"
        row["over_orders"] = _coefficient(values_there, [language, pattern])
        found = components(values_there, ("order", "wording", "language", "item"))
        row["languages_sd_unit"] = math.sqrt(max(found.get(language, 0) + found.get(pattern, 0), 0))
        rows.append(row)
        sources += _sources(model, found)
        halves.append((model, _halves(values_there.mean(axis=(0, 1)), random)))
        whole = own[..., np.isfinite(own).all(axis=(0, 1, 2))]
        tests.append(_repeats(model, whole))
    check.equal("reliability/families", ["model"], pd.DataFrame(rows))
    names = pd.DataFrame({"model": [model for model, _ in halves]})
    drawn = np.stack([each for _, each in halves], axis=1)
    middle = np.median(drawn, axis=0)
    error = 1.2533 * drawn.std(axis=0) * math.sqrt(1 / SPLITS + 1 / len(drawn))
    check.about("reliability/families", ["model"], names.assign(split_half=middle), "split_half", error)
    check.ends("reliability/families", ["model"], names, "split_half", drawn, None, draws=SPLITS)
    everything = np.full((*expected.shape[:2], len(grid.models), len(grid.languages), expected.shape[-1]), np.nan)
    for place, (model, code) in enumerate(grid.cells):
        everything[:, :, grid.models.index(model), grid.languages.index(code)] = expected[:, :, place]
    whole = components(everything, ("order", "wording", "family", "language", "item"))
    sources += _sources("all families", whole)
    check.equal("reliability/components", ["scope", "source"], pd.DataFrame(sources))
    check_tests(check, "reliability/tests", tests, math.inf)


def _sources(scope: str, effects: Effects) -> list[dict[str, Any]]:
    """Variances but for the items' own; what orders and wordings make is summed up."""
    own = ("item x language", "item x family x language", "language", "family x language", "family", "item x family")
    sums: dict[str, float] = {}
    for effect, variance in effects.items():
        if effect == {"item"}:
            continue
        name = next((each for each in own if set(each.split(" x ")) == effect), None)
        if name is None:
            where = "differing between languages or families" if effect & {"language", "family"} else "common to all"
            name = f"{' and '.join(sorted(effect & {'order', 'wording'}))}, {where}"
        sums[name] = sums.get(name, 0) + variance
    total = sum(max(each, 0) for each in sums.values())
    return [
        {"scope": scope, "source": name, "variance_unit2": variance, "share": max(variance, 0) / total}
        for name, variance in sums.items()
    ]


def _halves(profiles: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Correlations, stepped up, of languages' likeness in two halves of the items."""
    centred = _centred(profiles)
    centred = centred - np.nanmean(centred, axis=1, keepdims=True)
    found = []
    for _ in range(10 * SPLITS):
        order = random.permutation(centred.shape[1])
        half = centred.shape[1] // 2
        r = np.corrcoef(_likeness(centred, order[:half]), _likeness(centred, order[half:]))[0, 1]
        found.append(2 * r / (1 + abs(r)))
    return np.array(found)


def _repeats(model: str, whole: np.ndarray) -> dict[str, Any]:
    """Mean product of item-centred leans over pairs of conditions, and its share among all labellings of languages."""
    wordings = whole.shape[1]
    assert wordings == 1, "of several wordings labels are permuted in each of them: these are too many to count"
    one, other = (_centred(each) for each in whole[:, 0])
    products = one @ other.T
    n = len(products)
    chance = np.array([products[np.arange(n), order].sum() for order in orders_of(n)])
    row = {"test_family": "reliability", "statistic": "mean product of item-centred leans over pairs of conditions"}
    row["test"] = f"{model}: languages differ in the same way in both orders"
    return row | {"value": chance[0] / one.size, "p": at_least(chance, chance[0]), "n": n}


KINDS = ("raw", "unit-scaled", "item-centred", "double-centred", "style-centred", "beyond one dimension")


def of_signal(study: Study, check: Check) -> None:
    """`signal/...`: correlations with people, and what they are under all orders of the countries."""
    grid = study.grid
    answers, ordinal = grid.in_level, grid.is_ordinal
    codes = np.nan_to_num(grid.codes)
    rows, drawn, tests = [], [], []
    for model in grid.models:
        cells = grid.of(model)
        own, orders = grid.own[cells], orders_of(len(cells))
        groups = groups_of(study, [grid.cells[cell][1] for cell in cells])
        for kind in KINDS:
            sides = []
            for probs in (answers[cells], grid.people[own]):
                expected = grid.expected(probs)[:, ordinal]
                if kind == "raw":
                    expected = (probs * codes).sum(axis=-1)[:, ordinal]
                elif kind in KINDS[-2:]:
                    spread = ((probs * np.nan_to_num(grid.unit) ** 2).sum(axis=-1) - grid.expected(probs) ** 2)[
                        :, ordinal
                    ]
                    expected = _without_style(expected, mean_of(spread, axis=0))
                elif kind != "unit-scaled":
                    expected = _centred(expected)
                sides.append(expected)
            is_double = kind in KINDS[-3:]
            if kind == KINDS[-1]:
                sides = _without_shared(*sides)
            chance = np.array([_correlation(sides[0], sides[1][order], is_double) for order in orders])
            p_free, p_related = at_least(chance, chance[0]), related_p(chance, orders, *sides, groups)
            low, high = np.quantile(chance, [0.025, 0.975])
            n_items = int((np.isfinite(sides[0]) & np.isfinite(sides[1])).any(axis=0).sum())
            row = {"model": model, "kind": kind, "r": chance[0], "p": np.fmax(p_free, p_related)}
            row |= {"p_free": p_free, "p_related": p_related}
            row |= {"null_mean": chance.mean(), "null_low": low, "null_high": high, "level": LEVEL}
            rows.append(row | {"n_languages": len(cells), "n_items": n_items})
            counts = drawn_items(ordinal.sum(), np.random.default_rng(2), DRAWS // 4)
            drawn.append([_correlation(*sides, is_double, weights) for weights in counts])
            family = "signal" if kind == "double-centred" else f"signal, {kind}"
            test = f"{model}: languages answer like their own country ({kind})"
            tests.append({"test_family": family, "test": test, "statistic": "r", "value": chance[0]})
            tests[-1] |= {"p": rows[-1]["p"], "n": len(cells)}
    own = pd.DataFrame(rows)
    check.equal("signal/correlations", ["model", "kind"], own)
    check.ends("signal/correlations", ["model", "kind"], own, "r", np.array(drawn).T, ordinal.sum(), ("low", "high"))
    check_tests(check, "signal/tests", tests)


def _without_style(expected: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Residuals of each profile's regression on a shift, a push to one end, one to both ends, and a push's bend."""
    means = mean_of(expected, axis=0)
    style = np.stack([np.ones_like(means), variance, means - 0.5, variance * (means - 0.5)], axis=1)
    style = np.nan_to_num(style)
    free = _centred(expected)
    for profile in free:
        known = np.isfinite(profile)
        profile[known] -= style[known] @ np.linalg.lstsq(style[known], profile[known], rcond=None)[0]
    return free


def _without_shared(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """Both sets less the direction over items along which the products of their pairs are largest."""
    both = np.isfinite(a) & np.isfinite(b)
    x, y = (np.nan_to_num(np.where(both, _centred(each), 0)) for each in (a, b))
    values, vectors = np.linalg.eigh(x.T @ y + y.T @ x)
    pattern = vectors[:, np.argmax(values)]
    freed = []
    for each in (a, b):
        free = _centred(each)
        for profile in free:
            known = np.isfinite(profile)
            profile[known] -= (pattern[known] @ profile[known]) / (pattern[known] @ pattern[known]) * pattern[known]
        freed.append(free)
    return freed


def _correlation(a: np.ndarray, b: np.ndarray, is_double: bool, weights: np.ndarray | None = None) -> float:
    """Pearson's over all pairs of values together; of each profile less its own means, where it is double."""
    known = np.isfinite(a) & np.isfinite(b)
    w = np.where(known, 1.0 if weights is None else weights, 0.0)
    x, y = np.where(known, a, 0), np.where(known, b, 0)
    axis = 1 if is_double else None
    totals = np.maximum(w.sum(axis=axis, keepdims=True), 1e-300)
    x, y = x - (w * x).sum(axis=axis, keepdims=True) / totals, y - (w * y).sum(axis=axis, keepdims=True) / totals
    return float((w * x * y).sum() / np.sqrt((w * x * x).sum() * (w * y * y).sum()))
