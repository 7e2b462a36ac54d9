"""`compare`: two studies, or two runs of one, side by side."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.instruments import stored_instruments
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.places import storage_root
from valuesassets.records.study import load_study

if TYPE_CHECKING:
    from valuesassets.comparing.two_studies import Side

WHAT = "Study (name or path), or the folder of a study that was run, or of an opened bundle."
SAID = ("revision", "weights_id", "tokenizer_sha256", "template_sha256", "dtype", "scorer_version", "model_versions")
"""What is compared of the metadata of readings; folders of models are not, they lie elsewhere on every machine."""
WORDS = {
    "settings": "settings that are not the same",
    "read": "cells that only one has, and of others what is not the same",
    "prompts": "languages or parts whose prompts are not the same",
}
STUDY_FILE = "study.toml"


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=WHAT)],
    second: Annotated[str, typer.Argument(metavar="B", help=WHAT)],
    output: Annotated[Path, typer.Option(help="Page to write (HTML).")] = Path("compared.html"),
    seed: Annotated[int, typer.Option(min=0, help="Of the resampling that intervals rest on.")] = 0,
) -> None:
    """Say which cells, prompts and models of two studies differ, and which answers and points on the map with them."""
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
    one, other = read_side(first), read_side(second)
    if one.name == other.name:
        one, other = replace(one, name=first), replace(other, name=second)
    compared: dict[str, Any] = {
        "read": compare_cells(one, other),
        "prompts": compare_prompts(one, other),
        **compare_answers(one, other, seed),
    }
    for name, made in (("settings", compare_settings), ("points", compare_points)):
        try:
            compared[name] = made(one, other)
        except MissingData as error:
            compared[name] = Refused(str(error))
    planted = any(str(side.settings.get("human.source")) == "planted" for side in (one, other))
    write_text(output, render_two_studies(compared, (one.name, other.name), planted))
    for name, what in WORDS.items():
        table = compared[name]
        print(f"{what}: {table.reason if isinstance(table, Refused) else len(table)}")
    for sentence in sentences({name: found for name, found in compared.items() if not isinstance(found, Refused)}):
        print(sentence)
    print(f"page: {output}")


def read_side(name: str) -> "Side":
    """What is stored of a study.

    Args:
        name: of the study, or its folder in a storage, or that of a bundle that was opened.
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
        study = load_study(name)
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
            said = table_metadata(path)
            cells[_named(instrument, place / "readings", path)] = {key: said[key] for key in SAID if key in said}
        for path in sorted((place / "trials").rglob("*.parquet")):
            shown = {trial.trial_id: f"{trial.prompt}{trial.chat or ''}" for trial in read_trials(path)}
            prompts[_named(instrument, place / "trials", path)] = shown
        probes += [
            read_frame(path, PROBE_DISTRIBUTIONS) for path in sorted((place / "probe_distributions").rglob("*.parquet"))
        ]
        for table in ("points", "projector"):
            if (path := place / "cultural_map" / f"{table}.parquet").is_file():
                maps[table] = read_frame(path, table_of_asset(instrument, "cultural_map", table))
    probe = pd.concat(probes, ignore_index=True) if probes else pd.DataFrame()
    empty = pd.DataFrame()
    called = "/".join(folder.resolve().parts[-2:]) if Path(name).is_dir() else name
    return Side(called, settings, cells, prompts, probe, maps.get("points", empty), maps.get("projector", empty))


def _named(instrument: str, folder: Path, path: Path) -> str:
    return f"{instrument}/{path.relative_to(folder).with_suffix('').as_posix()}"
