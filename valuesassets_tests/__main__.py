"""`make test` and the like: a part of the suite on two cores; says which tests were left out and how to get them.

A part's name comes first, `suite` where none is given; what follows goes to pytest.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from valuesassets_tests.costs import PART
from valuesassets_tests.needs import DEBIAN_PACKAGES, REPOSITORY, SHARED_STUDIES

SLOWEST = ["--durations", "15", "--durations-min", "20"]
"""The end says which tests took longest: what makes the suite slow is to be seen where it is run."""
MEMORY = Path("/dev/shm")  # noqa: S108
LEAST_MEMORY = 4 << 30
"""Bytes that are free in memory where tests write there; they take a fifth of it at most."""
PROCESSES = "VALUESASSETS_TEST_PROCESSES"
"""The variable that says in how many processes tests run; one where it is not set."""
COMPUTING, WAITING = "2", "4"
"""A process for each core where tests compute; two more where some wait for clusters, UIs and disks."""
TESTS = REPOSITORY / "valuesassets_tests"
SLOW = "slow"
NEEDY = ("browser", "slurm", "published", "job_faults", "benchmarks", "mutations", "slurm_faults", "ui_faults", "real")
"""What needs more than Python, hurts, or tries what no user of the program meets."""


def _without(*marks: str) -> str:
    return " and ".join(f"not {mark}" for mark in marks)


def _marked(mark: str) -> list[str]:
    return ["-m", mark]


PARTS = {
    "suite": ["-m", f"first_look or ({_without(SLOW, *NEEDY)})"],
    "rest": ["-m", f"({' or '.join((SLOW, *NEEDY))}) and {_without('first_look')}", str(TESTS)],
    "pool": [],
    "browser": _marked(f"browser and {_without('slurm_faults', 'ui_faults')}"),
    "slurm": _marked(f"slurm and {_without('slurm_faults')}"),
    "published": _marked(f"published and {_without('mutations')}"),
    "job-faults": _marked("job_faults"),
    "test-benchmarks": _marked("benchmarks"),
    "real": ["-m", "real", "-rs", str(TESTS / "real")],
    "mutations": ["-m", "mutations", str(TESTS / "test_mutations.py")],
    "slurm-faults": [*_marked("slurm_faults"), str(TESTS / "slurm_faults")],
    "ui-faults": [*_marked("ui_faults"), str(TESTS / "desk")],
}
"""`rest` is what `suite` leaves out, in one pool, where what waits goes beside what computes. `pool` has both, for
coverage."""
IN_PROCESSES = dict.fromkeys(PARTS, WAITING) | {
    "suite": COMPUTING,
    "real": "1",  # which loads each model once
    "mutations": "1",  # which starts two of its own
}
ALL = ("suite", "rest")
"""The parts of `make test-all`, in order; the second has the small studies that the first has made."""
LEFT_TO_ALL = (
    "left to `make test-all`: tests that are slow, browsers, clusters, published forms, kills, benchmarks, real "
    "weights, mutations"
)


def main(arguments: list[str]) -> int:
    part, *more = arguments if arguments and arguments[0] in ("all", *PARTS) else ["suite", *arguments]
    with files_in_memory(), shared_studies():
        return max([run(each, more) for each in (ALL if part == "all" else [part])])


@contextmanager
def files_in_memory() -> Iterator[None]:
    """A block whose temporary files lie in memory, where there is enough of it.

    Tests write some nine gigabytes, most of them waiting until the disk has it: databases, and files that are whole or
    not there. On machines with slow disks they took twice as long.
    """
    if "TMPDIR" in os.environ or not MEMORY.exists() or shutil.disk_usage(MEMORY).free < LEAST_MEMORY:
        yield
        return
    for folder in MEMORY.glob("valuesassets-tests-*"):  # of runs that were killed
        if not Path(f"/proc/{folder.name.split('-')[2]}").exists():
            shutil.rmtree(folder, ignore_errors=True)
    prefix = f"valuesassets-tests-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=MEMORY, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o1777)  # as /tmp: some tests are of several users
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            yield
        finally:
            del os.environ["TMPDIR"]
            tempfile.tempdir = None


@contextmanager
def shared_studies() -> Iterator[None]:
    """A block whose runs of pytest share the small studies: the first that needs one makes it.

    A block within another, as `make rest` is within CI's, shares those of the outer one.
    """
    if SHARED_STUDIES in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="valuesassets-tests-") as folder:
        os.environ[SHARED_STUDIES] = folder
        try:
            yield
        finally:
            del os.environ[SHARED_STUDIES]


def run(part: str, more: list[str]) -> int:
    """Run one part; gives pytest's exit status."""
    pytest = [sys.executable, "-m", "pytest", *PARTS[part], *SLOWEST, *more]
    own = {"OMP_NUM_THREADS": "1", PROCESSES: IN_PROCESSES[part]}  # tiny models would mostly wait for threads
    environment = own | os.environ | {PART: part}
    status = subprocess.run(pytest, env=environment, check=False).returncode
    for mark, (program, packages) in DEBIAN_PACKAGES.items():
        if shutil.which(program) is None:
            print(f"left out: {mark} tests; get them with: apt-get install {packages}")
    if part == "suite":
        print(LEFT_TO_ALL)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
