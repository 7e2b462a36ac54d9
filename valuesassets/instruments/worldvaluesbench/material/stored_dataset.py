"""A data set as files in a folder."""

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.published.format import (
    FILES,
    PublishedFiles,
    require_variables,
    unlike_published,
    write_published_format,
)
from valuesassets.instruments.worldvaluesbench.tables import LEDGER, PARTICIPANTS, VALUE_ANSWERS
from valuesassets.records.csv_tables import csv_text, read_csv
from valuesassets.records.errors import StorageError
from valuesassets.records.files import no_such_file, whole_file, write_text
from valuesassets.records.parquet import read_frame, write_frame

PARTICIPANTS_FILE, ANSWERS_FILE = "participants.parquet", "value_answers.parquet"
STATISTICS_FILE, LEDGER_FILE = "statistics.csv", "ledger.csv"
PUBLISHED_FORMAT = "seed_format"


def write_dataset(dataset: Dataset, folder: Path, published: PublishedFiles | None = None) -> Dataset:
    """Write a data set's tables, and the eight published files if `published` is given; all of them or none.

    Without `published`, the eight files of an earlier data set in the folder are removed.

    Returns:
        The data set as written; its ledger says where the eight files differ from the published ones.

    Raises:
        InputError: the published files name a variable that the data set does not have.
        StorageError: the folder cannot be written.
    """
    if published is not None:
        require_variables(dataset, published)
        entries = pd.DataFrame(unlike_published(dataset), columns=dataset.ledger.columns)
        dataset = replace(
            dataset, ledger=pd.concat([dataset.ledger, entries], ignore_index=True) if len(entries) else dataset.ledger
        )
    with _whole_folder(folder) as temporary:
        write_frame(temporary / PARTICIPANTS_FILE, dataset.participants, PARTICIPANTS)
        write_frame(temporary / ANSWERS_FILE, dataset.value_answers, VALUE_ANSWERS)
        write_text(temporary / STATISTICS_FILE, csv_text(derive_dataset_statistics(dataset)["splits"]))
        write_text(temporary / LEDGER_FILE, csv_text(dataset.ledger))
        if published is not None:
            write_published_format(dataset, published, temporary / PUBLISHED_FORMAT)
    if published is None:
        _remove_published_format(folder / PUBLISHED_FORMAT)
    return dataset


def read_dataset(folder: Path) -> Dataset:
    """The data set in a folder that `write_dataset` wrote.

    Raises:
        StorageError: the folder or a file is missing or damaged, or its two tables are of different people.
    """
    if not folder.is_dir():
        raise StorageError(f"{no_such_file(folder, 'folder')}; `valuesassets worldvaluesbench dataset` writes one")
    for path in (folder / PARTICIPANTS_FILE, folder / ANSWERS_FILE):
        if not path.is_file():
            command = "`valuesassets worldvaluesbench dataset`"
            raise StorageError(f"{path}: no such file; name a folder that {command} has written")
    participants = read_frame(folder / PARTICIPANTS_FILE, PARTICIPANTS)
    value_answers = read_frame(folder / ANSWERS_FILE, VALUE_ANSWERS)
    if not participants["participant_id"].equals(value_answers["participant_id"]):
        raise StorageError(f"{folder}: {PARTICIPANTS_FILE} and {ANSWERS_FILE} have different people; write both anew")
    ledger = folder / LEDGER_FILE
    entries = read_csv(ledger, LEDGER) if ledger.is_file() else LEDGER.empty_frame()
    return Dataset(participants, value_answers, entries)


def _remove_published_format(folder: Path) -> None:
    """Remove the eight files, and their folders if these are empty then."""
    for path in FILES:
        (folder / path).unlink(missing_ok=True)
    for place in (*{folder / path.parent for path in FILES}, folder):
        with contextlib.suppress(OSError):  # it is not empty, or does not exist
            place.rmdir()


@contextlib.contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder; its files move into `folder` if the block ends without an error, and are removed if not."""
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
            with contextlib.suppress(OSError):  # it contains the data set, or does not exist
                folder.rmdir()
