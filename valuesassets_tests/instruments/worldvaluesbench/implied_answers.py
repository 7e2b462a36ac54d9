"""People and outputs made up so that they have the distances that are printed in table 2 of the paper."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]
PRINTED = 0.004
"""How far from a printed number an exact one may be; some of the .005 is left for whole people."""


def implied_shares(uniform: float, majority: float, n: int) -> Floats:
    """(n,) shares of n answers that are so far from even answers and from the most frequent one, in scale units.

    The distance from even answers is convex, that from one answer linear: of the shares with the latter, some nearest
    to even answers and some far from them are found, and the wanted ones lie between.
    """
    for most in range(n):
        near = _nearest(majority, most, n)
        if near is None or uniform < from_even(near) - PRINTED:
            continue  # in no direction are there shares
        for far in _corners(majority, most, n):
            if uniform <= from_even(far) + PRINTED:
                low, high = 0.0, 1.0
                for _ in range(50):
                    middle = (low + high) / 2
                    is_less = from_even(near + middle * (far - near)) < uniform
                    low, high = (middle, high) if is_less else (low, middle)
                return near + low * (far - near)
    raise AssertionError(f"no {n} shares are {uniform} from even ones and {majority} from the most frequent answer")


def from_even(shares: Floats) -> float:
    """How far shares are from even ones, in scale units."""
    n = len(shares)
    return float(np.abs(np.cumsum(shares - 1 / n)).sum() / (n - 1))


def _of_shares(majority: float, most: int, n: int) -> dict[str, Floats]:
    """What linear programs know of n shares: they are 1 together, their distance from the answer `most`, its lead."""
    places = np.arange(n)
    others = np.flatnonzero(places != most)
    away = np.abs(places - most) / (n - 1)
    lead = np.zeros((n - 1, n))
    lead[:, most], lead[np.arange(n - 1), others] = -1, 1
    return {
        "A_eq": np.ones((1, n)),
        "b_eq": np.ones(1),
        "A_ub": np.vstack([lead, away, -away]),
        # So far ahead that rounding to people leaves it the most frequent.
        "b_ub": np.concatenate([np.full(n - 1, -0.002), [majority + PRINTED, PRINTED - majority]]),
    }


def _nearest(majority: float, most: int, n: int) -> Floats | None:
    """Shares as near as can be to even ones; n - 1 further variables stand for the gaps at each cut point."""
    constraints, sums = _of_shares(majority, most, n), np.tri(n)[:-1]
    even, gaps, none = np.arange(1, n) / n, np.eye(n - 1), np.zeros((len(constraints["A_ub"]), n - 1))
    solution = linprog(
        np.concatenate([np.zeros(n), np.ones(n - 1)]),
        A_ub=np.block([[constraints["A_ub"], none], [sums, -gaps], [-sums, -gaps]]),
        b_ub=np.concatenate([constraints["b_ub"], even, -even]),
        A_eq=np.hstack([constraints["A_eq"], np.zeros((1, n - 1))]),
        b_eq=constraints["b_eq"],
    )
    return solution.x[:n] if solution.success else None


def _corners(majority: float, most: int, n: int) -> Iterator[Floats]:
    """Shares at the ends of what is possible, in 200 directions."""
    constraints, random = _of_shares(majority, most, n), np.random.default_rng(0)
    for _ in range(200):
        if (solution := linprog(random.normal(size=n), **constraints)).success:
            yield solution.x


def answers_with(shares: Floats, n_people: int) -> NDArray[np.int64]:
    """(P,) places of people's answers, in order, with such shares as nearly as people can have them."""
    return np.searchsorted(np.cumsum(shares), (np.arange(n_people) + 0.5) / n_people)


def ratings_at(distance: float, answers: NDArray[np.int64], n: int) -> Floats:
    """(P,) places of ratings that are so far from the answers, in scale units; one in ten is missing.

    Some people's own answers, and one place at an end of the scale for the others; where no end is far enough, that
    place is off the scale. Of answers and a place in a share of w, the distance is w times that of the place.
    """
    far = max((0, n - 1), key=lambda place: np.abs(answers - place).mean())
    if np.abs(answers - far).mean() < distance * (n - 1):
        far = 3 * n
    share = distance * (n - 1) / np.abs(answers - far).mean()
    ratings = answers.astype(np.float64)
    rated = np.flatnonzero(np.arange(len(answers)) % 10 != 9)
    ratings[rated[np.diff(np.floor(np.arange(len(rated) + 1) * share)) > 0]] = far
    ratings[9::10] = np.nan
    return ratings
