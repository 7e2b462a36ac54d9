"""`worldvaluesbench/awareness`: of how people's answers move with their background, what share does a model make?

A_ab are unbiased between-group (co)variances of people h and a model m, summed over questions. slope = A_mh/A_hh is
the share of people's moves that the model makes; exaggeration = sqrt(A_mm/A_hh), direction = A_mh/sqrt(A_mm A_hh), and
skill = 2 slope - exaggeration^2 is the share gained of what knowing the groups can gain in ranked probability score.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Probe
from valuesassets.instruments.worldvaluesbench.measures.group_moves import (
    ALL,
    Moves,
    Resampling,
    Scope,
    derive_moves,
    scopes_of,
    sides_of,
)
from valuesassets.instruments.worldvaluesbench.measures.style_free import style_free_components
from valuesassets.instruments.worldvaluesbench.tables import (
    AWARENESS_CATEGORIES,
    AWARENESS_FACTORS,
    AWARENESS_QUESTIONS,
    AWARENESS_STYLE_FREE,
)
from valuesassets.measure.group_resampling import left_out_ends, ratio_ends
from valuesassets.measure.level_permutations import FEWEST, arrangement_p, level_arrangements
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.ranked_probability import answers_at_most, ranked_probability_unit
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData

Floats = NDArray[np.float64]
READ_TO = 1e-3
"""To how much a model's probabilities are known: the same weights differ by as much between batches and number formats.
No interval is narrower than that, however many people were asked."""


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
    people within groups, and beside them by leaving categories out; p-values that a slope is above 0 are those of all
    arrangements of the factors' levels, corrected over models, and for single factors over models and factors. A
    model has a direction where the interval of its own moves, A_mm, lies above 0.

    Args:
        resamples: 0 for no intervals.
        planted_slopes: by model, of those made up beforehand.
        uncorrected: models that are others in a further wording: no tests of their own, and nothing is corrected for
            them.

    Raises:
        MissingData: no question has two groups that can be compared.

    Source: components of variance with known errors: Searle, Casella and McCulloch (1992), Variance Components,
    section 3.6; skill as a share of a proper score: Gneiting and Raftery (2007), section 2.3.
    """
    scopes = scopes_of(probe.groups)
    moves = derive_moves(probe, scopes, Resampling(probe, resamples, seed), min_group)
    if moves and not any(found[0].is_known.any() for found in moves.values()):
        raise MissingData(
            f"awareness: no question has two groups of {min_group} or more people who answered; "
            "ask more people or lower min_group"
        )
    arrangements = [level_arrangements(scope.levels) for scope in scopes]
    category = np.array([asked.question.category for asked in probe.questions])
    tables: dict[str, list[dict[str, Any]]] = {"factors": [], "categories": [], "questions": [], "style_free": []}
    for model, found in moves.items():
        for scope, moved, arranged in zip(scopes, found, arrangements, strict=True):
            row = {"model": model, "factor": scope.name} | _of_scope(moved, scope, arranged, category, level)
            if scope.name == ALL:
                row["prompt_gain_unit"], row["prompt_gain_low"] = prompt_gain(probe, model, min_group, level)
            row["planted_slope"] = (planted_slopes or {}).get(model, np.nan)
            tables["factors"].append(row)
        for name in dict.fromkeys(category):
            row = {"model": model, "category": name, "n_questions": int(found[0].is_known[category == name].sum())}
            tables["categories"].append(row | _with_interval(found[0], category == name, level))
        for number, asked in enumerate(probe.questions):
            row = {"model": model, "question_id": asked.question.id, "category": asked.question.category}
            tables["questions"].append(row | _with_interval(found[0], np.arange(len(category)) == number, level))
        hh, mh, mm = style_free_components(probe, model, min_group)
        mm = np.nan if _is_drawn(probe, model) else mm  # means over questions do not tell whose noise is whose
        tables["style_free"].append({"model": model} | measures(hh, mh, mm))
    _correct([row for row in tables["factors"] if row["model"] not in uncorrected], correction)
    declared = (AWARENESS_FACTORS, AWARENESS_CATEGORIES, AWARENESS_QUESTIONS, AWARENESS_STYLE_FREE)
    return {name: table.frame(rows) for (name, rows), table in zip(tables.items(), declared, strict=True)}


