"""`reliability`: how much of the differences between languages replicates in other orders and wordings.

It needs no human data, and it limits all other analyses: answers that do not agree with themselves cannot agree with
people.

Position bias (towards the first option, or the letter A) differs between languages too, and replicates in every
wording. Averaged over both orders it moves probabilities towards the middle of the scale. In leans, slopes of
log-probabilities along the scale, it changes its sign with the order and cancels. Factors that stretch or flatten all
answers of a language alike are subtracted as well. A family is reliable if these leans replicate too, beyond chance.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.hypotheses import family_of, tests_table
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.profile_correlation import centred_on_items
from valuesassets.measure.repeated_share import repeated_share
from valuesassets.measure.resampling import label_permutations, permutation_p, with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.measure.variance_components import Effect, generalizability, variance_components
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

WITHIN = ("order", "wording", "language", "item")
ACROSS = ("order", "wording", "family", "language", "item")
NAMES = "item x language, item x family x language, language, family x language, family, item x family"
SOURCES: dict[Effect, str] = {frozenset(name.split(" x ")): name for name in NAMES.split(", ")}
"""Sources of variance of item-centred expected values, apart from orders and wordings."""
LANGUAGE, PATTERN = frozenset({"language"}), frozenset({"item", "language"})
FEWEST_WORDINGS = 3
FEWEST_LANGUAGES = 3
SPLITS = 200
"""Random halves of the items; the split-half correlation is the median over them."""
LEAST_SPREAD = 1e-20
"""Smallest sum of squared similarities in either half: below it, all languages are alike."""


def derive_reliability(grid: AnswerGrid, study: Study) -> dict[str, pd.DataFrame]:
    """The tables `reliability/...` of all families, with a reason for families where reliability cannot be measured.

    `generalizability` is over wordings, for all differences between languages; `pattern` is without shifts of all items
    of a language; `beyond_position` is for leans, without position bias; `over_orders` is a lower bound. The test is
    whether leans of languages differ in the same way in other wordings, or in other orders if there is one wording.
    Shares of variance leave out the items' mean levels.
    """
    level = grid.of_level()
    measured = grid.scales.expected_unit(level.sides), grid.scales.lean(level.log_sides)
    expected, leans = (each[..., grid.scales.is_ordinal] for each in measured)
    people = grid.scales.expected_unit(grid.people)[..., grid.scales.is_ordinal] if grid.countries else None
    countries_sd_unit = spread_between(people)
    rows, tests, components, notes = [], [], [], []
    for model in grid.models:
        places = list(grid.places(model).values())
        row: dict[str, Any] = {"model": model, "threshold": study.thresholds.reliability}
        try:
            own_leans = unstretched(leans[:, :, places])
            coefficients, effects = _family(expected[:, :, places], own_leans, study)
            coefficients["countries_sd_unit"] = countries_sd_unit
            tests.append(_test(model, own_leans, study))
            components += _shares(model, effects)
            rows.append(row | coefficients)
        except MissingData as error:
            rows.append(row | {"is_reliable": None, "reason": str(error)})
    try:
        components += _shares("all families", _across(grid, expected))
    except MissingData as error:
        notes.append(f"Variance over all families is not split: {error}.")
    wordings = expected.shape[1]
    if grid.draws is not None:
        notes.append("Noise of drawn answers counts as error: more draws make a family more reliable.")
    notes.append(
        "Generalizability: share of the variance between languages, item by item, that would replicate in other "
        "wordings, averaged over both option orders. Over orders too: the same for two orders drawn at random, a lower "
        "bound, because position bias cancels between the two orders. Intervals are over other wordings and languages "
        "and allow for effects of a wording on all items of a language; below 0, wordings differ by more than expected "
        "by chance."
    )
    notes.append(
        "Beyond position: the same for leans (slopes of log-probabilities along the scale, averaged over both orders), "
        "in which position bias cancels, without factors that stretch all answers of a language alike. A family is "
        "reliable where both coefficients reach the threshold and neither interval holds 0. The test is of these leans."
    )
    if wordings < FEWEST_WORDINGS:
        notes.append(
            f"The questions were asked in {wordings} wording{'s' * (wordings > 1)}, {FEWEST_WORDINGS} are needed for a "
            "coefficient to rest on (elicitation.wordings)."
        )
    return {
        "families": TABLES["reliability/families"].frame(rows),
        "components": TABLES["reliability/components"].frame(components),
        "tests": tests_table(tests, study),
        "notes": pd.DataFrame({"note": notes}),
    }


def coefficients(reliability: Mapping[str, pd.DataFrame]) -> dict[str, float]:
    """The smaller of each family's two reliability coefficients, for the map; families without them are left out."""
    families = reliability.get("families", TABLES["reliability/families"].frame([]))
    measured = families.dropna(subset=["generalizability"])
    least = measured[["generalizability", "beyond_position"]].astype(float).min(axis=1)
    return dict(zip(measured["model"], least, strict=True))


