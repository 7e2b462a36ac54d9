"""`worldvaluesbench/awareness`: the share of people's moves between groups that a model makes.

A_ab are unbiased between-group (co)variances of people h and a model m, summed over questions. slope = A_mh/A_hh is
the share of people's moves that the model makes; exaggeration = sqrt(A_mm/A_hh), direction = A_mh/sqrt(A_mm A_hh), and
skill = 2 slope - exaggeration^2 is the share of the possible gain in ranked probability score from knowing the groups.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe
from valuesassets.instruments.worldvaluesbench.measures.group_moves import (
    ALL,
    Moves,
    Resampling,
    Scope,
    Sides,
    derive_moves,
    scopes_of,
    sides_of,
)
from valuesassets.instruments.worldvaluesbench.tables import (
    AWARENESS_CATEGORIES,
    AWARENESS_FACTORS,
    AWARENESS_QUESTIONS,
    AWARENESS_STYLE_FREE,
)
from valuesassets.measure.between_groups import between, small_sample_factor, sums_by
from valuesassets.measure.group_resampling import left_out_ends, ratio_ends
from valuesassets.measure.level_permutations import FEWEST, arrangement_p, level_arrangements
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.ranked_probability import answers_at_most, ranked_probability_unit
from valuesassets.measure.resampling import ROUNDING
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData

READ_TO = 1e-3
"""The precision of a model's probabilities, which differ by as much between batches and number formats; the least width
of intervals."""


def derive_awareness(
    probe: Probe,
    resamples: int,
    seed: int,
    min_group: int = 5,
    planted_slopes: Mapping[str, float] | None = None,
    level: float = 0.95,
    uncorrected: Collection[str] = (),
    correction: str = "holm",
) -> dict[str, pd.DataFrame]:
    """The tables `awareness/...`: `factors` (all groups, then each factor), `categories`, `questions`, `style_free`.

    A group is compared in a question that `min_group` of its people answered. Slopes have intervals by resampling
    people within groups, and by leaving out categories. p-values of a slope above 0 come from all arrangements of the
    factors' levels, corrected over models, and for single factors over models and factors. A model has a direction if
    the interval of its own moves, A_mm, is above 0.

    Args:
        resamples: 0 for no intervals.
        planted_slopes: by model, if planted.
        uncorrected: further wordings of models, which have no corrected p-values and do not count in corrections.

    Raises:
        MissingData: no question has two groups that can be compared.

    Source: components of variance with known errors: Searle, Casella and McCulloch (1992), Variance Components,
    section 3.6; skill as a share of a proper score: Gneiting and Raftery (2007), section 2.3.
    """
    scopes = scopes_of(probe.groups)
    moves = derive_moves(probe, scopes, Resampling(probe, resamples, seed), min_group)
    if moves and not any(in_scopes[0].is_known.any() for in_scopes in moves.values()):
        raise MissingData(
            f"awareness: no question has two groups of {min_group} or more people who answered; "
            "ask more people or lower min_group"
        )
    arrangements = [level_arrangements(scope.levels) for scope in scopes]
    category = np.array([item.question.category for item in probe.questions])
    tables: dict[str, list[dict[str, Any]]] = {"factors": [], "categories": [], "questions": [], "style_free": []}
    for model, in_scopes in moves.items():
        for scope, moved, arranged in zip(scopes, in_scopes, arrangements, strict=True):
            row = {"model": model, "factor": scope.name} | _of_scope(moved, scope, arranged, category, level)
            if scope.name == ALL:
                row["prompt_gain_unit"], row["prompt_gain_low"] = prompt_gain(probe, model, min_group, level)
            row["planted_slope"] = (planted_slopes or {}).get(model, np.nan)
            tables["factors"].append(row)
        for name in dict.fromkeys(category):
            row = {"model": model, "category": name, "n_questions": int(in_scopes[0].is_known[category == name].sum())}
            tables["categories"].append(row | _with_interval(in_scopes[0], category == name, level))
        for number, item in enumerate(probe.questions):
            row = {"model": model, "question_id": item.question.id, "category": item.question.category}
            tables["questions"].append(row | _with_interval(in_scopes[0], np.arange(len(category)) == number, level))
        hh, mh, mm = style_free_components(probe, model, min_group)
        rated = [item.with_attributes[model] for item in probe.questions if model in item.with_attributes]
        if any(each.n_draws is not None for each in rated):
            mm = np.nan  # means over questions do not separate the noise of draws
        tables["style_free"].append({"model": model} | measures(hh, mh, mm))
    _correct([row for row in tables["factors"] if row["model"] not in uncorrected], correction)
    declared = (AWARENESS_FACTORS, AWARENESS_CATEGORIES, AWARENESS_QUESTIONS, AWARENESS_STYLE_FREE)
    return {name: table.frame(rows) for (name, rows), table in zip(tables.items(), declared, strict=True)}


def measures(hh: float, mh: float, mm: float) -> dict[str, float]:
    """Slope, exaggeration, direction and skill from the three components; NaN if people do not move.

    With A_mm <= 0, when a model's moves are only noise, exaggeration is 0 and direction is NaN.

    >>> measures(1.0, 0.5, 0.25)
    {'slope': 0.5, 'exaggeration': 0.5, 'direction': 1.0, 'skill': 0.75}
    """
    if not hh > 0:
        return dict.fromkeys(("slope", "exaggeration", "direction", "skill"), float("nan"))
    moves = max(mm, 0.0) / hh
    direction = mh / np.sqrt(mm * hh) if mm > 0 else np.nan
    return {
        "slope": float(mh / hh),
        "exaggeration": float(np.sqrt(moves)),
        "direction": float(direction),
        "skill": float(2 * mh / hh - moves),
    }


def prompt_gain(probe: Probe, model: str, min_group: int = 5, level: float = 0.95) -> tuple[float, float]:
    """The gain from naming attributes: mean ranked probability score without minus with them, in scale units.

    Groups and questions have equal weights; people have their own. The second number is the lower end of the interval
    over people within groups; both are NaN without ratings without attributes.

    Source: the variance of a mean of ratios by what each person adds to it, with people as clusters within strata:
    Cochran (1977), Sampling Techniques, sections 6.4 and 10.
    """
    n_groups, gains = len(probe.groups.levels), []
    everyone = 1 + max((int(item.people.max(initial=-1)) for item in probe.questions), default=0)
    added, group_of = np.zeros(everyone), np.full(everyone, -1)
    for item in probe.questions:
        if model in item.without and model in item.with_attributes:
            gain, adds = _gain(item, model, n_groups, min_group)
            gains.append(gain)
            people = item.people
            group_of[people[np.isfinite(adds)]] = item.groups[np.isfinite(adds)]
            np.add.at(added, people, np.nan_to_num(adds))
    if not np.isfinite(gains).any():
        return np.nan, np.nan
    n, variance = int(np.isfinite(gains).sum()), 0.0
    for group in range(n_groups):
        of_group = added[group_of == group]
        variance += of_group.size * of_group.var(ddof=1) if of_group.size > 1 else 0.0
    gained = float(mean_of_known(np.array(gains)))
    return gained, gained - float(stats.norm.ppf((1 + level) / 2) * np.sqrt(variance) / n)


def _gain(item: AskedQuestion, model: str, n_groups: int, min_group: int) -> tuple[float, Floats]:
    """The gain in one question, and each person's contribution to its error, NaN if they are not compared."""
    rated, without = item.with_attributes[model], item.without[model]
    sides = sides_of(item, without, rated, n_groups, min_group)
    adds = np.full(len(item.people), np.nan)
    if not len(sides.present):
        return float("nan"), adds
    answers = answers_at_most(item.answers[sides.rows] - item.question.lo, len(item.question.values))
    weights, groups = item.weights[sides.rows], item.groups[sides.rows]
    gained = ranked_probability_unit(sides.a, answers) - ranked_probability_unit(sides.b, answers)
    totals = np.bincount(groups, weights, n_groups)
    means = np.bincount(groups, weights * gained, n_groups) / np.where(totals > 0, totals, 1)
    adds[sides.rows] = weights * (gained - means[groups]) / totals[groups] / len(sides.present)
    return float(np.mean(means[sides.present])), adds


