"""The option `--home`, which stands before any command."""

import os
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.records.home import VARIABLE


def choose_home(folder: Path | None) -> None:
    """Let this command and what it starts use a home."""
    if folder is not None:
        os.environ[VARIABLE] = str(folder.absolute())


HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        callback=choose_home,
        help="Folder of studies, answers and histories; else VALUESASSETS_HOME, the nearest one upwards, or a new one.",
    ),
]
