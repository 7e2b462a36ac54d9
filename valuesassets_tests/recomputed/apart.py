"""Tables of distances between cells: every pair, what they go with, neighbours, contrasts and baselines."""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd

from valuesassets_tests.recomputed.basics import DRAWS, at_least, drawn_items, drawn_means, jsd, mean_of, shuffled, w1
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import Grid, Study
from valuesassets_tests.recomputed.testing import check_tests, holm_in_families

UNIFORM, FIRST = "uniform answers", "always the first option"
EVERYBODY = "all families"
CONTRAST = ("eng", "fra", "ell")


class Apart:
    """Jensen-Shannon distances of all pairs of cells, (C, C, I), their means, and those in samples of items."""

    def __init__(self, grid: Grid) -> None:
        c = len(grid.cells)
        self.by_item = np.stack([jsd(grid.answers[cell], grid.answers) for cell in range(c)])
        self.w1 = np.full(self.by_item.shape, np.nan)
        for one, other in itertools.combinations(range(c), 2):
            self.w1[one, other] = self.w1[other, one] = w1(grid.places, grid.answers[one], grid.answers[other])
        known = np.isfinite(grid.answers).all(axis=-1)
        self.n_known, self.n_ordered = known.sum(axis=1), (known & grid.is_ordinal).sum(axis=1)
        self.mean = mean_of(self.by_item)
        self.n_items = np.isfinite(self.by_item).sum(axis=-1)
        self.counts = drawn_items(len(grid.items), np.random.default_rng(11))
        self.drawn = drawn_means(self.by_item, self.counts)  # (draws, C, C)


def of_distances(study: Study, check: Check) -> None:
    """`distances/...` but for the plane."""
    grid = study.grid
    apart = Apart(grid)
    tests: list[dict[str, Any]] = []
    _pairs(grid, apart, check)
    tests += _groups(study, grid, apart, check)
    tests += _shares(grid, apart, check)
    tests += _neighbours(grid, apart, check)
    _contrasts(grid, apart, check)
    _baselines(grid, apart, check)
    check_tests(check, "distances/tests", tests, DRAWS)


def _pairs(grid: Grid, apart: Apart, check: Check) -> None:
    rows, drawn = [], []
    for one, other in itertools.product(range(len(grid.cells)), repeat=2):
        row = dict(
            zip(("model_a", "language_a", "model_b", "language_b"), (*grid.cells[one], *grid.cells[other]), strict=True)
        )
        is_same = one == other
        row |= {"jsd_distance": 0.0 if is_same else apart.mean[one, other]}
        row |= {"w1_unit": 0.0 if is_same else mean_of(apart.w1[one, other])}
        row |= {"n_items": apart.n_known[one] if is_same else apart.n_items[one, other]}
        row["n_items_w1"] = apart.n_ordered[one] if is_same else np.isfinite(apart.w1[one, other]).sum()
        rows.append(row)
        drawn.append(np.zeros(DRAWS) if is_same else apart.drawn[:, one, other])
    own, keys = pd.DataFrame(rows), ["model_a", "language_a", "model_b", "language_b"]
    check.equal("distances/pairs", keys, own)
    check.ends("distances/pairs", keys, own, "jsd_distance", np.stack(drawn, axis=1), own["n_items"])