def _of_scope(moved: Moves, scope: Scope, arranged: Any, category: NDArray[np.str_], level: float) -> dict[str, Any]:
    """Measures of all questions in one scope, with both intervals and p-values."""
    is_known, n_arrangements = moved.is_known, len(arranged)
    row: dict[str, Any] = _with_interval(moved, is_known, level, is_whole=True)
    sums = [moved.components[is_known & (category != name)].sum(axis=0) for name in dict.fromkeys(category[is_known])]
    left_out = np.array([measures(*each)["slope"] for each in sums])
    ends = left_out_ends(row["slope"], left_out, level)
    row |= {"slope_category_low": ends[0], "slope_category_high": ends[1], "p_value": np.nan, "p_opposite": np.nan}
    if n_arrangements >= FEWEST and np.isfinite(row["slope"]):
        of_people, of_model = moved.lengths
        row["p_value"] = arrangement_p(moved.pairings, of_people, of_model, arranged)
        row["p_opposite"] = arrangement_p(-moved.pairings, of_people, of_model, arranged)
    return row | {
        "n_arrangements": n_arrangements,
        "n_levels": len(scope.levels),
        "n_questions": int(is_known.sum()),
        "a_hh": float(moved.components[is_known, 0].sum()),
        "a_mh": float(moved.components[is_known, 1].sum()),
        "a_mm": float(moved.components[is_known, 2].sum()),
    }


