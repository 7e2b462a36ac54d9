"""Tables as CSV files."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.tables import SCORES
from valuesassets.records.csv_tables import csv_text, guarded, read_csv, unguarded, write_csv
from valuesassets.records.errors import StorageError


def test_a_csv_file_is_read_back_as_it_was_written_and_another_is_refused_by_name(tmp_path):
    row = {
        "model": "a, b",
        "score": "csp",
        "value": 0.5,
        "low": None,
        "n_questions": 3,
        "n_languages": 2,
        "status": "ok",
        "reason": 'two\n"lines"',
    }
    path = tmp_path / "scores.csv"
    write_csv(path, SCORES.frame([row]), SCORES)
    back = read_csv(path, SCORES)
    assert back.columns.tolist() == SCORES.names
    assert {name: back[name].iloc[0] for name in ("model", "value", "n_questions", "reason")} == {
        name: row[name] for name in ("model", "value", "n_questions", "reason")
    }
    assert pd.isna(back["low"].iloc[0])
    path.write_text("model,score\na,b\n", encoding="utf-8")
    with pytest.raises(StorageError, match=r"scores\.csv: holds no table cultural_robustness/scores"):
        read_csv(path, SCORES)


FORMULAS = ['=HYPERLINK("http://a.example";"b")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "＝1", "-"]
PLAIN = ["a\r=1", "a\r\n=1", "-1", "+3", "-0.5", "1e-3", "a = b", "'tis", "", "e-mail: a@b.example"]


@given(st.one_of(st.text(), st.text("'=+-@\t\r\n1.e")))
def test_a_text_is_read_back_as_it_was_and_begins_like_no_formula_in_between(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "@", "\t", "\r", "\n"))


def test_a_formula_of_others_reaches_no_spreadsheet_and_is_read_back(tmp_path):
    rows = [{"model": text, "score": "csp", "value": -0.5, "status": "ok", "reason": text} for text in FORMULAS + PLAIN]
    rows = [row | {"n_questions": 3, "n_languages": 2} for row in rows]
    path = tmp_path / "scores.csv"
    write_csv(path, SCORES.frame(rows), SCORES)
    alone = csv_text(pd.DataFrame(rows).astype({"model": "category"}))  # a return in a text begins no row
    for written in (path.read_bytes().decode(), alone):
        shown = [*csv.DictReader(io.StringIO(written, newline=""))]
        for column in ("model", "reason"):
            assert [row[column] for row in shown] == [f"'{text}" for text in FORMULAS] + PLAIN
        assert {row["value"] for row in shown} == {"-0.5"}
    back = read_csv(path, SCORES)
    assert back["reason"].tolist()[: len(FORMULAS)] == FORMULAS
    assert back["model"].fillna("").tolist() == FORMULAS + PLAIN


def test_what_is_no_text_is_written_as_it_is():
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "mixed": [1, None], "is_it": [True, False]})
    frame["objects"] = pd.Series([1, "=1"], dtype=object)
    assert csv_text(frame) == frame.assign(objects=[1, "'=1"]).to_csv(index=False)
