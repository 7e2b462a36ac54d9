"""`AnswerGrid`: the usable answers of all cells and of people as arrays over the same items, the input of analyses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.draws import Draws, draws_of
from valuesassets.comparing.scales import Scales
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import entropy_bits_of
from valuesassets.measure.means import mean_of_known
from valuesassets.records.errors import MissingData, ScaleMismatch

Cell = tuple[str, str]
CODE, PLACE = "response_value", "analysis_value"
SIDES = ("prob_forward", "prob_reversed")
SUM_TOLERANCE = 1e-6


class CellLabels:
    """Labels of C cells, each a (family, language); base of grids of answers and of distances between cells."""

    cells: tuple[Cell, ...]

    @cached_property
    def labels(self) -> pd.DataFrame:
        """The cells as rows: model, language."""
        return pd.DataFrame(list(self.cells), columns=pd.Index(["model", "language"]))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The families, in order of appearance."""
        return tuple(dict.fromkeys(model for model, _ in self.cells))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages, in order of appearance."""
        return tuple(dict.fromkeys(language for _, language in self.cells))

    @cached_property
    def model_of(self) -> NDArray[np.str_]:
        """(C,) each cell's family."""
        return np.array([model for model, _ in self.cells])

    @cached_property
    def language_of(self) -> NDArray[np.str_]:
        """(C,) each cell's language."""
        return np.array([language for _, language in self.cells])

    def places(self, model: str) -> dict[str, int]:
        """Index of each of a family's cells, by language."""
        return {language: place for place, (name, language) in enumerate(self.cells) if name == model}


@dataclass(frozen=True)
class AnswerGrid(CellLabels):
    """Answers of cells and of countries over the same items.

    Attributes:
        cells: (model, language), C of them.
        model_types: of each cell, `mono` or `multi`.
        answers: (C, I, K) averaged over orders and wordings; NaN where missing, 0 beyond an item's options.
        sides: (O, W, C, I, K) forward and reversed, in each wording; NaN where missing.
        is_converted: (C, I) list items that were asked as statements: their level is not comparable with people's.
        p_valid: (C, I) probability of a valid answer.
        countries: ISO codes of N countries.
        people: (N, I, K) answers of the people of each country.
        respondents: (N, I) number of respondents over the design effect; None for whole countries.
        notes: sentences on answers that were left out because their codes are not the item's.
        draws: numbers of draws and their noise; None where no answer is drawn.
    """

    scales: Scales
    cells: tuple[Cell, ...]
    model_types: tuple[str, ...]
    answers: Array
    sides: Array
    is_converted: NDArray[np.bool_]
    p_valid: Array
    countries: tuple[str, ...]
    people: Array
    notes: tuple[str, ...] = ()
    respondents: Array | None = None
    draws: Draws | None = None

    @property
    def items(self) -> tuple[str, ...]:
        """The items' ids."""
        return self.scales.items

    @property
    def effective_n(self) -> Array:
        """(N, I) respondents over the design effect; infinity for whole countries."""
        whole = np.full(self.people.shape[:2], np.inf)
        return whole if self.respondents is None else np.where(np.isfinite(self.respondents), self.respondents, np.inf)

    @property
    def is_drawn(self) -> NDArray[np.bool_]:
        """(C, I) whether the answer is a share of draws."""
        return np.zeros(self.answers.shape[:2], dtype=bool) if self.draws is None else self.draws.is_drawn

    @property
    def cramer_noise(self) -> Array:
        """(C, I) what drawing adds to a squared Cramér distance from each answer."""
        return np.zeros(self.answers.shape[:2]) if self.draws is None else self.draws.cramer_noise

    @property
    def entropy_bits(self) -> Array:
        """(C, I) entropies of the answers, with what drawing took from them."""
        entropy = entropy_bits_of(self.answers)
        return entropy if self.draws is None else entropy + self.draws.entropy_lost(self.answers)

    @property
    def log_sides(self) -> Array:
        """(O, W, C, I, K) `sides` for logarithms: with pseudo-draws where answers are drawn."""
        return self.sides if self.draws is None else self.draws.smoothed(self.sides, self.scales.n_options)

    def why_empty(self, measures: str) -> list[str]:
        """A note on measures that are empty for drawn cells; none where no cell is drawn."""
        names = ", ".join(
            "/".join(self.cells[place]) for place in np.flatnonzero(np.any(self.is_drawn, axis=1)).tolist()
        )
        if not names:
            return []
        return [
            f"Answers of {names} are shares of draws: {measures} of these cells are empty, since they would take the "
            "noise of few draws for distance."
        ]

    def of_level(self) -> "AnswerGrid":
        """The grid with answers whose level can be compared: list items asked as statements are missing."""
        is_incomparable = np.expand_dims(self.is_converted, 2)
        return replace(
            self,
            answers=np.where(is_incomparable, np.nan, self.answers),
            sides=np.where(is_incomparable, np.nan, self.sides),
        )

    def of_countries(self, rows: pd.DataFrame, countries: Sequence[str], column: str) -> Array:
        """(N, I) a column of rows with country and question_id, the first row of each; NaN where there is none."""
        distinct = rows.drop_duplicates(["country", "question_id"])
        table = distinct.pivot(index="country", columns="question_id", values=column)
        return table.reindex(index=list(countries), columns=list(self.items)).to_numpy(dtype=float)

    def effective_n_of(self, human: pd.DataFrame) -> Array:
        """(N, I) respondents over the design effect, from rows of `HUMAN_DISTRIBUTIONS`; NaN where there are none."""
        return self.of_countries(human.assign(n=human["n"] / human["design_effect"]), self.countries, "n")

    def listed(self, labels: pd.DataFrame, is_known: NDArray[np.bool_], columns: Mapping[str, Any]) -> pd.DataFrame:
        """One row for each available answer: its labels, `question_id` and these columns.

        Args:
            labels: R rows of labels, such as the cells'.
            is_known: (R, I) whether the answer is available.
            columns: values by name, (R, I) or (I,).
        """
        row, item = np.nonzero(is_known)
        columns = {"question_id": np.array(self.items, dtype=object), **columns}
        return (
            labels.iloc[row]
            .reset_index(drop=True)
            .assign(**{name: np.broadcast_to(values, is_known.shape)[row, item] for name, values in columns.items()})
        )


