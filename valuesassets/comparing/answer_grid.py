"""`AnswerGrid`: usable answers of all cells and of people as arrays over the same items, the input of all analyses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.scales import Scales
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.records.errors import MissingData, ScaleMismatch

Cell = tuple[str, str]


CODE, PLACE = "response_value", "analysis_value"
SIDES = ("prob_forward", "prob_reversed")
SUM_TOLERANCE = 1e-6


class CellLabels:
    """What has C cells, each a (family, language): a grid of answers, distances between texts."""

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
        """Where a family's cells stand, by language."""
        return {language: place for place, (name, language) in enumerate(self.cells) if name == model}


@dataclass(frozen=True)
class AnswerGrid(CellLabels):
    """Answers of cells and of countries over the same items.

    Attributes:
        cells: (model, language), C of them.
        model_types: of each cell, `mono` or `multi`.
        answers: (C, I, K) averaged over orders and wordings; NaN where missing, 0 beyond an item's options.
        sides: (O, W, C, I, K) forward and reversed, in each wording; NaN where missing.
        is_converted: (C, I) list items that were asked as statements: their level cannot be compared with people's.
        p_valid: (C, I).
        countries: ISO codes, N of them.
        people: (N, I, K).
        respondents: (N, I) how many people gave those answers, over the design effect; None for whole countries.
        notes: what was left out because its codes are not the item's, in words.
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

    @property
    def items(self) -> tuple[str, ...]:
        """The items' ids."""
        return self.scales.items

    @property
    def effective_n(self) -> Array:
        """(N, I) respondents over the design effect; infinity for whole countries."""
        whole = np.full(self.people.shape[:2], np.inf)
        return whole if self.respondents is None else np.where(np.isfinite(self.respondents), self.respondents, np.inf)

    def of_level(self) -> "AnswerGrid":
        """The grid whose answers may be compared in level: list items asked as statements are missing."""
        gone = np.expand_dims(self.is_converted, 2)
        return replace(self, answers=np.where(gone, np.nan, self.answers), sides=np.where(gone, np.nan, self.sides))

    def of_countries(self, rows: pd.DataFrame, countries: Sequence[str], column: str) -> Array:
        """(N, I) a column of rows with country and question_id, the first of each; NaN where there is none."""
        once = rows.drop_duplicates(["country", "question_id"])
        table = once.pivot(index="country", columns="question_id", values=column)
        return table.reindex(index=list(countries), columns=list(self.items)).to_numpy(dtype=float)

    def effective_n_of(self, human: pd.DataFrame) -> Array:
        """(N, I) respondents over the design effect, out of rows of `HUMAN_DISTRIBUTIONS`; NaN where there are none."""
        return self.of_countries(human.assign(n=human["n"] / human["design_effect"]), self.countries, "n")

    def listed(self, labels: pd.DataFrame, is_known: NDArray[np.bool_], columns: Mapping[str, Any]) -> pd.DataFrame:
        """One row for each answer that is known: its labels, `question_id` and these columns.

        Args:
            labels: R rows, such as the cells'.
            is_known: (R, I).
            columns: by name, (R, I) or (I,).
        """
        row, item = np.nonzero(is_known)
        columns = {"question_id": np.array(self.items, dtype=object), **columns}
        return (
            labels.iloc[row]
            .reset_index(drop=True)
            .assign(**{name: np.broadcast_to(values, is_known.shape)[row, item] for name, values in columns.items()})
        )


