"""The word `bundled`, which stands for a file or folder that ships with the package."""

from pathlib import Path

from valuesassets.records.places import STUDIES

BUNDLED = "bundled"


def given_or_bundled(choice: Path | str, *bundled: str) -> Path:
    """The path that a user names; for `bundled`, the path below studies/."""
    return STUDIES.joinpath(*bundled) if str(choice) == BUNDLED else Path(choice)
