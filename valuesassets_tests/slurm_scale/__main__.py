"""`make slurm-scale`: 1,000 jobs in one array, up to 6,000 tasks in several, 44 cells at once against one by one."""

import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from valuesassets.records.files import read_json, write_json
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.slurm_runner.arrays import serve_held, watch_array
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.slurm_scale.grid import measure_grid

SIZES = (630, 1500, 3000, 6000)
EVIDENCE = REPOSITORY / "storage" / "evidence" / "slurm_scale.json"


def main(parts: list[str]) -> int:
    console, found = Console(), read_json(EVIDENCE) if EVIDENCE.exists() else {}
    if not parts or "array" in parts:
        with Cluster(CPUS=32) as cluster, tempfile.TemporaryDirectory() as folder:
            os.environ.update(cluster.environment)
            found["array"] = asdict(watch_array(1000, Path(folder)))
            console.print("array", found["array"])
    if not parts or "arrays" in parts:
        with Cluster(NODES=1, EXTRA="MaxJobCount=20000") as cluster, tempfile.TemporaryDirectory() as folder:
            os.environ.update(cluster.environment)
            found["arrays"] = [asdict(serve_held(n, Path(folder) / str(n))) for n in SIZES]
            console.print("arrays", found["arrays"])
    if not parts or "grid" in parts:
        with Cluster(NODES=3, GPUS=4) as cluster, tempfile.TemporaryDirectory() as folder:
            os.environ.update(cluster.environment)
            os.environ["VALUESASSETS_DAGSTER"] = str(Path(folder) / "storage" / "dagster")
            found["grid"] = measure_grid(Path(folder), cluster)
            console.print("grid", found["grid"])
    write_json(EVIDENCE, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
