"""What a study of backgrounds says in the terminal."""

import pandas as pd

from valuesassets.cli.awareness_outcome import print_outcome
from valuesassets.records.study import load_study


def test_a_slope_without_an_interval_is_printed_alone_and_one_with_both_ends_between_them(tmp_path, capsys):
    for folder in ("awareness", "benchmark_scores"):
        (tmp_path / folder).mkdir()
    slopes = {
        "slope": [0.5, -0.25],
        "slope_low": [0.25, None],
        "slope_high": [0.75, None],
        "planted_slope": [0.5, None],
    }
    pd.DataFrame({"model": ["aware", "alone"], "factor": "all", **slopes}).to_parquet(
        tmp_path / "awareness/factors.parquet"
    )
    pd.DataFrame({"model": ["aware", "alone"], "subset": "all", "w1_seed": [0.1, 0.2]}).to_parquet(
        tmp_path / "benchmark_scores/scores.parquet"
    )
    print_outcome(load_study("demo_worldvaluesbench"), tmp_path)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "aware slope 0.500 (0.250 to 0.750), planted 0.5; the benchmark's own score 0.1000" in lines
    assert "alone slope -0.250; the benchmark's own score 0.2000" in lines
