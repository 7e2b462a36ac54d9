"""`worldwise/alignment`: do a model's cultures differ as the scores of their countries do, and which are distinguished?

Country scores describe countries, not persons. They come as z, a row per culture that has a country, a column per axis.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.model_answers import (
    Answered,
    ByReadout,
    Frames,
    ScenarioAnswers,
    axis_means,
    by_scenario,
    profiled,
    resampled_axis_means,
)
from valuesassets.instruments.worldwise.material.country_scores import zones_of
from valuesassets.instruments.worldwise.material.scenarios import domains_of
from valuesassets.instruments.worldwise.measures.inference import OK, REFUSED, UNDEFINED, corrected, random_of
from valuesassets.instruments.worldwise.measures.reliability import culture_components, withheld, without_evidence
from valuesassets.instruments.worldwise.tables import AGREEMENT, CULTURE_PAIRS, FLATTENING, VERDICTS
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.multiple_tests import step_down_p, tail_shares
from valuesassets.measure.profile_correlation import (
    LEAST_VARIANCE,
    centred_on_items,
    style_of_items,
    without_style,
)
from valuesassets.measure.relatedness import inflation, related_p, share_alike
from valuesassets.measure.resampling import interval_ends, labelled_p, labellings, permutation_p, stratified_counts
from valuesassets.records.frames import column, parts_of
from valuesassets.records.settings.measuring import Inference

FEWEST_CULTURES = 4
"""Three cultures have six labellings, which give no p-value below .05."""
KINDS = AXIS_CENTRED, DOUBLE_CENTRED, STYLE_CENTRED = ("axis-centred", "double-centred", "style-centred")
DECIDING = (DOUBLE_CENTRED, STYLE_CENTRED)
"""The tests of both have to reject before the verdict is `FOLLOWED` (decision 012)."""
FOLLOWED, HABIT, NONE = (
    "cultures differ as the scores of their countries do",
    "no agreement: what cultures share with their countries may be a habit of answering, not a pattern over axes",
    "no agreement",
)
TABLES = ("agreement", "flattening", "culture_pairs")


def derive_alignment(
    answered: Answered, reliability: Frames, scenarios: pd.DataFrame, z: pd.DataFrame, how: Inference
) -> dict[str, pd.DataFrame]:
    """`agreement`, `verdicts`, `flattening` and `culture_pairs` of all models.

    P-values of agreement are corrected over models, for each readout and kind. Choices that follow position have no
    numbers: a persona that moves the pull of a position moves them too. Scenarios have `scenario_id` and `domain`.
    """
    domains = domains_of(scenarios)
    by_model = [align_model(model, answers.by_readout, z, how, domains) for model, answers in answered.items()]
    why = without_evidence(reliability)
    tables = {name: withheld(pd.concat([each[name] for each in by_model], ignore_index=True), why) for name in TABLES}
    tables["agreement"] = corrected(tables["agreement"], ["readout", "kind"], how)
    verdicts = derive_verdicts(tables["agreement"], how.alpha)
    return {"agreement": tables.pop("agreement"), "verdicts": verdicts} | tables


def align_model(
    model: str, answers: ByReadout, z: pd.DataFrame, how: Inference, domains: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """`agreement`, `flattening` and `culture_pairs` of one model, for choices and for reasons.

    Domains are by dilemma; a dilemma without one is alone in its domain.
    """
    agreements, slopes, pairs = [], [], []
    for readout in profiled(answers):
        means, row = by_scenario(answers[readout]), {"model": model, "readout": readout}
        bounds = [by_scenario(answers[readout], pole) for pole in (-1.0, 1.0)]
        pair_rows = list(distinguish_cultures(means, how, random_of(how, model, "pairs", readout), domains))
        pairs += [row | each for each in pair_rows]
        random = random_of(how, model, "alignment", readout)
        if reason := why_not_aligned(means, z):
            agreements += [row | {"kind": kind, "status": REFUSED, "reason": reason} for kind in KINDS]
            slopes.append(row | {"status": REFUSED, "reason": reason} | _spread(means, pair_rows))
            continue
        agreements += [row | each for each in agreements_of(means, z, how, random)]
        slopes.append(row | slope_of(means, z, how, random, bounds) | _spread(means, pair_rows))
    frames = (AGREEMENT.frame(agreements), FLATTENING.frame(slopes), CULTURE_PAIRS.frame(pairs))
    return dict(zip(TABLES, frames, strict=True))


def derive_verdicts(agreement: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """The table `verdicts`: the conclusion from the corrected correlations of each model and readout."""
    verdicts = []
    for (model, readout), part in parts_of(agreement, ["model", "readout"]):
        p = dict(zip(part["kind"], part["p_corrected"].astype(float), strict=True))
        row = {"model": model, "readout": readout}
        if not all(map(np.isfinite, p.values())):
            verdicts.append(row | {"reason": column(part, "reason").dropna().iloc[0]})
            continue
        rejected = {kind for kind, each in p.items() if each <= alpha}
        verdict = FOLLOWED if rejected.issuperset(DECIDING) else HABIT if rejected else NONE
        verdicts.append(row | {"verdict": verdict})
    return VERDICTS.frame(verdicts)


def scored_cultures(answers: ScenarioAnswers, z: pd.DataFrame) -> list[str]:
    """Cultures that have answers and whose country has a score on every axis asked."""
    lacking = _lacking_scores(answers, z)
    values = zip(answers.cultures, answers.of(*answers.cultures), strict=True)
    return [name for name, row in values if name not in lacking and np.isfinite(row).any()]


def without_scores(answers: ScenarioAnswers, z: pd.DataFrame) -> str | None:
    """A sentence that names the cultures left out, whose country lacks scores; None if there is none."""
    lacking = _lacking_scores(answers, z)
    return f"without scores of all axes, and so left out: {', '.join(lacking)}" if lacking else None


def _lacking_scores(answers: ScenarioAnswers, z: pd.DataFrame) -> list[str]:
    has_all = set(z.reindex(columns=list(dict.fromkeys(answers.axes.tolist()))).dropna().index)
    return [name for name in answers.cultures if name not in has_all]


def why_not_aligned(answers: ScenarioAnswers, z: pd.DataFrame) -> str | None:
    """Why agreement cannot be tested; None if it can."""
    n = len(scored_cultures(answers, z))
    if n >= FEWEST_CULTURES:
        return None
    shortage = f"{n} cultures with answers and country scores, {FEWEST_CULTURES} or more are needed for a p-value"
    return "; ".join(filter(None, (shortage, without_scores(answers, z))))


def agreements_of(
    answers: ScenarioAnswers, z: pd.DataFrame, how: Inference, random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Correlations of a model's cultures with their countries' scores over cultures x axes, by kind.

    Values are centred within scenarios before they are averaged to axes. For the style-centred kind, a regression of
    each culture over all scenarios on the effects of answering habits (`style_of_items`) is subtracted, and from
    country scores too. Labels of cultures are permuted jointly over axes; p is the larger of two, one for independent
    cultures and one that allows for similar cultures in a zone. The interval is over scenarios, within axes; it is not
    corrected for the noise in the profiles, which makes r smaller.
    """
    cultures = scored_cultures(answers, z)
    counts = stratified_counts(answers.axes, how.resamples, random)
    labelled, is_all = labellings(len(cultures), how.resamples, random)
    zones = zones_of(cultures)
    values, scores = answers.of(*cultures), _scores(answers, z, cultures)
    for kind in KINDS:
        is_double = kind != AXIS_CENTRED
        y, of_countries = (_centred_by(kind, each, values) for each in (values, scores))
        _, profiles = axis_means(y, answers.axes)
        _, wanted = axis_means(of_countries, answers.axes)
        is_there = np.isfinite(profiles).all(axis=0)
        a, b = (centred(each[:, is_there], is_double) for each in (profiles, wanted))
        row = {"kind": kind, "n_cultures": len(cultures), "n_scenarios": int(np.isfinite(values).any(axis=0).sum())}
        r = pooled_r(a, b).item()
        if not np.isfinite(r):
            yield row | {"status": UNDEFINED, "reason": "nothing varies, so that there is no correlation"}
            continue
        chance = pooled_r(a, b[labelled])
        related = related_p(r, chance, (a, b), labelled, is_all, {"zone": zones})["zone"]
        drawn = resampled_axis_means(y, answers.axes, counts)
        ends = interval_ends(pooled_r(centred(drawn[..., is_there], is_double), b), _size(answers.axes), how.level)
        yield row | {
            "r": r,
            "r_low": float(ends[0]),
            "r_high": float(ends[1]),
            "p": max(labelled_p(r, chance, is_all), related),
            "null_low": float(np.quantile(chance, (1 - how.level) / 2)),
            "null_high": float(np.quantile(chance, (1 + how.level) / 2)),
            "status": OK,
            "reason": without_scores(answers, z),
        }


