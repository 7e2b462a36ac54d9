"""`worldwise/persona_shift`: which values a persona shifts, and which persona is nearest to answers without one."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from valuesassets.instruments.worldwise.answers.model_answers import (
    Answered,
    ByReadout,
    Frames,
    by_scenario,
    of_models,
    profiled,
)
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, DECLINED
from valuesassets.instruments.worldwise.answers.reasons import OK as READ
from valuesassets.instruments.worldwise.material.dimensions import PLACEBO, UNPROMPTED
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED, corrected, random_of
from valuesassets.instruments.worldwise.measures.reliability import give_way
from valuesassets.instruments.worldwise.tables import NEAREST_PERSONA, PERSONA_SHIFT
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.resampling import (
    permutation_p,
    resample_counts,
    resampled_means,
    stratified_counts,
    with_ends,
)
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.records.settings.measuring import Inference

FEWEST_CULTURES = 2


def derive_persona_shift(answered: Answered, reliability: Frames, how: Inference) -> dict[str, pd.DataFrame]:
    """`shifts`, corrected over conditions and models, and `nearest_persona` without numbers of unreliable readouts."""
    shifts = of_models(answered, lambda model, each: shift_model(model, each.reasons, how))
    nearest = of_models(answered, lambda model, each: nearest_of_model(model, each.by_readout, how))
    return {
        "shifts": corrected(shifts, [], how),
        "nearest_persona": give_way(nearest, reliability, is_ranking=True),
    }


def shift_model(model: str, reasons: pd.DataFrame, how: Inference) -> pd.DataFrame:
    """The table `persona_shift` of one model: a row per condition, compared with the placebo.

    Answers for neither option count if they were read.
    """
    shares = ticked_shares(reasons)
    shifts = []
    for culture in (each for each in dict.fromkeys(reasons["culture"]) if each != PLACEBO):
        row: dict[str, Any] = {"model": model, "culture": culture}
        differences = np.empty((0, 0))
        if {culture, PLACEBO} <= shares.keys():
            both = shares[culture].index.intersection(shares[PLACEBO].index, sort=False)
            differences = (shares[culture].loc[both] - shares[PLACEBO].loc[both]).to_numpy(dtype=float)
        row |= {"n_scenarios": len(differences)}
        if len(differences) < 2:
            reason = f"{len(differences)} scenarios with ticked values as {culture} and as the placebo, two are needed"
            shifts.append(row | {"status": UNDEFINED, "reason": reason})
            continue
        shifts.append(row | shift_of(differences, how, random_of(how, model, "shift", culture)) | {"status": OK})
    return PERSONA_SHIFT.frame(shifts)


def ticked_shares(reasons: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By condition, the share of each value among those ticked in a scenario: rows are scenarios and add to 1."""
    decide = rows_where(reasons, form=DECIDE)
    read = rows(decide, decide["status"].isin([READ, DECLINED])).explode("values")
    ticks = rows(read, read["values"].notna())
    counts = pd.crosstab([ticks["culture"], ticks["scenario_id"]], ticks["values"])
    shares = counts.div(counts.sum(axis=1), axis=0)
    return {name: pd.DataFrame(shares.xs(name)) for name in dict.fromkeys(ticks["culture"])}


def shift_of(differences: Array, how: Inference, random: np.random.Generator) -> dict[str, float]:
    """Total variation distance of ticked values to the placebo's, and its excess over chance.

    By chance, the two conditions are swapped at random within scenarios. A distance grows with noise, and resampling
    adds noise, so the interval of the excess has no quantiles: it is the estimate plus and minus t (S - 1 degrees of
    freedom) times the standard deviation over resamples of scenarios, each minus the mean of a half-normal variable. In
    simulations it holds an excess in .95; without a shift it is too wide, and p decides.

    Args:
        differences: (S, V) shares of values, the condition's minus the placebo's; S >= 2.
    """
    n = len(differences)
    signs = 2.0 * random.integers(0, 2, size=(how.resamples, n)) - 1
    tvd, by_chance = _tvd(differences.sum(axis=0), n), _tvd(signs @ differences, n)
    chance = float(by_chance.mean())
    excess = float(tvd) - chance
    counts = resample_counts(n, how.resamples, random)
    drawn = _tvd(counts @ differences, n) - np.sqrt(2 / np.pi) * _tvd(np.sqrt(counts @ differences**2), n)
    reach = float(stats.t.ppf((1 + how.level) / 2, n - 1) * np.sqrt(n / (n - 1)) * drawn.std(ddof=1))
    row = {"tvd": float(tvd), "tvd_by_chance": chance, "p": permutation_p(float(tvd), by_chance)}
    return row | with_ends("tvd_excess", excess, (excess - reach, excess + reach))


def nearest_of_model(model: str, answers: ByReadout, how: Inference) -> pd.DataFrame:
    """The table `nearest_persona` of one model: the distance of its personas from its answers without one."""
    personas = []
    for readout in profiled(answers):
        means = by_scenario(answers[readout])
        cultures = [name for name in means.cultures if np.isfinite(means.of(name)).any()]
        squares = (means.of(*cultures) - means.of(UNPROMPTED)) ** 2
        shared = np.asarray(np.isfinite(squares).all(axis=0)) & bool(cultures)
        row: dict[str, Any] = {"model": model, "readout": readout, "n_scenarios": int(shared.sum())}
        if len(cultures) < FEWEST_CULTURES or not shared.any():
            reason = (
                f"{len(cultures)} cultures and {int(shared.sum())} scenarios that were answered as each and without "
                f"a persona, {FEWEST_CULTURES} and one are needed"
            )
            personas.append(row | {"status": UNDEFINED, "reason": reason})
            continue
        counts = stratified_counts(means.axes[shared], how.resamples, random_of(how, model, "nearest", readout))
        personas += [row | each for each in _ranked(cultures, squares[:, shared], counts)]
    return NEAREST_PERSONA.frame(personas)


def _ranked(cultures: list[str], squares: Array, counts: Array) -> list[dict[str, Any]]:
    """A row for each persona: its distance, and the share of resamples in which it is the nearest.

    Squares are (C, S) squared differences from the answers without a persona, counts (draws, S) resamples of scenarios.
    """
    drawn = resampled_means(squares, counts)
    first = drawn == drawn.min(axis=1, keepdims=True)
    ranks = (drawn[:, :, None] > drawn[:, None, :]).sum(axis=2) + 1
    distances = np.sqrt(mean_of_known(squares))
    numbers = {
        "distance": distances,
        "rank": (distances[:, None] > distances).sum(axis=1) + 1,
        "p_nearest": (first / first.sum(axis=1, keepdims=True)).mean(axis=0),
        "mean_rank": ranks.mean(axis=0),
    }
    return records(pd.DataFrame({"culture": cultures, **numbers, "status": OK}))


def _tvd(sums: Array, n: int) -> Array:
    return np.abs(sums).sum(axis=-1) / (2 * n)
