"""`signal`: do a family's answers resemble those of its own countries, beyond scales and response style?

Any two sets of answers correlate because items differ in their mean and in the length of their scales. Sets that share
a response style, such as acquiescence, still correlate after items are centred. The double-centred correlation is free
of both and decides, provided that it holds after the trace of response style on bounded scales is removed, and after
the dimension over items that both sides share most is removed: acquiescence may move items by any pattern.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid, own_country
from valuesassets.comparing.hypotheses import RELATIVES, as_test, groupings, tests_table
from valuesassets.comparing.scales import Scales
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.profile_correlation import (
    centred_on_items,
    paired,
    resampled_correlations,
    style_of_items,
    without_shared_dimension,
    without_style,
)
from valuesassets.measure.relatedness import related_p
from valuesassets.measure.resampling import interval_ends, labelled_p, labellings, resample_counts
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Study, why_no_people
from valuesassets.records.tables import TABLES

FEWEST_LANGUAGES = 4
"""Three languages allow six orders: no p-value below .05."""
KINDS = ("raw", "unit-scaled", "item-centred", "double-centred", "style-centred", "beyond one dimension")
"""Kinds of correlation, in increasing order of strictness."""
HEADLINE, ROBUST, BEYOND = KINDS[3:]
FITTED = {"raw": 0, "unit-scaled": 0, "item-centred": 0, HEADLINE: 1, ROBUST: 4, BEYOND: 5}
"""Values that are fitted to each profile and subtracted from it, after items are centred."""
ONE_DIMENSION = (
    "its languages share one dimension over the items with their countries and no more was shown; a habit of agreeing "
    "looks the same, so that style and content cannot be distinguished: ask in more languages, or about more subjects"
)
RELATED = (
    "related languages answer alike, and so do their countries; allowing for that, its languages are not shown to "
    "answer like their own countries"
)
SIGNAL, STYLE, SCALES, NONE = (
    "cultural signal",
    "no cultural signal: a response style shared with people, not a pattern over items",
    "no cultural signal: the raw correlation rests on how items and their scales differ",
    "no cultural signal",
)


def derive_signal(grid: AnswerGrid, study: Study) -> dict[str, pd.DataFrame]:
    """The tables `signal/...`: six correlations of every family with people; empty with a note without people.

    The family of tests `signal` holds the double-centred correlation of every model family, which decides. The other
    kinds have families of tests of their own, such as `signal, style-centred`; a verdict needs all that it names.
    """
    notes = [
        "p: countries permuted among the languages, jointly over all items, so that each language meets another "
        "country's people. The intervals are over items, with these languages.",
        f"p is the larger of two: as if languages were independent (p_free), and allowing for languages of one "
        f"{' or one '.join(RELATIVES)} being alike (p_related).",
        "The double-centred correlation decides, if the style-centred one agrees and the one beyond one dimension; "
        "what the others show may come from scales, items or response style.",
    ]
    if grid.draws is not None:
        notes.append(
            "Drawing adds noise to answers, which would bring r nearer to 0: its variance is subtracted before r is "
            "formed, so that r may pass 1 by chance. p is that of the answers as drawn."
        )
    rows, verdicts = [], []
    level, own = grid.of_level(), own_country(grid, study.countries)
    for model in grid.models if grid.countries else ():
        places = np.array([place for place in grid.places(model).values() if own[place] >= 0], dtype=np.intp)
        try:
            rows += _correlations(model, level, places, own[places], study)
        except MissingData as error:
            verdicts.append({"model": model, "verdict": None, "reason": str(error)})
    tests = tests_table([_test(row, study) for row in rows], study)
    correlations = TABLES["signal/correlations"].frame(rows)
    for model, family_rows in correlations.groupby("model", sort=False):
        by_kind = family_rows.set_index("kind")
        is_rejected = dict(zip(by_kind.index, tests.loc[family_rows.index, "is_rejected"].astype(bool), strict=True))
        reason = why_withheld(by_kind, is_rejected, study.inference.alpha)
        sentence = None if reason else verdict(by_kind, is_rejected)
        verdicts.append({"model": model, "verdict": sentence, "reason": reason})
    return {
        "correlations": correlations,
        "verdicts": TABLES["signal/verdicts"].frame(verdicts),
        "tests": tests,
        "notes": pd.DataFrame({"note": notes if grid.countries else [why_no_people(study)]}),
    }


def verdict(correlations: pd.DataFrame, is_rejected: Mapping[str, bool]) -> str:
    """The verdict on the correlations of one family, indexed by kind."""
    if all(is_rejected[kind] for kind in (HEADLINE, ROBUST, BEYOND)):
        return SIGNAL
    if is_rejected["item-centred"] or is_rejected[HEADLINE]:
        return STYLE
    return SCALES if correlations.at["raw", "low"] > 0 else NONE


def why_withheld(correlations: pd.DataFrame, is_rejected: Mapping[str, bool], alpha: float) -> str | None:
    """The reason to withhold a verdict although the deciding correlations are significant; None if there is none."""
    if is_rejected[HEADLINE] and is_rejected[ROBUST]:
        return None if is_rejected[BEYOND] else ONE_DIMENSION
    deciding = correlations.loc[[HEADLINE, ROBUST]]
    is_kin = (deciding["p_free"] <= alpha).all() and (deciding["p_related"] > alpha).any()
    return RELATED if is_kin else None


def _correlations(
    model: str, grid: AnswerGrid, places: np.ndarray, own: np.ndarray, study: Study
) -> list[dict[str, Any]]:
    """One row per kind of correlation of one family.

    Raises:
        MissingData: too few languages whose country has people.
    """
    if len(places) < FEWEST_LANGUAGES:
        raise MissingData(
            f"{len(places)} language{'s' * (len(places) != 1)} with people of their country, {FEWEST_LANGUAGES} or "
            "more are needed for a p-value"
        )
    draws, level = study.inference.resamples, study.inference.level
    permuted, is_all = labellings(len(places), draws, seeded(study.seed, "signal", model, "permutations"))
    groups = groupings([grid.cells[place][1] for place in places], study)
    rows = []
    for kind in KINDS:
        a, b = (profiles(answers, grid.scales, kind) for answers in (grid.answers[places], grid.people[own]))
        is_double = kind in (HEADLINE, ROBUST, BEYOND)
        if kind == BEYOND:
            a, b = without_shared_dimension(a, b)
        sums = paired(a, b, is_double)
        identity = np.arange(len(places))
        r = float(sums.correlation((identity, identity)))
        noise = _noise_of_items(grid, places, a, b, kind)
        factor = 1.0 if noise is None else float(sums.without_noise((identity, identity), noise.sum()))
        row: dict[str, Any] = {"model": model, "kind": kind, "r": r * factor, "level": level}
        chance = sums.correlation((identity, permuted))
        if np.isfinite(r) and np.isfinite(chance).all():
            n_items = a.shape[1]
            if n_items < 2:
                raise MissingData(f"an interval over items needs two or more of them, found {n_items}")
            counts = resample_counts(n_items, draws, seeded(study.seed, "signal", model, "items"))
            drawn = resampled_correlations(a, b, counts, is_double, noise)
            row["low"], row["high"] = interval_ends(drawn, n_items, level)
            row["null_low"], row["null_high"] = np.quantile(chance, [(1 - level) / 2, (1 + level) / 2]) * factor
            p_free = labelled_p(r, chance, is_all)
            p_related = max(related_p(r, chance, (a, b), permuted, is_all, groups).values(), default=np.nan)
            row |= {"p": np.fmax(p_free, p_related), "p_free": p_free, "p_related": p_related}
            row["null_mean"] = chance.mean() * factor
        shared = (np.isfinite(a) & np.isfinite(b)).any(axis=0)
        rows.append(row | {"n_languages": len(places), "n_items": int(shared.sum())})
    return rows


def _noise_of_items(grid: AnswerGrid, places: np.ndarray, a: Array, b: Array, kind: str) -> Array | None:
    """(I,) sum of squares that drawing adds to each item of the (P, I) profiles `a`; None where nothing is drawn.

    Of the noise of P profiles, centring an item leaves (P - 1) / P, and what is fitted to a profile of n items leaves
    a share of 1 - fitted / n.
    """
    if grid.draws is None:
        return None
    ends = grid.scales.ends[grid.scales.is_ordinal]
    noise = grid.draws.mean_noise[places][:, grid.scales.is_ordinal]
    noise = noise * np.ptp(ends, axis=1) ** 2 if kind == "raw" else noise
    is_shared = np.isfinite(a) & np.isfinite(b)
    n_profiles, n_items = is_shared.sum(axis=0), is_shared.sum(axis=1, keepdims=True)
    left = np.maximum(1 - FITTED[kind] / np.maximum(n_items, 1), 0)
    left = left * (1 - 1 / np.maximum(n_profiles, 1)) if kind not in KINDS[:2] else left
    return np.where(is_shared, noise * left, 0).sum(axis=0)


def profiles(answers: Array, scales: Scales, kind: str) -> Array:
    """Expected values of (P, I, K) answers to ordinal items, centred as this kind of correlation needs it."""
    ordinal = scales.is_ordinal
    if kind == "raw":
        return scales.expected_code(answers)[:, ordinal]
    expected = scales.expected_unit(answers)[:, ordinal]
    if kind == "unit-scaled":
        return expected
    if kind not in (ROBUST, BEYOND):
        return centred_on_items(expected)
    both = (expected, scales.variance_unit(answers)[:, ordinal])
    means, variances = (np.nan_to_num(mean_of_known(each.T)) for each in both)
    return without_style(expected, style_of_items(means, variances))


def _test(row: Mapping[str, Any], study: Study) -> dict[str, object]:
    note = None if "p" in row else "nothing varies, so that there is no correlation"
    family = "signal" if row["kind"] == HEADLINE else f"signal, {row['kind']}"
    test = "{model}: languages answer like their own country ({kind})"
    return as_test({**row, "note": note}, family, test, "r", "r", study, n="n_languages")
