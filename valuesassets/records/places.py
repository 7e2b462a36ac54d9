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
    """How a file comes about anew: the command that makes what is missing or damaged in a study's storage.

    >>> made_again(storage_root() / "demo" / "survey" / "distances" / "pairs.parquet")
    'make it again: valuesassets run demo'
    """
    try:
        study = path.absolute().relative_to(storage_root().absolute()).parts[0]
    except ValueError:
        return "write it again"
    named = os.environ.get("VALUESASSETS_STUDY", "")
    return f"make it again: valuesassets run {shlex.quote(named if Path(named).stem == study else study)}"


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
