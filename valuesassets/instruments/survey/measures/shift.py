"""`survey/shift`: did answers move between a model before and after, and towards the people of which country?

A change counts as a move where it repeats in other wordings, and as a move towards a country where it lies along what
sets the country apart, beyond response style. Questions of one battery, wordings and trainings are not independent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.exchanged_draws import exchanged_p
from valuesassets.comparing.hypotheses import as_test, tests_table
from valuesassets.comparing.shift import (
    FEWEST_BATTERIES,
    ShiftSlope,
    direction_of,
    measure_shift,
    move_on_map,
    require_enough,
)
from valuesassets.comparing.shift_power import power_of_shift
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.tables import SHIFT_TABLES
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import entropy_bits_of
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.repeated_moves import repeated_move
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records
from valuesassets.records.questions import Question
from valuesassets.records.settings.shift import Shift
from valuesassets.records.study import Study

ALL = "all"
"""In place of a language: changes averaged over languages."""
IDENTICAL, NOT_MOVED = "identical", "not shown to have moved"
NOT_TOWARDS, TOWARDS, AWAY = "moved, not towards {}", "moved towards {}", "moved away from {}"
NOTES = (
    "The slope is the change of the mean answers along what sets a country apart from the mean of the others: 0 is no "
    "move, 1 is the whole way. Traces of response style are removed; slope_raw leaves them in.",
    "Intervals and p count batteries, wordings and trainings, not questions. The people's own sampling error is left "
    "out (about 1 % of a slope).",
    "On the map nothing is tested: it rests on ten questions, and a model can come nearer to nearly all countries.",
    "A shift is one of stated answers, not of behaviour.",
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Shares of options (R, O, W, I, K) before and after, and the answers (R, O, W, I) they count; 0 for exact ones."""

    before: Array
    after: Array
    n_before: Array
    n_after: Array


@dataclass(frozen=True, eq=False)
class Sides:
    """Answers of the families before and after a change, in one language or averaged over all.

    Attributes:
        before, after: (R, W, I) mean answers on [0, 1]; NaN where missing.
        variances: (I,) of the answers, mean of before and after.
        entropies: (2, I) in bits, before and after.
        draws: the shares of answers that some family has drawn; None where all are exact, or languages are averaged.
    """

    before: Array
    after: Array
    variances: Array
    entropies: Array
    draws: "Drawn | None" = None

    @property
    def change(self) -> Array:
        """(W, I) mean over trainings."""
        return (self.after - self.before).mean(axis=0)

    @property
    def is_read(self) -> NDArray[np.bool_]:
        """(I,) whether an item was read before and after in every wording."""
        return np.asarray(np.isfinite(self.change).all(axis=0))


