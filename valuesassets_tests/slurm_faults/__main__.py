"""`make slurm-faults`: hurts cells on a real cluster in every way that we know, and tells what came of it."""

import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from valuesassets.records.files import write_json
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.slurm_faults.clusters import Clusters
from valuesassets_tests.slurm_faults.faults import FAULTS
from valuesassets_tests.slurm_faults.injection import inject


def main(names: list[str]) -> int:
    console, rows = Console(width=None if sys.stdout.isatty() else 160), []
    with Clusters() as clusters:
        for name in names or FAULTS:
            with tempfile.TemporaryDirectory() as folder:
                started = time.monotonic()
                row = inject(FAULTS[name], clusters.get(FAULTS[name].cluster), Path(folder))
                rows.append(row)
                console.print(f"{len(rows):3} {row['fault']} ({time.monotonic() - started:.0f} s)", highlight=False)
    table = Table("fault", "injected", "the user saw", "cells lost", "jobs duplicated", show_lines=True)
    for row in rows:
        table.add_row(*map(str, row.values()))
    console.print(table)
    if not names:
        write_json(REPOSITORY / "storage" / "evidence" / "slurm_faults.json", rows)
    lost, doubled = (sum(row[column] for row in rows) for column in ("cells_lost", "jobs_duplicated"))
    console.print(f"{len(rows)} faults: {lost} cells lost, {doubled} jobs duplicated")
    return 1 if lost or doubled else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
