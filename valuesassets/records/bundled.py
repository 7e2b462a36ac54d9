"""The word by which a person names what ships with the package, in place of a file or folder."""

from pathlib import Path

from valuesassets.records.places import STUDIES

BUNDLED = "bundled"


def given_or_bundled(given: Path | str, *bundled: str) -> Path:
    """What a person names, or what lies there in studies/ where that is `bundled`."""
    return STUDIES.joinpath(*bundled) if str(given) == BUNDLED else Path(given)
