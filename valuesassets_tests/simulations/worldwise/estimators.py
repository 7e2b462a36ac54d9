"""Simulations of known truth: do intervals hold what was planted, and do tests find nothing where nothing is?

A model leans, in logits, by the level of a dilemma, an effect of the culture on the axis, and noise of this culture in
this dilemma; the option shown first pulls it. What it writes has a gap of its own on each axis, the values that it
ticks and the vectors of its reasons an effect of the culture. `planted`: effects that go with country scores and beside
them, two cultures alike, gaps on two axes, more refusals in one culture. `null`: levels and noise alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from valuesassets.instruments.worldwise.answers.model_answers import CHOICE, gather_answers
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OK, OPEN, REFUSED
from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, LOW, PLACEBO, UNPROMPTED
from valuesassets.instruments.worldwise.measures.alignment import align_model
from valuesassets.instruments.worldwise.measures.cultural_profiles import profile_model
from valuesassets.instruments.worldwise.measures.persona_shift import shift_model
from valuesassets.instruments.worldwise.measures.quality_report import derive_refusals
from valuesassets.instruments.worldwise.measures.say_do_gap import gaps_of_model
from valuesassets.instruments.worldwise.measures.stereotyping import derive_caricature
from valuesassets.measure.means import Array
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import parts_of, records, rows
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.simulations.shares import COVERAGE, FOUND, REJECTED, is_within, plain_tables

Records = list[dict[str, Any]]
NULL, PLANTED = KINDS = ("null", "planted")
CULTURES, SCENARIOS, DRAWS = ("c1", "c2", "c3", "c4", "c5"), 8, 2
"""Cultures; scenarios of each axis; answers to the same prompt."""
CONDITIONS = (*CULTURES, PLACEBO, UNPROMPTED)
LEVEL, NOISE, PULL = 0.8, 0.4, 0.3
"""Standard deviations of levels and noise, and the pull of the first option, in logits."""
POSITION_NOISE, VALUE_LEVEL, VALUE_NOISE, VALUE_EFFECT = 0.4, 1.0, 0.5, 1.0
WIDTH, VECTOR_NOISE, VECTOR_EFFECT = 16, 0.3, 0.25
REFUSAL, REFUSAL_PLANTED = 0.1, 0.35
"""Share of answers that are refused; of the first culture where it is planted."""
_FIXED = seeded("worldwise worlds")
Z = pd.DataFrame(_FIXED.normal(size=(len(CULTURES), len(AXES))), index=pd.Index(CULTURES), columns=pd.Index(AXES))
EFFECTS = 0.6 * Z.to_numpy() + 0.3 * _FIXED.normal(size=Z.shape)
EFFECTS[4] = EFFECTS[3]
GAPS = np.array([0.7, 0.0, 0.0, -0.7, 0.0, 0.0])
ALIKE = ("c4", "c5")
HOW = Inference(resamples=499)
AXIS = np.repeat(np.arange(len(AXES)), SCENARIOS)
VALUES, TICKED = tuple(f"{axis} {pole}" for axis in AXES for pole in (HIGH, LOW)), 3
PULLS = {"forward": PULL, "reversed": -PULL}
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True, eq=False)
class SimulatedModel:
    """The answers of a simulated model, as the tables have them, and vectors of its reasons.

    Attributes:
        embedded: culture, scenario_id and form of each vector.
        z: standard scores of the cultures' countries.
    """

    choices: pd.DataFrame
    reasons: pd.DataFrame
    projections: pd.DataFrame
    embedded: pd.DataFrame
    vectors: Array
    z: pd.DataFrame


def true_lean(logits: Array) -> Array:
    """Mean lean over all dilemmas of an axis, where the model is moved by so many logits."""
    spread = np.hypot(LEVEL, NOISE) * _NODES
    by_order = [np.tanh((logits[..., None] + spread + pull) / 2) @ _WEIGHTS for pull in (PULL, -PULL)]
    return (by_order[0] + by_order[1]) / (2 * _WEIGHTS.sum())


def true_effects(kind: str, gaps: Array | float = 0.0) -> Array:
    """(C, A) the cultures' mean lean less the placebo's; in what is written with such gaps, (A,) in logits."""
    return np.zeros(EFFECTS.shape) if kind == NULL else true_lean(EFFECTS + gaps) - true_lean(np.zeros(1) + gaps)


def true_gaps(kind: str) -> Array:
    """(A,) what is written less what is chosen, in units of the lean, mean over conditions."""
    every = np.vstack([EFFECTS, np.zeros((2, len(AXES)))])
    return np.zeros(len(AXES)) if kind == NULL else (true_lean(every + GAPS) - true_lean(every)).mean(axis=0)


def true_slope(kind: str) -> float:
    """Slope of the cultures' effects on country scores, axes centred."""
    x = Z.to_numpy() - Z.to_numpy().mean(axis=0)
    return float(np.sum(x * true_effects(kind)) / np.sum(x**2))


