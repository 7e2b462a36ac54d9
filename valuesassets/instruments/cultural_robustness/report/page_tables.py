"""What sections of the cultural robustness page share: scores with their intervals as a reader sees them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.records.frames import records, rows_where
from valuesassets.reporting.interval_words import spelled, spelled_p
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Frames, Section, is_absent, number

SCORE_COLUMNS = ("model", "score", "value", "p", "null", "questions", "languages", "reason")


def spelled_score(row: Mapping[str, Any]) -> str:
    """A score and its interval; one without an interval to as many digits as it needs not to look like nothing."""
    if is_absent(row["low"]) or is_absent(row["high"]):
        return number(float(row["value"]))
    return spelled(row["value"], row["low"], row["high"])


def spell_scores(scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of `scores` for a reader: value with interval, or its status; p and null, or that there is none."""
    spelled_rows = []
    for row in records(scores):
        is_there = not is_absent(row["value"])
        words = {
            "value": spelled_score(row) if is_there else str(row["status"]),
            "p": spelled_p(row["p"]).removeprefix("p").strip() if not is_absent(row["p"]) else "no test",
            "null": number(row["null"]) if not is_absent(row["null"]) else "none",
        }
        words |= {} if is_there else {"p": None, "null": None}
        row |= {"questions": row["n_questions"], "languages": row["n_languages"]}
        spelled_rows.append(row | words)
    return spelled_rows


def score_table(section: Section, frames: Frames, name: str, caption: str) -> None:
    """The rows of one score of all models."""
    of_score = rows_where(frames.get("scores", pd.DataFrame(columns=pd.Index(["score"]))), score=name)
    tabulate(section, caption, spell_scores(of_score), SCORE_COLUMNS)


def with_ends(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """A number with its interval in one column of words."""
    words = [spelled(row[name], row[f"{name}_low"], row[f"{name}_high"]) for row in records(frame)]
    return frame.assign(**{name: pd.Series(words, index=frame.index, dtype=object)})
