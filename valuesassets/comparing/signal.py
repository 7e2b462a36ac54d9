"""`signal`: whether a family answers like its own countries, and whether scales or response style fake it.

That items differ in level, and that their scales differ in length, makes any two sets of answers alike; a habit of
saying yes that runs through all items does so again after items are centred. The double-centred correlation is left
without either and decides, where it also stands once the trace of such habits on bounded scales is taken off, and once
the one dimension over items that both sides share most is: a habit of agreeing may move items by any pattern.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid, own_country
from valuesassets.comparing.hypotheses import as_test, tests_table
from valuesassets.comparing.relatives import KINDS as RELATIVES
from valuesassets.comparing.relatives import groupings
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
"""Correlations, from what anything fakes to what little does."""
HEADLINE, ROBUST, BEYOND = KINDS[3:]
ONE_DIMENSION = (
    "its languages share one dimension over the items with their countries and no more was shown; a habit of agreeing "
    "looks the same, so that style and content cannot be told apart: ask in more languages, or about more subjects"
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

    Of the tests, the family `signal` holds the double-centred correlation of every family, which decides, and
    `signal, style-centred` and the like the others, each kind by itself: a verdict needs all that it names.
    """
    notes = [
        "p: countries permuted among the languages, jointly over all items, so that each language meets another "
        "country's people. The intervals are over items, with these languages.",
        f"p is the larger of two: as if languages were independent (p_free), and allowing for languages of one "
        f"{' or one '.join(RELATIVES)} being alike (p_related).",
        "The double-centred correlation decides, if the style-centred one agrees and the one beyond one dimension; "
        "what the others show may come from scales, items or response style.",
    ]
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
    for model, of_model in correlations.groupby("model", sort=False):
        is_rejected = dict(zip(of_model["kind"], tests.loc[of_model.index, "is_rejected"].astype(bool), strict=True))
        of_kind = of_model.set_index("kind")
        reason = why_withheld(of_kind, is_rejected, study.inference.alpha)
        said = None if reason else verdict(of_kind, is_rejected)
        verdicts.append({"model": model, "verdict": said, "reason": reason})
    return {
        "correlations": correlations,
        "verdicts": TABLES["signal/verdicts"].frame(verdicts),
        "tests": tests,
        "notes": pd.DataFrame({"note": notes if grid.countries else [why_no_people(study)]}),
    }


def verdict(correlations: pd.DataFrame, is_rejected: Mapping[str, bool]) -> str:
    """What the correlations of one family, indexed by kind, amount to."""
    if all(is_rejected[kind] for kind in (HEADLINE, ROBUST, BEYOND)):
        return SIGNAL
    if is_rejected["item-centred"] or is_rejected[HEADLINE]:
        return STYLE
    return SCALES if correlations.at["raw", "low"] > 0 else NONE


def why_withheld(correlations: pd.DataFrame, is_rejected: Mapping[str, bool], alpha: float) -> str | None:
    """Why no verdict can be given though the correlations that decide are beyond chance; None where one can."""
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
            f"{len(places)} languages with people of their country, {FEWEST_LANGUAGES} or more are needed for a p-value"
        )
    draws = study.inference.resamples
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
        row: dict[str, Any] = {"model": model, "kind": kind, "r": r, "level": study.inference.level}
        chance = sums.correlation((identity, permuted))
        if np.isfinite(r) and np.isfinite(chance).all():
            n_items = a.shape[1]
            if n_items < 2:
                raise MissingData(f"an interval over items needs two or more of them, found {n_items}")
            counts = resample_counts(n_items, draws, seeded(study.seed, "signal", model, "items"))
            drawn = resampled_correlations(a, b, counts, is_double)
            level = study.inference.level
            row["low"], row["high"] = interval_ends(drawn, n_items, level)
            row["null_low"], row["null_high"] = np.quantile(chance, [(1 - level) / 2, (1 + level) / 2])
            p_free = labelled_p(r, chance, is_all)
            p_related = max(related_p(r, chance, (a, b), permuted, is_all, groups).values(), default=np.nan)
            row |= {"p": np.fmax(p_free, p_related), "p_free": p_free, "p_related": p_related}
            row["null_mean"] = chance.mean()
        shared = (np.isfinite(a) & np.isfinite(b)).any(axis=0)
        rows.append(row | {"n_languages": len(places), "n_items": int(shared.sum())})
    return rows


def profiles(answers: Array, scales: Scales, kind: str) -> Array:
    """Expected values of (P, I, K) answers to the items with an order, less what this kind of correlation takes off."""
    ordinal = scales.is_ordinal
    if kind == "raw":
        return scales.expected_code(answers)[:, ordinal]
    expected = scales.expected_unit(answers)[:, ordinal]
    if kind == "unit-scaled":
        return expected
    if kind not in (ROBUST, BEYOND):
        return centred_on_items(expected)
    means, variances = (
        np.nan_to_num(mean_of_known(each.T)) for each in (expected, scales.variance_unit(answers)[:, ordinal])
    )
    return without_style(expected, style_of_items(means, variances))


def _test(row: Mapping[str, Any], study: Study) -> dict[str, object]:
    nothing = None if "p" in row else "nothing varies, so that there is no correlation"
    family = "signal" if row["kind"] == HEADLINE else f"signal, {row['kind']}"
    test = "{model}: languages answer like their own country ({kind})"
    return as_test({**row, "note": nothing}, family, test, "r", "r", study, n="n_languages")
