"""Vectors made elsewhere are made to length 1 and matched with answers; one that cannot serve is named by its row."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from valuesassets.instruments.cultural_robustness.answers.vector_files import match_vectors, read_vectors
from valuesassets.instruments.cultural_robustness.tables import VECTORS
from valuesassets.records.errors import InputError
from valuesassets.records.parquet import read_table, write_frame

ROWS = [
    {"language": "el", "kind": "unspecific", "id": "1", "sample": 0, "vector": [3.0, 4.0]},
    {"language": "ell", "kind": "specific", "id": "1-1", "sample": 0, "vector": [0.0, 2.0]},
    {"language": "ua", "kind": "unspecific", "id": "1", "sample": 1, "vector": [-5.0, 0.0]},
    {"language": "ell", "kind": "question", "id": "1", "sample": 0, "vector": [1.0, 0.0]},
]


def written(path, rows=None, kind=None, drop=()):
    frame = pd.DataFrame(ROWS if rows is None else rows).drop(columns=list(drop))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if kind is not None:
        table = table.set_column(table.column_names.index("vector"), "vector", table.column("vector").cast(kind))
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize(
    "kind",
    [None, pa.list_(pa.float32()), pa.list_(pa.float16()), pa.large_list(pa.float64()), pa.list_(pa.float32(), 2)],
)
def test_vectors_have_length_one_whatever_numbers_they_are_written_in(tmp_path, kind):
    vectors = read_vectors(written(tmp_path / "v.parquet", kind=kind))
    assert vectors["language"].tolist() == ["ell", "ell", "ukr", "ell"]
    assert np.allclose(np.stack(vectors["vector"].tolist()), [[0.6, 0.8], [0, 1], [-1, 0], [1, 0]], atol=1e-7)
    assert vectors["vector"].iloc[0].dtype == np.float32


def changed(number, **changes):
    return [row | changes if place == number else row for place, row in enumerate(ROWS, 1)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (changed(2, vector=[1.0, 2.0, 3.0]), "row 2: the vector has 3 numbers, 2 were expected as in row 1"),
        (changed(2, vector=None), "row 2: no vector; embed it"),
        (changed(2, vector=[]), "row 2: the vector has 0 numbers"),
        (changed(2, vector=[0.0, 0.0]), "row 2 (ell specific 1-1 0): the vector is zero"),
        (changed(3, vector=[float("nan"), 1.0]), "row 3 (ukr unspecific 1 1): the vector holds what is no number"),
        (changed(3, vector=[float("inf"), 1.0]), "row 3 (ukr unspecific 1 1): the vector holds what is no number"),
        (changed(3, language="xx"), "row 3 (xx unspecific 1 1): language is no code of one"),
        (changed(3, kind="answer"), "row 3 (ukr answer 1 1): kind is none of unspecific, specific, question"),
        (changed(3, language=None), "row 3 (None unspecific 1 1): language is missing"),
        (changed(4, sample=-1), "row 4 (ell question 1 -1): sample is no whole number from 0"),
        (changed(4, sample=0.5), "row 4 (ell question 1 0.5): sample is no whole number from 0"),
        (changed(2, kind="unspecific", id="1"), "row 2 (ell unspecific 1 0): stands there twice"),
        ([row | {"vector": ["a"]} for row in ROWS], "column vector holds string"),
        ([row | {"vector": 1.0} for row in ROWS], "column vector holds double, a list of numbers was expected"),
        ([row | {"sample": "first"} for row in ROWS], "column sample holds texts"),
    ],
)  # fmt: skip
def test_a_vector_that_cannot_serve_is_named_by_its_row(tmp_path, rows, message):
    with pytest.raises(InputError) as error:
        read_vectors(written(tmp_path / "v.parquet", rows))
    assert str(error.value).startswith(f"{tmp_path / 'v.parquet'}: {message}")
    assert "\n" not in str(error.value)


def test_what_is_no_parquet_file_of_vectors_is_named(tmp_path):
    path = tmp_path / "v.parquet"
    for make, message in (
        (lambda: None, "no such file"),
        (lambda: path.write_text('{"a": 1}'), "is JSON, a parquet file was expected"),
        (lambda: path.write_bytes(written(tmp_path / "w.parquet").read_bytes()[:-20]), "is truncated or damaged"),
        (lambda: written(path, drop=["sample"]), "no column sample (there are language, kind, id, vector)"),
        (lambda: pq.write_table(pq.read_table(written(path)).slice(0, 0), path), "no row in it"),
    ):
        make()
        with pytest.raises(InputError, match=f"^{path}: ") as error:
            read_vectors(path)
        assert message in str(error.value)


QUALITY = pd.DataFrame(
    [
        ("ukr", "unspecific", "1", 1, "truncated"),
        ("ell", "unspecific", "1", 0, "ok"),
        ("ell", "specific", "1-1", 0, "wrong_language"),
        ("ell", "specific", "1-2", 0, "empty"),
    ],
    columns=["language", "kind", "id", "sample", "status"],
)


@pytest.mark.parametrize(("keep", "usable"), [((), [False, True, False]), (("truncated",), [True, True, False])])
def test_answers_have_their_vector_and_whether_they_count_blank_ones_need_none(tmp_path, keep, usable):
    matched = match_vectors(read_vectors(written(tmp_path / "v.parquet")), QUALITY, keep)
    assert matched["id"].tolist() == ["1", "1", "1-1", "1"]
    assert matched["kind"].tolist() == ["unspecific", "unspecific", "specific", "question"]
    assert matched["is_usable"].tolist() == [*usable, True]
    write_frame(tmp_path / "stored.parquet", matched, VECTORS)
    assert np.allclose(read_table(tmp_path / "stored.parquet", VECTORS).column("vector").to_pylist()[1], [0.6, 0.8])


def test_an_answer_without_a_vector_is_named(tmp_path):
    lacking = pd.concat([QUALITY, QUALITY.tail(1).assign(id="2-1", status="truncated")])
    with pytest.raises(InputError) as error:
        match_vectors(read_vectors(written(tmp_path / "v.parquet")), lacking, (), "v.parquet")
    assert str(error.value).startswith("v.parquet: 1 answers have no vector, the first is ell specific 2-1 0")
