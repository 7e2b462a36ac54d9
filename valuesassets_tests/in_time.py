"""`python -m valuesassets_tests.in_time`: what CI runs, `make check` beside `make test`, then what that leaves out.

Machines differ by a factor of two, and what takes too long counts for nothing. How long `make test` took says how long
the rest will take here; where it would end after the limit it is left out, and the last line says so. Waiting for disks
and clusters does not follow that guess: no test begins after the limit either, and those left out are counted. What was
left out has not passed.
"""

import os
import subprocess
import sys
import tempfile
import time

from valuesassets_tests import costs
from valuesassets_tests.__main__ import files_in_memory, shared_studies
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.time_limit import UNTIL

MINUTES = float(os.environ.get("VALUESASSETS_CI_MINUTES", "70"))
"""From the start of the tests to the last moment at which one may begin."""
REST = 5.0
"""How long the rest takes over `make test` with the checks beside it, rounded up."""


def make(target: str) -> list[str]:
    """The command of a target."""
    return ["make", target]


def main() -> int:
    """Run all that there is time for; 1 where a part failed."""
    started = time.monotonic()
    failed, left_out = [], "none"
    os.environ[UNTIL] = str(time.time() + 60 * MINUTES)
    with files_in_memory(), shared_studies():
        with tempfile.TemporaryFile("w+") as said:
            check = subprocess.Popen(make("check"), cwd=REPOSITORY, stdout=said, stderr=subprocess.STDOUT)
            if subprocess.run(make("test"), cwd=REPOSITORY, check=False).returncode:
                failed.append("test")
            if check.wait():
                failed.append("check")
            said.seek(0)
            print(said.read(), flush=True)
        costs.main()  # says which of these tests are too dear; beside the checks seconds are no measure
        minutes = (1 + REST) * (time.monotonic() - started) / 60
        if minutes > MINUTES:
            left_out = f"rest (it would end after {minutes:.0f} minutes of {MINUTES:.0f})"
        elif not failed and subprocess.run(make("rest"), cwd=REPOSITORY, check=False).returncode:
            failed.append("rest")
    minutes = (time.monotonic() - started) / 60
    print(f"{minutes:.0f} minutes; failed: {', '.join(failed) or 'none'}; left out: {left_out}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