def simulate_model(kind: str, random: np.random.Generator) -> SimulatedModel:
    """The answers of one model; in null simulations country scores are drawn anew."""
    is_null = kind == NULL
    moved = np.zeros((len(CONDITIONS), len(AXES)))
    gaps, refusal = np.zeros(len(AXES)), np.full(len(CONDITIONS), REFUSAL)
    z = pd.DataFrame(random.normal(size=Z.shape), index=Z.index, columns=Z.columns)
    if not is_null:
        moved[: len(CULTURES)], gaps, refusal[0], z = EFFECTS, GAPS, REFUSAL_PLANTED, Z
    logits = random.normal(0, LEVEL, AXIS.size) + moved[:, AXIS]
    logits += random.normal(0, NOISE, logits.shape)
    questions = _asked(logits.shape)
    pulled = {f"p_high_{order}": expit(logits + pull).ravel() for order, pull in PULLS.items()}
    choices = questions.assign(**pulled, wording=0, channel="exact", status=OK)
    utilities = random.normal(0, VALUE_LEVEL, (AXIS.size, len(VALUES))) + random.normal(
        0, VALUE_NOISE, (*logits.shape, len(VALUES))
    )
    utilities += VALUE_EFFECT * (np.repeat(moved, 2, axis=1) * np.tile([1, -1], len(AXES)))[:, None]
    reasons = pd.concat(
        [
            _written(
                questions.assign(form=form, order=order, draw=draw),
                logits + gaps[AXIS] + pull,
                utilities,
                refusal,
                random,
            )
            for form in (DECIDE, OPEN)
            for order, pull in PULLS.items()
            for draw in range(DRAWS)
        ],
        ignore_index=True,
    )
    projections = reasons[["trial_id", "draw", "position", "status"]].assign(is_own_axis=True)
    entries = pd.DataFrame(reasons.loc[reasons["form"] == DECIDE, ["culture", "scenario_id", "form"]])
    return SimulatedModel(
        choices, reasons.drop(columns="position"), projections, entries, _vectors(entries, moved, random), z
    )


def simulate_worlds(kind: str, seeds: Sequence[int]) -> Records:
    """The outcomes for models of one kind, one per seed: estimates with their intervals, and p-values."""
    return [{"kind": kind, "seed": seed} | row for seed in seeds for row in _found(kind, seed)]


def summarise_worlds(outcomes: Records) -> dict[str, pd.DataFrame]:
    """By kind and measure, how often tests reject, and how often intervals hold the truth.

    What the excess of a shift should be is no equation's result: its truth is its mean over the models. Where nothing
    is shifted a distance lies at the end of what it can be, and only its test is looked at.
    """
    rejections, coverage = [], []
    for (kind, measure), part in parts_of(pd.DataFrame(outcomes), ["kind", "measure"]):
        row = {"kind": kind, "measure": measure, "n_worlds": part["seed"].nunique()}
        tested = rows(part, part["p"].notna())
        for (is_null,), tests in parts_of(tested, ["is_null"]):
            rejected = float((tests["p"] <= HOW.alpha).mean())
            rejections.append(row | {"is_null": is_null == "True", "rejected": rejected, "n_tests": len(tests)})
        matching = rows(part, part["low"].notna() & part["high"].notna())
        if len(matching):
            truth = matching["truth"].fillna(matching.groupby("place")["estimate"].transform("mean"))
            is_held = (matching["low"] <= truth) & (truth <= matching["high"])
            off = matching["estimate"] - truth
            coverage.append(
                row | {"coverage": float(is_held.mean()), "bias": float(off.mean()), "n_intervals": len(matching)}
            )
    return {"rejections": pd.DataFrame(rejections), "coverage": pd.DataFrame(coverage)}


evidence = plain_tables