def answer_grid(answers: pd.DataFrame, human: pd.DataFrame | None = None, fewest: int = 1) -> AnswerGrid:
    """The arrays of usable answers of models, and of people's answers if they are given.

    An item's scale is the one on which most cells answered. A cell that answered on other codes misses the item, with a
    note.

    Args:
        answers: as `usable_answers` returns them, by wording or not.
        human: rows of `HUMAN_DISTRIBUTIONS`; the first language of a country asked in several languages is used.
        fewest: fewest respondents to a question, over the design effect, that represent their country; answers of
            fewer are left out, with a note.

    Raises:
        MissingData: there are no answers, or a file of an earlier version lacks their positions on the analysis scale.
        ScaleMismatch: an answer's probabilities do not sum to 1, or are negative.
    """
    if answers.empty:
        raise MissingData("no usable answer at all: there is nothing to analyse (see quality_report)")
    rows = answers.assign(wording=answers.get("wording", 0), code=_analysis_codes(answers))
    scales = _scales(rows)
    cell = rows.groupby(["model", "language"], sort=False).ngroup().to_numpy()
    of_cells = rows.drop_duplicates(["model", "language"])
    cells = tuple(zip(of_cells["model"], of_cells["language"], strict=True))
    positions = [pd.factorize(rows["wording"])[0], cell, *_item_and_option(rows, scales)]
    shape = (positions[0].max() + 1, len(cells), *scales.codes.shape)
    mean, forward, backward = (_filled(rows[column], positions, shape) for column in ("prob", *SIDES))
    averaged, notes = _checked(mean_of_known(mean, axis=0), scales, ["/".join(each) for each in cells])
    is_missing = np.asarray(np.isnan(averaged).any(axis=-1))
    converted, valid_by_wording = np.zeros(shape[1:3], dtype=bool), np.full(shape[:3], np.nan)
    is_placed = positions[3] >= 0
    wording, cell, item = (each[is_placed] for each in positions[:3])
    converted[cell, item] = rows["is_converted"].to_numpy(dtype=bool)[is_placed]
    valid_by_wording[wording, cell, item] = rows["p_valid"].to_numpy(dtype=float)[is_placed]
    kept_human, few_notes = _of_enough_people(human, scales, fewest)
    countries, people, people_notes = _people(kept_human, scales)
    types, all_notes = tuple(map(str, of_cells["model_type"])), (*notes, *few_notes, *people_notes)
    padded = np.where(np.isfinite(scales.codes), np.stack([forward, backward]), 0.0)
    sides = np.where(np.expand_dims(is_missing, (0, 1, 4)), np.nan, padded)
    p_valid = np.where(is_missing, np.nan, mean_of_known(valid_by_wording, axis=0))
    grid = AnswerGrid(scales, cells, types, averaged, sides, converted, p_valid, countries, people, all_notes)
    of_draws = rows if is_placed.all() else pd.DataFrame(rows[is_placed])
    grid = replace(grid, draws=draws_of(of_draws, (wording, cell, item), shape[:3]))
    if kept_human is None or kept_human.empty:
        return grid
    return replace(grid, respondents=grid.effective_n_of(kept_human))


