"""A data set as the files of a folder."""

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.published.files import SeedFiles
from valuesassets.instruments.worldvaluesbench.published.format import (
    FILES,
    require_variables,
    unlike_the_seeds,
    write_seed_format,
)
from valuesassets.instruments.worldvaluesbench.tables import LEDGER, PARTICIPANTS, VALUE_ANSWERS
from valuesassets.records.csv_tables import csv_text, read_csv
from valuesassets.records.errors import StorageError
from valuesassets.records.files import no_such_file, whole_file, write_text
from valuesassets.records.parquet import read_frame, write_frame

PARTICIPANTS_FILE, ANSWERS_FILE = "participants.parquet", "value_answers.parquet"
STATISTICS_FILE, LEDGER_FILE = "statistics.csv", "ledger.csv"
SEED_FORMAT = "seed_format"


def write_dataset(dataset: Dataset, folder: Path, seed_files: SeedFiles | None = None) -> Dataset:
    """Write a data set's tables, with the eight files of the seed where its own are given; all of them or none.

    Where they are not given, those of an earlier data set in the folder go.

    Returns:
        The data set as it was written: its ledger says where the eight files are not as the seed's.

    Raises:
        InputError: the seed's files name a variable that the data set has not.
        StorageError: the folder cannot be written.
    """
    if seed_files is not None:
        require_variables(dataset, seed_files)
        told = pd.DataFrame(unlike_the_seeds(dataset), columns=dataset.ledger.columns)
        dataset = replace(
            dataset, ledger=pd.concat([dataset.ledger, told], ignore_index=True) if len(told) else dataset.ledger
        )
    with _whole_folder(folder) as temporary:
        write_frame(temporary / PARTICIPANTS_FILE, dataset.participants, PARTICIPANTS)
        write_frame(temporary / ANSWERS_FILE, dataset.value_answers, VALUE_ANSWERS)
        write_text(temporary / STATISTICS_FILE, csv_text(derive_dataset_statistics(dataset)["splits"]))
        write_text(temporary / LEDGER_FILE, csv_text(dataset.ledger))
        if seed_files is not None:
            write_seed_format(dataset, seed_files, temporary / SEED_FORMAT)
    if seed_files is None:
        _remove_seed_format(folder / SEED_FORMAT)
    return dataset


def read_dataset(folder: Path) -> Dataset:
    """The data set of a folder that `write_dataset` has written.

    Raises:
        StorageError: the folder or one of its files is missing or damaged, or its two tables are of different people.
    """
    if not folder.is_dir():
        raise StorageError(f"{no_such_file(folder, 'folder')}; `valuesassets worldvaluesbench dataset` writes one")
    participants = read_frame(_there(folder / PARTICIPANTS_FILE), PARTICIPANTS)
    value_answers = read_frame(_there(folder / ANSWERS_FILE), VALUE_ANSWERS)
    if not participants["participant_id"].equals(value_answers["participant_id"]):
        raise StorageError(f"{folder}: {PARTICIPANTS_FILE} and {ANSWERS_FILE} have different people; write both anew")
    ledger = folder / LEDGER_FILE
    entries = read_csv(ledger, LEDGER) if ledger.is_file() else LEDGER.empty_frame()
    return Dataset(participants, value_answers, entries)


def _there(path: Path) -> Path:
    if not path.is_file():
        raise StorageError(
            f"{path}: no such file; name a folder that `valuesassets worldvaluesbench dataset` has written"
        )
    return path


def _remove_seed_format(folder: Path) -> None:
    """Remove the eight files, and the folders that are empty then."""
    for path in FILES:
        (folder / path).unlink(missing_ok=True)
    for place in (*{folder / path.parent for path in FILES}, folder):
        with contextlib.suppress(OSError):  # it holds something else, or is not there
            place.rmdir()


@contextlib.contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """A folder whose files move into `folder` when the block ends without an error; else nothing is left of it."""
    # Inside, not beside: `folder` may be `.`, or a link to another file system.
    temporary, is_new = folder / f".new.{secrets.token_hex(4)}", not folder.exists()
    try:
        yield temporary
        for path in sorted(path for path in temporary.rglob("*") if path.is_file()):
            with whole_file(folder / path.relative_to(temporary)) as place:
                path.replace(place)
    except StorageError as error:
        raise StorageError(str(error).replace(str(temporary), str(folder))) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if is_new:
            with contextlib.suppress(OSError):  # it holds the data set, or was not made
                folder.rmdir()
