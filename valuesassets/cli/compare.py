"""The command `compare`: two studies, or two runs of one, side by side."""

import tomllib
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
    left, right = open_side(first), open_side(second)
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


def open_side(name: str) -> "Side":
    """The stored tables of a study.

    Args:
        name: of the study or its file; or a folder in a storage, or of an unpacked bundle.
    """
    from valuesassets.comparing.stored_sides import read_side
    from valuesassets.comparing.two_studies import flat

    folder, title, settings = Path(name), name, {}
    if folder.is_dir():
        title = "/".join(folder.resolve().parts[-2:])
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
    return read_side(title, folder, instruments, settings)