def _of_enough_people(
    human: pd.DataFrame | None, scales: Scales, fewest: int
) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """The human rows with enough respondents, and a note on how many questions are left out of which country."""
    if human is None or human.empty:
        return human, ()
    is_few = (human["n"] / human["design_effect"] < fewest).to_numpy(dtype=bool)
    few = pd.DataFrame(human[is_few & human["question_id"].isin(scales.items).to_numpy(dtype=bool)])
    if few.empty:
        return human, ()
    n_left_out = few.groupby("country", sort=False)["question_id"].nunique()
    counts = ", ".join(f"{country} {count}" for country, count in n_left_out.items())
    note = (
        f"Fewer than {fewest} respondents, over the design effect, are no country: left out are, of "
        f"{len(scales.items)} questions, {counts} (thresholds.respondents)."
    )
    return pd.DataFrame(human[~is_few]), (note,)


def _analysis_codes(rows: pd.DataFrame) -> Array:
    """(n,) positions on the analysis scale; in a frame without such positions, the codes themselves."""
    codes = rows[PLACE if PLACE in rows else CODE].to_numpy(dtype=float, na_value=np.nan)
    if np.isnan(codes).any():
        raise MissingData("answers without an analysis_value, of an earlier version: materialise them again")
    return codes


def _scales(rows: pd.DataFrame) -> Scales:
    distinct = rows.drop_duplicates(["model", "language", "question_id", "code"])
    items, kinds, code_sets, ends = [], [], [], []
    for question_id, part in distinct.groupby("question_id", sort=False):
        by_cell = part.groupby(["model", "language"], sort=False)["code"]
        codes = Counter(tuple(sorted(each)) for _, each in by_cell).most_common(1)[0][0]
        if len(codes) < 2:
            raise ScaleMismatch(
                f"{question_id}: one answer code {codes}, two or more were expected; look at the options"
            )
        listed = part.loc[part["code"].isin(codes)].sort_values(CODE)["code"]
        items.append(str(question_id))
        kinds.append(str(part["response_type"].iloc[0]))
        code_sets.append(codes)
        ends.append((listed.iloc[0], listed.iloc[-1]))
    padded = np.array(pd.DataFrame(code_sets), dtype=float, order="C")  # shorter scales are padded with NaN
    return Scales(tuple(items), tuple(kinds), padded, np.array(ends, dtype=float))


def _item_and_option(rows: pd.DataFrame, scales: Scales) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices on the item and the option axis; -1 for a code that is not on the item's scale."""
    item = pd.Index(scales.items).get_indexer(pd.Index(rows["question_id"]))
    is_code = scales.codes[item] == rows["code"].to_numpy(dtype=float)[:, None]
    return item, np.where(is_code.any(axis=1), is_code.argmax(axis=1), -1)