def unstretched(leans: Array) -> Array:
    """Leans without factors that stretch or flatten all answers of a language alike.

    Each language's leans are replaced by residuals of a regression on the mean leans of all languages, without its
    intercept: a shift of all leans remains.

    Args:
        leans: (O, W, L, I), NaN where missing.
    """
    by_language = mean_of_known(mean_of_known(leans, axis=0), axis=0)  # (L, I)
    common = mean_of_known(by_language, axis=0)
    common = common - mean_of_known(common)
    is_present = np.isfinite(by_language)
    profile, response = np.where(is_present, common, 0), np.where(is_present, by_language, 0)
    n = np.maximum(is_present.sum(axis=1, keepdims=True), 1)
    profile = np.where(is_present, profile - profile.sum(axis=1, keepdims=True) / n, 0)
    squares = np.sum(profile**2, axis=1)
    slopes = np.sum(profile * response, axis=1) / np.where(squares > 0, squares, 1)
    return leans - slopes[:, None] * common


def spread_between(expected: Array | None) -> float:
    """Standard deviation between countries of (N, I) expected values, in scale units; NaN where there are none.

    Item by item, squares averaged over the items that two or more countries answered.
    """
    if expected is None or len(expected) < 2:
        return np.nan
    n = np.isfinite(expected).sum(axis=0)
    squares = np.nansum(centred_on_items(expected) ** 2, axis=0) / np.maximum(n - 1, 1)
    return float(np.sqrt(squares[n > 1].mean())) if (n > 1).any() else np.nan


def _family(expected: Array, leans: Array, study: Study) -> tuple[dict[str, Any], dict[Effect, Array]]:
    """Coefficients of one family's (O, W, L, I) expected values and leans, and the variance components of the former.

    Raises:
        MissingData: too few languages or items.
    """
    orders, wordings, languages = expected.shape[:3]
    if languages < FEWEST_LANGUAGES:
        raise MissingData(
            f"{languages} language{'s' * (languages != 1)}, {FEWEST_LANGUAGES} or more are needed to tell them apart"
        )
    is_shared = np.isfinite(expected).all(axis=(0, 1)).sum(axis=0) >= FEWEST_LANGUAGES
    n = int(is_shared.sum())
    if n < 2:
        raise MissingData(f"{n} items were answered in {FEWEST_LANGUAGES} or more languages, two are needed")
    values = expected[..., is_shared]
    balanced = values.mean(axis=0)
    row: dict[str, Any] = {"level": study.inference.level, "n_languages": languages, "n_items": n}
    row |= {"n_orders": orders, "n_wordings": wordings, "is_reliable": None, "reason": None}
    if wordings > 1:
        mean_leans = leans[..., is_shared].mean(axis=0)
        pattern = balanced - mean_of_known(balanced)[..., None]
        measured = {"generalizability": balanced, "pattern": pattern, "beyond_position": mean_leans}
        for name, values_of_name in measured.items():
            random = seeded(study.seed, "reliability", name)
            share, *ends = repeated_share(values_of_name, study.inference.level, random)
            row |= with_ends(name, share, (ends[0], ends[1]))
        both = ("generalizability", "beyond_position")
        # If the interval contains 0, the differences may not replicate at all.
        holds_0 = any(row[f"{name}_low"] <= 0 for name in both)
        row["is_reliable"] = min(row[name] for name in both) >= study.thresholds.reliability and not holds_0
    else:
        row["reason"] = "asked in one wording: what another would change was not measured (elicitation.wordings)"
    row["over_orders"] = over_conditions(values, [LANGUAGE, PATTERN]).item()
    random = seeded(study.seed, "reliability", "halves")
    middle, low, high = split_half(values.mean(axis=(0, 1)), random, study.inference.level)
    effects = variance_components(values, WITHIN)
    between = sum(float(effects.get(each, np.zeros(1)).item()) for each in (LANGUAGE, PATTERN))
    row["languages_sd_unit"] = np.sqrt(max(between, 0.0))
    return row | with_ends("split_half", middle, (low, high)), effects


def over_conditions(values: Array, wanted: Sequence[Effect]) -> Array:
    """Generalizability, (1,), of averages over the orders and wordings of (O, W, L, I) values.

    Every interaction of a wanted effect with orders or wordings is error, divided by the number of conditions.
    """
    sizes = {"order": values.shape[0], "wording": values.shape[1]}
    error = {
        frozenset({*effect, *conditions}): int(np.prod([sizes[each] for each in conditions]))
        for effect in wanted
        for conditions in (("order",), ("wording",), ("order", "wording"))
    }
    return generalizability(variance_components(values, WITHIN), wanted, error)


