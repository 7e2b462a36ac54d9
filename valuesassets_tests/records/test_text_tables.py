"""Rows of tables of text by their lines; what is said of rows by number, the files that have them show."""

import pytest

from valuesassets.records.errors import InputError
from valuesassets.records.text_tables import read_rows


def rows(path, text, delimiters=","):
    path.write_bytes(text.encode())
    return read_rows(path, ("a", "b"), InputError, delimiters=delimiters, by_line=True)


def test_rows_have_their_number_and_that_of_their_last_line_and_blank_ones_are_left_out(tmp_path):
    text = 'a, b ,c\r\n1,2,3\r\n , ,\r\n"x\r\ny", z ,\r\n'
    assert rows(tmp_path / "f.csv", text) == [
        (2, 2, {"a": "1", "b": "2", "c": "3"}),
        (4, 5, {"a": "x\r\ny", "b": "z", "c": ""}),
    ]


def test_the_separator_is_that_of_the_header_and_a_comma_alone_if_nothing_is_said(tmp_path):
    assert rows(tmp_path / "f.csv", "a;b\n1,5;2\n", ",;") == [(2, 2, {"a": "1,5", "b": "2"})]
    with pytest.raises(InputError, match="line 1: a;b found, a header a,b was expected"):
        rows(tmp_path / "f.csv", "a;b\n1;2\n")


def test_a_row_that_does_not_fit_the_header_is_named(tmp_path):
    with pytest.raises(InputError, match=r"f\.csv: line 3: 3 fields found, 2 were expected"):
        rows(tmp_path / "f.csv", "a,b\n1,2\n1,2,3\n")
