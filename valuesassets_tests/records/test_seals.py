"""Whatever bit of a file is flipped: it is refused, or what is read is what was written."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, write_json
from valuesassets.records.parquet import read_rows, table_metadata, write_frame, write_table
from valuesassets.records.seals import read_array, read_record, write_array, write_record
from valuesassets.records.table import Table

NUMBERS = Table("numbers", "a number", "model language p_valid?")
ROWS = [{"model": f"m{n % 3}", "language": "deu", "p_valid": n / 40} for n in range(40)]


def flipped(path):
    """A file's content with one bit flipped, at one place after another; then the file is as it was."""
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        yield bytes(damaged)
    path.write_bytes(content)


def test_every_flip_in_a_table_is_noticed_whatever_byte_it_hits(tmp_path):
    path = tmp_path / "numbers.parquet"
    write_table(path, ROWS, NUMBERS, {"model": "mine"})
    for content in flipped(path):
        path.write_bytes(content)
        for read in (lambda: read_rows(path, NUMBERS), lambda: table_metadata(path)):
            with pytest.raises(StorageError, match=r"not a readable parquet file but .*; write it again"):
                read()
    assert len(path.read_bytes()) > 1000
    assert read_rows(path, NUMBERS).to_pylist() == ROWS
    assert table_metadata(path) == {"model": "mine"}


def test_tables_without_a_digest_are_read_as_they_are(tmp_path):
    pd.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet", NUMBERS).to_pylist() == ROWS


def test_other_programs_read_our_tables_and_can_check_their_pages(tmp_path):
    path = tmp_path / "numbers.parquet"
    write_frame(path, pd.DataFrame(ROWS), NUMBERS)
    assert pd.read_parquet(path).to_dict("records") == ROWS
    content = bytearray(path.read_bytes())
    place = content.find(b"deu")
    content[place] ^= 1
    with pytest.raises(OSError, match="CRC checksum verification failed"):
        pq.read_table(pa.BufferReader(bytes(content)), page_checksum_verification=True)


def test_no_flip_in_a_json_object_is_read_as_another_value(tmp_path):
    path, value = tmp_path / "verdict.json", {"share": 0.25, "parts": {"deu": {"n": 17, "passed": True}}, "why": None}
    write_record(path, value)
    refused = 0
    for content in flipped(path):
        path.write_bytes(content)
        try:
            found = read_record(path)
        except StorageError:
            refused += 1
        else:  # blanks; or the name of the digest, with which there is none
            assert {name: found[name] for name in value} == value
    assert refused > 100
    assert read_record(path) == value
    write_json(path, value)
    assert read_record(path) == value == read_json(path)


def test_no_flip_in_an_array_is_read_as_another_number(tmp_path):
    path, array = tmp_path / "vectors.npy", np.linspace(-1, 1, 60).reshape(12, 5)
    write_array(path, array)
    for content in flipped(path):
        path.write_bytes(content)
        with pytest.raises(StorageError, match="does not hold what was written"):
            read_array(path)
    assert np.array_equal(np.load(path), array)
    plain = io.BytesIO()
    np.save(plain, array)
    path.write_bytes(plain.getvalue())
    assert np.array_equal(read_array(path), array)
