"""`reliability`: how much of the differences between languages repeats in other orders and wordings.

It needs no human data, and it bounds everything else: what does not agree with itself cannot agree with people.

A pull to a place (to the first option, to the letter A) differs by language too, and repeats in every wording. Averaged
over both orders it shows as probabilities nearer to the middle of the scale, not as content. In leans, slopes of
log-probabilities along the scale, it turns round with the options and cancels; what stretches or flattens all answers
of a language alike is taken off as well. A family is reliable where that repeats too, beyond what chance allows.
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
"""Where item-centred expected values may come from, but for orders and wordings."""
LANGUAGE, PATTERN = frozenset({"language"}), frozenset({"item", "language"})
FEWEST_WORDINGS = 3
FEWEST_LANGUAGES = 3
SPLITS = 200
"""Random halves of the items that the split-half correlation is the median over."""
LEAST_SPREAD = 1e-20
"""Of likenesses, squared, in either half: below, all languages are alike."""


def derive_reliability(grid: AnswerGrid, study: Study) -> dict[str, pd.DataFrame]:
    """The tables `reliability/...` of all families; one that does not allow it stands there with the reason.

    `generalizability` is over wordings, of all that sets languages apart, `pattern` without what shifts all items of a
    language; `beyond_position` is the same of leans, without pulls to a place; `over_orders` is a lower bound. The test
    is whether leans of languages differ in the same way in other wordings, in other orders where there is one wording.
    Shares of variance are of all but the items' own levels.
    """
    level = grid.of_level()
    expected, leans = (
        measure(level.sides)[..., grid.scales.is_ordinal] for measure in (grid.scales.expected_unit, grid.scales.lean)
    )
    of_people = grid.scales.expected_unit(grid.people)[..., grid.scales.is_ordinal] if grid.countries else None
    countries_sd_unit = spread_between(of_people)
    rows, tests, components, notes = [], [], [], []
    for model in grid.models:
        places = list(grid.places(model).values())
        row: dict[str, Any] = {"model": model, "threshold": study.thresholds.reliability}
        try:
            own_leans = unstretched(leans[:, :, places])
            found, effects = _family(expected[:, :, places], own_leans, study)
            found["countries_sd_unit"] = countries_sd_unit
            tests.append(_test(model, own_leans, study))
            components += _shares(model, effects)
            rows.append(row | found)
        except MissingData as error:
            rows.append(row | {"is_reliable": None, "reason": str(error)})
    try:
        components += _shares("all families", _across(grid, expected))
    except MissingData as error:
        notes.append(f"Variance over all families is not split: {error}.")
    wordings = expected.shape[1]
    notes.append(
        "Generalizability: share of the variance between languages, item by item, that other wordings would show "
        "again, both option orders being asked and averaged. Over orders too: the same if the two orders were any two, "
        "a lower bound, since what pulls to a position cancels between them. Intervals are over other wordings and "
        "languages, where what a wording adds may move all items of a language together; below 0, wordings differ by "
        "more than chance has it."
    )
    notes.append(
        "Beyond position: the same of leans (slopes of log-probabilities along the scale, averaged over both orders), "
        "in which a pull to a place cancels, less what stretches all answers of a language alike. A family is reliable "
        "where both coefficients reach the threshold and neither interval holds 0. The test is of these leans."
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
    """The lesser of the two coefficients that make a family reliable, for the map; families without are left out."""
    families = reliability.get("families", TABLES["reliability/families"].frame([]))
    known = families.dropna(subset=["generalizability"])
    least = known[["generalizability", "beyond_position"]].astype(float).min(axis=1)
    return dict(zip(known["model"], least, strict=True))


def unstretched(leans: Array) -> Array:
    """Leans without what stretches or flattens all answers of a language alike.

    From each language's leans that part is taken off which goes with the leans that all languages have in common; a
    shift of all of them stays.

    Args:
        leans: (O, W, L, I), NaN where missing.
    """
    of_language = mean_of_known(mean_of_known(leans, axis=0), axis=0)  # (L, I)
    common = mean_of_known(of_language, axis=0)
    common = common - mean_of_known(common)
    known = np.isfinite(of_language)
    profile, apart = np.where(known, common, 0), np.where(known, of_language, 0)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    profile = np.where(known, profile - profile.sum(axis=1, keepdims=True) / n, 0)
    squares = np.sum(profile**2, axis=1)
    slopes = np.sum(profile * apart, axis=1) / np.where(squares > 0, squares, 1)
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
        raise MissingData(f"{languages} languages, {FEWEST_LANGUAGES} or more are needed to tell them apart")
    is_shared = np.isfinite(expected).all(axis=(0, 1)).sum(axis=0) >= FEWEST_LANGUAGES
    n = int(is_shared.sum())
    if n < 2:
        raise MissingData(f"{n} items were answered in {FEWEST_LANGUAGES} or more languages, two are needed")
    values = expected[..., is_shared]
    balanced = values.mean(axis=0)
    row: dict[str, Any] = {"level": study.inference.level, "n_languages": languages, "n_items": n}
    row |= {"n_orders": orders, "n_wordings": wordings, "is_reliable": None, "reason": None}
    if wordings > 1:
        own = leans[..., is_shared].mean(axis=0)
        apart = balanced - mean_of_known(balanced)[..., None]
        for name, of_name in (("generalizability", balanced), ("pattern", apart), ("beyond_position", own)):
            random = seeded(study.seed, "reliability", name)
            share, *ends = repeated_share(of_name, study.inference.level, random)
            row |= with_ends(name, share, (ends[0], ends[1]))
        both = ("generalizability", "beyond_position")
        # An interval that holds 0 leaves open whether anything comes out again.
        row["is_reliable"] = min(row[name] for name in both) >= study.thresholds.reliability and not any(
            row[f"{name}_low"] <= 0 for name in both
        )
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

    Whatever involves an order or a wording and what is wanted is error, over as many conditions as were averaged.
    """
    sizes = {"order": values.shape[0], "wording": values.shape[1]}
    error = {
        frozenset({*effect, *conditions}): int(np.prod([sizes[each] for each in conditions]))
        for effect in wanted
        for conditions in (("order",), ("wording",), ("order", "wording"))
    }
    return generalizability(variance_components(values, WITHIN), wanted, error)


def split_half(profiles: Array, random: np.random.Generator, level: float = 0.95) -> tuple[float, float, float]:
    """Likeness of languages as one half of the items shows it, correlated with the other half's.

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
    known, values = np.isfinite(centred).astype(float), np.nan_to_num(centred)
    is_first = random.uniform(size=(SPLITS, n_items)).argsort(axis=1) < n_items // 2
    upper = np.triu_indices(n_languages, 1)
    halves, shared = [], np.ones((SPLITS, upper[0].size), dtype=bool)
    for half in (is_first.astype(float), (~is_first).astype(float)):
        sums, sizes = (
            np.einsum("si,li,mi->slm", half, each, each, optimize=True)[:, upper[0], upper[1]]
            for each in (values, known)
        )
        halves.append(sums / np.maximum(sizes, 1))
        shared &= sizes > 0
    n_pairs = np.maximum(shared.sum(axis=1, keepdims=True), 1)
    one, other = (np.where(shared, half - np.sum(half * shared, axis=1, keepdims=True) / n_pairs, 0) for half in halves)
    spread = np.sqrt(np.sum(one**2, axis=1) * np.sum(other**2, axis=1))
    is_known = spread > LEAST_SPREAD
    r = np.sum(one * other, axis=1)[is_known] / spread[is_known]
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
    # What one wording makes anew comes back in its other order: then only different wordings are compared.
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
