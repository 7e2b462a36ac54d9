"""`make test` and the like: a part of the suite on two cores; says which tests were left out and how to get them.

A part's name comes first, `suite` where none is given; what follows goes to pytest.
"""

import os
import shutil
import subprocess
import sys

from valuesassets_tests.costs import PART
from valuesassets_tests.needs import DEBIAN_PACKAGES, REPOSITORY

SLOWEST = ["--durations", "15", "--durations-min", "20"]
"""The end says which tests took longest: what makes the suite slow is to be seen where it is run."""
PROCESSES = os.environ.get("VALUESASSETS_TEST_PROCESSES", "3")
IN_GROUPS = ["-n", PROCESSES, "--dist", "loadgroup", "--no-loadscope-reorder"]
"""One process more than cores: clusters and UIs mostly wait. Groups are dealt out in the order made in conftest.py."""
TESTS = REPOSITORY / "valuesassets_tests"
APART = ("mutations", "slurm_faults", "ui_faults", "real")
"""What has processes, clusters and UIs of its own, or takes gigabytes, and does not go beside other tests."""
NEEDY = ("browser", "slurm", "published", "job_faults", "benchmarks")
"""What needs more than Python, hurts, or tries what no user of the program meets."""


def _without(*marks: str) -> str:
    return " and ".join(f"not {mark}" for mark in marks)


PARTS = {
    "suite": [*IN_GROUPS, "-m", _without(*APART, *NEEDY)],
    "whole": [*IN_GROUPS, "-m", _without(*APART)],
    "needy": [*IN_GROUPS, "-m", f"({' or '.join(NEEDY)}) and {_without(*APART)}"],
    "browser": [*IN_GROUPS, "-m", f"browser and {_without(*APART)}"],
    "slurm": [*IN_GROUPS, "-m", f"slurm and {_without(*APART)}"],
    "published": [*IN_GROUPS, "-m", f"published and {_without(*APART)}"],
    "job-faults": [*IN_GROUPS, "-m", "job_faults"],
    "test-benchmarks": [*IN_GROUPS, "-m", "benchmarks"],
    "real": ["-m", "real", "-rs", str(TESTS / "real")],  # in one process, which loads each model once
    "mutations": ["-m", "mutations", str(TESTS / "test_mutations.py")],  # starts two processes of its own
    "slurm-faults": [*IN_GROUPS, "-m", "slurm_faults", str(TESTS / "slurm_faults")],
    "ui-faults": [*IN_GROUPS, "-m", "ui_faults", str(TESTS / "desk")],
}
"""`whole` is `suite` and what is needy at once, as `make test-all` runs them: what waits goes beside what computes."""


def main(arguments: list[str]) -> int:
    part, *more = arguments if arguments and arguments[0] in PARTS else ["suite", *arguments]
    pytest = [sys.executable, "-m", "pytest", *PARTS[part], *SLOWEST, *more]
    status = subprocess.run(pytest, env=os.environ | {PART: part}, check=False).returncode
    for mark, (program, packages) in DEBIAN_PACKAGES.items():
        if shutil.which(program) is None:
            print(f"left out: {mark} tests; get them with: apt-get install {packages}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
