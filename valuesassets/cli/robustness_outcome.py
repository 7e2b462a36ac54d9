"""What answers in many languages came to, printed at the end of a run or of `robustness score`."""

from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.cli.outputs import ends_of
from valuesassets.records.frames import records, rows
from valuesassets.records.study import Study

if TYPE_CHECKING:
    import pandas as pd


def print_outcome(found: Study, folder: Path) -> None:
    """Print the scores of each model, what was planted against what came back, and where the page is."""
    import pandas as pd

    scores, calibration = folder / "scores" / "scores.csv", folder / "calibration" / "calibration.csv"
    if scores.exists():
        print("\nScores (interval over questions; p corrected over a model's tests; null: without a signal)")
        print_table(pd.read_csv(scores))
    if calibration.exists():
        listed = pd.read_csv(calibration)
        off = rows(listed, ~listed["is_recovered"].astype(bool))
        print(f"\nCalibration: {len(listed) - len(off)} of {len(listed)} planted facts recovered")
        for row in records(off):
            print(f"  OFF: {row['model']} {row['fact']}: planted {row['planted']}, recovered {row['recovered']}")
    page = folder / "report" / "report.html"
    print(f"report: {page if page.exists() else 'not written'}")


def print_scores(scores: "pd.DataFrame", quality: "pd.DataFrame", dropped: "pd.DataFrame") -> None:
    """Print which answers count, which languages are compared, and every score."""
    counts = ", ".join(f"{n} {status}" for status, n in quality["status"].value_counts().items())
    print(f"{len(quality)} answers: {counts}")
    from valuesassets.instruments.cultural_robustness.claims import weaknesses

    for said in weaknesses(quality):
        print(said)
    for row in records(dropped):
        print(f"{row['language']} is left out: {row['reason']}")
    print_table(scores)


def print_table(scores: "pd.DataFrame") -> None:
    """Print a line for each score, its interval, p-value and null, or why there is no number."""
    for row in records(scores):
        named = f"  {row['model']:<14} {row['score']:<22}"
        if row["value"] is None or row["value"] != row["value"]:
            print(f"{named} {row['status']}: {row['reason']}")
            continue
        has = {name: row[name] is not None and row[name] == row[name] for name in ("p", "null")}
        ends = ends_of(row, spec="+.4f")
        p = f"  p {row['p']:.3g}" if has["p"] else ""
        null = f"  null {row['null']:+.4f}" if has["null"] else ""
        print(f"{named} {row['value']:+.4f}{ends}{p}{null}")
