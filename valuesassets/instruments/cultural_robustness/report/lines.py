"""One line for each kind of asset of cultural robustness: what the latest materialisation holds."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.records.frames import records, rows


def questions_line(questions: pd.DataFrame) -> str:
    """How many questions, for how many countries."""
    n, countries = questions["question_id"].nunique(), questions["country"].nunique()
    return f"{n} questions, {countries} countries, {len(questions)} prompts"


def report_line(report: pd.DataFrame) -> str:
    """How many faults there are."""
    n_warnings = int(report["is_warning"].astype(bool).sum())
    return f"{len(report) - n_warnings} faults, {n_warnings} warnings"


def languages_line(languages: Mapping[str, Any]) -> str:
    """Which languages, and how they are known."""
    return f"{len(languages['languages'])} languages, by the {languages['source']}: {', '.join(languages['languages'])}"


def quality_line(quality: pd.DataFrame) -> str:
    """How many answers are of each status."""
    return ", ".join(f"{n} {status}" for status, n in quality["status"].value_counts().items())


def vectors_line(vectors: pd.DataFrame) -> str:
    """How many vectors, of how many dimensions."""
    dimensions = len(vectors["vector"].iloc[0]) if len(vectors) else 0
    return f"{len(vectors)} vectors of {dimensions} dimensions, {int(vectors['is_usable'].sum())} of them usable"


def embedder_line(report: pd.DataFrame) -> str:
    """How well the embedder finds translations where it does worst."""
    shares = report.dropna(subset=["found_share"]).sort_values("found_share")
    if not len(shares):
        return "nothing to compare"
    worst = records(shares.head(1))[0]
    return f"{len(report)} languages; translations found least in {worst['language']}: {worst['found_share']:.2f}"


def measured_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Diversity and robustness, or why they are refused."""
    by_score = {row["score"]: row for row in records(frames["scores"])}
    return "; ".join(_in_words(by_score[name]) for name in ("diversity", "robustness"))


def _in_words(row: Mapping[str, Any]) -> str:
    if row["status"] != "ok":
        return f"{row['score']} {row['status']}: {row['reason']}"
    ends = f" [{row['low']:.2f}, {row['high']:.2f}]" if row["low"] == row["low"] and row["low"] is not None else ""
    return f"{row['score']} {row['value']:.2f}{ends}"


def rows_line(table: pd.DataFrame) -> str:
    """How many rows."""
    return f"{len(table)} rows"


def scores_line(scores: pd.DataFrame) -> str:
    """How many scores have a number."""
    n = int(scores["value"].notna().sum())
    return f"{n} of {len(scores)} scores of {scores['model'].nunique()} models with a number"


def calibration_line(calibration: pd.DataFrame) -> str:
    """How much came back of what was planted."""
    off = rows(calibration, ~calibration["is_recovered"].astype(bool))
    named = "".join(f"; {row['model']} {row['fact']} is off" for row in records(off)[:3])
    return f"{len(calibration) - len(off)} of {len(calibration)} planted facts recovered{named}"
