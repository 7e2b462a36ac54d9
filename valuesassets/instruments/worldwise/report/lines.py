"""One line for each asset of worldwise in the UI."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import parts_of, rows
from valuesassets.records.settings.measuring import USUAL, Inference

Frames = Mapping[str, pd.DataFrame]
WHO = ["model", "readout"]


def quality_line(frames: Frames) -> str:
    """The number of answers with each status."""
    counts = frames["statuses"].groupby("status", sort=False)["n_status"].sum()
    return ", ".join(f"{n} {status}" for status, n in counts.items())


def reliability_line(frames: Frames) -> str:
    """The number of reliable readouts."""
    is_reliable = frames["readouts"]["is_reliable"].isin([True])
    return f"{int(is_reliable.sum())} of {len(is_reliable)} readouts are reliable"


def profiles_line(frames: Frames) -> str:
    """The number of means."""
    leans = frames["profiles"]["lean"]
    return f"{int(leans.notna().sum())} of {len(leans)} mean leans"


def alignment_line(frames: Frames) -> str:
    """The number of pairs that are distinguished, and the verdicts on agreement."""
    is_distinguished = frames["culture_pairs"]["is_told_apart"].isin([True])
    verdicts = "; ".join(dict.fromkeys(frames["verdicts"]["verdict"].dropna())) or "no agreement measured"
    return f"{int(is_distinguished.sum())} of {len(is_distinguished)} pairs of cultures are distinguished; {verdicts}"


def shift_line(frames: Frames) -> str:
    """The persona nearest to answers without one."""
    nearest = frames["nearest_persona"]
    parts = parts_of(rows(nearest, nearest["rank"] == 1), WHO)
    personas = [f"{model} ({readout}) {', '.join(part['culture'])}" for (model, readout), part in parts]
    return f"nearest without a persona: {'; '.join(personas)}" if personas else "no persona can be ranked"


def gaps_line(frames: Frames, inference: Inference = USUAL) -> str:
    """The number of gaps beyond chance."""
    gaps = frames["gaps"]
    return f"{_n_rejected(gaps, inference)} of {int(gaps['gap'].notna().sum())} gaps are beyond chance"


def stereotyping_line(frames: Frames, inference: Inference = USUAL) -> str:
    """The number of personas that are distinguished."""
    tests = frames["caricature"]
    n_distinguished, n_tests = _n_rejected(tests, inference), int(tests["p"].notna().sum())
    return f"{n_distinguished} of {n_tests} personas are distinguished from one from nowhere"


def seed_line(frames: Frames) -> str:
    """The published error, beside that of zero."""
    errors = rows(frames["measures"], (frames["measures"]["measure"] == "mae") & frames["measures"]["value"].notna())
    sentences = [
        f"{name}: error {value:.2f}, of zeros {zero:.2f}"
        for name, value, zero in zip(errors["composition"], errors["value"], errors["zero"], strict=True)
    ]
    return "; ".join(sentences) or "no culture has a target"


def recovery_line(frames: Frames) -> str:
    """The number of measures within their bounds."""
    is_within = frames["measures"]["is_within"]
    return f"{int(is_within.sum())} of {len(is_within)} measures of what was planted are within their bounds"


def _n_rejected(tests: pd.DataFrame, inference: Inference) -> int:
    return int((tests["p_corrected"].astype(float) <= inference.alpha).sum())


def scenarios_line(frame: pd.DataFrame) -> str:
    """The number of dilemmas."""
    return f"{len(frame)} dilemmas on {frame['axis'].nunique()} axes"


def exemplars_line(frame: pd.DataFrame) -> str:
    """The number of sentences."""
    return f"{len(frame)} sentences on {frame['axis'].nunique()} axes"


def axes_line(frames: Frames) -> str:
    """The held-out AUC of each axis of each embedder."""
    by_embedder = []
    for (embedder,), part in parts_of(frames["validity"], ["embedder"]):
        aucs = zip(part["axis"], part["held_out_auc"], part["is_valid"], strict=True)
        by_axis = [f"{axis} {auc:.2f}{'' if is_valid else ' (not valid)'}" for axis, auc, is_valid in aucs]
        by_embedder.append(f"{embedder}: {', '.join(by_axis)}")
    return f"held-out AUC of {'; '.join(by_embedder)}"


def reasons_line(frame: pd.DataFrame) -> str:
    """The number of answers of a cell with each status."""
    return ", ".join(f"{n} {status}" for status, n in frame["status"].value_counts().items()) or "nobody is asked"


def vectors_line(frame: pd.DataFrame) -> str:
    """The number of vectors of each kind of text."""
    return ", ".join(f"{n} of {kind}" for kind, n in frame["kind"].value_counts().items()) or "no text"


def projections_line(frame: pd.DataFrame) -> str:
    """The mean position of reasons on the axis of their dilemma."""
    own = rows(frame, frame["is_own_axis"].astype(bool) & (frame["status"] == "ok"))
    return f"mean position: {_means_by_axis(own, 'position')}" if len(own) else "no reason is placed"


def choices_line(frame: pd.DataFrame) -> str:
    """The number of choices of a cell that could be read, and their mean lean."""
    if not len(frame):
        return "nobody is asked"
    choices = rows(frame, frame["status"] == "ok")
    if not len(choices):
        return f"none of {len(frame)} choices could be read"
    return f"{len(choices)} of {len(frame)} choices read; mean lean: {_means_by_axis(choices, 'lean')}"


def _means_by_axis(frame: pd.DataFrame, name: str) -> str:
    return ", ".join(f"{axis} {mean:+.2f}" for axis, mean in frame.groupby("axis", sort=False)[name].mean().items())