def faults_of(summary: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is not as it should be beyond three Monte Carlo errors, in words; nothing where all is well."""
    faults = []
    for row in records(summary["rejections"]):
        share, where = row["rejected"], f"worldwise, {row['kind']} simulations, {row['measure']}"
        if row["is_null"] and not is_within(share, 0, REJECTED, row["n_worlds"]):
            faults.append(f"{where}: {share:.3f} rejected, {REJECTED} at most wanted")
        elif not row["is_null"] and not is_within(share, FOUND, 1, row["n_worlds"]):
            faults.append(f"{where}: {share:.3f} found, {FOUND} at least wanted")
    for row in records(summary["coverage"]):
        share, (low, high), n = row["coverage"], COVERAGE, row["n_worlds"]
        if not is_within(share, low, high, n):
            where = f"worldwise, {row['kind']} simulations, {row['measure']}"
            faults.append(f"{where}: {share:.3f} of the intervals hold the truth, {low} to {high} wanted")
    return faults


def _found(kind: str, seed: int) -> Iterator[dict[str, Any]]:
    """Every estimate and test of a model; `place` says of what, and `is_null` whether there is nothing to find."""
    simulated, is_null = simulate_model(kind, seeded(seed, "worldwise worlds", kind)), kind == NULL
    how = HOW.with_seed(seed)
    answers = gather_answers(simulated.choices, simulated.reasons, simulated.projections)
    chosen, written = true_effects(kind), true_effects(kind, GAPS)
    for row in records(profile_model(kind, answers, how)):
        if row["culture"] in CULTURES:
            place = CULTURES.index(row["culture"]), AXES.index(row["axis"])
            truth = float((chosen if row["readout"] == CHOICE else written)[place])
            yield _interval(f"effect, {row['readout']}", row, "effect", truth, f"{row['culture']} {row['axis']}")
    aligned = align_model(kind, answers, simulated.z, how, {})
    for row in records(aligned["agreement"]):
        yield _test(f"agreement, {row['kind']}, {row['readout']}", row, is_null, row["readout"])
    for row in records(aligned["flattening"]):
        if row["readout"] == CHOICE:
            yield _interval("slope, choice", row, "slope", true_slope(kind))
    for row in records(aligned["culture_pairs"]):
        are_alike = (row["culture"], row["other_culture"]) == ALIKE
        if is_null or are_alike:
            yield _test(f"pair, {row['readout']}", row, True)
    truths = dict(zip(AXES, true_gaps(kind).tolist(), strict=True))
    for row in records(gaps_of_model(kind, answers, how)):
        name, axis = f"gap, {row['measure']}, {row['form']}", row["axis"]
        truth = truths[axis] / (2 if row["measure"] == "decision" else 1)
        yield _interval(name, row, "gap", truth, axis) | _test(name, row, is_null or not GAPS[AXES.index(axis)], axis)
    for row in records(shift_model(kind, simulated.reasons, how)):
        is_moved = not is_null and row["culture"] in CULTURES
        interval = _interval("shift", row, "tvd_excess", np.nan, row["culture"]) if is_moved else {}
        yield interval | _test("shift", row, not is_moved, row["culture"])
    for row in records(derive_refusals(kind, simulated.reasons, how)):
        yield _test(f"refusals, {row['form']}", row, is_null)
    for row in records(derive_caricature(kind, simulated.embedded, simulated.vectors, how)):
        yield _test("caricature", row, is_null)


def _interval(measure: str, row: Mapping[str, Any], name: str, truth: float, place: str = "") -> dict[str, Any]:
    ends = {"estimate": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}
    return {"measure": measure, "place": place, "truth": truth, "p": np.nan} | ends


def _test(measure: str, row: Mapping[str, Any], is_null: bool, place: str = "") -> dict[str, Any]:
    return {"measure": measure, "place": place, "p": row["p"], "is_null": is_null}


def _asked(shape: tuple[int, ...]) -> pd.DataFrame:
    """A row for each condition and scenario."""
    condition, scenario = np.indices(shape).reshape(2, -1)
    columns = {"culture": np.array(CONDITIONS)[condition], "axis": np.array(AXES)[AXIS[scenario]]}
    return pd.DataFrame(columns | {"scenario_id": np.char.add("s", scenario.astype(str))})


def _written(
    cells: pd.DataFrame, logits: Array, utilities: Array, refusal: Array, random: np.random.Generator
) -> pd.DataFrame:
    """One draw of what is written to every prompt of a form and order, with the position of its reason."""
    is_refused = random.random(logits.shape) < refusal[:, None]
    is_high = random.random(logits.shape) < expit(logits)
    position = np.tanh(logits / 2) + random.normal(0, POSITION_NOISE, logits.shape)
    best = np.argsort(-(utilities + random.gumbel(size=utilities.shape)), axis=-1)[..., :TICKED].reshape(-1, TICKED)
    gone = is_refused.ravel()
    return cells.assign(
        trial_id=cells["form"] + cells["order"] + cells["culture"] + cells["scenario_id"],
        status=np.where(gone, REFUSED, OK),
        decision=[None if lost else HIGH if high else LOW for lost, high in zip(gone, is_high.ravel(), strict=True)],
        values=[[] if lost else row for lost, row in zip(gone, np.array(VALUES)[best].tolist(), strict=True)],
        position=np.where(gone, np.nan, position.ravel()),
    )


def _vectors(reasons: pd.DataFrame, moved: Array, random: np.random.Generator) -> Array:
    """(N, D) what reasons are about, how this condition puts it here, and noise; cultures that move have an offset."""
    condition, scenario = (pd.factorize(reasons[name])[0] for name in ("culture", "scenario_id"))
    offsets = np.where(moved.any(axis=1), VECTOR_EFFECT, 0)[:, None] * random.normal(size=(len(CONDITIONS), WIDTH))
    topics, here = (
        random.normal(size=(AXIS.size, WIDTH)),
        random.normal(0, VECTOR_NOISE, (len(CONDITIONS), AXIS.size, WIDTH)),
    )
    return topics[scenario] + offsets[condition] + here[condition, scenario] + random.normal(size=(len(reasons), WIDTH))
