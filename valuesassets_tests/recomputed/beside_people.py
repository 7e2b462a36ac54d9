"""Tables that lay models beside people: by question, cell and family."""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from valuesassets_tests.recomputed.basics import (
    DRAWS,
    at_least,
    drawn_items,
    drawn_means,
    entropy_bits,
    jsd,
    mean_of,
    orders_of,
    w1,
)
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import Grid, Study
from valuesassets_tests.recomputed.testing import check_tests, holm_in_families

UNIFORM, FIRST, OTHERS = "uniform answers", "always the first option", "pooled other countries"
PERFECT = "a model that knows the people's answers"
SMOOTHING = 1e-3
FLOOR_SAMPLES, OWN_SAMPLES = 40, 400
QUESTION = ["kind", "model", "language", "question_id"]
CELL = ["kind", "model", "language"]
MEASURES = ("w1_unit", "jsd_distance", "kl_bits", "jsd_bits_unbiased")


def advantages(far: np.ndarray) -> np.ndarray:
    """(R, N, I) mean distance to the other countries less that to each country."""
    found = np.full(far.shape, np.nan)
    for country in range(far.shape[1]):
        found[:, country] = mean_of(np.delete(far, country, axis=1), axis=1) - far[:, country]
    return found


def added_by_sampling(answers: np.ndarray, people: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(R, I) bits that samples of n people add to their divergence from answers (R, I, K): mean of two corrections."""
    curved = answers * (1 - people) / (answers + people + 0.2 / n[:, None]) / (4 * np.log(2) * n[:, None])
    whole, without = jsd(answers, people) ** 2, 0.0
    for option in range(people.shape[-1]):
        fewer = people * n[:, None]
        fewer[:, option] = np.maximum(fewer[:, option] - 1, 0)
        parts = _bits_by_option(answers, fewer / (n[:, None] - 1)).sum(axis=-1)
        without = without + np.where(people[:, option] > 0, people[:, option] * parts, 0)
    return (curved.sum(axis=-1) + (n - 1) * (without - whole)) / 2


def bits_to_countries(answers: np.ndarray, far: np.ndarray, grid: Grid) -> np.ndarray:
    """(R, N, I) divergences of answers from every country, of distances `far`, without what samples add."""
    of_countries = zip(grid.people, grid.effective_n, strict=True)
    return far**2 - np.stack([added_by_sampling(answers, *of_country) for of_country in of_countries], axis=1)


def _bits_by_option(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    def of(x: np.ndarray) -> np.ndarray:
        return special.xlogy(x, x) / np.log(2)

    return (of(p) + of(q)) / 2 - of((p + q) / 2)


def _kl(people: np.ndarray, answers: np.ndarray, grid: Grid) -> np.ndarray:
    mixed = (1 - SMOOTHING) * answers + SMOOTHING * grid.uniform
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(people > 0, people * (np.log2(people) - np.log2(mixed)), 0)
    known = np.isfinite(people + answers).all(axis=-1)
    return np.where(known, terms.sum(axis=-1), np.nan)


class Beside:
    """Cells, then the answers without content in every language: R rows of answers, beside their own countries."""

    def __init__(self, grid: Grid, study: Study) -> None:
        self.grid = grid
        labels = [("model", model, language) for model, language in grid.cells]
        answers = list(grid.in_level)
        for language in grid.languages:
            here = [place for place, (_, code) in enumerate(grid.cells) if code == language]
            is_asked = np.isfinite(grid.in_level[here, :, 0]).any(axis=0)
            country = grid.countries.index(study.languages[language]["country"])
            others = mean_of(np.delete(grid.people, country, axis=0), axis=0)
            for name, given in ((UNIFORM, grid.uniform), (FIRST, grid.first), (OTHERS, others)):
                labels.append(("null", name, language))
                answers.append(np.where(is_asked[:, None], given, np.nan))
        self.labels = pd.DataFrame(labels, columns=CELL)
        self.answers = np.stack(answers)
        self.own = np.array(
            [grid.countries.index(study.languages[code]["country"]) for code in self.labels["language"]]
        )
        self.people = grid.people[self.own]
        self.far = np.stack([jsd(self.answers, people) for people in grid.people], axis=1)
        each = np.arange(len(self.own))
        distance = self.far[each, self.own]
        self.bits = bits_to_countries(self.answers, self.far, grid)
        categorical = np.abs(self.answers - self.people).sum(axis=-1) / 2
        self.measured = {
            "w1_unit": w1(grid.places, self.answers, self.people),
            "tvd": categorical,
            "jsd_bits": distance**2,
            "jsd_distance": distance,
            "kl_bits": _kl(self.people, self.answers, grid),
            "jsd_bits_unbiased": self.bits[each, self.own],
        }
        self.is_compared = np.isfinite(distance)
        self.advantage = advantages(self.bits)


def _listed(grid: Grid, labels: pd.DataFrame, known: np.ndarray, columns: dict[str, np.ndarray]) -> pd.DataFrame:
    row, item = np.nonzero(known)
    frame = labels.iloc[row].reset_index(drop=True).assign(question_id=[grid.items[each] for each in item])
    return frame.assign(**{name: np.broadcast_to(each, known.shape)[row, item] for name, each in columns.items()})


def of_human_comparison(study: Study, check: Check) -> None:
    """`human_comparison/...`."""
    grid = study.grid
    beside = Beside(grid, study)
    p_invalid = np.full(beside.is_compared.shape, np.nan)
    p_invalid[: len(grid.cells)] = 1 - grid.p_valid
    dk_rate = grid.dk_rate[beside.own]
    more = {"dk_rate": dk_rate, "p_invalid": p_invalid}
    floors = _floor(study, beside, check)
    of_floor = check.stored("human_comparison/questions")
    of_floor = of_floor[of_floor["kind"] == "floor"]
    models = _listed(grid, beside.labels, beside.is_compared, beside.measured | more)
    kept = [*QUESTION, *beside.measured, "dk_rate", "p_invalid"]
    check.equal("human_comparison/questions", QUESTION, pd.concat([models, of_floor[kept]]))
    _cells(beside, floors, more, check)
    tests = _families(beside, check) + _resources(study, beside, check)
    check_tests(check, "human_comparison/tests", tests)


def _floor(study: Study, beside: Beside, check: Check) -> dict[str, np.ndarray]:
    """Distances of a country's distribution to samples from it; gives what is stored, by language and item."""
    grid, table = beside.grid, "human_comparison/questions"
    stored = check.stored(table)
    stored = stored[stored["kind"] == "floor"].set_index(["language", "question_id"])
    random = np.random.default_rng(21)
    found = {name: np.full((len(grid.languages), len(grid.items)), np.nan) for name in (*MEASURES, "tvd", "jsd_bits")}
    rows, errors = [], []
    for number, language in enumerate(grid.languages):
        place = beside.labels.index[(beside.labels["model"] == UNIFORM) & (beside.labels["language"] == language)][0]
        country = beside.own[place]
        for item in np.flatnonzero(beside.is_compared[place]):
            k = grid.n_options[item]
            probs = grid.people[country, item, :k]
            n = int(grid.effective_n[country, item])
            drawn = random.multinomial(n, probs / probs.sum(), OWN_SAMPLES) / n
            far = {"tvd": np.abs(drawn - probs).sum(axis=1) / 2, "jsd_distance": jsd(drawn, probs)}
            far["jsd_bits"] = far["jsd_distance"] ** 2
            steps = np.diff(grid.codes[item, :k]) / np.ptp(grid.codes[item, :k])
            if grid.is_ordinal[item]:
                far["w1_unit"] = np.abs(np.cumsum(drawn - probs, axis=1)[:, :-1]) @ steps
            label = {"kind": "floor", "model": PERFECT, "language": language, "question_id": grid.items[item]}
            rows.append(label | {name: each.mean() for name, each in far.items()})
            errors.append(
                {name: each.std() * math.sqrt(1 / FLOOR_SAMPLES + 1 / OWN_SAMPLES) for name, each in far.items()}
            )
            for name in found:
                assert name != "jsd_bits_unbiased" or stored.at[(language, grid.items[item]), name] == 0
                found[name][number, item] = stored.at[(language, grid.items[item]), name]
            found["kl_bits"][number, item] = np.nan
            found["jsd_bits_unbiased"][number, item] = 0.0
    own, spread = pd.DataFrame(rows), pd.DataFrame(errors)
    part = _Part(check, table, kind="floor")
    for name in ("w1_unit", "tvd", "jsd_bits", "jsd_distance"):
        part.about(table, QUESTION, own, name, spread[name].fillna(0))
    return found


class _Part(Check):
    """Some rows of a table: faults are those of the whole."""

    def __init__(self, whole: Check, table: str, **chosen: str) -> None:
        super().__init__(whole.folder, whole.draws, whole.level)
        self.faults, self._table, self._chosen = whole.faults, table, chosen

    def stored(self, table: str) -> pd.DataFrame:
        found = super().stored(table)
        for name, value in self._chosen.items():
            found = found[found[name] == value]
        return found


def _ranks(advantage: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(...) rank of one of (..., N) advantages, 1 the largest; equal ones share their mean rank."""
    mine = np.take_along_axis(advantage, np.broadcast_to(own[..., None], (*advantage.shape[:-1], 1)), axis=-1)
    is_tied = np.abs(advantage - mine) <= 1e-12
    return 1 + ((advantage > mine) & ~is_tied).sum(axis=-1) + (is_tied.sum(axis=-1) - 1) / 2


def _cells(beside: Beside, floors: dict[str, np.ndarray], more: dict[str, np.ndarray], check: Check) -> None:
    grid, keys = beside.grid, CELL
    counts = drawn_items(len(grid.items), np.random.default_rng(22))
    compared = beside.is_compared
    shown = compared.any(axis=1)
    frame = beside.labels.copy()
    for name in MEASURES:
        frame[name] = mean_of(beside.measured[name])
    frame["n_items"], frame["n_items_w1"] = compared.sum(axis=1), np.isfinite(beside.measured["w1_unit"]).sum(axis=1)
    beside_columns = more | {"entropy_bits": entropy_bits(beside.answers)}
    for name, each in beside_columns.items():
        frame[name] = mean_of(np.where(compared, each, np.nan))
    mean = mean_of(beside.advantage)
    at = np.arange(len(frame))
    frame["own_country_advantage"], frame["own_country_rank"] = mean[at, beside.own], _ranks(mean, beside.own)
    frame["n_countries"] = np.isfinite(mean).sum(axis=1)
    floored = frame.loc[(frame["model"] == UNIFORM) & shown, ["language"]].assign(kind="floor", model=PERFECT)
    floored = floored.set_index("language").loc[grid.languages].reset_index()
    for name in MEASURES:
        floored[name] = mean_of(floors[name])
    floored["n_items"] = np.isfinite(floors["jsd_distance"]).sum(axis=1)
    floored["n_items_w1"] = np.isfinite(floors["w1_unit"]).sum(axis=1)
    pooled = frame["model"] == OTHERS
    own_columns = ["own_country_advantage", "own_country_rank"]
    frame.loc[pooled, own_columns] = np.nan
    whole = pd.concat([frame[shown], floored], ignore_index=True)
    check.equal("human_comparison/cells", keys, whole)
    for name in MEASURES:
        values = np.concatenate([beside.measured[name][shown], floors[name]])
        n = np.isfinite(values).sum(axis=1)
        check.ends("human_comparison/cells", keys, whole, name, drawn_means(values, counts), n)
    drawn = drawn_means(beside.advantage, counts)
    of_own = {"own_country_advantage": drawn[:, at, beside.own]}
    of_own["own_country_rank"] = _ranks(drawn, beside.own)
    for name, each in of_own.items():
        each = np.concatenate(
            [np.where(pooled, np.nan, each)[:, shown], np.full((DRAWS, len(floored)), np.nan)], axis=1
        )
        check.ends("human_comparison/cells", keys, whole, name, each, whole["n_items"])
    _by_response_type(beside, floors, check)


def _by_response_type(beside: Beside, floors: dict[str, np.ndarray], check: Check) -> None:
    grid, table, keys = beside.grid, "human_comparison/by_response_type", [*CELL, "response_type"]
    floored = pd.DataFrame({"kind": "floor", "model": PERFECT, "language": grid.languages})
    labels = pd.concat([beside.labels, floored], ignore_index=True)
    values = {name: np.concatenate([beside.measured[name], floors[name]]) for name in MEASURES}
    frames, drawn = [], {name: [] for name in MEASURES}
    for number, kind in enumerate(dict.fromkeys(grid.types)):
        items = [place for place, each in enumerate(grid.types) if each == kind]
        part = {name: each[:, items] for name, each in values.items()}
        n = np.isfinite(part["jsd_distance"]).sum(axis=1)
        frame = labels.assign(response_type=kind, n_items=n, n_items_w1=np.isfinite(part["w1_unit"]).sum(axis=1))
        counts = drawn_items(len(items), np.random.default_rng([23, number]))
        for name in MEASURES:
            frame[name] = mean_of(part[name])
            drawn[name].append(drawn_means(part[name], counts)[:, n > 0])
        frames.append(frame[n > 0])
    own = pd.concat(frames, ignore_index=True)
    check.equal(table, keys, own)
    for name in MEASURES:
        n = own["n_items_w1" if name == "w1_unit" else "n_items"].to_numpy().copy()
        n[own[name].isna()] = 0
        check.ends(table, keys, own, name, np.concatenate(drawn[name], axis=1), n)


def _families(beside: Beside, check: Check) -> list[dict[str, Any]]:
    grid, table = beside.grid, "human_comparison/own_country"
    n = len(grid.countries)
    mean, counts = mean_of(beside.advantage), drawn_items(len(grid.items), np.random.default_rng(24))
    in_samples = drawn_means(beside.advantage[: len(grid.cells)], counts)
    every = np.stack([_ranks(mean, np.full(len(mean), country)) for country in range(n)], axis=1)
    rows, tests, drawn = [], [], {"mean_rank": [], "own_country_advantage": []}
    for model in grid.models:
        cells = np.array(grid.of(model))
        own = beside.own[cells]
        row: dict[str, Any] = {
            "model": model,
            "n_cells": len(cells),
            "n_countries": n,
            "mean_rank_by_chance": (n + 1) / 2,
        }
        for name, values, sign in (("mean_rank", every, -1), ("own_country_advantage", mean, 1)):
            chance = np.array([sign * values[cells, order[own]].mean() for order in orders_of(n)])
            row |= {name: values[cells, own].mean(), f"{name}_p": at_least(chance, chance[0])}
            test = f"{model}: nearer to the own country than expected by chance"
            tests.append({"test_family": "own country", "test": test, "statistic": name, "value": row[name]})
            tests[-1] |= {"p": row[f"{name}_p"], "n": len(cells)}
        drawn["own_country_advantage"].append(in_samples[:, cells, own].mean(axis=1))
        drawn["mean_rank"].append(_ranks(in_samples[:, cells], own).mean(axis=1))
        rows.append(row)
    own = pd.DataFrame(rows)
    p = pd.DataFrame([{"name": f"{test['statistic']}_p_corrected", "p": test["p"]} for test in tests])
    p["corrected"] = holm_in_families(p["p"], ["one"] * len(p))
    for name, part in p.groupby("name"):
        own[name] = part["corrected"].to_numpy()
    check.equal(table, ["model"], own)
    for name, each in drawn.items():
        check.ends(table, ["model"], own, name, np.stack(each, axis=1), len(grid.items))
    return tests


def _resources(study: Study, beside: Beside, check: Check) -> list[dict[str, Any]]:
    table, keys = "human_comparison/resources", ["kind", "model", "measure"]
    labels = beside.labels
    mean = mean_of(beside.advantage)[np.arange(len(labels)), beside.own]
    mean = np.where(labels["model"] == OTHERS, np.nan, mean)
    values = {"jsd_bits_unbiased": mean_of(beside.measured["jsd_bits_unbiased"]), "own_country_advantage": mean}
    everywhere = {"jsd_bits_unbiased": mean_of(beside.bits), "own_country_advantage": mean_of(beside.advantage)}
    random, rows, drawn, tests = np.random.default_rng(25), [], [], []
    for (kind, model), part in labels.groupby(["kind", "model"], sort=False):
        languages = list(part["language"])
        is_low = np.array([study.languages[code].get("resource", "high") == "low" for code in languages])
        for measure, everything in values.items():
            own = everything[part.index]
            known = np.isfinite(own)
            row: dict[str, Any] = {"kind": kind, "model": model, "measure": measure}
            low, high = own[known & is_low], own[known & ~is_low]
            row |= {"n_low": low.size, "n_high": high.size}
            found = np.full(DRAWS, np.nan)
            if min(low.size, high.size) >= 2:
                row |= {"mean_low": low.mean(), "mean_high": high.mean(), "difference": low.mean() - high.mean()}
                found = low[random.integers(0, low.size, (DRAWS, low.size))].mean(axis=1)
                found = found - high[random.integers(0, high.size, (DRAWS, high.size))].mean(axis=1)
            if kind == "model":
                p = [_of_difference(own[known], is_low[known])[1]]
                for null, name in ((UNIFORM, "uniform"), (FIRST, "first"), (OTHERS, "pooled")):
                    of_null = labels[labels["model"] == null]
                    by_language = dict(zip(of_null["language"], everything[of_null.index], strict=True))
                    beyond = own - np.array([by_language[code] for code in languages])
                    there = np.isfinite(beyond)
                    row[f"beyond_{name}"], p_beyond = _of_difference(beyond[there], is_low[there])
                    p.append(p_beyond)
                countries, cells = beside.own[part.index], part.index.to_numpy()
                exchanged = [
                    np.mean([everywhere[measure][other, country] for other in cells if other != cell])
                    for cell, country in zip(cells, countries, strict=True)
                ]
                row["beyond_exchanged"], p_beyond = _of_difference(own - np.array(exchanged), is_low)
                row["p"] = np.nanmax([*p, p_beyond])
                test = f"{model}: low- and high-resource languages differ"
                statistic = f"difference of means of {measure}, two-sided"
                tests.append({"test_family": "resources", "test": test, "statistic": statistic, "p": row["p"]})
                tests[-1] |= {"value": row["difference"], "n": int(known.sum())}
            rows.append(row)
            drawn.append(found)
    own = pd.DataFrame(rows)
    own["p_corrected"] = holm_in_families(own["p"], ["one"] * len(own))
    check.equal(table, keys, own)
    least = own[["n_low", "n_high"]].min(axis=1)
    check.ends(table, keys, own, "difference", np.stack(drawn, axis=1), least)
    return tests


def _of_difference(values: np.ndarray, is_low: np.ndarray) -> tuple[float, float]:
    """Difference of means, and its two-sided p over all choices of as many low-resource languages."""
    n, size = values.size, int(is_low.sum())
    if min(size, n - size) < 2:
        return math.nan, math.nan
    observed = values[is_low].mean() - values[~is_low].mean()
    chance = []
    for chosen in itertools.combinations(range(n), size):
        here = np.isin(np.arange(n), chosen)
        chance.append(abs(values[here].mean() - values[~here].mean()))
    return observed, at_least(np.array(chance), abs(observed))
