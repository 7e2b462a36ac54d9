"""Worlds with a known truth that try what a study concludes: how often a claim is made where it is wrong, or right.

A simulation is one kind of world and the claims that are made of it. Where a world is null for a claim the claim is
wrong, where it is planted it is right; a claim may be withheld with its reason, which is neither. Worlds have seeds and
can be made again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NULL, PLANTED = "null", "planted"
MOST_WRONG = 0.07
"""Most null worlds in which a claim tested at 5 % may be made."""
COVERAGE = (0.93, 0.97)
"""Where the coverage of a nominal 95 % interval has to lie."""
ENOUGH_POWER = 0.8
"""Share of worlds in which a claim that is right has to be made for its effect to count as visible."""
ENOUGH_WORLDS = 1000
"""From so many on, bounds hold without any allowance for chance."""


@dataclass(frozen=True)
class Outcome:
    """What came of one claim in one world.

    Attributes:
        is_claimed: None where the claim was withheld with a reason.
        held: how many of the world's intervals held the truth, and how many there were; none where there is no truth.
    """

    is_claimed: bool | None
    held: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Simulation:
    """One kind of world.

    Attributes:
        world: its name.
        kinds: by claim, whether the world is `null` (the claim is wrong there) or `planted` (it is right).
        outcomes: what comes of each claim in the world of a seed; a function of a module, for processes to share.
        finding: a letter, where the world was written for a fault that was found.
    """

    instrument: str
    world: str
    kinds: Mapping[str, str]
    outcomes: Callable[[int], Mapping[str, Outcome]]
    finding: str | None = None


@dataclass(frozen=True)
class Power:
    """A claim, and worlds in which it is right by more or less.

    Attributes:
        size: of the study that the worlds are like, in words.
        effect: what is planted, in words.
        effects: its sizes to try, increasing.
        outcomes: what comes of the claim in a world with an effect of this size, by effect and seed.
    """

    instrument: str
    claim: str
    size: str
    effect: str
    effects: Sequence[float]
    outcomes: Callable[[float, int], Mapping[str, Outcome]]


def smallest_effect(power: Power, seeds: Sequence[int]) -> dict[str, Any]:
    """The smallest of the effects that the claim is made of in `ENOUGH_POWER` of the worlds, found by halving.

    The share of worlds is taken to grow with the effect.

    Returns:
        instrument, claim, size, effect; smallest, None where no effect that was tried is enough; n_worlds, of each
        effect that was tried.
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
    """A row for every claim in every world: claim, world, kind and what came of it."""
    about = {name: getattr(simulation, name) for name in ("instrument", "world", "finding")}
    found = []
    for seed in seeds:
        outcomes = simulation.outcomes(seed)
        for claim, kind in simulation.kinds.items():
            n_held, n_intervals = outcomes[claim].held
            row = {"claim": claim, "kind": kind, "seed": seed, "is_claimed": outcomes[claim].is_claimed}
            found.append(about | row | {"n_held": n_held, "n_intervals": n_intervals})
    return found


def summarise(outcomes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Shares of worlds by claim and world, as `storage/evidence/simulations.json` has them.

    Args:
        outcomes: rows of `simulate`.

    Returns:
        claim, finding, instrument, world, kind, n_worlds; rejected and withheld, shares of worlds in which the claim
        was made or withheld; coverage, the share of intervals that held the truth, None where there was none.
    """
    names = ("claim", "finding", "instrument", "world", "kind")
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in outcomes:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    found = []
    for key, rows in groups.items():
        n_held, n_intervals = (sum(row[name] for row in rows) for name in ("n_held", "n_intervals"))
        found.append(
            dict(zip(names, key, strict=True))
            | {
                "n_worlds": len(rows),
                "rejected": sum(row["is_claimed"] is True for row in rows) / len(rows),
                "withheld": sum(row["is_claimed"] is None for row in rows) / len(rows),
                "coverage": n_held / n_intervals if n_intervals else None,
            }
        )
    return found


def wrong_conclusions(summary: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each claim made too often where it is wrong, and for intervals that hold the truth too seldom.

    Three Monte Carlo errors are granted where there are fewer than `ENOUGH_WORLDS` worlds.
    """
    lines = []
    for row in summary:
        where = f"{row['claim']} ({row['instrument']}, {row['world']}"
        where += f", finding {row['finding']})" if row["finding"] else ")"
        n, is_few = row["n_worlds"], row["n_worlds"] < ENOUGH_WORLDS

        def spare(share: float, n: int = n, is_few: bool = is_few) -> float:
            return 3 * np.sqrt(share * (1 - share) / n) * is_few

        if row["kind"] == NULL and row["rejected"] > MOST_WRONG + spare(MOST_WRONG):
            lines.append(f"{where}: claimed in {row['rejected']:.1%} of {n} worlds where it is wrong")
        low, high = COVERAGE
        if row["coverage"] is not None and not low - spare(low) <= row["coverage"] <= high + spare(high):
            lines.append(f"{where}: {row['coverage']:.1%} of intervals hold the truth, 93 to 97 % are wanted")
    return lines
