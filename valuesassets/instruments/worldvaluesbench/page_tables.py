"""What the page of a set is told: its tables under the page's names, gates, and where answers come from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.answers.calibration import summarise_recovery
from valuesassets.records.files import sha256_file
from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study
from valuesassets.reporting.parts import Gate
from valuesassets.reporting.run import reading_origin

Frames = Mapping[str, pd.DataFrame]


def page_tables(
    statistics: Frames, groups: pd.DataFrame, scores: Frames, distances: pd.DataFrame, awareness: Frames
) -> dict[str, pd.DataFrame]:
    """The tables of a set's assets under the names that the page knows."""
    of_awareness = {"awareness" if name == "factors" else f"awareness_{name}": each for name, each in awareness.items()}
    told = {"dataset_statistics": statistics["splits"], "human_groups": groups, "group_distances": distances}
    named = {"benchmark_scores": scores["scores"]} | {name: each for name, each in scores.items() if name != "scores"}
    return told | named | of_awareness | {"group_means": awareness["group_means"]}


def calibration_gates(compared: Mapping[str, pd.DataFrame], phantom: Phantom) -> list[Gate]:
    """For each reference model, whether what was planted into it was read back."""
    gates = []
    for cell, comparison in compared.items():
        (whole,) = records(rows_where(summarise_recovery(comparison, phantom), response_type="all"))
        found = f"mean W1 {whole['w1_unit_error_mean']:.4f} over {whole['n']} prompts"
        sentence = f"What was planted into {cell} is read back."
        gates.append(Gate(sentence, bool(whole["is_recovered"]), whole["reason"] or found, of_instrument=True))
    return gates


def origins(study: Study, identities: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """One record for each file and model that answers come from.

    Args:
        identities: what the readings of each cell say of themselves.
    """
    settings = WorldValuesBench.of(study)
    files: dict[str, Path | None] = {
        "people's answers": settings.answers if isinstance(settings.answers, Path) else None
    }
    for given in settings.ratings:
        files |= {f"ratings {given.name}": given.with_attributes, f"ratings {given.name} without": given.without}
    found: list[dict[str, Any]] = [
        {"what": what, "source": path.name, "sha256": sha256_file(path)} for what, path in files.items() if path
    ]
    return [*found, *(reading_origin(cell, said) for cell, said in identities.items())]
