"""Writes the package of a new instrument, which `template instrument` gives to begin with."""

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

from valuesassets.cli.command_table import PROGRAM, group_name
from valuesassets.records.errors import InputError
from valuesassets.records.files import whole_folder, write_text
from valuesassets.records.instruments import API
from valuesassets.records.places import STUDIES
from valuesassets.records.plugins import installed
from valuesassets.records.study import Study

FILES = STUDIES / "instrument_template"
"""Files of the package, each with `.txt` behind its name; names such as `$name` stand in them."""
NAME = re.compile(r"[a-z][a-z0-9_]{1,29}")


def write_instrument(folder: Path) -> None:
    """Write the package of an instrument that has the folder's name.

    Raises:
        InputError: the folder is there, or the name cannot be an instrument's.
    """
    require_name(folder.name)
    if folder.exists():
        raise InputError(f"{folder}: is there already; choose another name")
    words = _words(folder.name)
    with whole_folder(folder) as temporary:
        for place, template in _templates(words["package"]):
            (temporary / place).parent.mkdir(parents=True, exist_ok=True)
            write_text(temporary / place, template.substitute(words))


def require_name(name: str) -> None:
    """Require that a name can be that of a new instrument; InputError says why not."""
    if not NAME.fullmatch(name):
        raise InputError(f"{name}: no name of an instrument; write 2 to 30 small letters, digits and _, a letter first")
    if group_name(name) in PROGRAM or name in installed().instruments:
        raise InputError(f"{name}: an instrument or a command has this name; choose another")
    if name in Study.model_fields:
        raise InputError(f"{name}: is a key of every study file; choose another name")


def _words(name: str) -> dict[str, str]:
    """What stands in the template's files in place of its words."""
    return {
        "name": name,
        "NAME": name.upper(),
        "Name": "".join(part.capitalize() for part in name.split("_")),
        "title": name.replace("_", " ").capitalize(),
        "package": f"valuesassets_{name}",
        "distribution": f"valuesassets-{group_name(name)}",
        "command": group_name(name),
        "api": str(API),
    }


def _templates(package: str) -> Iterator[tuple[Path, Template]]:
    """The files of the template by their places in the new folder."""
    for path in sorted(FILES.rglob("*.txt")):
        first, *others = path.relative_to(FILES).parts
        place = Path(package if others and first == "package" else first, *others)
        yield place.with_name(place.name.removesuffix(".txt")), Template(path.read_text("utf-8"))