def derive_shift(
    grid: AnswerGrid,
    study: Study,
    aligned_questions: Mapping[str, Sequence[Question]],
    cultural_map: Mapping[str, pd.DataFrame],
    probe_distributions: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    """The tables `shift/...`: slopes, verdicts and tests of every shift of the study; see `NOTES`."""
    if not grid.countries:
        raise MissingData("no people of any country, so that no direction is known; see [human]")
    level, rows_by_table = grid.of_level(), Tables([], [], [], [])
    people, batteries = level.scales.expected_unit(level.people), batteries_of(level.items, aligned_questions)
    for name, shift in study.shift.items():
        for language, sides in sides_of(level, shift, study, n_read_of(level, probe_distributions)).items():
            _measure(rows_by_table, (name, language), shift, sides, people, batteries, level, study)
    tests = tests_table(
        [*map(_towards_test(study), rows_by_table.shifts), *map(_moved_test(study), rows_by_table.moved)], study
    )
    for row, corrected in zip(rows_by_table.shifts, tests["p_corrected"], strict=False):
        row["p_corrected"] = corrected
    rows = {"verdicts": list(_verdicts(rows_by_table, study))}
    rows |= {name: getattr(rows_by_table, name) for name in ("shifts", "moved", "questions", "countries")}
    rows["map"] = list(_map_rows(cultural_map.get("points"), study))
    tables = {name: SHIFT_TABLES[name].frame(each) for name, each in rows.items()}
    return tables | {"tests": tests, "notes": pd.DataFrame({"note": [*NOTES, *grid.notes]})}


Rows = list[dict[str, Any]]


@dataclass
class Tables:
    """Rows of the tables."""

    shifts: Rows
    moved: Rows
    questions: Rows
    countries: Rows


def n_read_of(grid: AnswerGrid, probe: pd.DataFrame) -> Array | None:
    """(W, C, I) drawn answers of each question that were read, in each order; 0 where exact, None where all are."""
    if "n_read" not in probe or not np.nan_to_num(probe["n_read"].to_numpy(dtype=float, na_value=np.nan)).any():
        return None
    once = probe.drop_duplicates(["model", "language", "question_id", "wording"])
    n_read = np.zeros((grid.sides.shape[1], len(grid.cells), len(grid.items)))
    cells, items = pd.Index(grid.cells), pd.Index(grid.items)
    cell = cells.get_indexer(pd.MultiIndex.from_frame(pd.DataFrame(once[["model", "language"]])))
    item = items.get_indexer(pd.Index(once["question_id"]))
    wording = pd.factorize(once["wording"], sort=True)[0]
    is_known = (cell >= 0) & (item >= 0) & (wording < len(n_read))
    per_order = once["n_read"].fillna(0).to_numpy(dtype=float) / len(grid.sides)
    n_read[wording[is_known], cell[is_known], item[is_known]] = np.floor(per_order[is_known])
    return n_read


def sides_of(grid: AnswerGrid, shift: Shift, study: Study, n_read: Array | None = None) -> dict[str, Sides]:
    """By language, the answers before and after; `ALL` where there are several languages.

    Raises:
        MissingData: no language has answers of all families.
    """
    families = (*shift.befores, *shift.afters)
    places = {family: grid.places(family) for family in families}
    languages = [code for code in study.languages if all(code in places[family] for family in families)]
    if not languages:
        lacking = [family for family in families if not places[family]] or list(families)
        raise MissingData(f"no language has answers of all of {', '.join(families)}; run {lacking[0]} first")
    place_of = {code: {family: places[family][code] for family in families} for code in languages}
    sides = {code: _sides(grid, shift, place_of[code], n_read) for code in languages}
    return sides if len(sides) == 1 else {ALL: _averaged(list(sides.values()))} | sides


def _sides(grid: AnswerGrid, shift: Shift, place_of: Mapping[str, int], n_read: Array | None) -> Sides:
    """The answers in one language, of families at these places of the grid."""
    befores, afters = ([place_of[family] for family in families] for families in (shift.befores, shift.afters))
    by_wording = grid.scales.expected_unit(grid.sides.mean(axis=0))
    is_asked = np.asarray(np.isfinite(by_wording[:, [*befores, *afters]]).any(axis=(1, 2)))
    by_wording = by_wording[is_asked]
    whole = [grid.answers[places].mean(axis=0) for places in (befores, afters)]
    return Sides(
        before=np.moveaxis(by_wording[:, befores], 1, 0),
        after=np.moveaxis(by_wording[:, afters], 1, 0),
        variances=np.mean([grid.scales.variance_unit(each) for each in whole], axis=0),
        entropies=np.stack([entropy_bits_of(each) for each in whole]),
        draws=None if n_read is None else _drawn(grid, befores, afters, n_read, is_asked),
    )


def _drawn(
    grid: AnswerGrid, befores: Sequence[int], afters: Sequence[int], n_read: Array, is_asked: NDArray[np.bool_]
) -> Drawn | None:
    """The shares and counts of both sides; None where both are exact."""
    shares, counts = grid.sides[:, is_asked], n_read[is_asked]
    if not counts[:, [*befores, *afters]].any():
        return None
    n_trainings = max(len(befores), len(afters))
    places = [np.resize(np.array(each), n_trainings) for each in (befores, afters)]
    before, after = (np.moveaxis(shares[:, :, each], 2, 0) for each in places)
    n_before, n_after = (np.repeat(np.moveaxis(counts[:, each], 1, 0)[:, None], len(shares), axis=1) for each in places)
    return Drawn(before, after, n_before, n_after)


def _averaged(sides: Sequence[Sides]) -> Sides:
    """The mean over languages, of the wordings that all have; items that a language lacks are its others' mean."""
    n_wordings = min(each.before.shape[1] for each in sides)
    # A language counts for an item that it has both before and after: a change is one of the same languages.
    read_items = [np.where(each.is_read, 0.0, np.nan) for each in sides]

    def mean(name: str) -> Array:
        arrays = [getattr(each, name) + is_known for each, is_known in zip(sides, read_items, strict=True)]
        cut = [each[:, :n_wordings] if name in ("before", "after") else each for each in arrays]
        return mean_of_known(np.stack(cut), axis=0)

    return Sides(mean("before"), mean("after"), mean("variances"), mean("entropies"))


def batteries_of(items: Sequence[str], questions: Mapping[str, Sequence[Question]]) -> list[str]:
    """The battery of each item: the text that its questions share, or the question itself."""
    stems: dict[str, str] = {}
    for of_language in questions.values():
        for question in of_language:
            stems.setdefault(question.id, question.stem or question.id)
    return [stems.get(base_id(item), base_id(item)) for item in items]


def _measure(
    rows_by_table: Tables,
    key: tuple[str, str],
    shift: Shift,
    sides: Sides,
    people: Array,
    batteries: Sequence[str],
    grid: AnswerGrid,
    study: Study,
) -> None:
    """Add the rows of one shift in one language."""
    label = dict(zip(("shift", "language"), key, strict=True))
    rows_by_table.moved.append(label | _moved(key, sides, np.array(batteries), grid.scales.unit, study))
    n_tests = sum(len(each.toward) for each in study.shift.values())
    of_countries: dict[str, ShiftSlope] = {}
    for country in dict.fromkeys((*shift.toward, *grid.countries)):
        try:
            of_countries[country] = _slope(sides, people, country, batteries, shift, grid, study)
        except MissingData as error:
            if country in shift.toward:
                rows_by_table.shifts.append(label | {"toward": country, "reason": str(error)})
            continue
        if country in shift.toward:
            power = power_of_shift(
                sides.before.mean(axis=0), sides.variances, people, grid.countries.index(country), batteries,
                shift.drift, study.inference.alpha / n_tests,
            )  # fmt: skip
            row = _slope_row(of_countries[country]) | _positions(
                of_countries[country], sides, people, grid, country, batteries
            )
            rows_by_table.shifts.append(
                label | {"toward": country, **row, "smallest_unit": power.smallest, "reason": None}
            )
            rows_by_table.questions += _question_rows(
                label | {"toward": country}, sides, people, country, batteries, grid
            )
    for country, slope in of_countries.items():
        columns = ("slope", "slope_low", "slope_high", "toward_unit", "p")
        nearer = _distance_change(sides, people[grid.countries.index(country)])
        row = {name: getattr(slope, name) for name in columns} | {"distance_change_unit": nearer}
        rows_by_table.countries.append(label | {"country": country, **row})


def _slope(
    sides: Sides, people: Array, country: str, batteries: Sequence[str], shift: Shift, grid: AnswerGrid, study: Study
) -> ShiftSlope:
    """The slope towards one country.

    Raises:
        MissingData: the country has no people, or too little is shared.
    """
    if country not in grid.countries:
        raise MissingData(f"no people of {country} in the study's files")
    toward, level = grid.countries.index(country), study.inference.level
    slope = measure_shift(
        sides.before, sides.after, sides.variances, people, toward, batteries, shift.share, level
    )  # fmt: skip
    if slope.effective_batteries < FEWEST_BATTERIES:
        require_enough(slope.n_items, len(grid.countries), slope.effective_batteries)
    return slope


def _slope_row(slope: ShiftSlope) -> dict[str, Any]:
    names = ("slope", "slope_low", "slope_high", "toward_unit", "slope_raw", "p", "effective_batteries", "n_items")
    return {name: getattr(slope, name) for name in names}


def _positions(
    slope: ShiftSlope, sides: Sides, people: Array, grid: AnswerGrid, country: str, batteries: Sequence[str]
) -> dict[str, float]:
    """Where the model stands along the direction before and after: 0 at the other countries, 1 at this one."""
    toward = grid.countries.index(country)
    others = mean_of_known(np.delete(people, toward, axis=0), axis=0)
    before = sides.before.mean(axis=0, keepdims=True)
    stand = measure_shift(np.broadcast_to(others, before.shape), before, sides.variances, people, toward, batteries)
    return {"position_before": stand.slope, "position_after": stand.slope + slope.slope}


def _moved(
    key: tuple[str, str], sides: Sides, batteries: NDArray[np.str_], unit: Array, study: Study
) -> dict[str, Any]:
    """Whether the change repeats in other wordings, and what else has changed."""
    is_read = sides.is_read
    change, entropies = sides.change[:, is_read], sides.entropies[:, is_read]
    row: dict[str, Any] = {
        "n_items": int(is_read.sum()),
        "n_wordings": len(change),
        "mean_change_unit": float(change.mean()) if change.size else np.nan,
        "entropy_change_bits": float(entropies[1].mean() - entropies[0].mean()) if change.size else np.nan,
        "note": None,
        "is_identical": bool(np.array_equal(sides.before[..., is_read], sides.after[..., is_read])),
    }
    if row["is_identical"] or not change.size:
        return row | {"note": IDENTICAL if change.size else "no question was read both before and after"}
    random, draws = seeded(study.seed, "shift", *key), study.inference.resamples
    p_drawn = None if sides.draws is None else _p_drawn(sides.draws, is_read, unit, draws, random)
    try:
        square, p = repeated_move(change, batteries[is_read], draws, random)
    except MissingData as error:
        return row | ({"note": str(error)} if p_drawn is None else {"p": p_drawn})
    return row | {"repeated_sd_unit": float(np.sqrt(max(square, 0.0))), "p": p if p_drawn is None else max(p, p_drawn)}


def _p_drawn(drawn: Drawn, is_read: NDArray[np.bool_], unit: Array, draws: int, random: np.random.Generator) -> float:
    """p-value of one model drawn twice, over the questions that were read."""
    before, after = (each[..., is_read, :] for each in (drawn.before, drawn.after))
    n_before, n_after = (each[..., is_read] for each in (drawn.n_before, drawn.n_after))
    return exchanged_p(before, after, n_before, n_after, unit[is_read], draws, random)


def _question_rows(
    label: Mapping[str, Any], sides: Sides, people: Array, country: str, batteries: Sequence[str], grid: AnswerGrid
) -> Iterator[dict[str, Any]]:
    """The change of every question beside what sets the country apart in it."""
    direction, change = direction_of(people, grid.countries.index(country)), sides.change.mean(axis=0)
    for place in np.flatnonzero(np.isfinite(direction) & np.isfinite(change)).tolist():
        row = {"question_id": grid.items[place], "battery": batteries[place], "direction_unit": direction[place]}
        yield {**label, **row, "change_unit": change[place]}


def _distance_change(sides: Sides, country: Array) -> float:
    """Change of the mean distance between mean answers and a country's, in scale units; below 0 where nearer."""
    both = [np.abs(each.mean(axis=(0, 1)) - country) for each in (sides.before, sides.after)]
    return float(mean_of_known(both[1] - both[0]))


def _towards_test(study: Study) -> Any:
    several = {name: len(shared_languages(shift, study)) > 1 for name, shift in study.shift.items()}

    def test(row: Mapping[str, Any]) -> dict[str, object]:
        is_whole = row["language"] == ALL or not several[row["shift"]]
        family = "shift, towards" if is_whole else f"shift, towards, {row['language']}"
        row = {"n_items": 0, **row, "note": row.get("reason")}
        return as_test(row, family, "{shift}: answers moved towards {toward}", "slope", "slope", study, "n_items")

    return test


def _moved_test(study: Study) -> Any:
    several = {name: len(shared_languages(shift, study)) > 1 for name, shift in study.shift.items()}

    def test(row: Mapping[str, Any]) -> dict[str, object]:
        is_whole = row["language"] == ALL or not several[row["shift"]]
        family = "shift, moved" if is_whole else f"shift, moved, {row['language']}"
        value = "repeated_sd_unit"
        return as_test(
            {"note": None, **row}, family, "{shift}: answers moved", "sd that repeats", value, study, "n_items"
        )

    return test


def shared_languages(shift: Shift, study: Study) -> list[str]:
    """The languages that all families of a shift support."""
    families = (*shift.befores, *shift.afters)
    return [code for code in study.languages if all(code in study.family_languages(family) for family in families)]


def shift_sentence(study: Study, name: str, country: str) -> str:
    """What is claimed of a shift; without replicates it is said of two checkpoints, not of a training."""
    shift = study.shift[name]
    if shift.n_trainings == 1:
        return (
            f"Between these two checkpoints, {shift.befores[0]} and {shift.afters[0]}, answers moved towards {country}."
        )
    return f"This training ({', '.join(shift.afters)}) moved answers towards {country}."


def move_sentence(study: Study, moved: Mapping[str, Any]) -> str:
    """Whether a change repeats in other wordings, and how large it is, from a row of `shift/moved`."""
    if moved["is_identical"]:
        return "all answers are the same before and after"
    p, size = (np.nan if moved[name] is None else float(moved[name]) for name in ("p", "repeated_sd_unit"))
    if not np.isfinite(p):
        return f"whether answers moved cannot be said: {moved['note']}"
    if p > study.inference.alpha:
        return f"answers are not shown to have moved (p {p:.2g})"
    extent = f", by {size:.3f} scale units a question" if np.isfinite(size) else ""
    return f"answers moved alike in all wordings{extent} (p {p:.2g}); this alone does not say where"


def _verdicts(rows_by_table: Tables, study: Study) -> Iterator[dict[str, Any]]:
    """A verdict for each shift and country, from all languages together."""
    alpha = study.inference.alpha
    moved = {row["shift"]: row for row in reversed(rows_by_table.moved)}
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows_by_table.shifts:
        first.setdefault((row["shift"], row["toward"]), row)
    for (name, country), row in first.items():
        sentence = verdict(moved[name], row, alpha)
        yield {"shift": name, "toward": country, "verdict": sentence, "reason": None if sentence else row["reason"]}


def verdict(moved: Mapping[str, Any], slope: Mapping[str, Any], alpha: float) -> str | None:
    """What the tests of one shift towards one country amount to; None where the slope could not be measured."""
    country = slope["toward"]
    if moved["is_identical"]:
        return IDENTICAL
    if slope.get("reason"):
        return None
    if slope["p_corrected"] <= alpha:
        return (TOWARDS if slope["slope"] > 0 else AWAY).format(country)
    return NOT_TOWARDS.format(country) if moved.get("p", 1.0) <= alpha else NOT_MOVED


def _map_rows(points: pd.DataFrame | None, study: Study) -> Iterator[dict[str, Any]]:
    """The move of each shift on the map, by language, where all its points are there."""
    if points is None or points.empty:
        return
    placed = [row for row in records(points) if np.isfinite(row["x"])]
    people = {row["country"]: (row["x"], row["y"]) for row in placed if row["kind"] == "human"}
    cells = {(row["model"], row["language"]): (row["x"], row["y"]) for row in placed if row["kind"] == "model"}
    for name, shift in study.shift.items():
        for language in shared_languages(shift, study):
            sides = [[cells.get((family, language)) for family in each] for each in (shift.befores, shift.afters)]
            if any(point is None for each in sides for point in each):
                continue
            before, after = (np.mean(np.array(each, dtype=float), axis=0) for each in sides)
            for country in shift.toward:
                others = [point for other, point in people.items() if other != country]
                if country in people and len(others) > 1:
                    move = move_on_map(before, after, people[country], others)
                    label = {"shift": name, "language": language, "toward": country}
                    yield label | {"distance_change": move.distance_change, "toward_map": move.toward}
