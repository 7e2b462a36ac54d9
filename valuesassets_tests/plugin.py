"""A package with an instrument, written by `template instrument` and installed for a test without pip."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from valuesassets.cli.instrument_template import write_instrument
from valuesassets.orchestration import code_versions
from valuesassets.records import plugins, study
from valuesassets.records.tables import TABLES

ENTRY = "valuesassets_tides.instrument:INSTRUMENT"
CACHED = (
    plugins.installed,
    study.study_kind,
    code_versions.homes,
    code_versions._source,
    code_versions._roots,
    code_versions._data_of,
)
"""Functions whose answers hold as long as the same packages are installed."""


def write_plugin(folder: Path) -> Path:
    """The instrument `tides` in a folder that is to be put on Python's path."""
    write_instrument(folder / "tides")
    register(folder / "tides", "valuesassets-tides", tides=ENTRY)
    return folder / "tides"


def register(folder: Path, package: str, **entries: str) -> Path:
    """What an installer leaves of a package in a folder of Python's path: its name, and its entry points."""
    place = folder / f"{package.replace('-', '_')}-0.1.0.dist-info"
    place.mkdir(parents=True, exist_ok=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (place / "entry_points.txt").write_text(f"[{plugins.GROUP}]\n{lines}")
    return place


@contextmanager
def on_the_path(*folders: Path) -> Iterator[None]:
    """Packages in these folders are installed, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
        _forget()
        try:
            yield
        finally:
            _forget()
    plugins.installed.cache_clear()


def _forget() -> None:
    """Forget what is known of packages, and what was imported of the instrument."""
    for function in CACHED:
        function.cache_clear()
    for name in [each for each in sys.modules if each.split(".")[0] == "valuesassets_tides"]:
        del sys.modules[name]
    TABLES.pop("tides/leanings", None)
