"""Comparison of two studies, or of two runs of one: differences in settings and prompts, and in answers.

Differences are second minus first. Their intervals are simultaneous: the level of each row is raised so that all rows
of a table together have the nominal level (Bonferroni). Means of cells are over questions, which are resampled. Means
of questions are over languages, which are too few to resample, so their intervals are Student's.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.resampling import means_with_intervals, resample_counts, with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records
from valuesassets.records.frames import rows as rows_of

Cell = tuple[str, str]
RESAMPLES, LEVEL = 4000, 0.95
FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class Side:
    """One of the two studies that are compared.

    Attributes:
        name: name of the study or folder.
        settings: settings of the study file under names with dots, such as `inference.seed`; empty without study file.
        cells: metadata of each cell's file of readings, by `<instrument>/<model>/<part>`.
        prompts: prompt of each trial, options included, by `<instrument>/<part>` and trial.
        probe: rows of `PROBE_DISTRIBUTIONS`; empty where there are none.
        points: points of the map; empty where there is no map.
        axes: slopes with which the points were computed; empty where there is no map.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    cells: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    prompts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    probe: pd.DataFrame = field(default_factory=pd.DataFrame)
    points: pd.DataFrame = field(default_factory=pd.DataFrame)
    axes: pd.DataFrame = field(default_factory=pd.DataFrame)


def compare_settings(one: Side, other: Side) -> pd.DataFrame:
    """A row for each setting that differs: `setting`, `first`, `second`.

    Raises:
        MissingData: one of the two has no study file.
    """
    for side in (one, other):
        if not side.settings:
            raise MissingData(f"{side.name}: a folder of results does not say its settings; name the study for these")
    return _differences(one.settings, other.settings, "setting")


def compare_cells(one: Side, other: Side) -> pd.DataFrame:
    """A row for each cell that only one study has, or whose model or way of reading differs: `cell`, `what`, both."""
    rows = []
    for cell in dict.fromkeys([*one.cells, *other.cells]):
        first, second = one.cells.get(cell), other.cells.get(cell)
        if first is None or second is None:
            rows.append((cell, "cell", *("read" if each is not None else "not read" for each in (first, second))))
            continue
        rows += [(cell, *row) for row in _differences(first, second, "what").itertuples(index=False)]
    return pd.DataFrame(rows, columns=pd.Index(["cell", "what", FIRST, SECOND]))


def compare_prompts(one: Side, other: Side) -> pd.DataFrame:
    """A row for each part whose prompts differ in any word, with the first prompt that differs."""
    rows = []
    for part in dict.fromkeys([*one.prompts, *other.prompts]):
        prompts_a, prompts_b = one.prompts.get(part, {}), other.prompts.get(part, {})
        both = [trial for trial in prompts_a if trial in prompts_b]
        changed = [trial for trial in both if prompts_a[trial] != prompts_b[trial]]
        only_one = [
            [trial for trial in mine if trial not in others]
            for mine, others in ((prompts_a, prompts_b), (prompts_b, prompts_a))
        ]
        if changed or any(only_one):
            first = next(iter([*changed, *only_one[0], *only_one[1]]))
            texts = prompts_a.get(first, ""), prompts_b.get(first, "")
            rows.append((part, len(both) - len(changed), len(changed), *map(len, only_one), first, *texts))
    columns = ["part", "n_same", "n_changed", "n_first_alone", "n_second_alone", "trial_id", FIRST, SECOND]
    return pd.DataFrame(rows, columns=pd.Index(columns))


