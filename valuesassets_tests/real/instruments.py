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


def written_study(name: str, folder: Path) -> Path:
    """A study of `studies/` with the paths of this machine in it."""
    text = (FILES / f"{name}.toml").read_text(encoding="utf-8")
    if "EMBEDDER" in text:
        text = text.replace("EMBEDDER", str(fetch_index_model(EMBEDDER, tell=print)))
    path = folder / f"{name}.toml"
    path.write_text(text.replace("DILEMMAS", str(STUDIES / "worldwise/demo_scenarios.json")), encoding="utf-8")
    return path


def stored(study: str, table: str) -> pd.DataFrame:
    """All rows of a table of a study; of one with a file for each cell, all files, with the cell in `model`."""
    place = storage_root() / study / table
    if (single := place.with_suffix(".parquet")).exists():
        return pd.read_parquet(single)
    frames = []
    for path in sorted(place.rglob("*.parquet")):
        frame = pd.read_parquet(path)
        frame["cell"] = str(path.relative_to(place).with_suffix(""))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def show(title: str, frame: pd.DataFrame, *columns: str) -> None:
    """A table of the terminal with these columns."""
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
    for name in () if asked.print_only else ("choices", "reasons"):
        try:
            path = written_study(name, folder)
        except ModelError as error:
            print(error, file=sys.stderr)
            return 1
        # A model that no instrument's preflight lets pass is a failure of its run; the tables say which it was.
        subprocess.run([sys.executable, "-m", "valuesassets.cli", "run", str(path)], check=False)
    orders = ("model", "n_choices", "p_valid", "changed", "pull_share", "agreement", "agreement_low", "follow")
    show("worldwise: choices", stored("choices", "worldwise/reliability/orders"), *orders)
    choices = stored("choices", "worldwise/choices")
    leans = choices[choices["status"] == "ok"].groupby("model")[["p_high", "p_high_log_odds"]]
    show("mean |p - .5|", leans.agg(lambda of: (of - 0.5).abs().mean()).reset_index())
    ratings = (
        "model",
        "n_prompts",
        "n_low_p_valid",
        "p_valid",
        "changed",
        "pull_unit",
        "agreement",
        "follow",
        "reason",
    )
    show("worldvaluesbench: ratings", stored("choices", "worldvaluesbench/benchmark_scores/orders"), *ratings)
    scores = ("model", "task", "history", "n_marks", "log_score", "log_score_low", "log_score_high")
    show("psych tasks: prediction", stored("choices", "psych_tasks/prediction/scores"), *scores)
    answers = stored("choices", "cultural_robustness/answer_quality")
    counts = answers.groupby(["cell", "status"]).size().unstack(fill_value=0)
    show("cultural robustness: answers", counts.reset_index())
    robustness = ("model", "score", "value", "low", "high", "p", "null", "status", "reason")
    show("cultural robustness: scores", stored("choices", "cultural_robustness/scores"), *robustness)
    statuses = stored("reasons", "worldwise/quality_report/statuses")
    sums = statuses.groupby(["model", "form", "status"])["n_status"].sum().unstack(fill_value=0)
    show("worldwise: reasons", sums.reset_index())
    return 0


if __name__ == "__main__":
    sys.exit(main())