def answer_grid(answers: pd.DataFrame, human: pd.DataFrame | None = None, fewest: int = 1) -> AnswerGrid:
    """The arrays of usable answers, and of people's where these are given.

    An item's scale is the one on which most cells answered; who answered on other codes misses the item, with a note.

    Args:
        answers: as `usable_answers` gives them, by wording or not.
        human: rows of `HUMAN_DISTRIBUTIONS`; of a country asked in several languages the first is taken.
        fewest: respondents to a question, over the design effect, whose answers count as their country's; those of
            fewer are left out, with a note.

    Raises:
        MissingData: there are no answers, or a file of an earlier version does not say where they stand on the scale.
        ScaleMismatch: an answer's probabilities do not sum to 1, or are none.
    """
    if answers.empty:
        raise MissingData("no usable answer at all: there is nothing to analyse (see quality_report)")
    rows = answers.assign(wording=answers.get("wording", 0), code=_analysis_codes(answers))
    scales = _scales(rows)
    cell = rows.groupby(["model", "language"], sort=False).ngroup().to_numpy()
    of_cells = rows.drop_duplicates(["model", "language"])
    cells = tuple(zip(of_cells["model"], of_cells["language"], strict=True))
    at = [pd.factorize(rows["wording"])[0], cell, *_item_and_option(rows, scales)]
    shape = (at[0].max() + 1, len(cells), *scales.codes.shape)
    mean, forward, backward = (_filled(rows[column], at, shape) for column in ("prob", *SIDES))
    averaged, notes = _checked(mean_of_known(mean, axis=0), scales, ["/".join(each) for each in cells])
    gone = np.asarray(np.isnan(averaged).any(axis=-1))
    converted, of_wordings = np.zeros(shape[1:3], dtype=bool), np.full(shape[:3], np.nan)
    is_placed = at[3] >= 0
    wording, cell, item = (each[is_placed] for each in at[:3])
    converted[cell, item] = rows["is_converted"].to_numpy(dtype=bool)[is_placed]
    of_wordings[wording, cell, item] = rows["p_valid"].to_numpy(dtype=float)[is_placed]
    enough, few = _of_enough_people(human, scales, fewest)
    countries, people, more = _people(enough, scales)
    types, all_notes = tuple(map(str, of_cells["model_type"])), (*notes, *few, *more)
    padded = np.where(np.isfinite(scales.codes), np.stack([forward, backward]), 0.0)
    sides = np.where(np.expand_dims(gone, (0, 1, 4)), np.nan, padded)
    p_valid = np.where(gone, np.nan, mean_of_known(of_wordings, axis=0))
    grid = AnswerGrid(scales, cells, types, averaged, sides, converted, p_valid, countries, people, all_notes)
    return grid if enough is None or enough.empty else replace(grid, respondents=grid.effective_n_of(enough))


def _of_enough_people(
    human: pd.DataFrame | None, scales: Scales, fewest: int
) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """The rows of people of whom enough answered, and how many questions are left out of which country."""
    if human is None or human.empty:
        return human, ()
    is_few = (human["n"] / human["design_effect"] < fewest).to_numpy(dtype=bool)
    few = pd.DataFrame(human[is_few & human["question_id"].isin(scales.items).to_numpy(dtype=bool)])
    if few.empty:
        return human, ()
    gone = few.groupby("country", sort=False)["question_id"].nunique()
    named = ", ".join(f"{country} {count}" for country, count in gone.items())
    note = (
        f"Fewer than {fewest} respondents, over the design effect, are no country: left out are, of "
        f"{len(scales.items)} questions, {named} (thresholds.respondents)."
    )
    return pd.DataFrame(human[~is_few]), (note,)


def _analysis_codes(rows: pd.DataFrame) -> Array:
    """(n,) places on the analysis scale; codes stand in their own order in a frame that does not speak of places."""
    codes = rows[PLACE if PLACE in rows else CODE].to_numpy(dtype=float, na_value=np.nan)
    if np.isnan(codes).any():
        raise MissingData("answers without an analysis_value, of an earlier version: materialise them again")
    return codes


