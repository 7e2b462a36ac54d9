"""Files (CSV) of item scores, of any origin, and of items' keying; and the reliability of such scores."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.measures.keying import preference_columns
from valuesassets.instruments.psych_tasks.measures.model_lines import line_of_name, lines_of
from valuesassets.instruments.psych_tasks.published.published_scores import alpha_columns
from valuesassets.records.errors import InputError
from valuesassets.records.frames import parts_of
from valuesassets.records.text_tables import Row, read_rows

SCORES = ("experiment", "model", "item", "score")
KEYING = ("experiment", "item", "is_reversed")
EMPTY = frozenset({"", "nan", "none", "null", "na", "n/a"})
"""Texts in place of a missing score."""
PREFERENCE = ("rho", "p", "pi_bias", "pi_bias_low", "pi_bias_high", "verdict", "reason")
BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_scores(path: Path) -> pd.DataFrame:
    """Scores of a file: `experiment`, `category` (None where it has none), `model`, `item`, `score` (NaN where empty).

    `line` of the model is that of the file, else that of the model's name.

    Raises:
        InputError: no such table; a column is missing; a score is no number; one stands twice. Names file, row, column.
    """
    scores: list[dict[str, object]] = []
    numbers: dict[tuple[str, ...], int] = {}
    for row in read_rows(path, SCORES):
        experiment, model, item = (_named(path, row, name) for name in SCORES[:3])
        _require_once(path, row, numbers, {"experiment": experiment, "model": model, "item": item})
        category = row.fields.get("category") or None
        score = _number(path, row, row.fields["score"])
        line = row.fields.get("line") or line_of_name(model)
        names = {"experiment": experiment, "category": category, "model": model, "line": line}
        scores.append(names | {"item": item, "score": score})
    return pd.DataFrame(scores)


def read_keying(path: Path, scores: pd.DataFrame, source: Path) -> dict[tuple[str, str], bool]:
    """Whether each item with a score is reverse-keyed, by (experiment, item).

    An experiment without items in the file is taken as keyed forward throughout (`left_out`).

    Args:
        scores: the result of `read_scores`.
        source: their file.

    Raises:
        InputError: as `read_scores`; or an item has keying and no score, or a score and no keying although others of
            its experiment have one.
    """
    scored = dict.fromkeys(zip(scores["experiment"], scores["item"], strict=True))
    is_reversed: dict[tuple[str, str], bool] = {}
    numbers: dict[tuple[str, ...], int] = {}
    for row in read_rows(path, KEYING):
        experiment, item = (_named(path, row, name) for name in KEYING[:2])
        _require_once(path, row, numbers, {"experiment": experiment, "item": item})
        if (experiment, item) not in scored:
            raise InputError(
                f"{path}: row {row.number}, column item: {item} of {experiment} has no score in {source}; mend or "
                "remove it"
            )
        text = row.fields["is_reversed"]
        if text.lower() not in BOOLEANS:
            raise InputError(
                f"{path}: row {row.number}, column is_reversed: found {text[:40]!r}, true or false was expected; mend "
                "it"
            )
        is_reversed[experiment, item] = BOOLEANS[text.lower()]
    keyed = {experiment for experiment, _ in is_reversed}
    is_reversed |= {pair: False for pair in scored if pair[0] not in keyed}
    if lacking := [pair for pair in scored if pair not in is_reversed]:
        experiment, item = lacking[0]
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise InputError(f"{path}: no row for item {item} of {experiment}{more}, scored in {source}; add it")
    return is_reversed


def left_out(path: Path, scores: pd.DataFrame) -> list[str]:
    """The experiments without items in a keying file, in the order of the scores."""
    named = {_named(path, row, "experiment") for row in read_rows(path, KEYING)}
    return [name for name in dict.fromkeys(scores["experiment"]) if name not in named]


def scale_rows(scores: pd.DataFrame, level: float = 0.95) -> list[dict[str, Any]]:
    """Alpha over models of every experiment and category, from scores of `read_scores` as they are."""
    alphas = []
    for (experiment, category), part in parts_of(scores.fillna({"category": ""}), ["experiment", "category"]):
        table = _models_by_items(part)
        columns = alpha_columns(table.to_numpy(dtype=float), level, lines_of(part, table.index))
        alphas.append({"experiment": experiment, "category": category or None} | columns)
    return alphas


def keying_rows(
    scores: pd.DataFrame, is_reversed: Mapping[tuple[str, str], bool], level: float = 0.95
) -> list[dict[str, Any]]:
    """rho and pi_bias of every experiment.

    Args:
        scores: the result of `read_scores`, nothing recoded.
        is_reversed: the result of `read_keying`.
    """
    preferences = []
    for (experiment,), part in parts_of(scores, ["experiment"]):
        table = _models_by_items(part)
        reverse = np.array([is_reversed[experiment, item] for item in table.columns])
        lines = lines_of(part, table.index)
        columns = preference_columns(table.to_numpy(dtype=float), reverse, level, lines)
        row = {"experiment": experiment, "models": len(table), "lines": len(set(lines))}
        preferences.append(row | {name: columns[name] for name in PREFERENCE})
    return preferences


def _models_by_items(scores: pd.DataFrame) -> pd.DataFrame:
    """(models, items) scores of one scale, NaN where a model has none."""
    return scores.pivot(index="model", columns="item", values="score")


def _named(path: Path, row: Row, column: str) -> str:
    """A name in a row; whole numbers lose `.0`, which programs add to columns with gaps."""
    name = re.sub(r"^(\d+)\.0+$", r"\1", row.fields[column])
    if not name:
        raise InputError(f"{path}: row {row.number}, column {column}: is empty, a name was expected; add it")
    return name


def _number(path: Path, row: Row, text: str) -> float:
    if text.lower() in EMPTY:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(
            f"{path}: row {row.number}, column score: found {text[:40]!r}, a number was expected; mend it, or leave it "
            "empty if there is none"
        )
    return number


def _require_once(path: Path, row: Row, numbers: dict[tuple[str, ...], int], names: dict[str, str]) -> None:
    """Note the number of a row by its names; refuse names that an earlier row has."""
    earlier = numbers.setdefault(tuple(names.values()), row.number)
    if earlier != row.number:
        entry = ", ".join(f"{column} {name}" for column, name in names.items())
        raise InputError(f"{path}: row {row.number}: {entry} stands in row {earlier} too; keep one of them")