def slope_of(
    answers: ScenarioAnswers,
    z: pd.DataFrame,
    how: Inference,
    random: np.random.Generator,
    bounds: list[ScenarioAnswers],
) -> dict[str, Any]:
    """The change of the lean per standard deviation of the country scores; 0 is flat.

    Bounds are the same answers with all missing ones on the low pole, and on the high one.
    """
    cultures = scored_cultures(answers, z)
    y, scores = centred_on_items(answers.of(*cultures)), _scores(answers, z, cultures)
    _, profiles = axis_means(y, answers.axes)
    x = scores - scores.mean(axis=0)
    is_there = np.isfinite(profiles).all(axis=0)
    _, by_axis = axis_means(x, answers.axes)
    b = by_axis[:, is_there]
    if not np.sum(b**2) > LEAST_VARIANCE:
        return {"status": UNDEFINED, "reason": "country scores do not vary on the axes answered as all cultures"}
    counts = stratified_counts(answers.axes, how.resamples, random)
    drawn = resampled_axis_means(y, answers.axes, counts)
    slopes = np.sum(drawn[..., is_there] * b, axis=(-2, -1)) / np.sum(b**2)
    low, high = interval_ends(slopes, _size(answers.axes), how.level)
    least, most = (each.of(*cultures) for each in bounds)
    ends = [np.where(x > 0, *pair) for pair in ((least, most), (most, least))]
    from_ends = [float(np.sum(axis_means(x * end, answers.axes)[1]) / np.sum(by_axis**2)) for end in ends]
    return {
        "slope": float(np.sum(profiles[:, is_there] * b) / np.sum(b**2)),
        "slope_low": float(low),
        "slope_high": float(high),
        "slope_least": from_ends[0],
        "slope_most": from_ends[1],
        "n_cultures": len(cultures),
        "n_scenarios": int(np.isfinite(y).any(axis=0).sum()),
        "status": OK,
    }