def compare_answers(one: Side, other: Side, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Differences of mean answers, in scale units: `cells` (over questions) and `questions` (of a family, over
    languages), with `notes`.

    Args:
        seed: of the resampling.

    Raises:
        MissingData: the studies have no cell or no question in common.
    """
    sides = [side.probe.loc[side.probe["status"] == "ok"] if len(side.probe) else side.probe for side in (one, other)]
    cells: list[dict[Cell, None]] = []
    for side, rows in zip((one, other), sides, strict=True):
        if rows.empty:
            raise MissingData(
                f"{side.name}: no answers are stored that could be compared; run it to its analyses first"
            )
        cells.append(dict.fromkeys(zip(rows["model"], rows["language"], strict=True)))
    shared = [cell for cell in cells[0] if cell in cells[1]]
    if not shared:
        has = [", ".join("/".join(cell) for cell in list(each)[:3]) for each in cells]
        raise MissingData(
            f"{one.name} and {other.name}: no cell in common, {has[0]} here and {has[1]} there; give families and "
            "languages the same names"
        )
    questions = [dict.fromkeys(rows["question_id"]) for rows in sides]
    if not any(each in questions[1] for each in questions[0]):
        has = [", ".join(list(each)[:3]) for each in questions]
        raise MissingData(
            f"{one.name} and {other.name}: no question in common, {has[0]} here and {has[1]} there; compare studies of "
            "the same questions"
        )
    renamed = [
        rows.assign(model=f"{side} " + rows["model"].astype(str), prob=rows["prob_averaged"])
        for rows, side in zip(sides, (FIRST, SECOND), strict=True)
    ]
    grid = answer_grid(pd.concat(renamed, ignore_index=True))
    places = [[grid.cells.index((f"{side} {model}", code)) for model, code in shared] for side in (FIRST, SECOND)]
    unit = grid.scales.expected_unit(grid.answers)
    differences = unit[places[1]] - unit[places[0]]  # (C, I)
    distances = grid.scales.distances(grid.answers[places[0]], grid.answers[places[1]])["jsd_distance"]
    by_cell = pd.DataFrame(shared, columns=pd.Index(["model", "language"]))
    means = _mean_columns(differences, partial(_resampled, seed=seed))
    by_cell = by_cell.assign(**means, jsd_distance=mean_of_known(distances))
    families = list(dict.fromkeys(model for model, _ in shared))
    rows = {model: [place for place, cell in enumerate(shared) if cell[0] == model] for model in families}
    most = max(map(len, rows.values()))
    by_language = np.stack([_padded(differences[rows[model]].T, most) for model in families])  # (M, I, languages)
    model, item = np.nonzero(np.isfinite(by_language).any(axis=-1))
    by_question = pd.DataFrame({"model": np.array(families)[model], "question_id": np.array(grid.items)[item]})
    by_question = by_question.assign(**_mean_columns(by_language[model, item], _students))
    largest = np.argsort(-np.abs(by_question["difference"].to_numpy(dtype=float)), kind="stable")
    return {
        "cells": rows_of(by_cell, by_cell["n"] > 0).reset_index(drop=True),
        "questions": by_question.iloc[largest].reset_index(drop=True),
        "notes": pd.DataFrame({"note": [*grid.notes]}),
    }


def compare_points(one: Side, other: Side) -> pd.DataFrame:
    """A row for each model's point on both maps: its shift along each axis, with intervals.

    The half-widths of the two points' regions are added in squares, without the margin for the uncertainty of the axes,
    which both maps share.

    Raises:
        MissingData: one study has no map, the maps have no point in common, or their axes differ.
    """
    for side in (one, other):
        if side.points.empty:
            raise MissingData(f"{side.name}: there is no map; points are not compared")
    slopes = [side.axes.filter(regex="^(indicator|slope_.)$") for side in (one, other)]
    is_same = slopes[0].shape == slopes[1].shape and all(
        np.allclose(slopes[0][name], slopes[1][name], atol=1e-9, equal_nan=True) if name != "indicator" else True
        for name in slopes[0]
    )
    if not is_same:
        raise MissingData("the two maps have axes of their own, so that places on them are not comparable")
    models = [side.points.loc[side.points["kind"] == "model"] for side in (one, other)]
    both = models[0].merge(models[1], on=["model", "language"], suffixes=("_a", "_b"))
    if both.empty:
        raise MissingData("the two maps have no model's point in common")
    wide = _reach(1 - (1 - LEVEL) / (2 * len(both))) / _reach(LEVEL)
    columns: dict[str, Any] = {"model": both["model"], "language": both["language"]}
    for axis in ("x", "y"):
        shift = (both[f"{axis}_b"] - both[f"{axis}_a"]).astype(float)
        halves = (
            ((both[f"{axis}_high_{of}"] - both[f"{axis}_low_{of}"]) / 2 - both[f"margin_{axis}_{of}"].fillna(0)).clip(0)
            for of in ("a", "b")
        )
        half = np.sqrt(sum(each.astype(float) ** 2 for each in halves)) * wide
        ends = {f"d{axis}_low": shift - half, f"d{axis}_high": shift + half}
        columns |= {f"d{axis}": shift, **ends, f"differs_{axis}": _differs(shift - half, shift + half)}
    return pd.DataFrame(columns)


def flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings under names with dots.

    >>> flat({"seed": 1, "map": {"projector": "auto"}})
    {'seed': 1, 'map.projector': 'auto'}
    """
    settings_by_name: dict[str, Any] = {}
    for name, value in settings.items():
        place = f"{before}{name}"
        settings_by_name |= flat(value, f"{place}.") if isinstance(value, Mapping) else {place: value}
    return settings_by_name


def _differences(here: Mapping[str, Any], there: Mapping[str, Any], what: str) -> pd.DataFrame:
    rows = [
        (name, str(here.get(name, "")), str(there.get(name, "")))
        for name in dict.fromkeys([*here, *there])
        if here.get(name) != there.get(name)
    ]
    return pd.DataFrame(rows, columns=pd.Index([what, FIRST, SECOND]))


def _padded(values: Array, width: int) -> Array:
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=np.nan)


