"""`survey/simulated_worlds`: whether the analyses recover planted effects in simulations, and report no others.

There are three kinds of simulation. Planted: models follow their countries, and intervals must have their nominal
coverage. Null: models are the same in all languages, and corrected tests must keep their level. Scale artifact: models
answer in the middle of every scale, and the high raw correlation must not count as a signal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from valuesassets.comparing import simulated_answers
from valuesassets.comparing.reliability import LANGUAGE, PATTERN, derive_reliability, over_conditions
from valuesassets.comparing.signal import HEADLINE, SIGNAL, derive_signal, profiles
from valuesassets.instruments.survey.measures.map.agreement import AGREES
from valuesassets.instruments.survey.measures.map.simulated_map import map_items, map_of_simulation
from valuesassets.measure.profile_correlation import correlation
from valuesassets.records.frames import parts_of, records, rows_where
from valuesassets.records.settings.measuring import Inference
from valuesassets.records.study import Study, load_study

KINDS: dict[str, simulated_answers.Plant] = {
    "planted": simulated_answers.PLANTED,
    "null": simulated_answers.NULL,
    "scale_artifact": simulated_answers.SCALE_ARTIFACT,
}
LANGUAGES, ITEMS, WORDINGS, RESPONDENTS, RESAMPLES = 10, 48, 3, 1000, 299
"""The size of a simulation: smaller than a study, to allow a thousand of them."""
MAP_RESPONDENTS = 400  # per country on the map
TRUTH_COPIES, TRUTH_BATCHES, TRUTH_SEED = 100, 4, 20170620  # copies of the items, and batches, that give the truth
COVERAGE = (0.93, 0.97)  # bounds of the coverage of a nominal 95 % interval
ENOUGH_SIMULATIONS = 1000  # number from which on bounds hold without an allowance for chance
WITHHELD = "withheld"
FAMILY_WISE = 0.07  # most null simulations, as a share, in which any 5 % test of a family rejects
Records = list[dict[str, Any]]


def simulate_worlds(study: Study, kind: str, seeds: Sequence[int], draws: int = 0) -> Records:
    """The results of simulations of one kind, one per seed.

    Args:
        study: gives the rules of inference alone.
        kind: a key of `KINDS`.
        draws: answers that are drawn in each order and wording; 0 where probabilities are read.
    """
    rules = {"inference": _inference(study), "thresholds": study.thresholds}
    whole = load_study("demo_survey_22").model_copy(update=rules)
    small = simulated_answers.simulation_study(whole, list(whole.languages)[:LANGUAGES], RESAMPLES)
    scales, results = simulated_answers.simulated_scales(ITEMS, map_items()), []
    for seed in seeds:
        random, seeded = np.random.default_rng(seed), small.model_copy(update={"seed": seed})
        simulation = simulated_answers.simulate_answers(KINDS[kind], small, scales, WORDINGS, RESPONDENTS, random)
        results += [{"kind": kind, "seed": seed} | row for row in _results(simulation, kind, seeded, random, draws)]
    return results


def _inference(study: Study) -> Inference:
    """The rules of inference with the study's distance, which its families may decide."""
    if study.distance == "jsd":
        return study.inference
    return study.inference.model_copy(update={"distance": study.distance})


def _draws_of(study: Study) -> int:
    """The fewest draws of any family; 0 where none is drawn."""
    return min((family.draws.n for family in study.families.values() if family.draws), default=0)


def summarise_worlds(results: Records, study: Study, first_seed: int, draws: int = 0) -> dict[str, pd.DataFrame]:
    """The tables `simulated_worlds/...` from the results of simulations, whose `draws` the notes name."""
    rows = pd.DataFrame(results)
    parts = {what: pd.DataFrame(part) for (what,), part in parts_of(rows, ["what"])}
    by_kind = ((kind.replace("_", "-"), part["seed"].nunique()) for (kind,), part in parts_of(rows, ["kind"]))
    counts = [f"{count} {kind} simulations" for kind, count in by_kind]
    note = (
        f"{', '.join(counts)}, seeds {first_seed} and following: {LANGUAGES} languages, two families, {ITEMS} items, "
        f"two orders, {WORDINGS} wordings, {RESPONDENTS} respondents per country, {RESAMPLES} resamples; answers "
        "are made as distributions, no model is run."
    )
    note += f" {draws} answers are drawn from each distribution." if draws else ""
    p_values = parts["test"][parts["test"]["kind"] != "planted"]
    verdicts = [_shares(parts["verdict"], "signal"), _shares(parts["map verdict"], "map")]
    errors = parts["error"].groupby(["kind", "measure"], sort=False)["value"].agg(["mean", "std", "size"])
    return {
        "coverage": _coverage(parts["interval"], study.inference.level),
        "rejections": _rejections(parts["test"], study.inference.alpha),
        "verdicts": pd.concat(verdicts, ignore_index=True),
        "errors": errors.reset_index(),
        "p_values": pd.DataFrame(p_values[["kind", "seed", "test_family", "p"]]).reset_index(drop=True),
        "notes": pd.DataFrame({"note": [note]}),
    }


