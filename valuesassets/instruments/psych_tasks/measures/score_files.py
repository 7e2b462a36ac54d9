"""Files of item scores that were made anywhere, and of items' keying: tables of text (CSV), read and looked through."""

import math
import re
from pathlib import Path

import pandas as pd

from valuesassets.instruments.psych_tasks.measures.model_lines import line_of_name
from valuesassets.records.errors import InputError
from valuesassets.records.text_tables import Row, read_rows

SCORES = ("experiment", "model", "item", "score")
KEYING = ("experiment", "item", "is_reversed")
EMPTY = frozenset({"", "nan", "none", "null", "na", "n/a"})
"""What stands where there is no score."""
SAID = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_scores(path: Path) -> pd.DataFrame:
    """Scores of a file: `experiment`, `category` (None where it has none), `model`, `item`, `score` (NaN where empty).

    `line` of the model is that of the file, else by the model's name.

    Raises:
        InputError: no such table; a column is missing; a score is no number; one stands twice. Names file, row, column.
    """
    found, seen = [], {}
    for row in read_rows(path, SCORES):
        experiment, model, item = (_named(path, row, name) for name in SCORES[:3])
        _require_once(path, row, seen, {"experiment": experiment, "model": model, "item": item})
        category = row.fields.get("category") or None
        score = _number(path, row, row.fields["score"])
        line = row.fields.get("line") or line_of_name(model)
        found.append({"experiment": experiment, "category": category, "model": model, "line": line})
        found[-1] |= {"item": item, "score": score}
    return pd.DataFrame(found)


def read_keying(path: Path, scores: pd.DataFrame, source: Path) -> dict[tuple[str, str], bool]:
    """Whether items are reverse-keyed, by (experiment, item), for every item that has a score and no other.

    An experiment of which the file has no item is taken as keyed forward throughout (`left_out`).

    Args:
        scores: as `read_scores` gives them.
        source: their file.

    Raises:
        InputError: as `read_scores`; or an item has a score and no keying, where others of its experiment have one, or
            keying and no score.
    """
    known = set(zip(scores["experiment"], scores["item"], strict=True))
    found: dict[tuple[str, str], bool] = {}
    seen: dict[tuple[str, ...], int] = {}
    for row in read_rows(path, KEYING):
        experiment, item = (_named(path, row, name) for name in KEYING[:2])
        _require_once(path, row, seen, {"experiment": experiment, "item": item})
        if (experiment, item) not in known:
            raise InputError(
                f"{path}: row {row.number}, column item: {item} of {experiment} has no score in {source}; mend or "
                "remove it"
            )
        said = row.fields["is_reversed"]
        if said.lower() not in SAID:
            raise InputError(
                f"{path}: row {row.number}, column is_reversed: found {said[:40]!r}, true or false was expected; mend "
                "it"
            )
        found[experiment, item] = SAID[said.lower()]
    known_experiments = {experiment for experiment, _ in found}
    found |= {pair: False for pair in known if pair[0] not in known_experiments}
    lacking = [pair for pair in zip(scores["experiment"], scores["item"], strict=True) if pair not in found]
    if lacking:
        experiment, item = lacking[0]
        more = f" (and {n - 1} more)" if (n := len(set(lacking))) > 1 else ""
        raise InputError(f"{path}: no row for item {item} of {experiment}{more}, scored in {source}; add it")
    return found


def left_out(path: Path, scores: pd.DataFrame) -> list[str]:
    """The experiments of which a keying file has no item, in the order of the scores."""
    named = {_named(path, row, "experiment") for row in read_rows(path, KEYING)}
    return [name for name in dict.fromkeys(scores["experiment"]) if name not in named]


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


def _require_once(path: Path, row: Row, seen: dict[tuple[str, ...], int], names: dict[str, str]) -> None:
    key = tuple(names.values())
    if key in seen:
        said = ", ".join(f"{column} {name}" for column, name in names.items())
        raise InputError(f"{path}: row {row.number}: {said} stands in row {seen[key]} too; keep one of them")
    seen[key] = row.number
