"""Scores answers that any program made: as worldWiseAI did, and by the positions of their reasons on axes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from valuesassets.instruments.worldwise.answers.answer_texts import sentences
from valuesassets.instruments.worldwise.answers.vectors import Vectors, lexical_vectors
from valuesassets.instruments.worldwise.material.value_names import ticked_leans
from valuesassets.instruments.worldwise.measures.axes import Axis, axis_validity, fit_axes
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED
from valuesassets.instruments.worldwise.measures.projections import positions, text_vectors
from valuesassets.instruments.worldwise.measures.quality_report import ConvergentValidity, convergent_validity
from valuesassets.instruments.worldwise.published.measures import (
    COMPOSITIONS,
    decisions,
    measure_published_scores,
    semantic_scores,
    stereotype_scores,
    value_shifts,
)
from valuesassets.instruments.worldwise.tables import SCORES
from valuesassets.measure.means import Array
from valuesassets.records.errors import InputError
from valuesassets.records.frames import records, rows


@dataclass(frozen=True)
class Prepared:
    """Answers and exemplars as the texts that an embedder reads.

    Attributes:
        answers: see `read_answer_file`.
        exemplars: see `read_exemplars`.
        composed: worldWiseAI's texts of each answer, by composition.
        parts: the sentences of each answer's explanation, countries masked.
    """

    answers: pd.DataFrame
    exemplars: pd.DataFrame
    composed: dict[str, list[str]]
    parts: list[list[str]]

    @cached_property
    def sentences(self) -> list[str]:
        """Exemplars, then sentences of explanations, each once; positions need these."""
        return list(dict.fromkeys([*self.exemplars["text"], *(part for own in self.parts for part in own)]))

    @cached_property
    def texts(self) -> list[str]:
        """All texts that are embedded, each once."""
        return list(dict.fromkeys([*self.sentences, *(text for own in self.composed.values() for text in own)]))


@dataclass(frozen=True)
class TextVectors:
    """An embedder's vectors of texts, each of length one, and whether it read only the beginning of a text."""

    texts: Sequence[str]
    vectors: Vectors
    is_truncated: Sequence[bool]

    def rows(self, texts: Iterable[str]) -> NDArray[np.intp]:
        """The rows of the vectors of these texts."""
        return np.array([self._rows[text] for text in texts], dtype=np.intp)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {text: row for row, text in enumerate(self.texts)}


@dataclass(frozen=True)
class Placed:
    """The axes of one embedder, and (n,) positions of answers by axis.

    A position is NaN if an answer has no sentence, and all are on an axis that is not valid.
    """

    axes: dict[str, Axis]
    positions: dict[str, Array]


def prepare(answers: pd.DataFrame, exemplars: pd.DataFrame, source: str) -> Prepared:
    """The texts of answers, as worldWiseAI composed them and sentence by sentence; `source` names the exemplars' file.

    Raises:
        InputError: answers are on an axis that has no exemplar.
    """
    lacking = [axis for axis in dict.fromkeys(answers["axis"]) if axis not in set(exemplars["axis"])]
    if lacking:
        raise InputError(f"{source}: no sentence on {lacking[0]} found, which answers are on; add some of both poles")
    listed = records(answers)
    composed = {name: [compose(answer) for answer in listed] for name, compose in COMPOSITIONS.items()}
    return Prepared(answers, exemplars, composed, [sentences(text) for text in answers["explanation"]])


def place(prepared: Prepared, embedded: TextVectors, *, seed: int = 0) -> Placed:
    """The positions of explanations on the valid axes of an embedder that has read `prepared.sentences`."""
    exemplars = embedded.vectors[embedded.rows(prepared.exemplars["text"])]
    dense = exemplars.toarray() if isinstance(exemplars, sparse.csr_array) else exemplars
    axes = fit_axes(prepared.exemplars, dense, seed=seed)
    vectors = embedded.vectors[embedded.rows(part for parts in prepared.parts for part in parts)]
    averaged, has_direction = text_vectors(vectors, prepared.parts)
    places = {code: positions(averaged, axis.direction, axis.high, axis.low) for code, axis in axes.items()}
    return Placed(
        axes, {code: np.where(has_direction & axes[code].is_valid, each, np.nan) for code, each in places.items()}
    )


