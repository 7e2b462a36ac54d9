"""One side of a comparison, read from the folder of a study that was run or of an unpacked bundle."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.comparing.two_studies import Side
from valuesassets.records.parquet import read_frame, read_trials, table_metadata
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, table_of_asset

WEIGHTS = ("revision", "weights_id", "tokenizer_sha256", "template_sha256", "dtype")
COMPARED = (*WEIGHTS, "scorer_version", "model_versions")
"""Keys of the metadata of readings that are compared; folders of models differ between machines and are not."""


def read_side(title: str, folder: Path, instruments: Sequence[str], settings: Mapping[str, Any]) -> Side:
    """The stored cells, prompts, answers and points of a study.

    Args:
        title: of the side in the comparison.
        folder: has a folder for each instrument, and in it one for each asset, or `tables` with these.
        settings: of the study, flat.
    """
    cells: dict[str, Mapping[str, str]] = {}
    prompts: dict[str, dict[str, str]] = {}
    probes: list[pd.DataFrame] = []
    maps = {"points": pd.DataFrame(), "projector": pd.DataFrame()}
    for instrument in instruments:
        place = folder / instrument
        place = place / "tables" if (place / "tables").is_dir() else place
        for path in sorted((place / "readings").rglob("*.parquet")):
            metadata = {key: value for key, value in table_metadata(path).items() if key in COMPARED}
            cells[_name(instrument, place / "readings", path)] = metadata
        for path in sorted((place / "trials").rglob("*.parquet")):
            texts = {trial.trial_id: f"{trial.prompt}{trial.chat or ''}" for trial in read_trials(path)}
            prompts[_name(instrument, place / "trials", path)] = texts
        files = sorted((place / "probe_distributions").rglob("*.parquet"))
        probes += [read_frame(path, PROBE_DISTRIBUTIONS) for path in files]
        for table in maps:
            if (path := place / "cultural_map" / f"{table}.parquet").is_file():
                maps[table] = read_frame(path, table_of_asset(instrument, "cultural_map", table))
    probe = pd.concat(probes, ignore_index=True) if probes else pd.DataFrame()
    return Side(title, settings, cells, prompts, probe, maps["points"], maps["projector"])


def _name(instrument: str, folder: Path, path: Path) -> str:
    return f"{instrument}/{path.relative_to(folder).with_suffix('').as_posix()}"
