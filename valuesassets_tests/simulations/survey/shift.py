"""Simulations of a model before and after, in which it has moved towards no country, or by a known amount.

80 questions come in 35 batteries of one to twelve, and countries differ battery by battery. Between before and after,
answers drift battery by battery and question by question; each wording adds to both readings of a question its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from valuesassets.comparing.shift import ShiftSlope, direction_of, measure_shift
from valuesassets.measure.arrays import Array
from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Power, Simulation

TOWARDS: str = "A model moved towards a country, beyond style."
SIZES = (12, 9, 7, 6, 5, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, *(1,) * 20)
"""Questions of each battery."""
BATTERIES = np.repeat(np.arange(len(SIZES)), SIZES)
N_ITEMS, N_COUNTRIES, WORDINGS = len(BATTERIES), 9, 3


@dataclass(frozen=True)
class Change:
    """How a model changes.

    Attributes:
        drift: standard deviation of a question's change, .36 of whose variance is its battery's.
        by_wording: of what each wording adds to the change of a question.
        moved: mean move towards the country in scale units; 0 where there is nothing to find.
        wide: standard deviation over wordings of a move along the country's direction, mean in scale units.
        trainings: number of replicates, each with a move of standard deviation `apart` along the direction.
        share: of one pool that each training draws its units from; each unit moves along the direction.
        flattening: share of their distance to the middle that answers lose.
        common: change of all questions, in scale units.
        cues: standard deviation of styles in the change and in what sets countries apart.
        tails: degrees of freedom of the questions' own drift; None for a normal one.
    """

    drift: float = 0.05
    by_wording: float = 0.04
    moved: float = 0.0
    wide: float = 0.0
    trainings: int = 1
    apart: float = 0.0
    share: float | None = None
    flattening: float = 0.0
    common: float = 0.0
    cues: float = 0.0
    tails: float | None = None
    wordings: int = WORDINGS


@dataclass(frozen=True, eq=False)
class Simulated:
    """The arguments of `measure_shift`."""

    before: Array
    after: Array
    variances: Array
    people: Array
    slope: float
    batteries: NDArray[np.intp] = field(default_factory=lambda: BATTERIES)


def by_battery(sd: float, share: float, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """(..., I) normal values, a share of whose variance is their battery's."""
    battery = random.normal(0, 1, (*shape, len(SIZES)))[..., BATTERIES]
    return sd * (np.sqrt(share) * battery + np.sqrt(1 - share) * random.normal(0, 1, (*shape, N_ITEMS)))


def simulate(kind: Change, random: np.random.Generator) -> Simulated:
    """One model before and after, beside the people of nine countries."""
    levels = random.uniform(0.15, 0.85, N_ITEMS)
    variances = random.uniform(0.3, 0.8, N_ITEMS) * levels * (1 - levels)
    styles = np.column_stack([np.ones(N_ITEMS), 4 * variances, 2 * levels - 1])
    people = levels + by_battery(0.1, 0.4, (N_COUNTRIES,), random)
    people = people + random.normal(0, 0.5 * kind.cues, (N_COUNTRIES, 3)) @ styles.T
    t = direction_of(people, 0)
    unit = t / np.abs(t).mean()
    start = np.clip(levels + by_battery(0.15, 0.3, (), random), 0.03, 0.97)
    shape = (kind.trainings, 1)
    change = by_battery(kind.drift, 0.36, (1, 1), random) if kind.tails is None else _heavy(kind, random)
    if kind.trainings > 1:
        change = change + by_battery(kind.drift / 2, 0.36, shape, random)
    change = change + random.normal(0, kind.cues, 3) @ styles.T + kind.common - kind.flattening * (start - 0.5)
    along = kind.moved + random.normal(0, kind.wide, (1, kind.wordings, 1)) + _of_trainings(kind, random)
    change = change + along * unit
    change = change + random.normal(0, kind.by_wording, (1, kind.wordings, N_ITEMS))
    before = start + random.normal(0, 0.05, (1, kind.wordings, N_ITEMS))
    before = np.broadcast_to(before, (kind.trainings, kind.wordings, N_ITEMS))
    return Simulated(before, before + change, variances, people, kind.moved / float(np.abs(t).mean()))


