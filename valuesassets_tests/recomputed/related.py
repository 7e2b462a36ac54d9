"""Tests that allow for related languages: those of one culture zone, or of one language family, are alike."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from valuesassets_tests.recomputed.basics import at_least, mean_of
from valuesassets_tests.recomputed.grid import Study

FACTS = Path(__file__).resolve().parents[2] / "valuesassets" / "studies" / "facts"
MOST_SHARED = 0.99


def groups_of(study: Study, languages: Sequence[str]) -> list[np.ndarray]:
    """Groups of the languages by zone and by family, where some two share one and not all do."""
    with open(FACTS / "languages.csv", encoding="utf-8", newline="") as file:
        family = {row["code"]: row["family"] for row in csv.DictReader(file)}
    named = [[study.languages[code].get("zone") or code for code in languages]]
    named.append([family.get(code) or code for code in languages])
    return [np.array(each) for each in named if 1 < len(set(each)) < len(each)]


def share_between(values: np.ndarray, groups: np.ndarray) -> float:
    """Intraclass correlation of (P, I) values from the two mean squares, pooled over columns; 0 to `MOST_SHARED`."""
    off = values - mean_of(values, axis=0)
    off = np.where(np.isfinite(off), off, 0)
    off = off - off.mean(axis=0)
    n, names = len(groups), list(dict.fromkeys(groups))
    sizes = np.array([(groups == name).sum() for name in names])
    between = sum(size * (off[groups == name].mean(axis=0) ** 2).sum() for name, size in zip(names, sizes, strict=True))
    within = (off**2).sum() - between
    between, within = between / (len(names) - 1), within / (n - len(names))
    size = (n - (sizes**2).sum() / n) / (len(names) - 1)
    return float(np.clip((between - within) / (between + (size - 1) * within), 0, MOST_SHARED))


def related_p(
    chance: np.ndarray, orders: np.ndarray, a: np.ndarray, b: np.ndarray, groupings: list[np.ndarray]
) -> float:
    """The largest p over kinds of groups, each order's statistic over its own standard deviation; the first is ours."""
    found = []
    for groups in groupings:
        n = len(groups)
        centre, alike = np.eye(n) - 1 / n, groups[:, None] == groups[None]
        covariances = []
        for profiles in (a, b):
            share = share_between(profiles, groups)
            covariances.append(centre @ np.where(np.eye(n, dtype=bool), 1.0, share * alike) @ centre)
        spread = np.sqrt([np.trace(covariances[0] @ covariances[1][order][:, order]) for order in orders])
        off = (chance - chance.mean()) / spread
        found.append(at_least(off, off[0]))
    return max(found, default=np.nan)


def related_sign_p(differences: np.ndarray, groups: np.ndarray, share: float, draws: int, random) -> float:
    """Two-sided p of as many equal signs, from normal values that correlate by `share` within groups."""
    n = len(groups)
    covariance = np.where(np.eye(n, dtype=bool), 1.0, share * (groups[:, None] == groups[None]))
    signs = np.sign(random.multivariate_normal(np.zeros(n), covariance, draws))
    return at_least(np.abs(signs.sum(axis=1)), abs(np.sign(differences).sum()))
