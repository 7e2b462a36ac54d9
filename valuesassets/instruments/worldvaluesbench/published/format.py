"""`seed_format/`: people and answers as the eight TSV files that the seed's script writes, byte for byte."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.material.splits import SPLITS, seed_order
from valuesassets.instruments.worldvaluesbench.published.files import ID, METADATA, SeedFiles
from valuesassets.people.own_variables import NO_IDS
from valuesassets.people.repeated_ids import Entry
from valuesassets.records.errors import InputError
from valuesassets.records.files import whole_file

DEMOGRAPHIC, VALUE = "demographic", "value"
FILES = tuple(Path(split, f"{split}_{use}_qa.tsv") for split in ("full", *SPLITS) for use in (DEMOGRAPHIC, VALUE))
DROPPED = "858069901"
"""The id that the seed's script leaves out: this one alone, however many rows have it."""
EMPTY = np.iinfo(np.int64).min
"""Stands for nothing among codes, while they are sorted."""


def write_seed_format(dataset: Dataset, seed_files: SeedFiles, folder: Path) -> list[Path]:
    """Write `<split>/<split>_{demographic,value}_qa.tsv` for full, train, valid and test.

    A person's background is told in the seed's labels, answers are numbers, and what is missing is empty. Splits and
    the order of their rows are always the seed's, whatever rule the data set has.

    Raises:
        InputError: the seed's files have a variable that the data set has not.
        StorageError: a file cannot be written.
    """
    require_variables(dataset, seed_files)
    backgrounds, answers = _backgrounds(dataset, seed_files), _answers(dataset, seed_files)
    written = []
    for split, places in _places(len(backgrounds)):
        path = folder / split / f"{split}_{DEMOGRAPHIC}_qa.tsv"
        with whole_file(path) as temporary:
            backgrounds.iloc[places].to_csv(temporary, sep="\t", index=False, encoding="utf-8", lineterminator="\n")
        written.append(path)
        path = folder / split / f"{split}_{VALUE}_qa.tsv"
        with whole_file(path) as temporary, open(temporary, "wb") as stream:
            stream.write(("\t".join(answers.column_names) + "\n").encode())
            plain = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
            csv.write_csv(answers.take(pa.array(places)), stream, plain)
        written.append(path)
    return written


def require_variables(dataset: Dataset, seed_files: SeedFiles) -> None:
    """See that a data set has what the seed's files name.

    Raises:
        InputError: names the first variable that it has not; or its people have no ids of the survey.
    """
    if (dataset.ledger["why"] == NO_IDS).any():
        raise InputError(
            f"column {ID}: the survey's file has none, and the seed's files name people by it; take the file as the "
            "survey hands it out, or leave out the seed's files"
        )
    for use_case, frame in ((DEMOGRAPHIC, dataset.participants), (VALUE, dataset.value_answers)):
        for name in seed_files.named(use_case):
            if name not in frame:
                raise InputError(
                    f"{seed_files.folder / METADATA}: {name} ({use_case}) is not in the data set; remove it there, or "
                    "take the seed's own file"
                )


def unlike_the_seeds(dataset: Dataset) -> list[Entry]:
    """The ids whose rows are others in the eight files than in the seed's, which leaves out `DROPPED` and no other."""
    ledger, what = dataset.ledger, "unlike the seed's"
    treated = ledger[ledger["what"].isin(("dropped", "merged", "renumbered")) & (ledger["subject"] != DROPPED)]
    counts = treated.groupby("subject", sort=False)["n"].sum()
    found = [
        Entry(what, str(name), int(n), "its script keeps rows of this id as they are") for name, n in counts.items()
    ]
    if n := int((dataset.participants["interview_id"] == DROPPED).sum()):
        found.append(Entry(what, DROPPED, n, "its script drops this id"))
    return found


def _places(n: int) -> Iterator[tuple[str, list[int]]]:
    yield "full", list(range(n))
    yield from seed_order(n).items()


def _backgrounds(dataset: Dataset, seed_files: SeedFiles) -> pd.DataFrame:
    columns = {ID: dataset.participants["participant_id"].to_numpy(dtype=object)}
    for name in seed_files.named(DEMOGRAPHIC):
        is_label = seed_files.questions[name].answer_data_type != "ordinal"
        labels = seed_files.labels[name]
        codes = dataset.participants[name].to_numpy(dtype=np.int64, na_value=EMPTY)
        kinds, place = np.unique(codes, return_inverse=True)
        texts = [labels.get(str(code), str(code)) if is_label else str(code) if code >= 0 else "" for code in kinds]
        texts = ["" if code == EMPTY else text for code, text in zip(kinds, texts, strict=True)]
        columns[name] = np.array(texts, dtype=object)[place]
    return pd.DataFrame(columns)


def _answers(dataset: Dataset, seed_files: SeedFiles) -> pa.Table:
    columns = {ID: pa.array(dataset.participants["participant_id"])}
    for name in seed_files.named(VALUE):
        codes = dataset.value_answers[name].to_numpy(dtype=np.int16, na_value=-1)
        columns[name] = pa.array(codes, mask=codes < 0)
    return pa.table(columns)
