"""`python -m valuesassets_tests.real.rounding`: how far labels are apart between batches, and from one pass for each.

Real questions in six languages, read by plain transformers sequence by sequence, and by the engine in batches of 8 and
64 rows under one thread and two, in float32 and bfloat16. Prints how the differences are distributed, in nats and in
percentage points of an answer's share (its probability over that of all labels).
"""

import argparse
import sys

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from valuesassets.models.certificate import LogitSpread, tolerance_of
from valuesassets.models.index_registry import PREFIX, index_models
from valuesassets.models.loading import load_model
from valuesassets.models.token_trees import BatchBudget
from valuesassets_tests.real.plain import STEPS, Plain
from valuesassets_tests.real.prompts import prompts
from valuesassets_tests.scored import score_trials

BUDGETS = {"8 rows": BatchBudget(256, 8), "64 rows": BatchBudget(1536, 64)}


def shares(probs):
    """Of each label among the labels of its prompt."""
    return np.concatenate([np.asarray(each) / np.sum(each) for each in probs])


def compare(name, dtype, n_each, table):
    """The rows of a model in a dtype."""
    loaded, asked = load_model(name, dtype=dtype, device="cpu"), prompts(n_each, n_each // 4)
    torch.set_num_threads(1)
    oracle = Plain(loaded.opened.folder, loaded.model)
    alone = [oracle.label_probs(trial.prompt, trial.labels) for trial in asked]
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for rows, budget in BUDGETS.items():
            with LogitSpread().watching(loaded.model) as spread:
                read = [reading.label_probs for reading in score_trials(loaded, asked, budget=budget).readings]
            nats = np.abs(np.log(np.concatenate(read)) - np.log(np.concatenate(alone)))
            points = 100 * np.abs(shares(read) - shares(alone))
            allowed = tolerance_of(loaded.opened, spread.largest, STEPS)
            numbers = [*np.quantile(nats, (0.5, 0.99, 1)), allowed, points.max()]
            table.add_row(
                name.removeprefix(PREFIX), dtype, rows, str(threads), str(len(nats)), *(f"{n:.1e}" for n in numbers)
            )
            print(f"{name} {dtype}: {rows}, {threads} threads: {nats.max():.2g} nats at most", file=sys.stderr)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=[f"{PREFIX}{name}" for name in index_models()])
    parser.add_argument("--dtypes", nargs="*", default=["float32", "bfloat16"])
    parser.add_argument("--questions", type=int, default=80, help="prompts in each of six languages")
    asked = parser.parse_args()
    table = Table()
    for heading in ("model", "dtype", "batches of", "threads", "labels", "median", "99 %", "most", "allowed", "points"):
        table.add_column(heading)
    for name in asked.models:
        for dtype in asked.dtypes:
            compare(name, dtype, asked.questions, table)
    Console(width=140).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
