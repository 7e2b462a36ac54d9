"""`survey/simulated_worlds`: do the analyses find what was planted, and nothing where there is nothing?

Three kinds of world (`worlds`), many of each. Planted: models follow their countries; intervals have to hold the
truth as often as they say. Null: models are the same in all languages; tests must not reject, corrected, more often
than they say. Scale artifact: models answer in the middle of every scale; the raw correlation is high and must not be
called a signal.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from valuesassets.comparing import simulated_answers
from valuesassets.comparing.reliability import LANGUAGE, PATTERN, derive_reliability, over_conditions
from valuesassets.comparing.signal import HEADLINE, SIGNAL, derive_signal, profiles
from valuesassets.instruments.survey.measures.map.agreement import AGREES
from valuesassets.instruments.survey.measures.map.people_in_worlds import map_items, map_of_world
from valuesassets.measure.profile_correlation import correlation
from valuesassets.records.frames import parts_of, records, rows_where
from valuesassets.records.study import Study, load_study

KINDS: dict[str, simulated_answers.Plant] = {
    "planted": simulated_answers.PLANTED,
    "null": simulated_answers.NULL,
    "scale_artifact": simulated_answers.SCALE_ARTIFACT,
}
LANGUAGES, ITEMS, WORDINGS, RESPONDENTS, RESAMPLES = 10, 48, 3, 1000, 299
"""The size of a world: smaller than a study, so that a thousand can be made."""
MAP_RESPONDENTS = 400
"""Respondents per country whose points lie on the map."""
TRUTH_COPIES, TRUTH_BATCHES, TRUTH_SEED = 100, 4, 20170620
"""Of the items, in the worlds in which what holds for all items of a kind is computed."""
COVERAGE = (0.93, 0.97)
"""Where the coverage of a nominal 95 % interval has to lie."""
ENOUGH_WORLDS = 1000
"""From so many on, bounds hold without any allowance for chance."""
WITHHELD = "withheld"
FAMILY_WISE = 0.07
"""Most worlds without a difference, of those tested at 5 %, in which any test of a family may reject."""
Records = list[dict[str, Any]]


def simulate_worlds(study: Study, kind: str, seeds: Sequence[int]) -> Records:
    """Everything that was found in worlds of one kind, one world per seed: what `summarise_worlds` takes.

    Args:
        study: its rules of inference are used; the languages are always the same, so that worlds do not depend on it.
        kind: a key of `KINDS`.
    """
    rules = {"inference": study.inference, "thresholds": study.thresholds}
    whole = load_study("demo_survey_22").model_copy(update=rules)
    small = simulated_answers.simulation_study(whole, list(whole.languages)[:LANGUAGES], RESAMPLES)
    scales, found = simulated_answers.simulated_scales(ITEMS, map_items()), []
    for seed in seeds:
        random, seeded = np.random.default_rng(seed), small.model_copy(update={"seed": seed})
        world = simulated_answers.simulate_answers(KINDS[kind], small, scales, WORDINGS, RESPONDENTS, random)
        found += [{"kind": kind, "seed": seed} | row for row in _found(world, kind, seeded, random)]
    return found


def summarise_worlds(found: Records, study: Study, first_seed: int) -> dict[str, pd.DataFrame]:
    """The tables `simulated_worlds/...` of all that `simulate_worlds` found."""
    rows = pd.DataFrame(found)
    parts = {what: pd.DataFrame(part) for (what,), part in parts_of(rows, ["what"])}
    worlds = [f"{part['seed'].nunique()} {kind.replace('_', '-')} worlds" for (kind,), part in parts_of(rows, ["kind"])]
    note = (
        f"{', '.join(worlds)}, seeds {first_seed} and following: {LANGUAGES} languages, two families, {ITEMS} items, "
        f"two orders, {WORDINGS} wordings, {RESPONDENTS} respondents per country, {RESAMPLES} resamples; answers "
        "are made as distributions, no model is run."
    )
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
    """As many worlds of each kind as the study asks for, seeded from its own seed on."""
    seeds = range(study.seed, study.seed + study.inference.worlds)
    found = [row for kind in KINDS for row in simulate_worlds(study, kind, seeds)]
    return summarise_worlds(found, study, study.seed)


def evidence(found: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The headline figures of the worlds as plain values: what is written as JSON."""
    mean = found["errors"].set_index(["kind", "measure"])["mean"].astype(float)
    worst = max(records(rows_where(found["rejections"], kind="null")), key=lambda row: row["any_rejected"])
    common = max(records(rows_where(found["verdicts"], of="signal", kind="scale_artifact")), key=lambda row: row["n"])
    listed = {name: frame.astype(object).where(frame.notna(), None) for name, frame in found.items()}
    return {
        "planted": {
            "w1_error": mean["planted", "w1_error"],
            "interval_coverage": float(found["coverage"]["coverage"].mean()),
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
        "worlds": str(found["notes"]["note"].iloc[0]),
    }


def faults_of(found: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is not as it should be beyond Monte Carlo error, in words; nothing where all is well."""
    faults = [
        f"{row['interval']}: {row['coverage']:.3f} of the intervals hold the truth, {COVERAGE} wanted"
        for row in records(found["coverage"])
        if not _is_within(row["coverage"], row, *COVERAGE)
    ]
    faults += [
        f"{row['test_family']}: a test rejects in {row['any_rejected']:.3f} of the worlds without a difference, "
        f"{FAMILY_WISE} at most wanted"
        for row in records(rows_where(found["rejections"], kind="null"))
        if not _is_within(row["any_rejected"], row, 0, FAMILY_WISE)
    ]
    right: dict[tuple[str, str], float] = {}
    for row in records(found["verdicts"]):
        says_so, of = row["verdict"] in (SIGNAL, AGREES), (row["of"], row["kind"])
        # A verdict that is withheld is not wrong where there is nothing, and lacks where there is something.
        right[of] = right.get(of, 0.0) + row["share"] * (says_so == (row["kind"] == "planted"))
    faults += [
        f"{kind} worlds: the verdict of the {of} is right in {share:.3f}, {1 - FAMILY_WISE:g} or more wanted"
        for (of, kind), share in right.items()
        if share < 1 - FAMILY_WISE
    ]
    return faults


def _is_within(share: float, row: Mapping[str, Any], low: float, high: float) -> bool:
    """Whether a share may lie between the bounds, three Monte Carlo errors granted where worlds are few."""
    errors = (np.sqrt(bound * (1 - bound) / row["n_worlds"]) for bound in (low, high))
    least, most = (max(error, np.nan_to_num(row["monte_carlo_se"])) for error in errors)
    is_few = row["n_worlds"] < ENOUGH_WORLDS
    return low - 3 * least * is_few <= share <= high + 3 * most * is_few


def _found(
    world: simulated_answers.SimulatedAnswers, kind: str, study: Study, random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Rows of kind `what`: tests, verdicts, errors, and in planted worlds intervals beside the truth."""
    found = derive_signal(world.grid, study)
    yield from simulated_answers.test_rows(found["tests"])
    for row in records(found["verdicts"]):
        yield {"what": "verdict", "verdict": row["verdict"]}
    w1_error = float(np.nanmean(world.grid.scales.w1_unit(world.grid.answers, world.planted)))
    yield {"what": "error", "measure": "w1_error", "value": w1_error}
    for (name,), rows in parts_of(found["correlations"], ["kind"]):
        yield {"what": "error", "measure": f"r, {name}", "value": float(rows["r"].mean())}
    for row in map_of_world(world, study, MAP_RESPONDENTS, random):
        if kind == "planted" or row["what"] != "interval":
            yield row
    if kind == "scale_artifact":
        return
    truth = _truths(tuple(study.languages)) if kind == "planted" else None
    yield from simulated_answers.simulated_comparisons(world, study, RESPONDENTS, truth)
    reliable = derive_reliability(world.grid, study)
    yield from simulated_answers.test_rows(reliable["tests"])
    if truth is None:
        return
    for row in records(rows_where(found["correlations"], kind=HEADLINE)):
        yield _interval(f"r, {HEADLINE}", truth[f"r {row['model']}"], row["r"], row["low"], row["high"])
    for row in records(reliable["families"]):
        ends = (row[f"generalizability{end}"] for end in ("", "_low", "_high"))
        yield _interval("generalizability", truth[f"g {row['model']}"], *ends)


def _interval(name: str, truth: float, *ends: Any) -> dict[str, Any]:
    """What was found beside what is: the estimate, and the ends of its interval."""
    known = {end: float(each) for end, each in zip(("estimate", "low", "high"), ends, strict=True)}
    return {"what": "interval", "interval": name, "truth": truth} | known


@cache
def _truths(languages: tuple[str, ...]) -> dict[str, float]:
    """What holds for all items of the planted kind: the same quantities in worlds of very many items."""
    study = simulated_answers.simulation_study(load_study("demo_survey_22"), languages, 99)
    scales = simulated_answers.simulated_scales(ITEMS, map_items(), TRUTH_COPIES)
    found: list[dict[str, float]] = []
    for batch in range(TRUTH_BATCHES):
        random = np.random.default_rng([TRUTH_SEED, batch])
        world = simulated_answers.simulate_answers(KINDS["planted"], study, scales, WORDINGS, RESPONDENTS, random)
        grid, row = world.grid, simulated_answers.true_comparisons(world)
        for model in simulated_answers.FAMILIES:
            places = list(grid.places(model).values())
            a, b = (profiles(answers, scales, HEADLINE) for answers in (grid.answers[places], grid.people))
            row[f"r {model}"] = correlation(a, b, True)
            expected = scales.expected_unit(grid.sides[:, :, places])[..., scales.is_ordinal]
            balanced = expected.mean(axis=0, keepdims=True)
            row[f"g {model}"] = over_conditions(balanced, [LANGUAGE, PATTERN]).item()
        found.append(row)
    return {name: float(np.mean([row[name] for row in found])) for name in found[0]}


def _coverage(intervals: pd.DataFrame, level: float) -> pd.DataFrame:
    """How often each kind of interval held the truth; nulls (no interval) are counted apart."""
    rows = []
    for name, part in intervals.groupby("interval", sort=False):
        known = part.dropna(subset=["low", "high"])
        held = (known["low"] <= known["truth"]) & (known["truth"] <= known["high"])
        by_world = held.groupby(known["seed"]).mean()
        rows.append(
            {
                "interval": name,
                "coverage": float(held.mean()),
                # worlds are independent, the intervals of one are not
                "monte_carlo_se": float(by_world.std(ddof=1) / np.sqrt(len(by_world))) if len(by_world) > 1 else np.nan,
                "nominal": level,
                "n_worlds": len(by_world),
                "n_intervals": len(known),
                "n_without": len(part) - len(known),
                "bias": float((known["estimate"] - known["truth"]).mean()),
                "mean_width": float((known["high"] - known["low"]).mean()),
            }
        )
    return pd.DataFrame(rows)


def _rejections(tests: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """How often tests rejected, by kind of world and declared family."""
    rows = []
    for (kind, family), part in parts_of(tests, ["kind", "test_family"]):
        by_world = (part["p_corrected"] <= alpha).groupby(part["seed"]).any()
        share = float(by_world.mean())
        uniform = stats.kstest(part.groupby("seed")["p"].first(), "uniform")
        rows.append(
            {
                "kind": kind,
                "test_family": family,
                "any_rejected": share,
                "monte_carlo_se": float(np.sqrt(share * (1 - share) / len(by_world))),
                "rejected_uncorrected": float((part["p"] <= alpha).mean()),
                "p_uniform": float(uniform.pvalue),
                "alpha": alpha,
                "n_worlds": len(by_world),
                "n_tests": len(part) // max(len(by_world), 1),
            }
        )
    return pd.DataFrame(rows)


def _shares(verdicts: pd.DataFrame, of: str) -> pd.DataFrame:
    verdicts = verdicts.fillna({"verdict": WITHHELD})
    families = verdicts["kind"].value_counts()
    counts = pd.Series(verdicts.groupby(["kind", "verdict"], sort=False).size(), name="n").reset_index()
    counts.insert(0, "of", of)
    return counts.assign(share=counts["n"] / families.loc[counts["kind"]].to_numpy())