OFF_SCALE = -1.0
"""Marker of an answer with a code that its item does not have."""


def _filled(column: pd.Series | Any, positions: Sequence[NDArray[np.intp]], shape: tuple[int, ...]) -> Array:
    """An array of probabilities at their indices; NaN where missing, `OFF_SCALE` where a code is not the item's."""
    array = np.full(shape, np.nan)
    values = column.to_numpy(dtype=float)
    is_on_scale = positions[-1] >= 0
    array[tuple(each[is_on_scale] for each in positions)] = values[is_on_scale]
    off_scale = tuple(each[~is_on_scale & (positions[-2] >= 0)] for each in positions[:-1])
    array[off_scale] = OFF_SCALE
    return array


def _checked(array: Array, scales: Scales, sources: Sequence[str]) -> tuple[Array, list[str]]:
    """(S, I, K) complete answers padded with 0, NaN for incomplete ones, and notes on codes that do not fit.

    Raises:
        ScaleMismatch: probabilities that do not sum to 1.
    """
    on_scale = np.isfinite(scales.codes)
    is_given = np.isfinite(array) & on_scale
    is_asked = np.asarray(is_given.any(axis=-1))
    fits = (is_given == on_scale).all(axis=-1) & ~(array == OFF_SCALE).any(axis=-1)
    is_misfit = is_asked & ~fits
    notes = []
    for item in np.flatnonzero(is_misfit.any(axis=0)).tolist():
        names = [sources[source] for source in np.flatnonzero(is_misfit[:, int(item)]).tolist()]
        notes.append(
            f"{scales.items[item]}: answered on other codes than most in {', '.join(names)}; left out there, compare "
            "the options."
        )
    whole = np.where(on_scale, array, 0.0)
    sums = whole.sum(axis=-1)
    is_wrong = is_asked & fits & ((np.abs(sums - 1) > SUM_TOLERANCE) | (whole.min(axis=-1) < 0))
    if is_wrong.any():
        source, item = (int(each[0]) for each in np.nonzero(is_wrong))
        raise ScaleMismatch(
            f"{sources[source]}, {scales.items[item]}: its probabilities sum to {sums[source, item]:.6g}, the least is "
            f"{whole[source, item].min():.3g}; 0 or more and a sum of 1 were expected: materialise it again"
        )
    return np.where((is_asked & fits)[..., None], whole, np.nan), notes


def _people(human: pd.DataFrame | None, scales: Scales) -> tuple[tuple[str, ...], Array, list[str]]:
    shape = (0, len(scales.items), scales.codes.shape[1])
    if human is None or human.empty:
        return (), np.empty(shape), []
    rows = pd.DataFrame(human[human["question_id"].isin(scales.items)])
    first = rows.drop_duplicates(["country", "question_id"])[["country", "question_id", "language"]]
    rows = rows.merge(first, on=["country", "question_id", "language"])
    rows = rows.assign(code=_analysis_codes(rows))
    names = tuple(human["country"].drop_duplicates())
    positions = [pd.Index(names).get_indexer(pd.Index(rows["country"])), *_item_and_option(rows, scales)]
    filled = _filled(rows["prob"], positions, (len(names), *shape[1:]))
    # The file may leave out options that nobody chose: their share is 0.
    is_asked = np.asarray(np.isfinite(filled).any(axis=-1, keepdims=True))
    filled = np.where(is_asked & np.isnan(filled) & np.isfinite(scales.codes), 0.0, filled)
    people, notes = _checked(filled, scales, [f"people of {name}" for name in names])
    return names, people, notes


def own_country(grid: AnswerGrid, country_of: Mapping[str, str]) -> NDArray[np.intp]:
    """(C,) index of each cell's own country among the grid's countries; -1 where there are no people."""
    of_cells = pd.Index([country_of[language] for _, language in grid.cells])
    return pd.Index(grid.countries).get_indexer(of_cells)