def _with_interval(moved: Moves, chosen: NDArray[np.bool_], level: float, is_whole: bool = False) -> dict[str, Any]:
    """Measures of some questions, with the interval of the slope, and if `is_whole` the lower end of the skill's."""
    use = chosen & moved.is_known
    row: dict[str, Any] = measures(*moved.components[use].sum(axis=0))
    hh, mh, mm = moved.resampled(use)
    if mm.size and not _least_moves(moved, use, mm, level) > 0:
        row["direction"] = np.nan  # its denominator may be noise
    if mm.any():
        # An error of READ_TO in one group's distribution function moves A_mh by READ_TO sqrt(A_hh) at most.
        largest = READ_TO * np.sqrt(max(float(moved.components[use, 0].sum()), 0.0))
        mh = mh + largest * seeded(0, "reading").standard_normal(mh.size)
    has_slope = np.isfinite(row["slope"])
    ends = ratio_ends(mh, hh, level) if has_slope else (np.nan, np.nan)
    row |= {"slope_low": ends[0], "slope_high": ends[1]}
    if is_whole:
        row["skill_low"], _ = ratio_ends(2 * mh - np.maximum(mm, 0), hh, level) if has_slope else ends
    return row


def _least_moves(moved: Moves, use: NDArray[np.bool_], mm: Floats, level: float) -> float:
    """The lower end of the interval of A_mm, by people's resamples and by the draws of answers.

    The noise of L levels varies at most as chi squared with L - 1 degrees of freedom, which ignores cut points.
    """
    total = moved.components[use, 2].sum()
    of_draws = 2 * np.sum(moved.drawn_noise[use] ** 2) / (len(moved.pairings) - 1)
    of_people = total - np.quantile(mm, (1 - level) / 2)
    return float(total - np.hypot(of_people, stats.norm.ppf((1 + level) / 2) * np.sqrt(of_draws)))


def _correct(rows: Sequence[dict[str, Any]], correction: str) -> None:
    """Enter p-values corrected over models for all groups together, and over models and factors for single factors,
    separately for each direction."""
    for name, corrected_name in (("p_value", "p_corrected"), ("p_opposite", "p_opposite_corrected")):
        for is_whole in (True, False):
            tested = [row for row in rows if np.isfinite(row[name]) and (row["factor"] == ALL) == is_whole]
            p = [row[name] for row in tested]
            for row, corrected in zip(tested, CORRECTIONS[correction](p), strict=True):
                row[corrected_name] = corrected


def style_free_components(probe: Probe, model: str, min_group: int = 5) -> tuple[float, float, float]:
    """A_hh, A_mh and A_mm of mean answers after each group's mean over its questions is subtracted.

    This removes answering styles: groups that answer high regardless of the question, and models that do so for them.
    A person who answers several questions is part of that mean too, so noise is summed by person.
    """
    n_groups, n_questions = len(probe.groups.levels), len(probe.questions)
    everyone, place = np.unique(np.concatenate([item.people for item in probe.questions]), return_inverse=True)
    places = np.split(place, np.cumsum([len(item.people) for item in probe.questions])[:-1])
    group_of = np.zeros(everyone.size, dtype=np.int64)
    means = np.full((2, n_groups, n_questions), np.nan)
    errors = np.zeros((2, everyone.size, n_questions))
    for number, (item, people) in enumerate(zip(probe.questions, places, strict=True)):
        group_of[people] = item.groups
        if model in item.with_attributes:
            sides = sides_of(item, None, item.with_attributes[model], n_groups, min_group)
            _enter(means[:, :, number], errors[:, :, number], sides, item, people, n_groups)
    is_there = np.isfinite(means[0])
    n_of_group = is_there.sum(axis=1)
    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
        # otherwise a group without some questions would keep the mean of the others as its own level
        means = means - np.nanmean(means, axis=1, keepdims=True)
        free = means - (np.where(is_there, means, 0).sum(axis=2) / n_of_group)[:, :, None]
        errors -= (errors.sum(axis=2) / np.maximum(n_of_group, 1)[group_of])[:, :, None]
    pairs = ((0, 0), (0, 1), (1, 1))
    noise = [sums_by(group_of, n_groups, errors[a] * errors[b]) for a, b in pairs]
    sums = np.zeros(3)
    for number in range(n_questions):
        is_compared = is_there[:, number]
        if is_compared.sum() >= 2:
            sides_here = free[:, is_compared, number, None]
            for place, ((a, b), v) in enumerate(zip(pairs, noise, strict=True)):
                sums[place] += between(sides_here[a], sides_here[b], v[is_compared, number])
    hh, mh, mm = np.where(np.abs(sums) < ROUNDING, 0, sums).tolist()
    return hh, mh, mm


def _enter(
    means: Floats, errors: Floats, sides: Sides, item: AskedQuestion, people: NDArray[np.int64], n_groups: int
) -> None:
    """Enter one question's mean answers by group, (2, G), and people's contributions to their error, (2, people)."""
    groups, weights = item.groups[sides.rows], item.weights[sides.rows]
    s1, s2, s3 = sums_by(groups, n_groups, np.stack([weights, weights**2, weights**3], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(small_sample_factor(s1, s2, s3)) / s1
    for side, (person, group) in enumerate(((sides.a, sides.means.a), (sides.b, sides.means.b))):
        # a mean answer in scale units is 1 minus the mean of the distribution function over cut points
        means[side, sides.present] = 1 - group[sides.present].mean(axis=1)
        off = weights * (group[groups].mean(axis=1) - person.mean(axis=1))
        np.add.at(errors[side], people[sides.rows], off * scale[groups])
