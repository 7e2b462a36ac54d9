"""What the page of a set says of its calibration and of the files that answers come from."""

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


def calibration_gates(compared: Mapping[str, pd.DataFrame], phantom: Phantom) -> list[Gate]:
    """For each reference model, whether what was planted into it was read back."""
    gates = []
    for cell, comparison in compared.items():
        (whole,) = records(rows_where(summarise_recovery(comparison, phantom), response_type="all"))
        found = f"mean W1 {whole['w1_unit_error_mean']:.4f} over {whole['n']} prompts"
        sentence = f"What was planted into {cell} is read back."
        gates.append(Gate(sentence, bool(whole["is_recovered"]), whole["reason"] or found, of_instrument=True))
    return gates


def file_origins(study: Study) -> list[dict[str, Any]]:
    """A record for each file that people's answers or ratings come from."""
    settings = WorldValuesBench.of(study)
    files: dict[str, Path | None] = {
        "people's answers": settings.answers if isinstance(settings.answers, Path) else None
    }
    for ratings in settings.ratings:
        files |= {
            f"ratings {ratings.name}": ratings.with_attributes,
            f"ratings {ratings.name} without": ratings.without,
        }
    return [{"what": what, "source": path.name, "sha256": sha256_file(path)} for what, path in files.items() if path]
