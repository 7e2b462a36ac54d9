"""Simulations with a known truth that test a study's conclusions: error rates and power of its claims.

A simulation generates data of one kind and draws the study's conclusions from them. For each claim its kind is `null`
(the claim is wrong) or `planted` (the effect exists, the claim is right). A claim may also be withheld with a reason,
which is neither right nor wrong. Every simulated data set has a random seed and can be reproduced.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NULL, PLANTED = "null", "planted"
MOST_WRONG = 0.07
"""Largest acceptable share of null data sets in which a claim tested at 5 % is made."""
COVERAGE = (0.93, 0.97)
"""Acceptable coverage of a nominal 95 % interval."""
ENOUGH_POWER = 0.8
"""Power, the share of data sets in which a right claim is made, from which an effect counts as detectable."""
ENOUGH_WORLDS = 1000
"""Number of data sets from which bounds hold without allowance for Monte Carlo error."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one claim in one simulated data set.

    Attributes:
        is_claimed: None where the claim was withheld with a reason.
        held: number of intervals that cover the truth, and number of intervals; 0 where no truth is defined.
    """

    is_claimed: bool | None
    held: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Simulation:
    """One kind of simulated data.

    Attributes:
        world: name of the kind of data.
        kinds: by claim, whether the data are `null` (the claim is wrong) or `planted` (it is right).
        outcomes: computes the outcome of each claim in the data set of a seed; a module's function, so that processes
            can share it.
        finding: letter of the fault that the simulation was written for, if any.
    """

    instrument: str
    world: str
    kinds: Mapping[str, str]
    outcomes: Callable[[int], Mapping[str, Outcome]]
    finding: str | None = None


@dataclass(frozen=True)
class Power:
    """A power analysis: a claim, and simulated data in which it is right with effects of different sizes.

    Attributes:
        size: size of the simulated study, in words.
        effect: the planted effect, in words.
        effects: effect sizes to simulate, increasing.
        outcomes: computes the outcome of each claim in a data set, by effect size and seed.
    """

    instrument: str
    claim: str
    size: str
    effect: str
    effects: Sequence[float]
    outcomes: Callable[[float, int], Mapping[str, Outcome]]


def smallest_effect(power: Power, seeds: Sequence[int]) -> dict[str, Any]:
    """The smallest effect size with a power of at least `ENOUGH_POWER`, found by bisection.

    Power is assumed to increase with the effect size.

    Returns:
        instrument, claim, size, effect; smallest, None where no effect size is enough; n_worlds, the number of data
        sets of each effect size.
    """
    low, high = 0, len(power.effects)
    while low < high:
        middle = (low + high) // 2
        outcomes = [power.outcomes(power.effects[middle], seed)[power.claim] for seed in seeds]
        share = sum(outcome.is_claimed is True for outcome in outcomes) / len(outcomes)
        low, high = (low, middle) if share >= ENOUGH_POWER else (middle + 1, high)
    smallest = power.effects[low] if low < len(power.effects) else None
    about = {name: getattr(power, name) for name in ("instrument", "claim", "size", "effect")}
    return about | {"smallest": smallest, "n_worlds": len(seeds)}


def simulate(simulation: Simulation, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """A row for every claim in every simulated data set: claim, world, kind and outcome."""
    about = {name: getattr(simulation, name) for name in ("instrument", "world", "finding")}
    rows = []
    for seed in seeds:
        outcomes = simulation.outcomes(seed)
        for claim, kind in simulation.kinds.items():
            n_held, n_intervals = outcomes[claim].held
            row = {"claim": claim, "kind": kind, "seed": seed, "is_claimed": outcomes[claim].is_claimed}
            rows.append(about | row | {"n_held": n_held, "n_intervals": n_intervals})
    return rows


def summarise(outcomes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rates by claim and kind of data, the rows of `storage/evidence/simulations.json`.

    Args:
        outcomes: rows of `simulate`.

    Returns:
        claim, finding, instrument, world, kind, n_worlds (number of data sets); rejected and withheld, the shares of
        data sets in which the claim was made or withheld; coverage, the share of intervals that cover the truth, None
        where there was no interval.
    """
    names = ("claim", "finding", "instrument", "world", "kind")
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in outcomes:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    summary = []
    for key, rows in groups.items():
        n_held, n_intervals = (sum(row[name] for row in rows) for name in ("n_held", "n_intervals"))
        summary.append(
            dict(zip(names, key, strict=True))
            | {
                "n_worlds": len(rows),
                "rejected": sum(row["is_claimed"] is True for row in rows) / len(rows),
                "withheld": sum(row["is_claimed"] is None for row in rows) / len(rows),
                "coverage": n_held / n_intervals if n_intervals else None,
            }
        )
    return summary


def wrong_conclusions(summary: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each claim that is made too often where it is wrong, and for each coverage out of bounds.

    Bounds are widened by three Monte Carlo standard errors where there are fewer than `ENOUGH_WORLDS` data sets.
    """
    lines = []
    for row in summary:
        where = f"{row['claim']} ({row['instrument']}, {row['world']}"
        where += f", finding {row['finding']})" if row["finding"] else ")"
        n, is_few = row["n_worlds"], row["n_worlds"] < ENOUGH_WORLDS

        def allowance(share: float, n: int = n, is_few: bool = is_few) -> float:
            return 3 * np.sqrt(share * (1 - share) / n) * is_few

        if row["kind"] == NULL and row["rejected"] > MOST_WRONG + allowance(MOST_WRONG):
            lines.append(f"{where}: claimed in {row['rejected']:.1%} of {n} simulated data sets in which it is wrong")
        low, high = COVERAGE
        if row["coverage"] is not None and not low - allowance(low) <= row["coverage"] <= high + allowance(high):
            lines.append(f"{where}: {row['coverage']:.1%} of intervals cover the truth, 93 to 97 % were expected")
    return lines