def _groups(study: Study, grid: Grid, apart: Apart, check: Check) -> list[dict[str, Any]]:
    random = np.random.default_rng(12)
    rows, drawn, tests = [], [], []
    sets = ({EVERYBODY: grid.models} if len(grid.models) > 1 else {}) | {model: [model] for model in grid.models}
    for grouping, (name, models) in itertools.product(("zone", "region"), sets.items()):
        group = {code: about.get(grouping) for code, about in study.languages.items()}
        chosen = [place for place, (model, code) in enumerate(grid.cells) if model in models and group[code]]
        pairs = [(a, b) for a, b in itertools.combinations(chosen, 2) if grid.cells[a][0] == grid.cells[b][0]]
        languages = list(dict.fromkeys(grid.cells[place][1] for place in chosen))
        one, other = (np.array([languages.index(grid.cells[pair[k]][1]) for pair in pairs], dtype=int) for k in (0, 1))
        kinds = np.array([group[code] for code in languages], dtype=object)
        row: dict[str, Any] = {"grouping": grouping, "model": name, "n_languages": len(languages)}
        within = kinds[one] == kinds[other]
        row |= {"n_within": within.sum(), "n_between": (~within).sum(), "n_groups": len(set(kinds))}
        row |= dict.fromkeys(("mean_within", "mean_between", "difference", "p"), np.nan)
        found = np.full(DRAWS, np.nan)
        if within.any() and not within.all():
            far = np.array([apart.mean[pair] for pair in pairs])
            each = np.stack([apart.drawn[:, a, b] for a, b in pairs], axis=1)
            row |= {"mean_within": far[within].mean(), "mean_between": far[~within].mean()}
            row["difference"] = row["mean_within"] - row["mean_between"]
            found = each[:, within].mean(axis=1) - each[:, ~within].mean(axis=1)
            chance = []
            for order in shuffled(len(languages), DRAWS, random):
                same = kinds[order][one] == kinds[order][other]
                chance.append(far[~same].mean() - far[same].mean())
            row["p"] = at_least(np.array(chance), -row["difference"])
        rows.append(row | {"most": max((apart.n_items[pair] for pair in pairs), default=0)})
        drawn.append(found)
        test = f"{name}: distances within a {grouping} are smaller than between"
        tests.append({"test_family": "zones", "test": test, "value": row["difference"], "p": row["p"]})
        tests[-1] |= {"statistic": "mean Jensen-Shannon distance within - between", "n": len(languages)}
    own, keys = pd.DataFrame(rows), ["grouping", "model"]
    check.equal("distances/groups", keys, own.drop(columns=["p", "most"]))
    check.p("distances/groups", keys, own, "p", DRAWS)
    check.ends("distances/groups", keys, own, "difference", np.stack(drawn, axis=1), own["most"])
    _corrected(check, "distances/groups", keys)
    return tests


def _corrected(check: Check, table: str, keys: list[str], p: str = "p") -> None:
    stored = check.stored(table)
    after = holm_in_families(stored[p].astype(float), ["one"] * len(stored))
    check.equal(table, keys, stored[keys].assign(**{f"{p}_corrected": after}))


def _r2(squared: np.ndarray, labels: np.ndarray) -> float:
    """1 - SS within / SS of all, of (N, N) squared distances."""
    n = len(labels)
    total = squared[np.triu_indices(n, 1)].sum() / n
    within = 0.0
    for label in np.unique(labels):
        here = np.flatnonzero(labels == label)
        within += squared[np.ix_(here, here)][np.triu_indices(here.size, 1)].sum() / here.size
    return 1 - within / total


def _shares(grid: Grid, apart: Apart, check: Check) -> list[dict[str, Any]]:
    random = np.random.default_rng(13)
    squared = mean_of(apart.by_item**2)
    np.fill_diagonal(squared, 0)
    models, languages = (np.array([cell[k] for cell in grid.cells]) for k in (0, 1))
    n, few = len(grid.cells), DRAWS // 2
    rows, drawn, by_chance, tests = [], [], [], []
    for factor, labels, strata in (("language", languages, models), ("family", models, languages)):
        orders = shuffled(n, few, random, strata)
        chance = np.array([_r2(squared, labels[order]) for order in orders])
        r2, a = _r2(squared, labels), len(set(labels))
        row = {
            "factor": factor,
            "r2": r2,
            "pseudo_f": (r2 / (a - 1)) / ((1 - r2) / (n - a)),
            "n_groups": a,
            "n_cells": n,
        }
        row |= {"r2_by_chance": chance.mean(), "excess": r2 - chance.mean(), "p": at_least(chance, r2)}
        by_chance.append(chance.std() * math.sqrt(1 / check.draws + 1 / few))
        rows.append(row)
        # The excess in samples of items: what the labels give less the mean over labellings, linear in the squares.
        members = np.array([[labels[order][i] == labels[order][j] for i, j in _upper(n)] for order in [np.arange(n)]])[
            0
        ]
        sizes = {label: (labels == label).sum() for label in set(labels)}
        own = np.array([members[k] / sizes[labels[i]] for k, (i, j) in enumerate(_upper(n))])
        mean = np.zeros(own.size)
        for order in orders[:1000]:
            mean += [(labels[order][i] == labels[order][j]) / sizes[labels[order][i]] for i, j in _upper(n)]
        pairs = [(apart.by_item[pair] ** 2) for pair in _upper(n)]
        in_samples = drawn_means(np.stack(pairs), apart.counts)
        drawn.append(in_samples @ (mean / 1000 - own) * n / in_samples.sum(axis=1))
        stratum = "within family" if factor == "language" else "within language"
        test = f"cells of the same {factor} answer more alike than expected by chance (labels permuted {stratum})"
        statistic = "R2 - its permutation mean (PERMANOVA)"
        tests.append({"test_family": "variance shares", "test": test, "statistic": statistic, "n": n, "p": row["p"]})
        # The statistic rests on the mean of drawn labellings: as stored, and compared in the other table.
    own, keys = pd.DataFrame(rows), ["factor"]
    check.equal("distances/variance_shares", keys, own[["factor", "r2", "pseudo_f", "n_groups", "n_cells"]])
    for name in ("r2_by_chance", "excess"):
        check.about("distances/variance_shares", keys, own, name, by_chance)
    check.p("distances/variance_shares", keys, own, "p", few)
    n_items = np.isfinite(apart.by_item[np.triu_indices(n, 1)]).any(axis=0).sum()
    check.ends("distances/variance_shares", keys, own, "excess", np.stack(drawn, axis=1), n_items)
    _corrected(check, "distances/variance_shares", keys)
    stored = check.stored("distances/variance_shares").set_index("factor")["excess"]
    return [test | {"value": stored[factor]} for test, factor in zip(tests, ("language", "family"), strict=True)]


