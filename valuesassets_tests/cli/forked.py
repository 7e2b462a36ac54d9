"""`python -m valuesassets_tests.cli.forked`: a command that loads models, done by a fork that has its imports."""

import runpy
import sys

from valuesassets.node.__main__ import MODELS
from valuesassets.node.fork_server import hand_over

MODULE = "valuesassets.cli"

if __name__ == "__main__":
    status = hand_over(sys.argv[1:], MODELS, MODULE)
    if status is not None:
        sys.exit(status)
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