def _scales(rows: pd.DataFrame) -> Scales:
    once = rows.drop_duplicates(["model", "language", "question_id", "code"])
    items, kinds, found, ends = [], [], [], []
    for question_id, part in once.groupby("question_id", sort=False):
        by_cell = part.groupby(["model", "language"], sort=False)["code"]
        codes = Counter(tuple(sorted(each)) for _, each in by_cell).most_common(1)[0][0]
        if len(codes) < 2:
            raise ScaleMismatch(
                f"{question_id}: one answer code {codes}, two or more were expected; look at the options"
            )
        listed = part.loc[part["code"].isin(codes)].sort_values(CODE)["code"]
        items.append(str(question_id))
        kinds.append(str(part["response_type"].iloc[0]))
        found.append(codes)
        ends.append((listed.iloc[0], listed.iloc[-1]))
    padded = np.array(pd.DataFrame(found), dtype=float, order="C")  # NaN beyond the shorter ones
    return Scales(tuple(items), tuple(kinds), padded, np.array(ends, dtype=float))


def _item_and_option(rows: pd.DataFrame, scales: Scales) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places on the item and the option axis; -1 for a code that is not on the item's scale."""
    item = pd.Index(scales.items).get_indexer(pd.Index(rows["question_id"]))
    is_it = scales.codes[item] == rows["code"].to_numpy(dtype=float)[:, None]
    return item, np.where(is_it.any(axis=1), is_it.argmax(axis=1), -1)


OFF_SCALE = -1.0
"""Marks an answer with a code that its item does not have."""


def _filled(column: pd.Series | Any, at: Sequence[NDArray[np.intp]], shape: tuple[int, ...]) -> Array:
    """Probabilities at their places; NaN where nothing stands, `OFF_SCALE` where a code is not the item's."""
    array = np.full(shape, np.nan)
    values = column.to_numpy(dtype=float)
    placed = at[-1] >= 0
    array[tuple(each[placed] for each in at)] = values[placed]
    off = tuple(each[~placed & (at[-2] >= 0)] for each in at[:-1])
    array[off] = OFF_SCALE
    return array


def _checked(array: Array, scales: Scales, who: Sequence[str]) -> tuple[Array, list[str]]:
    """(S, I, K) answers: whole ones padded with 0, what is not whole NaN, with a note for codes that do not fit.

    Raises:
        ScaleMismatch: probabilities that do not sum to 1.
    """
    on_scale = np.isfinite(scales.codes)
    given = np.isfinite(array) & on_scale
    is_asked = np.asarray(given.any(axis=-1))
    fits = (given == on_scale).all(axis=-1) & ~(array == OFF_SCALE).any(axis=-1)
    misfit = is_asked & ~fits
    notes = []
    for place in np.flatnonzero(misfit.any(axis=0)).tolist():
        named = [who[source] for source in np.flatnonzero(misfit[:, int(place)]).tolist()]
        notes.append(
            f"{scales.items[place]}: answered on other codes than most in {', '.join(named)}; left out there, compare "
            "the options."
        )
    whole = np.where(on_scale, array, 0.0)
    sums = whole.sum(axis=-1)
    wrong = is_asked & fits & ((np.abs(sums - 1) > SUM_TOLERANCE) | (whole.min(axis=-1) < 0))
    if wrong.any():
        source, place = (int(each[0]) for each in np.nonzero(wrong))
        raise ScaleMismatch(
            f"{who[source]}, {scales.items[place]}: its probabilities sum to {sums[source, place]:.6g}, the least is "
            f"{whole[source, place].min():.3g}; 0 or more and a sum of 1 were expected: materialise it again"
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
    at = [pd.Index(names).get_indexer(pd.Index(rows["country"])), *_item_and_option(rows, scales)]
    filled = _filled(rows["prob"], at, (len(names), *shape[1:]))
    # People give every code of a question; an answer that nobody chose may be left out of the file.
    asked = np.asarray(np.isfinite(filled).any(axis=-1, keepdims=True))
    filled = np.where(asked & np.isnan(filled) & np.isfinite(scales.codes), 0.0, filled)
    people, notes = _checked(filled, scales, [f"people of {name}" for name in names])
    return names, people, notes


def own_country(grid: AnswerGrid, country_of: Mapping[str, str]) -> NDArray[np.intp]:
    """(C,) where each cell's own country stands among the grid's countries; -1 where it has no people."""
    of_cells = pd.Index([country_of[language] for _, language in grid.cells])
    return pd.Index(grid.countries).get_indexer(of_cells)
