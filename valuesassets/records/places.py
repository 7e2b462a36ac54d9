"""Where things are: what ships with the package in studies/, and the folder in which studies have their files."""

import os
import shlex
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

STUDIES = Path(str(resources.files("valuesassets.studies")))
REPOSITORY = STUDIES.parents[1]
KNOWN_READINGS = "known_readings"
"""The folder below the storage that keeps what models have said, for all studies and commands."""
NO_STUDIES = {"dagster", KNOWN_READINGS, "evidence"}
"""What else lies below a storage folder."""


def storage_root() -> Path:
    """The folder in which studies have their files, each below its name."""
    return Path(os.environ.get("VALUESASSETS_STORAGE") or REPOSITORY / "storage")


def made_again(path: Path) -> str:
    """How a file comes about anew: what to materialise, and the command that makes what a study's storage lacks.

    >>> made_again(storage_root() / "demo_survey" / "survey" / "distances" / "pairs.parquet")
    'materialise survey/distances, or make it again: valuesassets run demo_survey'
    >>> made_again(storage_root() / "demo_survey" / "survey" / "trials" / "ell.parquet")
    'materialise survey/trials for ell, or make it again: valuesassets run demo_survey'
    """
    try:
        study, *places = path.absolute().relative_to(storage_root().absolute()).parts
    except ValueError:
        return "write it again"
    named = os.environ.get("VALUESASSETS_STUDY", "")
    run = shlex.quote(named if Path(named).stem == study else study)
    return f"{_materialised(places)}make it again: valuesassets run {run}"


def _materialised(places: list[str]) -> str:
    """What to materialise for a file below `<study>/<instrument>/<asset>/`; of a language's file with the language."""
    if len(places) < 3 or places[0] == "jobs":
        return ""
    instrument, asset, *folders, file = places
    part = file.partition(".")[0]
    cell = "/".join([*folders, part]) if folders or (len(part) == 3 and part.islower()) else ""
    return f"materialise {instrument}/{asset}{f' for {cell}' if cell else ''}, or "


def named_model(model: str) -> str:
    """A model as what others read names it: the hub id, or of a folder the last two names, wherever it lies.

    >>> named_model("owner/name"), named_model("/models/mine/")
    ('owner/name', 'models/mine')
    """
    return "/".join(model.rstrip("/").split("/")[-2:])


def bundled_names(folder: str, ending: str) -> list[str]:
    """Names of the files of one kind in a folder of studies/, without their ending."""
    return sorted(path.stem for path in (STUDIES / folder).glob(f"*{ending}"))


def load_facts(name: str) -> "pd.DataFrame":
    """A CSV table of studies/facts; empty fields are missing, and no text stands for a missing value."""
    import pandas as pd

    return pd.read_csv(STUDIES / "facts" / name, keep_default_na=False, na_values=[""])
