"""Where files are: those that ship with the package in studies/, and the storage folder of all studies."""

import os
import shlex
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.records.home import home_folder, own_study

if TYPE_CHECKING:
    import pandas as pd

STUDIES = Path(str(resources.files("valuesassets.studies")))
BUNDLED = "bundled"
"""The word that stands for a file or folder that ships with the package."""
KNOWN_READINGS = "known_readings"
"""The folder of the storage that keeps models' readings and answers, for all studies and commands."""
NO_STUDIES = {"dagster", KNOWN_READINGS, "evidence"}
"""Folders of the storage that belong to no study."""


def storage_root() -> Path:
    """The folder that holds a folder of files for each study, under the study's name."""
    return Path(os.environ.get("VALUESASSETS_STORAGE") or home_folder() / "storage")


def made_again(path: Path) -> str:
    """The advice how to restore a file: the asset to materialise, and the command that makes missing files.

    >>> made_again(storage_root() / "demo_survey" / "survey" / "distances" / "pairs.parquet")
    'materialise survey/distances, or make it again: valuesassets run demo_survey'
    >>> made_again(storage_root() / "demo_survey" / "survey" / "trials" / "ell.parquet")
    'materialise survey/trials for ell, or make it again: valuesassets run demo_survey'
    """
    try:
        study, *places = path.absolute().relative_to(storage_root().absolute()).parts
    except ValueError:
        return "write it again"
    return f"{_materialised(places)}make it again: valuesassets run {study_to_name(study)}"


def study_to_name(study: str) -> str:
    """What a command has to name for a study: its file where that is known, else its name; quoted for a shell."""
    name = os.environ.get("VALUESASSETS_STUDY", "")
    is_its_file = Path(name).stem == study or name == str(own_study())
    return shlex.quote(name if is_its_file else study)


def _materialised(places: list[str]) -> str:
    """The asset to materialise for a file below `<study>/<instrument>/<asset>/`, with its partition if it has one."""
    if len(places) < 3 or places[0] == "jobs":
        return ""
    instrument, asset, *folders, file = places
    part = file.partition(".")[0]
    cell = "/".join([*folders, part]) if folders or (len(part) == 3 and part.islower()) else ""
    return f"materialise {instrument}/{asset}{f' for {cell}' if cell else ''}, or "


def named_model(model: str) -> str:
    """A model's name in published files: the hub id, or the last two names of a folder's path.

    >>> named_model("owner/name"), named_model("/models/mine/")
    ('owner/name', 'models/mine')
    """
    return "/".join(model.rstrip("/").split("/")[-2:])


def labelled(model: str, adapter: str | None) -> str:
    """The name of a model in tables, with the name of the adapter that is put on it.

    >>> labelled("owner/name", None), labelled("owner/name", "/trained/run7")
    ('owner/name', 'owner/name+trained/run7')
    """
    return f"{model}+{named_model(adapter)}" if adapter else model


def given_or_bundled(choice: Path | str, *bundled: str) -> Path:
    """The path that a user names; for `bundled`, the path below studies/."""
    return STUDIES.joinpath(*bundled) if str(choice) == BUNDLED else Path(choice)


def bundled_names(folder: str, ending: str) -> list[str]:
    """Names of the files with an ending in a folder of studies/, without the ending."""
    return sorted(path.stem for path in (STUDIES / folder).glob(f"*{ending}"))


def load_facts(name: str) -> "pd.DataFrame":
    """A CSV table of studies/facts; only empty fields are missing values, no text such as NA is."""
    import pandas as pd

    return pd.read_csv(STUDIES / "facts" / name, keep_default_na=False, na_values=[""])