def split_half(profiles: Array, random: np.random.Generator, level: float = 0.95) -> tuple[float, float, float]:
    """Split-half reliability: similarity of languages over half of the items, correlated with that over the other half.

    Profiles are centred on items and languages; each half gives a language x language matrix of mean products, whose
    off-diagonal entries are correlated and stepped up to full length (Spearman-Brown; a correlation below 0 as its
    mirror image, since the formula has no lower bound there: two small models had halves of -3.4).

    Args:
        profiles: (L, I) expected values, NaN where missing.

    Returns:
        Median over `SPLITS` random halves and the ends of the middle `level` of them; NaN with fewer than
        four languages or items.

    Source: Spearman (1910), Brown (1910), British Journal of Psychology 3.
    """
    profiles = profiles[np.isfinite(profiles).any(axis=1)]
    n_languages, n_items = profiles.shape
    if n_languages < 4 or n_items < 4:
        return np.nan, np.nan, np.nan
    centred = centred_on_items(profiles)
    centred = centred - np.nanmean(centred, axis=1, keepdims=True)
    is_present, values = np.isfinite(centred).astype(float), np.nan_to_num(centred)
    is_first = random.uniform(size=(SPLITS, n_items)).argsort(axis=1) < n_items // 2
    upper = np.triu_indices(n_languages, 1)
    halves, shared = [], np.ones((SPLITS, upper[0].size), dtype=bool)
    for half in (is_first.astype(float), (~is_first).astype(float)):
        sums, sizes = (
            np.einsum("si,li,mi->slm", half, each, each, optimize=True)[:, upper[0], upper[1]]
            for each in (values, is_present)
        )
        halves.append(sums / np.maximum(sizes, 1))
        shared &= sizes > 0
    n_pairs = np.maximum(shared.sum(axis=1, keepdims=True), 1)
    first, second = (
        np.where(shared, half - np.sum(half * shared, axis=1, keepdims=True) / n_pairs, 0) for half in halves
    )
    spread = np.sqrt(np.sum(first**2, axis=1) * np.sum(second**2, axis=1))
    is_known = spread > LEAST_SPREAD
    r = np.sum(first * second, axis=1)[is_known] / spread[is_known]
    if r.size == 0:
        return np.nan, np.nan, np.nan
    low, middle, high = np.quantile(2 * r / (1 + np.abs(r)), [(1 - level) / 2, 0.5, (1 + level) / 2])
    return float(middle), float(low), float(high)


def _test(model: str, leans: Array, study: Study) -> dict[str, object]:
    """Whether languages lean alike in all wordings (or orders): labels permuted in each, jointly over items.

    Only items that all languages answered count: a language with gaps overlaps with itself more than with others.
    """
    leans = leans[..., np.isfinite(leans).all(axis=(0, 1, 2))]
    _, wordings, languages, items = leans.shape
    row: dict[str, object] = {
        "test_family": family_of("reliability", (model,), study),
        "test": f"{model}: languages differ in the same way in {'every wording' if wordings > 1 else 'both orders'}",
        "statistic": "mean product of item-centred leans over pairs of conditions",
        "n": languages,
    }
    if items < 2:
        return row | {"verdict": f"{items} items were answered in all of the family's languages, two are needed"}
    # Effects of a wording are shared by its two orders, so different wordings are compared if there are several.
    compared = leans.mean(axis=0) if wordings > 1 else leans[:, 0]
    conditions = np.stack([centred_on_items(each) for each in compared])
    n = len(conditions)
    products = np.einsum("ali,bmi->abml", conditions, conditions, optimize=True)
    draws = study.inference.resamples
    random = seeded(study.seed, "reliability", model)
    permuted = np.stack([label_permutations(languages, draws, random) for _ in range(n)])
    observed, chance = 0.0, np.zeros(draws)
    for a in range(n):
        for b in range(a):
            observed += float(np.trace(products[a, b]))
            chance += products[a, b][permuted[b], permuted[a]].sum(axis=1)
    value = observed / (languages * items * n * (n - 1) / 2)
    return row | {"value": value, "p": permutation_p(observed, chance)}


def _across(grid: AnswerGrid, expected: Array) -> dict[Effect, Array]:
    """Variance components over all families together."""
    orders, wordings = expected.shape[:2]
    values = np.full((orders, wordings, len(grid.models), len(grid.languages), expected.shape[-1]), np.nan)
    for number, model in enumerate(grid.models):
        for language, place in grid.places(model).items():
            values[:, :, number, grid.languages.index(language)] = expected[:, :, place]
    return variance_components(values, ACROSS)


def _shares(scope: str, effects: Mapping[Effect, Array]) -> list[dict[str, object]]:
    """Variances by source, those of orders and wordings summed up; the items' own levels are left out."""
    grouped = {name: 0.0 for effect, name in SOURCES.items() if effect in effects}
    for effect, variance in effects.items():
        conditions = " and ".join(sorted({"order", "wording"} & effect))
        on = "differing between languages or families" if effect & {"language", "family"} else "common to all"
        name = SOURCES.get(effect) or f"{conditions}, {on}"
        if effect != {"item"}:
            grouped[name] = grouped.get(name, 0.0) + variance.item()
    total = sum(max(variance, 0) for variance in grouped.values())
    shares = {name: max(variance, 0) / total if total > 0 else np.nan for name, variance in grouped.items()}
    return [
        {"scope": scope, "source": name, "variance_unit2": grouped[name], "share": share}
        for name, share in shares.items()
    ]
