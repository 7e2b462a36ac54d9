"""Tables as CSV files."""

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measure_tables import SCORES
from valuesassets.records.csv_tables import read_csv, write_csv
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
