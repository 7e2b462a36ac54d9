"""The map: indicator means of models and people, placed by published slopes, and whether points agree."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial import procrustes

from valuesassets_tests.recomputed.answers import AUTONOMY, INDICATORS, SINGLE
from valuesassets_tests.recomputed.basics import DRAWS, at_least, drawn_items, mean_of, orders_of
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import MAP_INDICATORS, Study, place_of
from valuesassets_tests.recomputed.related import groups_of, related_p
from valuesassets_tests.recomputed.testing import KEYS, check_tests

COORDINATES = 3e-6
"""What other algorithms make of a coordinate."""
POINT = ["kind", "label"]
OF_INDICATOR = ["kind", "model", "language", "country", "indicator"]
FEW = DRAWS // 4


class Map:
    """Published axes: (2, 10) slopes, (2,) intercepts and residual spread, and published positions on these axes."""

    def __init__(self, facts: Path) -> None:
        slopes = pd.read_csv(facts / "iw_slopes.csv", comment="#").set_index("indicator").loc[list(INDICATORS)]
        self.slopes = slopes[["slope_x", "slope_y"]].to_numpy().T
        means = pd.read_csv(facts / "iw_indicator_means.csv", comment="#").dropna()
        self.average = means[list(INDICATORS)].mean().to_numpy()
        off = means[["x", "y"]].to_numpy() - means[list(INDICATORS)].to_numpy() @ self.slopes.T
        self.intercepts, self.spread = off.mean(axis=0), off.std(axis=0, ddof=1)
        self.raw = pd.read_csv(facts / "iw_coordinates.csv", comment="#", keep_default_na=False)
        self.published = self.raw.astype({"x": float, "y": float})
        both = means.merge(self.published, on="country", suffixes=("", "_other"))
        for axis in "xy":
            line = stats.linregress(both[f"{axis}_other"], both[axis])
            self.published[axis] = self.published[axis] * line.slope + line.intercept

    def place(self, means: np.ndarray) -> np.ndarray:
        """(..., 2) points of (..., 10) means."""
        return means @ self.slopes.T + self.intercepts


def _means(probs: dict[str, dict[int, float]]) -> np.ndarray:
    """(10,) indicator means of one set of answers; NaN where a question lacks."""
    found = []
    for question in SINGLE.values():
        of_one = probs.get(question)
        found.append(np.nan if of_one is None else sum(place_of(question, code) * p for code, p in of_one.items()))
    seconds = {first: probs.get(f"v111@v110={first}") for first in (1, 2, 3, 4)}
    if "v110" in probs and all(seconds.values()):
        joint = 0.0
        for (one, other), sign in (((2, 4), 1), ((4, 2), 1), ((1, 3), -1), ((3, 1), -1)):
            joint += sign * probs["v110"][one] * seconds[one][other]
        found.append(2 + joint)
    else:
        found.append(np.nan)
    is_there = all(question in probs for question in AUTONOMY)
    found.append(sum(sign * probs[question][1] for question, sign in AUTONOMY.items()) if is_there else np.nan)
    return np.array(found)


def _answers(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    return {
        question: dict(zip(part["response_value"], part[column], strict=True))
        for question, part in rows.groupby("question_id")
    }


def _from_nothing(point: np.ndarray, low: np.ndarray, high: np.ndarray, free: list[np.ndarray]) -> tuple[float, ...]:
    """Distance of a point, and the least and most of its region, from the nearest content-free point; whether apart."""
    found = []
    for nothing in free:
        inside = np.clip(nothing, low, high)
        corners = [np.array(each) for each in itertools.product(*zip(low, high, strict=True))]
        far = max(np.linalg.norm(corner - nothing) for corner in corners)
        found.append((np.linalg.norm(point - nothing), np.linalg.norm(inside - nothing), far))
    return *min(found), all(least > 0 for _, least, _ in found)


def of_map(study: Study, check: Check) -> None:
    """`cultural_map/...` on published axes."""
    axes = Map(Path(__file__).resolve().parents[2] / "valuesassets" / "studies" / "facts")
    random = np.random.default_rng(41)
    people = study.respondents
    own_means, of_draws = {}, {}
    for country, part in people.groupby("country", sort=False):
        values, weights = part[list(INDICATORS)].to_numpy(dtype=float), part["weight"].to_numpy()
        own_means[country] = _weighted(np.ones((1, len(part))), values, weights)[0]
        of_draws[country] = _weighted(drawn_items(len(part), random, FEW), values, weights)
    pooled = mean_of(np.array(list(own_means.values())), axis=0)
    pooled = np.where(np.isnan(pooled), axes.average, pooled)

    def place(means: np.ndarray) -> np.ndarray:
        return axes.place(np.where(np.isnan(means), pooled, means))

    uniform, first = _without_content()
    usable = study.quality.loc[study.quality["is_usable"], ["model", "language", "question_id"]]
    answers = study.probe.merge(usable)
    models: dict[tuple[str, str], np.ndarray] = {}
    views: dict[tuple[str, str], np.ndarray] = {}
    for cell, part in answers.groupby(["model", "language"]):
        averaged = part.groupby(["question_id", "response_value"])["prob_averaged"].mean().reset_index()
        models[cell] = _means(_answers(averaged, "prob_averaged"))
        found = [
            _means(_answers(of_one, column))
            for _, of_one in part.groupby("wording")
            for column in ("prob_forward", "prob_reversed")
        ]
        views[cell] = np.array([np.where(np.isnan(each), models[cell], each) for each in found])
    rows = []
    lacking = np.isnan(np.array(list(models.values()))).all(axis=0)
    for (model, language), means in models.items():
        here, around = place(means), place(views[model, language])
        low, high = np.minimum(around.min(axis=0), here), np.maximum(around.max(axis=0), here)
        free = [place(np.where(np.isnan(means), np.nan, each)) for each in (uniform, first)]
        near = _from_nothing(here, low - axes.spread, high + axes.spread, free)
        row: dict[str, Any] = {"kind": "model", "label": f"{model} {language}"} | _xy(here) | _ends(low, high)
        row |= {"margin_x": axes.spread[0], "margin_y": axes.spread[1], "n_indicators": np.isfinite(means).sum()}
        row |= {"n_views": len(views[model, language]), "drawn": np.isfinite(means).sum() >= MAP_INDICATORS}
        row |= dict(zip(("distance_from_content_free", "distance_low", "distance_high"), near[:3], strict=True))
        rows.append(row | {"is_distinguishable": near[3]})
    for country, means in own_means.items():
        known = np.where(lacking, np.nan, means)
        label = axes.raw.set_index("country")["name"][country]
        row = {"kind": "human", "label": label, "n_indicators": np.isfinite(known).sum(), "drawn": True} | _xy(
            place(known)
        )
        rows.append(row | {"country": country})
    shown = {"pooled people": ("pooled_human", pooled), "uniform answers": ("content_free", uniform)}
    shown["always the first option"] = ("content_free", first)
    for label, (kind, means) in shown.items():
        rows.append({"kind": kind, "label": label, "n_indicators": 10, "drawn": True} | _xy(place(means)))
    for row in axes.published.to_dict("records"):
        label = {"kind": "published", "label": row["name"], "n_indicators": 10, "drawn": True}
        rows.append(label | _xy(np.array([row["x"], row["y"]])))
    own = pd.DataFrame(rows)
    own["residual_sd_x"], own["residual_sd_y"] = axes.spread
    is_human = own["kind"] == "human"
    ends = ["x_low", "x_high", "y_low", "y_high"]
    stored = check.stored("cultural_map/points").set_index(POINT)
    humans = own.loc[is_human, [*POINT, "country"]]
    for name in ends:  # of people they are of draws, and compared below
        own.loc[is_human, name] = [stored.at[(row.kind, row.label), name] for row in humans.itertuples()]
    within = dict.fromkeys(own.columns, COORDINATES)
    check.equal("cultural_map/points", POINT, own.drop(columns="country"), within)
    part = _Humans(check)
    drawn = np.stack([place(np.where(lacking, pooled, of_draws[country])) for country in humans["country"]], axis=1)
    for axis, name in enumerate("xy"):
        part.ends("cultural_map/points", POINT, humans, name, drawn[:, :, axis], None)
    _projector(axes, check)
    _sensitivity(study, axes, pooled, models, own_means, check)
    _agreement(study, axes, place, models, own_means, lacking, check)


class _Humans(Check):
    """The rows of people alone: those of others have no intervals of draws."""

    def __init__(self, whole: Check) -> None:
        super().__init__(whole.folder, whole.draws, whole.level)
        self.faults = whole.faults

    def stored(self, table: str) -> pd.DataFrame:
        found = super().stored(table)
        return found[found["kind"] == "human"]


def _weighted(counts: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(draws, I) weighted means of people, each as often as counted; NaN where nobody answered."""
    known = np.isfinite(values) * weights[:, None]
    return (counts @ (np.nan_to_num(values) * known)) / (counts @ known)


