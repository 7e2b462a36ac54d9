"""One line for each analysis of worldwise: what its tables say first."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import parts_of, rows
from valuesassets.records.settings.measuring import USUAL, Inference

Frames = Mapping[str, pd.DataFrame]
WHO = ["model", "readout"]


def quality_line(frames: Frames) -> str:
    """How many answers there are of each status."""
    counts = frames["statuses"].groupby("status", sort=False)["n_status"].sum()
    return ", ".join(f"{n} {status}" for status, n in counts.items())


def reliability_line(frames: Frames) -> str:
    """Which readouts are reliable."""
    readouts = frames["readouts"]
    is_reliable = readouts["is_reliable"].isin([True])
    return f"{int(is_reliable.sum())} of {len(readouts)} readouts are reliable"


def profiles_line(frames: Frames) -> str:
    """How many means there are."""
    profiles = frames["profiles"]
    return f"{int(profiles['lean'].notna().sum())} of {len(profiles)} mean leans"


def alignment_line(frames: Frames) -> str:
    """How many pairs are told apart, and what agreement amounts to."""
    pairs = frames["culture_pairs"]
    n_distinguished = int(pairs["is_told_apart"].isin([True]).sum())
    verdicts = dict.fromkeys(frames["verdicts"]["verdict"].dropna())
    return f"{n_distinguished} of {len(pairs)} pairs of cultures are told apart; {'; '.join(verdicts) or 'no agreement measured'}"


def shift_line(frames: Frames) -> str:
    """Which persona is nearest to answers without one."""
    nearest = frames["nearest_persona"]
    first = rows(nearest, nearest["rank"] == 1)
    nearest_by_model = [
        f"{model} ({readout}) {', '.join(part['culture'])}" for (model, readout), part in parts_of(first, WHO)
    ]
    return (
        f"nearest without a persona: {'; '.join(nearest_by_model)}" if nearest_by_model else "no persona can be ranked"
    )


def gaps_line(frames: Frames, inference: Inference = USUAL) -> str:
    """How many gaps there are beyond chance."""
    gaps = frames["gaps"]
    return f"{_rejected(gaps, inference.alpha)} of {int(gaps['gap'].notna().sum())} gaps are beyond chance"


def stereotyping_line(frames: Frames, inference: Inference = USUAL) -> str:
    """How many personas are told."""
    caricature = frames["caricature"]
    n_distinguished, n_tested = _rejected(caricature, inference.alpha), int(caricature["p"].notna().sum())
    return f"{n_distinguished} of {n_tested} personas are told from one from nowhere"


def seed_line(frames: Frames) -> str:
    """The published error, beside that of zero."""
    errors = rows(frames["measures"], (frames["measures"]["measure"] == "mae") & frames["measures"]["value"].notna())
    sentences = [
        f"{name}: error {value:.2f}, of zeros {zero:.2f}"
        for name, value, zero in zip(errors["composition"], errors["value"], errors["zero"], strict=True)
    ]
    return "; ".join(sentences) or "no culture has a target"


def recovery_line(frames: Frames) -> str:
    """How many measures are within their bounds."""
    measures = frames["measures"]
    return f"{int(measures['is_within'].sum())} of {len(measures)} measures of what was planted are within their bounds"


def _rejected(table: pd.DataFrame, alpha: float) -> int:
    return int((table["p_corrected"].astype(float) <= alpha).sum())


def scenarios_line(frame: pd.DataFrame) -> str:
    """How many dilemmas there are."""
    return f"{len(frame)} dilemmas on {frame['axis'].nunique()} axes"


def exemplars_line(frame: pd.DataFrame) -> str:
    """How many sentences there are."""
    return f"{len(frame)} sentences on {frame['axis'].nunique()} axes"


def axes_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """How far each axis of each embedder can be relied on."""
    by_embedder = []
    for (embedder,), part in parts_of(frames["validity"], ["embedder"]):
        by_axis = ", ".join(
            f"{axis} {auc:.2f}{'' if is_valid else ' (not valid)'}"
            for axis, auc, is_valid in zip(part["axis"], part["held_out_auc"], part["is_valid"], strict=True)
        )
        by_embedder.append(f"{embedder}: {by_axis}")
    return f"held-out AUC of {'; '.join(by_embedder)}"


def reasons_line(frame: pd.DataFrame) -> str:
    """What became of the answers of a cell."""
    return ", ".join(f"{n} {status}" for status, n in frame["status"].value_counts().items()) or "nobody is asked"


def vectors_line(frame: pd.DataFrame) -> str:
    """How many texts are vectors."""
    counts = frame["kind"].value_counts()
    return ", ".join(f"{n} of {kind}" for kind, n in counts.items()) or "no text"


def projections_line(frame: pd.DataFrame) -> str:
    """Where reasons stand on the axes of their dilemmas."""
    own = rows(frame, frame["is_own_axis"].astype(bool) & (frame["status"] == "ok"))
    means = own.groupby("axis", sort=False)["position"].mean()
    by_axis = ", ".join(f"{axis} {position:+.2f}" for axis, position in means.items())
    return f"mean position: {by_axis}" if by_axis else "no reason is placed"


def choices_line(frame: pd.DataFrame) -> str:
    """How much of a cell could be read, and how it leans."""
    if not len(frame):
        return "nobody is asked"
    read = frame.loc[frame["status"] == "ok"]
    if not len(read):
        return f"none of {len(frame)} choices could be read"
    leans = read.groupby("axis", sort=False)["lean"].mean()
    by_axis = ", ".join(f"{axis} {lean:+.2f}" for axis, lean in leans.items())
    return f"{len(read)} of {len(frame)} choices read; mean lean: {by_axis}"
