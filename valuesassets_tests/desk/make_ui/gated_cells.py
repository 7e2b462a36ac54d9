"""A code location whose cells are made when a file of their name appears; one that cannot be loaded, if asked."""

import os
import time
from pathlib import Path

import dagster as dg

from valuesassets.desk.warm_runs import start_runs_warm

GATES = "GATED_CELLS"
"""Names the folder of the files; one named `fault` makes the graph faulty."""
FAULT = "a fault in the graph"
CELLS = ("a", "b", "c", "d", "e", "f")

if (Path(os.environ.get(GATES, ".")) / "fault").exists():
    raise ValueError(FAULT)


@dg.asset(partitions_def=dg.StaticPartitionsDefinition(CELLS))
def cells(context: dg.AssetExecutionContext) -> None:
    while not (Path(os.environ[GATES]) / context.partition_key).exists():
        time.sleep(0.1)


start_runs_warm()
defs = dg.Definitions([cells], executor=dg.in_process_executor)
