"""What studies have stored: `read_table`, `list_tables`."""

# pyright: strict, reportMissingTypeStubs=false

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets import instruments
from valuesassets.records.errors import StorageError
from valuesassets.records.files import no_such_name
from valuesassets.records.instruments import Instrument
from valuesassets.records.places import NO_STUDIES, storage_root
from valuesassets.records.plugins import installed, module_of
from valuesassets.records.study import Study, load_study

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.reporting.stored_tables import StoredTable


def instrument_records() -> dict[str, Instrument]:
    """The instruments of this package by name, then those of other packages that can be used.

    Every instrument has a folder of its name in a study's storage.
    """
    ours = {each.name: each for each in sorted(instruments.INSTRUMENTS, key=lambda each: each.name)}
    return ours | dict(installed().instruments)


def read_table(study: str | Study, name: str, storage: Path | None = None) -> "pd.DataFrame":
    """A stored table with the rows of all its parts; types and ranges are checked.

    Args:
        study: a study, the name under which it is stored, or its file (TOML).
        name: of the table, such as `survey/signal/batteries`; `list_tables` has all.
        storage: the folder of all studies; that of the commands if left out.

    Raises:
        StorageError: there is no such table, or a file of it is damaged.
    """
    import pandas as pd

    from valuesassets.reporting.stored_tables import checked_frame

    folder = _folder(study, storage)
    tables = dict(_tables_of(folder))
    if name not in tables:
        raise StorageError(f"study {folder.name}: {no_such_name(name, f'table in {folder}', sorted(tables))}")
    frames = [checked_frame(path, tables[name].table) for path in tables[name].files.values()]
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def list_tables(study: str | Study | None = None, storage: Path | None = None) -> "pd.DataFrame":
    """The stored tables: `study`, `table`, what a `row` is, the number of `files`, and `bytes`.

    Args:
        study: of one study; of all studies if left out.
        storage: the folder of all studies; that of the commands if left out.
    """
    import pandas as pd

    folders = stored_studies(storage) if study is None else [_folder(study, storage)]
    columns = pd.Index(["study", "table", "row", "files", "bytes"])
    return pd.DataFrame([{"study": f.name} | each for f in folders for each in described_tables(f)], columns=columns)


def described_tables(folder: Path) -> Iterator[dict[str, Any]]:
    """The tables in a study's folder: name, what a row is, files and bytes."""
    for name, stored in _tables_of(folder):
        size = sum(path.stat().st_size for path in stored.files.values())
        yield {"table": name, "row": stored.table.row, "files": len(stored.files), "bytes": size}


def stored_studies(storage: Path | None = None) -> list[Path]:
    """The folders of the studies in a storage."""
    folders = sorted((storage or storage_root()).glob("*"))
    return [folder for folder in folders if folder.is_dir() and folder.name not in NO_STUDIES]


def stored_instruments(folder: Path) -> list[str]:
    """The instruments that a study's folder has files of, by name; tables that only they have are then declared."""
    records = [each for name, each in instrument_records().items() if (folder / name).is_dir()]
    for each in records:
        module_of(each, f"{each.package}.tables")
    return [each.name for each in records]


def _tables_of(folder: Path) -> "Iterator[tuple[str, StoredTable]]":
    from valuesassets.reporting.stored_tables import stored_tables

    for instrument in stored_instruments(folder):
        for name, stored in stored_tables(folder, instrument).items():
            yield f"{instrument}/{name}", stored


def _folder(study: str | Study, storage: Path | None) -> Path:
    if isinstance(study, str) and re.search(r"[/\\]|\.toml$", study):
        study = load_study(study)
    folder = (storage or storage_root()) / (study.name if isinstance(study, Study) else study)
    if not folder.is_dir():
        raise StorageError(f"{folder}: nothing of this study is stored; run it first: valuesassets run {folder.name}")
    return folder