def _upper(n: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(n), 2))


def _neighbours(grid: Grid, apart: Apart, check: Check) -> list[dict[str, Any]]:
    random = np.random.default_rng(14)
    rows, counts, tests = [], [], []
    drawn: dict[str, list[np.ndarray]] = {"n_same_language": [], "mean_rank": []}
    errors: dict[str, list[float]] = {"n_same_language_by_chance": [], "mean_rank_by_chance": []}
    for model, other in itertools.permutations(grid.models, 2):
        own, others = ({grid.cells[place][1]: place for place in grid.of(name)} for name in (model, other))
        both = [code for code in own if code in others]
        same = np.array([others[code] for code in both])
        of_own, of_other = list(own.values()), list(others.values())
        ranks, nearest = [], []
        for code in both:
            cell, far = own[code], apart.mean[own[code]]
            mine = [place for place in of_own if place != cell]
            everything = [*mine, *of_other]
            best = min(everything, key=lambda place, far=far: far[place])
            to_same = far[others[code]]
            row: dict[str, Any] = {"model": model, "language": code, "other": other}
            row |= {"nearest_jsd_distance": far[best], "same_language_jsd_distance": to_same}
            row |= {"own_family_jsd_distance": min(far[place] for place in mine)}
            row |= {"rank": 1 + sum(far[place] < to_same for place in of_other), "n_ranked": len(of_other)}
            row |= {"rank_of_all": 1 + sum(far[place] < to_same for place in everything), "n_all": len(everything)}
            rows.append(row | {"is_same_language": best == others[code], "is_own_family": best in of_own})
            ranks.append([1 + sum(far[place] < far[each] for place in of_other) for each in same])
            nearest.append(best)
        places = np.arange(len(both))
        orders = shuffled(len(both), DRAWS, random)
        chance_same = (np.array(nearest) == same[orders]).sum(axis=1)
        chance_rank = np.array(ranks)[places, orders].mean(axis=1)
        part = rows[-len(both) :]
        row = {"model": model, "other": other, "n_languages": len(both)}
        row |= {"n_same_language": sum(each["is_same_language"] for each in part)}
        row |= {"n_own_family": sum(each["is_own_family"] for each in part)}
        row |= {"mean_rank": np.mean([each["rank"] for each in part])}
        row |= {"n_same_language_by_chance": chance_same.mean(), "mean_rank_by_chance": chance_rank.mean()}
        row["n_same_language_p"] = at_least(chance_same, row["n_same_language"])
        row["mean_rank_p"] = at_least(-chance_rank, -row["mean_rank"])
        counts.append(row)
        each = math.sqrt(1 / check.draws + 1 / DRAWS)
        errors["n_same_language_by_chance"].append(chance_same.std() * each)
        errors["mean_rank_by_chance"].append(chance_rank.std() * each)
        cells = np.array([own[code] for code in both])
        far = apart.drawn[:, cells].astype(np.float32)
        far[:, places, cells] = np.inf
        candidates = np.array([*of_own, *of_other])
        in_samples = candidates[far[:, :, candidates].argmin(axis=2)] == same
        drawn["n_same_language"].append(in_samples.sum(axis=1).astype(float))
        to_same = far[:, places, same][..., None]
        drawn["mean_rank"].append((1 + (far[:, :, of_other] < to_same).sum(axis=2)).mean(axis=1))
        for statistic in ("n_same_language", "mean_rank"):
            test = f"{model}'s answers are closer to {other}'s in the same language than expected by chance"
            tests.append({"test_family": "nearest neighbours", "test": test, "statistic": statistic})
            tests[-1] |= {"value": row[statistic], "p": row[f"{statistic}_p"], "n": len(both)}
    check.equal("distances/neighbours", ["model", "language", "other"], pd.DataFrame(rows))
    own, keys, table = pd.DataFrame(counts), ["model", "other"], "distances/neighbour_counts"
    exact = [*keys, "n_languages", "n_same_language", "n_own_family", "mean_rank"]
    check.equal(table, keys, own[exact])
    for name in drawn:
        check.about(table, keys, own, f"{name}_by_chance", errors[f"{name}_by_chance"])
        check.p(table, keys, own, f"{name}_p", DRAWS)
        check.ends(table, keys, own, name, np.stack(drawn[name], axis=1), apart.n_items.max())
    return tests


