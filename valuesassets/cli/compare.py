"""The command `compare`: two studies, or two runs of one, side by side."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import Seed, open_study, require_file_place
from valuesassets.cli.instruments import stored_instruments
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.places import storage_root

if TYPE_CHECKING:
    from valuesassets.comparing.two_studies import Side

SIDE = "A study by its name or file, or the folder of a study that was run, or of an unpacked bundle."
COMPARED = (
    "revision",
    "weights_id",
    "tokenizer_sha256",
    "template_sha256",
    "dtype",
    "scorer_version",
    "model_versions",
)
"""Keys of the metadata of readings that are compared; folders of models differ between machines and are not."""
WORDS = {
    "settings": "settings that differ",
    "read": "cells that only one has, or whose readings were made differently",
    "prompts": "languages or parts whose prompts differ",
}
STUDY_FILE = "study.toml"


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=SIDE)],
    second: Annotated[str, typer.Argument(metavar="B", help=SIDE)],
    output: Annotated[Path, typer.Option(help="Page to write (HTML).")] = Path("compared.html"),
    seed: Seed = 0,
) -> None:
    """Compare two studies: which settings, prompts, models, answers and points on the map differ."""
    from valuesassets.comparing.two_studies import (
        compare_answers,
        compare_cells,
        compare_points,
        compare_prompts,
        compare_settings,
        sentences,
    )
    from valuesassets.records.files import write_text
    from valuesassets.reporting.parts import Refused
    from valuesassets.reporting.two_studies import render_two_studies

    require_file_place(output, "an HTML page")
    left, right = read_side(first), read_side(second)
    if left.name == right.name:
        left, right = replace(left, name=first), replace(right, name=second)
    compared: dict[str, Any] = {
        "read": compare_cells(left, right),
        "prompts": compare_prompts(left, right),
        **compare_answers(left, right, seed),
    }
    for name, compare_part in (("settings", compare_settings), ("points", compare_points)):
        try:
            compared[name] = compare_part(left, right)
        except MissingData as error:
            compared[name] = Refused(str(error))
    planted = any(str(side.settings.get("human.source")) == "planted" for side in (left, right))
    write_text(output, render_two_studies(compared, (left.name, right.name), planted))
    for name, what in WORDS.items():
        table = compared[name]
        print(f"{what}: {table.reason if isinstance(table, Refused) else len(table)}")
    for sentence in sentences({name: table for name, table in compared.items() if not isinstance(table, Refused)}):
        print(sentence)
    print(f"page: {output}")


def read_side(name: str) -> "Side":
    """The stored tables of a study.

    Args:
        name: of the study or its file; or a folder in a storage, or of an unpacked bundle.
    """
    import pandas as pd

    from valuesassets.comparing.two_studies import Side, flat
    from valuesassets.records.parquet import read_frame, read_trials, table_metadata
    from valuesassets.records.tables import PROBE_DISTRIBUTIONS, table_of_asset

    folder, settings = Path(name), {}
    if folder.is_dir():
        if (folder / STUDY_FILE).is_file():
            settings = flat(tomllib.loads((folder / STUDY_FILE).read_text("utf-8")))
    else:
        study = open_study(name)
        folder, settings = storage_root() / study.name, flat(study.model_dump(mode="json", exclude_defaults=True))
    instruments = stored_instruments(folder)
    if not instruments:
        raise InputError(
            f"{name}: nothing of a study is stored in {folder}; run the study first, or name its folder in the storage"
        )
    cells: dict[str, Mapping[str, str]] = {}
    prompts: dict[str, dict[str, str]] = {}
    probes: list[pd.DataFrame] = []
    maps: dict[str, pd.DataFrame] = {}
    for instrument in instruments:
        place = folder / instrument
        place = place / "tables" if (place / "tables").is_dir() else place
        for path in sorted((place / "readings").rglob("*.parquet")):
            metadata = {key: value for key, value in table_metadata(path).items() if key in COMPARED}
            cells[_name(instrument, place / "readings", path)] = metadata
        for path in sorted((place / "trials").rglob("*.parquet")):
            texts = {trial.trial_id: f"{trial.prompt}{trial.chat or ''}" for trial in read_trials(path)}
            prompts[_name(instrument, place / "trials", path)] = texts
        probes += [
            read_frame(path, PROBE_DISTRIBUTIONS) for path in sorted((place / "probe_distributions").rglob("*.parquet"))
        ]
        for table in ("points", "projector"):
            if (path := place / "cultural_map" / f"{table}.parquet").is_file():
                maps[table] = read_frame(path, table_of_asset(instrument, "cultural_map", table))
    probe = pd.concat(probes, ignore_index=True) if probes else pd.DataFrame()
    empty = pd.DataFrame()
    title = "/".join(folder.resolve().parts[-2:]) if Path(name).is_dir() else name
    return Side(title, settings, cells, prompts, probe, maps.get("points", empty), maps.get("projector", empty))


def _name(instrument: str, folder: Path, path: Path) -> str:
    return f"{instrument}/{path.relative_to(folder).with_suffix('').as_posix()}"