def derive_simulated_worlds(study: Study) -> dict[str, pd.DataFrame]:
    """The simulations of each kind that the study asks for, with seeds from its own seed on."""
    seeds = range(study.seed, study.seed + study.inference.worlds)
    draws = _draws_of(study)
    results = [row for kind in KINDS for row in simulate_worlds(study, kind, seeds, draws)]
    return summarise_worlds(results, study, study.seed, draws)


def evidence(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The main results as plain values for JSON."""
    mean = tables["errors"].set_index(["kind", "measure"])["mean"].astype(float)
    worst = max(records(rows_where(tables["rejections"], kind="null")), key=lambda row: row["any_rejected"])
    common = max(records(rows_where(tables["verdicts"], of="signal", kind="scale_artifact")), key=lambda row: row["n"])
    listed = {name: frame.astype(object).where(frame.notna(), None) for name, frame in tables.items()}
    return {
        "planted": {
            "w1_error": mean["planted", "w1_error"],
            "interval_coverage": float(tables["coverage"]["coverage"].mean()),
            "intervals": listed["coverage"].to_dict("records"),
        },
        "null": {
            "rejection_rate": float(worst["any_rejected"]),
            "most_rejecting_family": str(worst["test_family"]),
            "families": listed["rejections"].to_dict("records"),
        },
        "scale_artifact": {
            "raw_r": mean["scale_artifact", "r, raw"],
            "centred_r": mean["scale_artifact", f"r, {HEADLINE}"],
            "verdict": str(common["verdict"]),
            "verdicts": listed["verdicts"].to_dict("records"),
        },
        "worlds": str(tables["notes"]["note"].iloc[0]),
    }


def faults_of(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """The deviations from expectation beyond Monte Carlo error, in words."""
    faults = [
        f"{row['interval']}: {row['coverage']:.3f} of the intervals hold the truth, {COVERAGE} wanted"
        for row in records(tables["coverage"])
        if not _is_within(row["coverage"], row, *COVERAGE)
    ]
    faults += [
        f"{row['test_family']}: a test rejects in {row['any_rejected']:.3f} of the simulations without a difference, "
        f"{FAMILY_WISE} at most wanted"
        for row in records(rows_where(tables["rejections"], kind="null"))
        if not _is_within(row["any_rejected"], row, 0, FAMILY_WISE)
    ]
    right: dict[tuple[str, str], float] = {}
    for row in records(tables["verdicts"]):
        is_positive, of = row["verdict"] in (SIGNAL, AGREES), (row["of"], row["kind"])
        # A withheld verdict is right without an effect, and wrong with one.
        right[of] = right.get(of, 0.0) + row["share"] * (is_positive == (row["kind"] == "planted"))
    faults += [
        f"{kind} simulations: the verdict of the {of} is right in {share:.3f}, {1 - FAMILY_WISE:g} or more wanted"
        for (of, kind), share in right.items()
        if share < 1 - FAMILY_WISE
    ]
    return faults


def _is_within(share: float, row: Mapping[str, Any], low: float, high: float) -> bool:
    """Whether a share is within the bounds, with three Monte Carlo errors of tolerance for few simulations."""
    errors = (np.sqrt(bound * (1 - bound) / row["n_worlds"]) for bound in (low, high))
    least, most = (max(error, np.nan_to_num(row["monte_carlo_se"])) for error in errors)
    is_few = row["n_worlds"] < ENOUGH_SIMULATIONS
    return low - 3 * least * is_few <= share <= high + 3 * most * is_few


def _results(
    simulation: simulated_answers.SimulatedAnswers, kind: str, study: Study, random: np.random.Generator, draws: int
) -> Iterator[dict[str, Any]]:
    """Rows of kind `what`: tests, verdicts, errors, and in planted simulations intervals with the truth."""
    exact = simulation
    if draws:
        simulation = replace(exact, grid=simulated_answers.drawn_answers(exact.grid, draws, random))
    signal = derive_signal(simulation.grid, study)
    yield from simulated_answers.test_rows(signal["tests"])
    for row in records(signal["verdicts"]):
        yield {"what": "verdict", "verdict": row["verdict"]}
    w1_error = float(np.nanmean(exact.grid.scales.w1_unit(exact.grid.answers, exact.planted)))
    yield {"what": "error", "measure": "w1_error", "value": w1_error}
    for (name,), rows in parts_of(signal["correlations"], ["kind"]):
        yield {"what": "error", "measure": f"r, {name}", "value": float(rows["r"].mean())}
    for row in map_of_simulation(exact, study, MAP_RESPONDENTS, random):
        if kind == "planted" or row["what"] != "interval":
            yield row
    if kind == "scale_artifact":
        return
    truth = _truths(tuple(study.languages), study.distance, draws) if kind == "planted" else None
    yield from simulated_answers.simulated_comparisons(simulation, study, RESPONDENTS, truth)
    reliable = derive_reliability(simulation.grid, study)
    yield from simulated_answers.test_rows(reliable["tests"])
    if truth is None:
        return
    for row in records(rows_where(signal["correlations"], kind=HEADLINE)):
        yield _interval(f"r, {HEADLINE}", truth[f"r {row['model']}"], row["r"], row["low"], row["high"])
    for row in records(reliable["families"]):
        ends = (row[f"generalizability{end}"] for end in ("", "_low", "_high"))
        yield _interval("generalizability", truth[f"g {row['model']}"], *ends)


def _interval(name: str, truth: float, *ends: Any) -> dict[str, Any]:
    """The row of an estimate with its interval and the truth."""
    values = dict(zip(("estimate", "low", "high"), map(float, ends), strict=True))
    return {"what": "interval", "interval": name, "truth": truth} | values


@cache
def _truths(languages: tuple[str, ...], distance: str, draws: int) -> dict[str, float]:
    """The true quantities of the planted kind, from simulations with very many items.

    Generalizability counts the noise of drawn answers as error, and so does its truth.
    """
    study = simulated_answers.simulation_study(load_study("demo_survey_22"), languages, 99)
    study = study.model_copy(update={"inference": study.inference.model_copy(update={"distance": distance})})
    scales = simulated_answers.simulated_scales(ITEMS, map_items(), TRUTH_COPIES)
    batches: list[dict[str, float]] = []
    for batch in range(TRUTH_BATCHES):
        random = np.random.default_rng([TRUTH_SEED, batch])
        simulation = simulated_answers.simulate_answers(KINDS["planted"], study, scales, WORDINGS, RESPONDENTS, random)
        grid, row = simulation.grid, simulated_answers.true_comparisons(simulation, study)
        read = simulated_answers.drawn_answers(grid, draws, random) if draws else grid
        for model in simulated_answers.FAMILIES:
            places = list(grid.places(model).values())
            a, b = (profiles(answers, scales, HEADLINE) for answers in (grid.answers[places], grid.people))
            row[f"r {model}"] = correlation(a, b, True)
            expected = scales.expected_unit(read.sides[:, :, places])[..., scales.is_ordinal]
            balanced = expected.mean(axis=0, keepdims=True)
            row[f"g {model}"] = over_conditions(balanced, [LANGUAGE, PATTERN]).item()
        batches.append(row)
    return {name: float(np.mean([row[name] for row in batches])) for name in batches[0]}


def _coverage(intervals: pd.DataFrame, level: float) -> pd.DataFrame:
    """How often each kind of interval held the truth; missing intervals are counted in `n_without`."""
    rows = []
    for name, part in intervals.groupby("interval", sort=False):
        complete = part.dropna(subset=["low", "high"])
        held = (complete["low"] <= complete["truth"]) & (complete["truth"] <= complete["high"])
        by_simulation = held.groupby(complete["seed"]).mean()
        # Simulations are independent, the intervals of one are not.
        error = by_simulation.std(ddof=1) / np.sqrt(len(by_simulation)) if len(by_simulation) > 1 else np.nan
        rows.append(
            {
                "interval": name,
                "coverage": float(held.mean()),
                "monte_carlo_se": float(error),
                "nominal": level,
                "n_worlds": len(by_simulation),
                "n_intervals": len(complete),
                "n_without": len(part) - len(complete),
                "bias": float((complete["estimate"] - complete["truth"]).mean()),
                "mean_width": float((complete["high"] - complete["low"]).mean()),
            }
        )
    return pd.DataFrame(rows)


def _rejections(tests: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """How often tests rejected, by kind of simulation and declared family."""
    rows = []
    for (kind, family), part in parts_of(tests, ["kind", "test_family"]):
        by_simulation = (part["p_corrected"] <= alpha).groupby(part["seed"]).any()
        share = float(by_simulation.mean())
        uniform = stats.kstest(part.groupby("seed")["p"].first(), "uniform")
        rows.append(
            {
                "kind": kind,
                "test_family": family,
                "any_rejected": share,
                "monte_carlo_se": float(np.sqrt(share * (1 - share) / len(by_simulation))),
                "rejected_uncorrected": float((part["p"] <= alpha).mean()),
                "p_uniform": float(uniform.pvalue),
                "alpha": alpha,
                "n_worlds": len(by_simulation),
                "n_tests": len(part) // max(len(by_simulation), 1),
            }
        )
    return pd.DataFrame(rows)


def _shares(verdicts: pd.DataFrame, of: str) -> pd.DataFrame:
    verdicts = verdicts.fillna({"verdict": WITHHELD})
    families = verdicts["kind"].value_counts()
    counts = pd.Series(verdicts.groupby(["kind", "verdict"], sort=False).size(), name="n").reset_index()
    counts.insert(0, "of", of)
    return counts.assign(share=counts["n"] / families.loc[counts["kind"]].to_numpy())
