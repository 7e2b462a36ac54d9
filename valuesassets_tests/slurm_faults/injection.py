"""Injects a fault and counts what was lost."""

import re
from pathlib import Path
from typing import Any

from valuesassets_tests.slurm_faults.bench import CellBench
from valuesassets_tests.slurm_faults.fault import Fault
from valuesassets_tests.slurm_runner.cluster import Cluster


def inject(fault: Fault, cluster: Cluster, folder: Path) -> dict[str, Any]:
    """What came of a fault: `{fault, injected, user_saw, cells_lost, jobs_duplicated}`.

    Raises:
        AssertionError: the user saw something else than was expected.
    """
    bench = CellBench(folder, cluster, fault.resources, **fault.settings)
    seen = fault.inject(bench)
    said = " ".join(seen.said.replace(str(folder), "").split())
    assert re.search(seen.expected, said, re.IGNORECASE), f"{seen.expected!r} was expected: {said}"
    lost = [cell for cell in seen.cells if not (bench.is_right(*cell) and bench.materialised(*cell))]
    return {
        "fault": fault.name,
        "injected": fault.injected,
        "user_saw": said,
        "cells_lost": len(lost),
        "jobs_duplicated": len(bench.noted("starts")) - seen.starts,
    }