def _heavy(kind: Change, random: np.random.Generator) -> Array:
    """(1, 1, I) drift whose questions have heavy tails."""
    assert kind.tails is not None
    own = random.standard_t(kind.tails, N_ITEMS) * np.sqrt((kind.tails - 2) / kind.tails)
    return by_battery(0.6 * kind.drift, 1.0, (1, 1), random) + 0.8 * kind.drift * own


def _of_trainings(kind: Change, random: np.random.Generator) -> Array:
    """(R, 1, 1) what each training moves along the direction, in mean scale units."""
    shape = (kind.trainings, 1, 1)
    if kind.share is None:
        return random.normal(0, kind.apart, shape)
    units = random.normal(0, 1, 200)
    n = round(kind.share * units.size)
    means = [random.permutation(units)[:n].mean() for _ in range(kind.trainings)]
    return kind.apart * np.sqrt(n) * np.array(means).reshape(shape)


def measured(kind: Change, seed: int) -> tuple[Simulated, ShiftSlope]:
    """A simulation and what is measured of it."""
    each = simulate(kind, seeded(seed, "shift simulations", kind))
    share = kind.share if kind.trainings > 1 else None
    return each, measure_shift(each.before, each.after, each.variances, each.people, 0, each.batteries, share)


def of_change(kind: Change, seed: int) -> Mapping[str, Outcome]:
    """The claim that the model moved, at a level of 5 %, and whether its interval holds the truth."""
    each, shift = measured(kind, seed)
    is_held = shift.slope_low <= each.slope <= shift.slope_high
    is_right_side = shift.slope > 0 or each.slope == 0
    return {TOWARDS: Outcome(shift.p <= 0.05 and is_right_side, (int(is_held), 1))}


NULLS: Mapping[str, Change] = {
    "drift alone": Change(),
    "a drift of .08": Change(drift=0.08),
    "strong cues": Change(cues=0.08),
    "answers flattened by .2": Change(flattening=0.2),
    "answers flattened by .3": Change(flattening=0.3),
    "a common shift of .05": Change(common=0.05),
    "a drift with heavy tails": Change(tails=3.0),
    "wordings that move along the direction": Change(wide=0.03),
    "four trainings": Change(trainings=4, apart=0.03),
    "four trainings on 70 % of one pool": Change(trainings=4, apart=0.03, share=0.7),
}
"""Changes without a move towards the country."""
FOUND: Mapping[str, Change] = {
    "a mean move of .05": Change(moved=0.05),
    "a mean move of .05, a drift of .08": Change(moved=0.05, drift=0.08),
}


def _simulation(name: str, change: Change, kind: str) -> Simulation:
    outcomes: Callable[[int], Mapping[str, Outcome]] = partial(of_change, change)
    return Simulation("survey", f"shift: {name}", {TOWARDS: kind}, outcomes)


SIMULATIONS = (
    *(_simulation(name, kind, NULL) for name, kind in NULLS.items()),
    *(_simulation(name, kind, PLANTED) for name, kind in FOUND.items()),
)


def of_size(drift: float, moved: float, seed: int) -> Mapping[str, Outcome]:
    """The claim, where the model moved by so much."""
    return of_change(Change(drift=drift, moved=moved), seed)


POWER = tuple(
    Power(
        "survey",
        TOWARDS,
        f"{N_ITEMS} questions in {len(SIZES)} batteries, {WORDINGS} wordings, a drift of {drift:g}",
        "mean move towards the country, in scale units",
        (0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.07),
        partial(of_size, drift),
    )
    for drift in (0.05, 0.08)
)
