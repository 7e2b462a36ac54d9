"""One-line summaries of assets' values for the UI; those of analyses are in their entries."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.records.trials import NoTrials


def pdf_line(pdf: Mapping[str, Any]) -> str:
    """Pages and source of a form."""
    return f"{pdf['pages']} pages, {pdf['source']}" if pdf.get("pages") else str(pdf["source"])


def master_line(questions: list[Any]) -> str:
    """Number of questions in the master list, and in all languages."""
    coverage = [len((question.model_extra or {}).get("coverage") or []) for question in questions]
    most = max(coverage, default=0)
    return f"{len(questions)} questions, {coverage.count(most)} of them in all of {most} languages"


def trials_line(trials: list[Any]) -> str:
    """Number of prompts and questions."""
    if isinstance(trials, NoTrials):
        return trials.reason
    questions = {trial.question_id for trial in trials}
    longest = max((len(trial.prompt) for trial in trials), default=0)
    return f"{len(trials)} prompts of {len(questions)} questions, the longest of {longest} characters"


def preflight_line(verdict: Mapping[str, Any]) -> str:
    """Cells of a family that pass the preflight, with reasons of the others."""
    parts = verdict["parts"]
    left_out = [f"{part} ({verdicts['reason']})" for part, verdicts in parts.items() if verdicts["is_left_out"]]
    overridden = [f"{part} ({verdicts['override']})" for part, verdicts in parts.items() if verdicts["override"]]
    line = f"{len(parts) - len(left_out)} of {len(parts)} cells go on"
    line += f"; left out: {', '.join(left_out)}" if left_out else ""
    return line + (f"; overridden: {', '.join(overridden)}" if overridden else "")


def weights_line(fetched: Mapping[str, Any]) -> str:
    """Number and size of the fetched models."""
    gib = sum(entry["size"] for entry in fetched["models"]) / 2**30
    return f"{len(fetched['models'])} models, {gib:.1f} GiB" if fetched["models"] else "trained here, nothing to fetch"


def drawn_line(drawn: pd.DataFrame) -> str:
    """Number of drawn texts that are an option, and what most of the others are."""
    others = drawn.loc[drawn.standing != "option", "standing"].value_counts()
    most = f"; most others: {str(others.index[0]).replace('_', ' ')} ({others.iloc[0]:,})" if len(others) else ""
    return f"{len(drawn) - int(others.sum()):,} of {len(drawn):,} draws are an option{most}"


def probe_line(probe: pd.DataFrame) -> str:
    """Number of readable questions in a cell, with median P_valid and position bias."""
    questions = probe.drop_duplicates(["question_id", "wording"])
    readable = questions.loc[questions.p_valid.notna()]
    if not len(readable):
        return f"none of {len(questions)} questions could be read"
    biases = questions.position_bias_magnitude.dropna()
    bias = f"position bias {biases.median():.2f}" if len(biases) else "no question in both orders"
    return f"{len(readable)} of {len(questions)} questions read; median P_valid {readable.p_valid.median():.2f}, {bias}"


def calibration_line(comparison: pd.DataFrame) -> str:
    """Mean errors between planted and recovered answers of a cell."""
    errors = ("w1_unit_error", "p_valid_error", "position_bias_error")
    w1, p_valid, bias = (float(comparison[name].mean()) for name in errors)
    return f"{len(comparison)} questions; mean errors: W1 {w1:.4f}, P_valid {p_valid:.4f}, position bias {bias:.4f}"


def controls_line(controls: pd.DataFrame) -> str:
    """Number of wrong-language pairs that fail."""
    return f"{int(controls.fails.astype(bool).sum())} of {len(controls)} wrong-language pairs fail, as all must"


def people_line(frame: pd.DataFrame) -> str:
    """Number of respondents and countries, with sources."""
    sources = ", ".join(sorted(map(str, frame.source.unique()))) or "no source"
    return f"{len(frame):,} respondents of {frame.country.nunique()} countries ({sources})"


def by_country_line(frame: pd.DataFrame) -> str:
    """Number of questions and countries, with sources."""
    sources = ", ".join(sorted(map(str, frame.source.unique()))) or "no source"
    return f"{frame.question_id.nunique()} questions in {frame.country.nunique()} countries ({sources})"


def quality_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Number of usable cells and questions."""
    cells, questions = frames["cells"], frames["questions"]
    n_missing, n_flagged = int(cells.is_missing.sum()), int((cells.is_flagged & ~cells.is_missing).sum())
    return (
        f"{len(cells) - n_missing - n_flagged} of {len(cells)} cells can be trusted, {n_flagged} are flagged, "
        f"{n_missing} missing; {int(questions.is_dropped.sum())} of {len(questions)} questions dropped"
    )


def statistics_line(frame: pd.DataFrame) -> str:
    """Number of answer distributions, and their median entropy."""
    if not len(frame):
        return "no usable answers"
    return f"{len(frame)} answer distributions; median entropy {frame.entropy_bits.median():.2f} bits"
