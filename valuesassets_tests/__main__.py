"""`make test`: the whole suite on two cores; says which tests were left out and how to get them.

Three processes: the Slurm tests, one after the other in one of them, mostly wait. One thread each: with more than
processors, tiny models wait for their threads most of the time.
"""

import os
import shutil
import subprocess
import sys

from valuesassets_tests.needs import DEBIAN_PACKAGES

SLOWEST = ["--durations", "15", "--durations-min", "20"]
"""The end says which tests took longest: what makes the suite slow is to be seen where it is run."""


def main() -> int:
    processes = os.environ.get("VALUESASSETS_TEST_PROCESSES", "3")
    arguments = ["-n", processes, "--dist", "loadgroup", *SLOWEST, *sys.argv[1:]]
    threads = {"OMP_NUM_THREADS": "1"} | os.environ
    status = subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False, env=threads).returncode
    for mark, (program, packages) in DEBIAN_PACKAGES.items():
        if shutil.which(program) is None:
            print(f"left out: {mark} tests; get them with: apt-get install {packages}")
    return status


if __name__ == "__main__":
    sys.exit(main())