def _mean_columns(values: Array, ends_of: Callable[[Array, float], tuple[Array, Array]]) -> dict[str, Any]:
    """Means over the last axis with simultaneous intervals, and whether these exclude zero."""
    n = np.isfinite(values).sum(axis=-1)
    level = 1 - (1 - LEVEL) / max(1, np.count_nonzero(n > 1))
    low, high = ends_of(values, level)
    columns = with_ends("difference", mean_of_known(values), (low, high))
    return {**columns, "n": n, "differs": _differs(low, high)}


def _resampled(values: Array, level: float, seed: int) -> tuple[Array, Array]:
    counts = resample_counts(values.shape[-1], RESAMPLES, seeded(seed, "two studies"))
    means = means_with_intervals(values, counts, level)
    return means.low, means.high


def _students(values: Array, level: float) -> tuple[Array, Array]:
    """Ends of Student's interval of a mean; NaN for fewer than two."""
    n, mean = np.isfinite(values).sum(axis=-1), mean_of_known(values)
    size = np.maximum(n, 2)
    square = np.where(np.isfinite(values), values - mean[..., None], 0.0) ** 2
    reach = stats.t.ppf((1 + level) / 2, size - 1) * np.sqrt(square.sum(axis=-1) / (size - 1) / size)
    reach = np.where(n >= 2, reach, np.nan)
    return mean - reach, mean + reach


def _differs(low: Any, high: Any) -> NDArray[np.bool_]:
    """Whether an interval excludes zero; False where there is no interval."""
    return (np.asarray(low, dtype=float) > 0) | (np.asarray(high, dtype=float) < 0)


def _reach(level: float) -> float:
    return float(stats.norm.ppf((1 + level) / 2))


def sentences(compared: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """The results in words, a sentence for each table."""
    for name, what, unit in (
        ("cells", "cells differ in their mean answer over questions", "scale units"),
        ("questions", "questions of a family differ in their mean answer over languages", "scale units"),
    ):
        rows = compared.get(name)
        if rows is not None and len(rows):
            yield _sentence(rows, "difference", what, unit)
    points = compared.get("points")
    if points is not None and len(points):
        is_moved = points["differs_x"] | points["differs_y"]
        shifts = np.hypot(points["dx"], points["dy"])
        n_moved, farthest = int(is_moved.sum()), shifts.max()
        yield f"{n_moved} of {len(points)} points on the map have moved; the farthest by {farthest:.3f}."


def _sentence(rows: pd.DataFrame, column: str, what: str, unit: str) -> str:
    summary = f"{int(rows['differs'].sum())} of {len(rows)} {what}"
    all_rows = records(rows)
    most = max(all_rows, key=lambda row: abs(row[column]) if np.isfinite(row[column]) else -1.0)
    if not abs(most[column]) > 0:
        return f"{summary}; every mean is the same."
    place = " ".join(str(most[name]) for name in ("model", "language", "question_id") if name in most)
    low, high = (most[f"{column}_{end}"] for end in ("low", "high"))
    ends = f" ({low:+.3f} to {high:+.3f})" if np.isfinite(low) else ""
    return f"{summary}; most {place}, by {most[column]:+.3f}{ends} {unit}."