def _contrasts(grid: Grid, apart: Apart, check: Check) -> None:
    rows, drawn = [], []
    for model in grid.models:
        at = {grid.cells[place][1]: place for place in grid.of(model)}
        near, far = (apart.by_item[at[CONTRAST[0]], at[each]] for each in CONTRAST[1:])
        known = np.isfinite(near + far)
        row = {"model": model, "jsd_distance_near": near[known].mean(), "jsd_distance_far": far[known].mean()}
        rows.append(row | {"difference": (near - far)[known].mean(), "n_items": known.sum()})
        drawn.append(drawn_means(near - far, apart.counts))
    own, table = pd.DataFrame(rows), "distances/contrasts"
    check.equal(table, ["model"], own)
    check.ends(table, ["model"], own, "difference", np.stack(drawn, axis=1), own["n_items"])


def _baselines(grid: Grid, apart: Apart, check: Check) -> None:
    rows, drawn = [], []

    def add(what: str, far: np.ndarray, ordered: np.ndarray) -> None:
        of_items = mean_of(far, axis=0)
        row = {"what": what, "jsd_distance": mean_of(of_items), "w1_unit": mean_of(mean_of(ordered, axis=0))}
        rows.append(row | {"n_pairs": len(far), "n_items": np.isfinite(of_items).sum()})
        drawn.append(drawn_means(of_items, apart.counts))

    for model in grid.models:
        pairs = tuple(np.array(list(itertools.combinations(grid.of(model), 2))).T)
        add(f"{model}: languages among themselves", apart.by_item[pairs], apart.w1[pairs])
        cells = grid.answers[grid.of(model)]
        for name, null in ((UNIFORM, grid.uniform), (FIRST, grid.first)):
            add(f"{model} to {name}", jsd(cells, null), w1(grid.places, cells, null))
    add(f"{UNIFORM} to {FIRST}", jsd(grid.uniform, grid.first)[None], w1(grid.places, grid.uniform, grid.first)[None])
    own, table = pd.DataFrame(rows), "distances/baselines"
    check.equal(table, ["what"], own)
    check.ends(table, ["what"], own, "jsd_distance", np.stack(drawn, axis=1), own["n_items"])


def of_plane(study: Study, check: Check) -> None:
    """`distances/points`: centred, upright, and no lower stress nearby: SMACOF's own step leaves the points there."""
    grid, keys = study.grid, ["model", "language"]
    stored = check.stored("distances/points").set_index(keys).loc[grid.cells].reset_index()
    points = stored[["x", "y"]].to_numpy()
    wanted = mean_of(np.stack([jsd(each, grid.answers) for each in grid.answers]))
    np.fill_diagonal(wanted, 0)
    found = np.linalg.norm(points[:, None] - points[None], axis=-1)
    upper = np.triu_indices(len(points), 1)
    stress = math.sqrt(((wanted - found)[upper] ** 2).sum() / (found[upper] ** 2).sum())
    # Guttman's transform of a configuration of least stress is the configuration itself.
    ratio = np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)
    moved = -ratio
    np.fill_diagonal(moved, ratio.sum(axis=1))
    moved = moved @ points / len(points)
    own = stored[keys].assign(x=moved[:, 0], y=moved[:, 1], stress=stress, n_cells=len(points))
    check.equal("distances/points", keys, own, {"x": NEAR, "y": NEAR})
    products = points.T @ points
    is_upright = abs(products[0, 1]) < 1e-9 and products[0, 0] >= products[1, 1]
    if not is_upright or np.abs(points.mean(axis=0)).max() > 1e-9:
        check.faults.append("distances/points: they are not centred on 0 with the longer extent on the first axis")


NEAR = 2e-3
"""By how much another step of SMACOF may move a point: it ends where stress falls by less than 1e-6 of itself."""