def measures(hh: float, mh: float, mm: float) -> dict[str, float]:
    """Slope, exaggeration, direction and skill from the three components; NaN where people do not move.

    A model whose moves are no more than noise (A_mm <= 0) exaggerates by 0 and has no direction.

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
    """What naming the attributes gains: mean ranked probability score without less with them, in scale units.

    Groups and questions count alike; people have their weights. The second number is the lower end of its interval,
    over people within groups, each with all that they answered; NaN where the model was not asked without.

    Source: the variance of a mean of ratios by what each person adds to it, with people as clusters within strata:
    Cochran (1977), Sampling Techniques, sections 6.4 and 10.
    """
    n_groups, gains = len(probe.groups.levels), []
    everyone = 1 + max((int(asked.people.max(initial=-1)) for asked in probe.questions), default=0)
    added, group_of = np.zeros(everyone), np.full(everyone, -1)
    for asked in probe.questions:
        if model in asked.without and model in asked.with_attributes:
            gain, adds = _gain(asked, model, n_groups, min_group)
            gains.append(gain)
            people = asked.people
            group_of[people[np.isfinite(adds)]] = asked.groups[np.isfinite(adds)]
            np.add.at(added, people, np.nan_to_num(adds))
    if not np.isfinite(gains).any():
        return np.nan, np.nan
    n, variance = int(np.isfinite(gains).sum()), 0.0
    for group in range(n_groups):
        here = added[group_of == group]
        variance += here.size * here.var(ddof=1) if here.size > 1 else 0.0
    gained = float(mean_of_known(np.array(gains)))
    return gained, gained - float(stats.norm.ppf((1 + level) / 2) * np.sqrt(variance) / n)


def _gain(asked: AskedQuestion, model: str, n_groups: int, min_group: int) -> tuple[float, Floats]:
    """Of one question, and what each person adds to its error, NaN where they are not compared."""
    rated, without = asked.with_attributes[model], asked.without[model]
    sides = sides_of(asked, without, rated, n_groups, min_group)
    adds = np.full(len(asked.people), np.nan)
    if not len(sides.present):
        return float("nan"), adds
    answers = answers_at_most(asked.answers[sides.rows] - asked.question.lo, len(asked.question.values))
    weights, groups = asked.weights[sides.rows], asked.groups[sides.rows]
    gained = ranked_probability_unit(sides.a, answers) - ranked_probability_unit(sides.b, answers)
    totals = np.bincount(groups, weights, n_groups)
    means = np.bincount(groups, weights * gained, n_groups) / np.where(totals > 0, totals, 1)
    adds[sides.rows] = weights * (gained - means[groups]) / totals[groups] / len(sides.present)
    return float(np.mean(means[sides.present])), adds


def _of_scope(moved: Moves, scope: Scope, arranged: Any, category: NDArray[np.str_], level: float) -> dict[str, Any]:
    """Measures of all questions in one scope: intervals both ways, and the p-value."""
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
    """Measures of some questions, the slope with its interval; of the whole, the lower end of the skill's too."""
    use = chosen & moved.is_known
    row: dict[str, Any] = measures(*moved.components[use].sum(axis=0))
    hh, mh, mm = moved.resampled(use)
    if mm.size and not _least_moves(moved, use, mm, level) > 0:
        row["direction"] = np.nan  # divided by what may well be noise, it would be any number
    if mm.any():
        # In one group's distribution function an error of READ_TO moves A_mh by READ_TO sqrt(A_hh) at most.
        largest = READ_TO * np.sqrt(max(float(moved.components[use, 0].sum()), 0.0))
        mh = mh + largest * seeded(0, "reading").standard_normal(mh.size)
    has_slope = np.isfinite(row["slope"])
    ends = ratio_ends(mh, hh, level) if has_slope else (np.nan, np.nan)
    row |= {"slope_low": ends[0], "slope_high": ends[1]}
    if is_whole:
        row["skill_low"], _ = ratio_ends(2 * mh - np.maximum(mm, 0), hh, level) if has_slope else ends
    return row


def _is_drawn(probe: Probe, model: str) -> bool:
    """Whether people share answers of a model that were drawn."""
    rated = [asked.with_attributes[model] for asked in probe.questions if model in asked.with_attributes]
    return any(each.n_draws is not None for each in rated)


def _least_moves(moved: Moves, use: NDArray[np.bool_], mm: Floats, level: float) -> float:
    """The lower end of the interval of A_mm: of people's resamples, and of the draws where answers were drawn.

    The noise of L levels varies as chi squared of L - 1 degrees, or less: cut points are not counted as further ones.
    """
    found = moved.components[use, 2].sum()
    of_draws = 2 * np.sum(moved.drawn_noise[use] ** 2) / (len(moved.pairings) - 1)
    of_people = found - np.quantile(mm, (1 - level) / 2)
    return float(found - np.hypot(of_people, stats.norm.ppf((1 + level) / 2) * np.sqrt(of_draws)))


def _correct(rows: Sequence[dict[str, Any]], correction: str) -> None:
    """Enter corrected p-values: over models for all groups together, which claims rest on, and over models and factors
    for single factors; those of each direction among themselves."""
    for name, corrected_name in (("p_value", "p_corrected"), ("p_opposite", "p_opposite_corrected")):
        for is_whole in (True, False):
            tested = [row for row in rows if np.isfinite(row[name]) and (row["factor"] == ALL) == is_whole]
            p = [row[name] for row in tested]
            for row, corrected in zip(tested, CORRECTIONS[correction](p), strict=True):
                row[corrected_name] = corrected
