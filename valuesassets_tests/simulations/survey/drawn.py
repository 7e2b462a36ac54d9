"""Simulated answers of which some are shares of draws: do noise-free distances keep what they promise?

The survey's analyses are tried with drawn families, as `answers` tries them with read probabilities. Beside them stand
what only draws can break: one truth drawn twice has distance 0, advantages do not depend on the number of draws, and an
exact and a drawn family of one truth are not found apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.country_distances import advantages, divergences_from_countries, of_own
from valuesassets.comparing.distances import derive_distances
from valuesassets.comparing.simulated_answers import (
    PLANTED,
    drawn_answers,
    simulate_answers,
    simulated_scales,
    simulation_study,
)
from valuesassets.instruments.survey.measures import simulated_worlds as analysed
from valuesassets.records.frames import parts_of, records, rows_where
from valuesassets.records.study import Study, load_study

ANALYSED, NOISE = "analysed: ", "noise"
KINDS = (*(f"{ANALYSED}{kind}" for kind in analysed.KINDS), NOISE)
DRAWS = 40
"""Answers drawn in each order and wording, where analyses are tried."""
SIZES = (10, 40)
"""The numbers of draws with which distances are tried."""
LANGUAGES, ITEMS, RESPONDENTS = 10, 60, 1000
MOST_BIAS = 0.5
"""The largest share of what noise makes that one truth drawn twice may be apart, on average."""
ALLOWED_SES = 3.0
"""Standard errors by which a mean over simulations may differ from what is expected."""
LEAST_SHOWN = 0.95
"""Least share of simulations in which an exact and a drawn family of one truth are not found apart."""
Records = list[dict[str, Any]]


@cache
def cramer_study(languages: int = LANGUAGES) -> Study:
    """A study of simulated data that compares answers by squared Cramér distances."""
    whole = load_study("demo_survey_22")
    study = simulation_study(whole, list(whole.languages)[:languages], analysed.RESAMPLES)
    return study.model_copy(update={"inference": study.inference.model_copy(update={"distance": "cramer"})})


def simulate(kind: str, seeds: Sequence[int]) -> Records:
    """The results of simulations of one kind, one per seed, for `summarise`."""
    if kind != NOISE:
        rows = analysed.simulate_worlds(cramer_study(), kind.removeprefix(ANALYSED), seeds, DRAWS)
        return [{"of": ANALYSED} | row for row in rows]
    return [{"of": NOISE, "kind": NOISE, "seed": seed} | row for seed in seeds for row in _of_noise(seed)]


def _of_noise(seed: int) -> Iterator[dict[str, Any]]:
    random, study = np.random.default_rng(seed), cramer_study().model_copy(update={"seed": seed})
    scales = simulated_scales(ITEMS)
    grid = simulate_answers(PLANTED, study, scales, 1, RESPONDENTS, random).grid
    own = np.tile(np.arange(len(grid.countries)), len(grid.models))
    exact = _mean_advantage(grid, study, own)
    for n in SIZES:
        first, second = (drawn_answers(grid, n, random) for _ in range(2))
        noise = first.cramer_noise + second.cramer_noise
        apart = scales.cramer_unit2(first.answers, second.answers)
        yield {"n": n, "measure": "twice", "value": float((apart - noise).mean()), "noise": float(apart.mean())}
        yield {"n": n, "measure": "advantage", "value": _mean_advantage(first, study, own) - exact, "noise": exact}
        is_apart = _least_between_families(grid, study, n, random) > 0
        yield {"n": n, "measure": "not apart", "value": float(not is_apart), "noise": np.nan}


def _mean_advantage(grid: AnswerGrid, study: Study, own: NDArray[np.intp]) -> float:
    """The mean advantage of the own country over all cells and items."""
    return float(of_own(advantages(divergences_from_countries(grid, study)), own).mean())


def _least_between_families(grid: AnswerGrid, study: Study, n: int, random: np.random.Generator) -> float:
    """The low end of the distance between a read and a drawn family of one truth, in the first language."""
    exact, other = grid.models
    same = replace(
        grid,
        **{
            name: _with_same(getattr(grid, name), grid, exact, other, axis)
            for name, axis in (("answers", 0), ("sides", 2))
        },
    )
    pairs = derive_distances(drawn_answers(same, n, random, [other]), study)["pairs"]
    language = grid.languages[0]
    row = records(rows_where(pairs, model_a=exact, language_a=language, model_b=other, language_b=language))[0]
    return row["cramer_unit2_low"]


def _with_same(values: Any, grid: AnswerGrid, exact: str, other: str, axis: int) -> Any:
    """Values by cell in which one family has those of another."""
    places, others = (list(grid.places(model).values()) for model in (exact, other))
    same = np.moveaxis(values.copy(), axis, 0)
    same[others] = same[places]
    return np.moveaxis(same, 0, axis)


def summarise(results: Records) -> dict[str, pd.DataFrame]:
    """Coverage, rejections and verdicts of the analyses, and `noise`: means over simulations and their errors."""
    of_analyses = [row for row in results if row["of"] == ANALYSED]
    tables = analysed.summarise_worlds(of_analyses, cramer_study(), 1, DRAWS) if of_analyses else {}
    rows = []
    of_noise = pd.DataFrame([row for row in results if row["of"] == NOISE])
    for (measure, n), part in parts_of(of_noise, ["measure", "n"]) if len(of_noise) else ():
        values = part["value"].to_numpy(dtype=float)
        se = float(values.std(ddof=1) / np.sqrt(len(values)))
        rows.append(
            {
                "measure": measure,
                "n": int(n),
                "mean": float(values.mean()),
                "se": se,
                "beside": float(part["noise"].mean()),
                "n_simulations": len(values),
            }
        )
    return tables | {"noise": pd.DataFrame(rows)}


def evidence(summary: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The tables as plain values for JSON."""
    return {name: records(table.astype(object).where(table.notna(), None)) for name, table in summary.items()}


def faults_of(summary: Mapping[str, pd.DataFrame]) -> list[str]:
    """The deviations from expectation beyond Monte Carlo error, in words."""
    faults = analysed.faults_of(summary) if "coverage" in summary else []
    for row in records(summary["noise"]):
        what = f"{row['measure']} at {row['n']} draws: {row['mean']:.2g}"
        if row["measure"] == "twice" and abs(row["mean"]) > MOST_BIAS * row["beside"]:
            faults.append(f"{what}, at most {MOST_BIAS:g} of the {row['beside']:.2g} that noise makes were expected")
        if row["measure"] == "advantage" and abs(row["mean"]) > ALLOWED_SES * row["se"]:
            faults.append(f"{what} more than of exact answers, within {ALLOWED_SES:g} x {row['se']:.2g} was expected")
        if row["measure"] == "not apart" and row["mean"] < LEAST_SHOWN - ALLOWED_SES * row["se"]:
            faults.append(f"{what} of intervals reach 0, {LEAST_SHOWN:g} or more were expected")
    return faults