def score_rows(prepared: Prepared, placed: Placed, embedded: TextVectors) -> pd.DataFrame:
    """Rows of `SCORES`: every answer on every axis, in their order; undefined where a number is missing."""
    rows_by_name = {name: embedded.rows(own) for name, own in prepared.composed.items()}
    n, codes = len(prepared.answers), list(placed.axes)
    scores = {
        f"seed_{name}": np.column_stack(
            [semantic_scores(embedded.vectors[own], axis.high, axis.low) for axis in placed.axes.values()]
        ).ravel()
        for name, own in rows_by_name.items()
    }
    position = np.column_stack(list(placed.positions.values())).ravel()
    is_truncated = np.any([np.asarray(embedded.is_truncated)[own] for own in rows_by_name.values()], axis=0)
    reasons = _reasons(prepared, placed, scores, position)
    return SCORES.frame([]).assign(
        response_id=np.repeat(prepared.answers["response_id"].to_numpy(str), len(codes)),
        axis=np.tile(codes, n),
        is_own_axis=(prepared.answers["axis"].to_numpy(str)[:, None] == np.array(codes)).ravel(),
        **scores,
        position=position,
        is_truncated=np.repeat(is_truncated, len(codes)),
        status=[UNDEFINED if reason else OK for reason in reasons],
        reason=[reason or None for reason in reasons],
    )


def lexical(texts: Sequence[str]) -> TextVectors:
    """The vectors of the embedder `lexical`, which reads whole texts."""
    return TextVectors(texts, lexical_vectors(texts), [False] * len(texts))


def _reasons(prepared: Prepared, placed: Placed, scores: Mapping[str, Array], position: Array) -> list[str]:
    """Why numbers of each row are missing; empty where none is."""
    of_axes = [f"position: {axis.reason}" if axis.reason else "" for axis in placed.axes.values()]
    of_texts = [
        "position: " + ("its sentences have no direction together" if parts else "the explanation has no sentence")
        for parts in prepared.parts
    ]
    of_positions = [of_axis or of_text for of_text in of_texts for of_axis in of_axes]
    reasons = []
    for row, (of_position, is_missing) in enumerate(zip(of_positions, np.isnan(position), strict=True)):
        lost = [name for name, values in scores.items() if np.isnan(values[row])]
        of_scores = f"{', '.join(lost)}: the similarities to both poles add to 0 or less" if lost else ""
        reasons.append("; ".join(filter(None, (of_scores, of_position if is_missing else ""))))
    return reasons


def summarise(
    prepared: Prepared,
    scored: pd.DataFrame,
    placed: Placed,
    *,
    targets: pd.DataFrame | None = None,
    values: pd.DataFrame | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The contents of `summary.json`: worldWiseAI's figures with their nulls, and the validity of the axes.

    Without targets the measures that need them are left out; without values convergent validity is None.
    """
    own = rows(scored, scored["is_own_axis"].to_numpy(bool))
    published: dict[str, Any] = {}
    if targets is not None:
        for name in COMPOSITIONS:
            answered = prepared.answers.assign(score=own[f"seed_{name}"].to_numpy(float))
            published[name] = measure_published_scores(answered, targets, seed=seed)
    published["tvd_percent"] = value_shifts(prepared.answers, seed=seed)
    published["stereotype_by_model"] = stereotype_scores(prepared.answers)
    published["decisions"] = decisions(prepared.answers)
    by_words = place(prepared, lexical(prepared.sentences), seed=seed)
    return {
        "n_responses": len(prepared.answers),
        "n_truncated": int(own["is_truncated"].sum()),
        "statuses": scored["status"].value_counts().to_dict(),
        "seed": published,
        "projection": _validity(prepared, placed, values) | {"lexical": _validity(prepared, by_words, values)},
    }


def _validity(prepared: Prepared, placed: Placed, values: pd.DataFrame | None) -> dict[str, Any]:
    """Held-out AUC and cosines of an embedder's axes, and correlations of valid positions with ticked values."""
    validity = ConvergentValidity({}, None, None)
    if values is not None:
        valid = {code: placed.positions[code] for code, axis in placed.axes.items() if axis.is_valid}
        leans = ticked_leans(list(prepared.answers["values"]), values)
        validity = convergent_validity(valid, leans, list(prepared.answers["scenario_id"]))
    axes = {
        row["axis"]: {name: row[name] for name in ("held_out_auc", "p", "is_valid")}
        | {"cosines": {code: row[f"cosine_{code}"] for code in placed.axes if code != row["axis"]}}
        for row in records(axis_validity(placed.axes))
    }
    return {
        "axes": axes,
        "convergent_by_axis": validity.r,
        "convergent_mean": validity.mean,
        "discriminant_mean_abs": validity.discriminant_mean_abs,
    }
