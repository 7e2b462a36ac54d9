"""Reads vectors that were embedded elsewhere, from a parquet file with `language, kind, id, sample, vector`."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from valuesassets.answers.language_codes import language_code
from valuesassets.instruments.cultural_robustness.answers.answer_quality import KEY, is_usable
from valuesassets.instruments.cultural_robustness.answers.vectors import NOT_EMBEDDED
from valuesassets.instruments.cultural_robustness.tables import VECTORS
from valuesassets.records.errors import InputError
from valuesassets.records.frames import rows_where
from valuesassets.records.parquet import read_given

KINDS = ("unspecific", "specific", "question")
COLUMNS = [*KEY, "vector"]
SHORTEST = 1e-12
"""A shorter vector has no direction."""


def read_vectors(path: Path) -> pd.DataFrame:
    """The vectors of a file, made to length 1: `language, kind, id, sample, vector`.

    Raises:
        InputError: no parquet file, a column is missing, or a vector is missing, of another length than the first,
            zero, infinite or NaN, or stands there twice; names file and row.
    """
    table = _read(path)
    frame = pd.DataFrame({name: table.column(name).to_pandas() for name in KEY})
    _require_keys(path, frame)
    vectors = _matrix(path, table.column("vector").combine_chunks())
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    for is_wrong, what in (
        (~np.isfinite(lengths), "holds what is no number (NaN or infinite)"),
        (lengths < SHORTEST, "is zero, so that it has no direction"),
    ):
        _refuse(path, frame, is_wrong, f"the vector {what}; embed it again")
    vectors = (vectors / lengths[:, None]).astype(np.float32)
    return frame.assign(vector=list(vectors))


def _read(path: Path) -> pa.Table:
    table = read_given(path)
    if lacking := [name for name in COLUMNS if name not in table.column_names]:
        columns = ", ".join(table.column_names)
        raise InputError(f"{path}: no column {lacking[0]} (there are {columns}), {', '.join(COLUMNS)} were expected")
    if not table.num_rows:
        raise InputError(f"{path}: no row in it, one for each answer was expected; write it again")
    return table


def _require_keys(path: Path, frame: pd.DataFrame) -> None:
    """See that every row says whose vector it is; codes become ISO 639-3, numbers of samples whole."""
    for name in KEY:
        _refuse(path, frame, frame[name].isna().to_numpy(bool), f"{name} is missing; fill it")
    code_by_name = {name: language_code(str(name)) for name in set(frame["language"])}
    codes = [code_by_name[name] for name in frame["language"]]
    is_unknown = np.array([code is None for code in codes])
    _refuse(path, frame, is_unknown, "language is no code of one; write ISO 639-1 or 639-3")
    frame["language"] = codes
    is_other = ~np.isin(frame["kind"].to_numpy(str), KINDS)
    _refuse(path, frame, is_other, f"kind is none of {', '.join(KINDS)}; mend it")
    try:
        numbers = frame["sample"].to_numpy(float)
    except ValueError:
        raise InputError(f"{path}: column sample holds texts, whole numbers were expected; mend it") from None
    _refuse(path, frame, ~((numbers >= 0) & (numbers % 1 == 0)), "sample is no whole number from 0; mend it")
    frame["sample"], frame["id"] = numbers.astype(np.int64), frame["id"].astype(str)
    is_repeated = frame.duplicated(KEY).to_numpy(bool)
    _refuse(path, frame, is_repeated, "stands there twice; keep one vector of each answer")


def _refuse(path: Path, frame: pd.DataFrame, is_wrong: NDArray[np.bool_], what: str) -> None:
    if is_wrong.any():
        raise InputError(f"{path}: row {_first(is_wrong)} ({_named(frame, is_wrong)}): {what}")


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(mask)[0]) + 1


def _named(frame: pd.DataFrame, mask: NDArray[np.bool_]) -> str:
    return " ".join(str(value) for value in frame.loc[frame.index[mask][0], KEY])


def _matrix(path: Path, vectors: pa.Array) -> NDArray[np.float32]:
    """The vectors as rows of one array."""
    if not isinstance(vectors, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        raise InputError(f"{path}: column vector holds {vectors.type}, a list of numbers was expected; write lists")
    is_missing = np.asarray(vectors.is_null())
    if is_missing.any():
        raise InputError(f"{path}: row {_first(is_missing)}: no vector; embed it, or take the row out")
    sizes = (
        np.full(len(vectors), vectors.type.list_size)
        if isinstance(vectors, pa.FixedSizeListArray)
        else np.asarray(vectors.value_lengths())
    )
    is_other = (sizes != sizes[0]) | (sizes == 0)
    if is_other.any():
        row = _first(is_other)
        raise InputError(
            f"{path}: row {row}: the vector has {sizes[row - 1]} numbers, {sizes[0] or 'some'} were expected as in row "
            "1; embed all texts with one embedder"
        )
    try:
        flat = vectors.flatten().cast(pa.float32())
    except pa.ArrowInvalid as fault:
        raise InputError(f"{path}: column vector holds {vectors.type.value_type} ({fault}); write numbers") from None
    return flat.to_numpy(zero_copy_only=False).reshape(len(vectors), -1)


def match_vectors(
    vectors: pd.DataFrame, quality: pd.DataFrame, keep: tuple[str, ...] = (), source: str = "vectors"
) -> pd.DataFrame:
    """The vectors of answers, each with whether it counts, then those of questions; others are left out.

    Args:
        vectors: `language, kind, id, sample, vector`.
        quality: rows of `ANSWER_QUALITY`.
        keep: statuses that count beside `ok`.
        source: begins the message; the file.

    Returns:
        Rows of `VECTORS`, answers in the order of `quality`.

    Raises:
        InputError: an answer that says something has no vector.
    """
    answers = pd.DataFrame(quality[[*KEY, "status"]]).assign(is_usable=is_usable(quality, keep))
    matched = answers.merge(vectors, on=KEY, how="left", validate="one_to_one")
    is_lacking = matched["vector"].isna().to_numpy(bool)
    needed = is_lacking & ~np.isin(matched["status"].to_numpy(str), NOT_EMBEDDED)
    if needed.any():
        first = _named(matched, needed)
        raise InputError(
            f"{source}: {int(needed.sum())} answers have no vector, the first is {first} (language, kind, id, sample); "
            "embed all answers"
        )
    questions = rows_where(vectors, kind="question").assign(is_usable=True)
    embedded = pd.concat([matched[~is_lacking], questions], ignore_index=True)
    return pd.DataFrame(embedded, columns=pd.Index(VECTORS.names))
