"""What several commands show."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, gone when the work is done; gives the function to call with (done, total)."""
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def print_recovery(summary: "pd.DataFrame") -> None:
    """Print a recovery summary, a row per family and response type."""
    from valuesassets.figures.frames import records

    for row in records(summary):
        verdict = "recovered" if row["is_recovered"] else f"OFF: {row['reason']}"
        print(
            f"  {row['model']:<16} {row['response_type']:<12} n {row['n']:>4}  "
            f"W1 {row['w1_unit_error_mean']:.4f} | {row['w1_unit_error_p95']:.4f}  "
            f"P_valid {row['p_valid_error_mean']:.4f} | {row['p_valid_error_p95']:.4f}  "
            f"position bias {row['position_bias_error_mean']:.4f} | {row['position_bias_error_p95']:.4f}  {verdict}"
        )