def _without_content() -> tuple[np.ndarray, np.ndarray]:
    """(10,) indicator means of even chances, and of whatever stands first in both orders."""
    counts = {"v7": 4, "v31": 2, "v114": 3, "v98": 3, "v63": 10, "v153": 10, "v154": 10, "v170": 4, "v110": 4}
    codes = {question: list(range(1, n + 1)) for question, n in counts.items()} | {name: [1, 2] for name in AUTONOMY}
    codes |= {f"v111@v110={one}": [code for code in (1, 2, 3, 4) if code != one] for one in (1, 2, 3, 4)}
    even = {question: dict.fromkeys(each, 1 / len(each)) for question, each in codes.items()}
    first = {q: {code: 0.5 * (code in (each[0], each[-1])) for code in each} for q, each in codes.items()}
    return _means(even), _means(first)


def _xy(point: np.ndarray) -> dict[str, float]:
    return {"x": float(point[0]), "y": float(point[1])}


def _ends(low: np.ndarray, high: np.ndarray) -> dict[str, float]:
    return {"x_low": low[0], "x_high": high[0], "y_low": low[1], "y_high": high[1]}


def _projector(axes: Map, check: Check) -> None:
    rows = pd.DataFrame({"indicator": list(INDICATORS)})
    for name, slopes in zip("xy", axes.slopes, strict=True):
        rows[f"slope_{name}"] = rows[f"published_slope_{name}"] = slopes
    last = {"indicator": "intercept", "slope_x": axes.intercepts[0], "slope_y": axes.intercepts[1]}
    own = pd.concat([rows, pd.DataFrame([last])], ignore_index=True)
    check.equal("cultural_map/projector", ["indicator"], own)


