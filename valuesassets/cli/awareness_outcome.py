"""What a study of backgrounds has found, in a few lines."""

from pathlib import Path

from valuesassets.cli.studies import print_calibration
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study


def print_outcome(found: Study, folder: Path) -> None:
    """Print calibration, the slope of each model beside what was planted, the benchmark's own score, and readouts."""
    import pandas as pd

    from valuesassets.records.frames import records, rows_where
    from valuesassets.records.parquet import stored_frame

    print_calibration(found, folder)
    for place in sorted(folder.glob("awareness/**/factors.parquet")):
        named = "" if place.parent.name == "awareness" else place.parent.name
        print(f"\nAwareness{f', {named}' if named else ''}: share of people's moves between groups that a model makes")
        factors = stored_frame(place)
        pooled = (
            stored_frame(folder / "benchmark_scores" / named / "scores.parquet")
            .query("subset == 'all'")
            .groupby("model")["w1_seed"]
            .mean()
        )
        for row in records(rows_where(factors, factor="all")):
            planted = "" if pd.isna(row["planted_slope"]) else f", planted {row['planted_slope']:g}"
            ends = row["slope_low"], row["slope_high"]
            interval = "" if pd.isna(ends[0]) else f" ({ends[0]:.3f} to {ends[1]:.3f})"
            score = f"; the benchmark's own score {pooled.get(row['model'], float('nan')):.4f}"
            print(f"  {row['model']:<32} slope {row['slope']:.3f}{interval}{planted}{score}")
    for place in sorted(folder.glob("readout_comparison/**/readouts.parquet")):
        named = "" if place.parent.name == "readout_comparison" else f", {place.parent.name}"
        print(f"\nReadouts{named}: mean W1 from the exact distribution")
        for row in records(stored_frame(place).dropna(subset=["w1_unit"])):
            chance = "" if pd.isna(row["w1_expected_unit"]) else f"; chance alone gives {row['w1_expected_unit']:.4f}"
            slope = "" if pd.isna(row["slope"]) else f"; slope {row['slope']:.3f}"
            print(f"  {row['model']:<16} {row['readout']:<10} {row['w1_unit']:.4f}{chance}{slope}")
    for name in WorldValuesBench.of(found).sets:
        report = folder / "report" / f"{name}.html"
        print(f"report: {report if report.exists() else 'not written'}")
