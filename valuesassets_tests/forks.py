"""Processes that are forks of one that has imported what asks models: each begins at its work, not at its imports."""

import multiprocessing
from typing import Any

FORKS: Any = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "valuesassets_tests.warm_imports",
        "valuesassets_tests.bad_inputs.test_stopped_reading",
        "valuesassets_tests.node.test_generate",
        "valuesassets_tests.node.test_stopping",
    ]
)
"""A process has one server of forks, whose imports are those of the modules whose functions they call."""