def distinguish_cultures(
    answers: ScenarioAnswers, how: Inference, random: np.random.Generator, domains: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Whether a model distinguishes two cultures: the two are swapped within scenarios, for all pairs at once.

    The statistic is the mean square, over axes, of the mean difference of leans. If dilemmas of one domain are alike, a
    mean varies more than that of as many unrelated ones, whose signs are drawn: the squares are divided by that factor
    (`inflation`). p-values are corrected over pairs by the smallest of them by chance (Westfall and Young's minP),
    since pairs that share a culture are dependent.
    """
    signs = 2.0 * random.integers(0, 2, size=(how.resamples, len(answers.scenarios))) - 1
    groups = np.array(
        [f"{axis} {domains.get(name, name)}" for axis, name in zip(answers.axes, answers.scenarios, strict=True)]
    )
    own = answers.of(*answers.cultures)
    share = share_alike((own - mean_of_known(own, axis=0)).T, groups.tolist(), answers.axes.tolist())
    tested: list[dict[str, Any]] = []
    statistics, chances = [], []
    for (one, other), (first, second) in zip(combinations(answers.cultures, 2), combinations(own, 2), strict=True):
        difference = first - second
        is_known = np.isfinite(difference)
        row: dict[str, Any] = {"culture": one, "other_culture": other, "n_scenarios": int(is_known.sum())}
        if not is_known.any():
            yield row | {"status": UNDEFINED, "reason": "no scenario was answered as both"}
            continue
        swapped = np.vstack([np.ones(is_known.sum()), signs[:, is_known]]) * difference[is_known]
        axes, means = axis_means(swapped, answers.axes[is_known])
        factors = np.array([inflation(groups[is_known & (answers.axes == axis)].tolist(), share) for axis in axes])
        observed, squares = float(np.mean(means[0] ** 2 / factors)), np.mean(means**2, axis=-1)
        statistics.append(observed)
        chances.append(squares[1:])
        tested.append(row | {"distance": float(np.sqrt(squares[0])), "p": permutation_p(observed, squares[1:])})
    shares, by_chance = tail_shares(statistics, np.transpose(chances)) if tested else (np.empty(0), np.empty((1, 0)))
    for row, p in zip(tested, step_down_p(-shares, -by_chance).tolist(), strict=True):
        yield row | {"p_corrected": p, "is_told_apart": p <= how.alpha, "status": OK}


def centred(profiles: Array, is_double: bool) -> Array:
    """(..., C, A) profiles minus the means of their axes, and of their cultures if `is_double`."""
    off = profiles - profiles.mean(axis=-2, keepdims=True)
    return off - off.mean(axis=-1, keepdims=True) if is_double else off


def pooled_r(a: Array, b: Array) -> Array:
    """(...) correlations over all cultures and axes of (..., C, A) centred profiles; NaN where nothing varies."""
    products, one, other = (np.sum(each, axis=(-2, -1)) for each in (a * b, a**2, b**2))
    is_known = (one > LEAST_VARIANCE) & (other > LEAST_VARIANCE)
    return np.where(is_known, products / np.sqrt(np.where(is_known, one * other, 1)), np.nan)


def _scores(answers: ScenarioAnswers, z: pd.DataFrame, cultures: list[str]) -> Array:
    """(C, S) the country's score on each scenario's axis."""
    return z.loc[cultures, answers.axes.tolist()].to_numpy(dtype=float)


def _centred_by(kind: str, profiles: Array, values: Array) -> Array:
    """(C, S) profiles centred within scenarios; for the style-centred kind minus the effects of habits on `values`."""
    if kind != STYLE_CENTRED:
        return centred_on_items(profiles)
    shares = np.clip((1 + values) / 2, 0, 1)
    means, variances = (np.nan_to_num(mean_of_known(each, axis=0)) for each in (shares, shares * (1 - shares)))
    return without_style(profiles, style_of_items(means, variances))


def _size(axes: NDArray[np.str_]) -> int:
    """The number of independent scenarios: an interval over S scenarios within A axes has S - A degrees of freedom.

    >>> _size(np.array(["pdi", "pdi", "pdi", "idv", "idv"]))
    4
    """
    return axes.size - np.unique(axes).size + 1


def _spread(answers: ScenarioAnswers, pair_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Share of the variance that lies between cultures, and the number of pairs that are distinguished."""
    between, within = culture_components(answers.of(*answers.cultures), answers.axes)
    is_known = between + within > LEAST_VARIANCE
    return {
        "culture_share": between / (between + within) if is_known else np.nan,
        "n_pairs": sum(row["status"] == OK for row in pair_rows),
        "n_told_apart": sum(bool(row.get("is_told_apart")) for row in pair_rows),
    }