def _sensitivity(study: Study, axes: Map, pooled: np.ndarray, models, people, check: Check) -> None:
    sets = [("model", *cell, study.languages[cell[1]]["country"], means) for cell, means in models.items()]
    languages = {about["country"]: code for code, about in reversed(study.languages.items())}
    sets += [("human", None, languages[country], country, means) for country, means in people.items()]
    rows = []
    for *label, means in sets:
        whole = np.where(np.isnan(means), pooled, means)
        for number in np.flatnonzero(np.isfinite(means)):
            without = whole.copy()
            without[number] = pooled[number]
            point, shift = axes.place(without), axes.place(without) - axes.place(whole)
            row = dict(zip(OF_INDICATOR, (*label, INDICATORS[number]), strict=True)) | _xy(point)
            rows.append(row | {"shift_x": shift[0], "shift_y": shift[1], "shift": math.hypot(*shift)})
    own = pd.DataFrame(rows)
    check.equal("cultural_map/sensitivity", OF_INDICATOR, own, dict.fromkeys(own.columns, COORDINATES))


def _same_axes(points: np.ndarray, target: np.ndarray) -> float:
    p, t = (each - each.mean(axis=0) for each in (points, target))
    return float((p * t).sum() / np.sqrt((p**2).sum() * (t**2).sum()))


def _disparity(points: np.ndarray, target: np.ndarray) -> float:
    return float(procrustes(target, points)[2])


def _agreement(study: Study, axes: Map, place, models, people, lacking: np.ndarray, check: Check) -> None:
    published = axes.raw.set_index("country")[["x", "y"]].astype(float)
    countries = list(people)
    ours = np.array([place(np.where(lacking, np.nan, people[country])) for country in countries])
    theirs = published.loc[countries].to_numpy()
    rows = _tests({"test_family": "map, people against published positions", "test": "people"}, ours, theirs, False)
    against = "against the people of this study"
    for model in dict.fromkeys(model for model, _ in models):
        cells = [cell for cell in models if cell[0] == model and np.isfinite(models[cell]).sum() >= MAP_INDICATORS]
        ours = np.array([place(models[cell]) for cell in cells])
        own = [people[study.languages[code]["country"]] for _, code in cells]
        aims = np.array(
            [place(np.where(np.isnan(models[cell]), np.nan, each)) for cell, each in zip(cells, own, strict=True)]
        )
        label = {"test": f"{model}: points lie as those of its countries do, {against}"}
        found = _tests(label, ours, aims, True)
        _relate(found[0], ours, aims, groups_of(study, [code for _, code in cells]))
        rows += found
    check_tests(check, "cultural_map/tests", rows)
    beside = pd.DataFrame(rows, columns=[*KEYS, "p", "p_free", "p_related"])
    beside["p_free"] = beside["p_free"].fillna(beside["p"])
    check.equal("cultural_map/tests", KEYS, beside.drop(columns="p"))


def _relate(row: dict[str, Any], ours: np.ndarray, aims: np.ndarray, groups: list[np.ndarray]) -> None:
    """Enter the p of the correlation over both axes that allows for related languages."""
    p, t = ((each - each.mean(axis=0)) / np.linalg.norm(each - each.mean(axis=0)) for each in (ours, aims))
    orders = orders_of(len(p))
    chance = np.array([(p[order] * t).sum() for order in orders])
    row["p_free"], row["p_related"] = row["p"], related_p(chance, orders, t, p, groups)
    row["p"] = np.fmax(row["p"], row["p_related"])


def _tests(label: dict[str, str], ours: np.ndarray, theirs: np.ndarray, is_model: bool) -> list[dict[str, Any]]:
    """r over both axes decides for models; axis by axis and with a turn beside it. All orders are counted."""
    statistics = {"r over both axes": (_same_axes, slice(None), 1)} if is_model else {}
    statistics |= {
        "r x": (_same_axes, [0], 1),
        "r y": (_same_axes, [1], 1),
        "procrustes m2": (_disparity, slice(None), -1),
    }
    rows = []
    for name, (measure, columns, sign) in statistics.items():
        chance = np.array([measure(ours[order][:, columns], theirs[:, columns]) for order in orders_of(len(ours))])
        family = {"test_family": "map" if name == "r over both axes" else "map, axis by axis and with a turn"}
        p = at_least(sign * chance, sign * chance[0])
        rows.append(family | label | {"statistic": name, "value": chance[0], "n": len(ours), "p": p})
    return rows
