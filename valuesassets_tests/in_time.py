"""`python -m valuesassets_tests.in_time`: what CI runs, `make check` beside `make test`, then what that leaves out.

Machines differ by a factor of two, and what takes too long counts for nothing. After the limit no test begins: those
left out are counted at the end of `make rest`, and have not passed.
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

MINUTES = float(os.environ.get("VALUESASSETS_CI_MINUTES", "68"))
"""From the start of the tests to the last moment at which one may begin."""


def main() -> int:
    """Run all that there is time for; 1 where a part failed."""
    started = time.time()
    os.environ[UNTIL] = str(started + 60 * MINUTES)
    failed = []
    with files_in_memory(), shared_studies():
        with tempfile.TemporaryFile("w+") as output:
            check = subprocess.Popen(make("check"), cwd=REPOSITORY, stdout=output, stderr=subprocess.STDOUT)
            if subprocess.run(make("test"), cwd=REPOSITORY, check=False).returncode:
                failed.append("test")
            if check.wait():
                failed.append("check")
            output.seek(0)
            print(output.read(), flush=True)
        costs.main()  # says which of these tests are too dear; beside the checks seconds are no measure
        if not failed and subprocess.run(make("rest"), cwd=REPOSITORY, check=False).returncode:
            failed.append("rest")
    print(f"{(time.time() - started) / 60:.0f} minutes; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


def make(target: str) -> list[str]:
    """The command of a target."""
    return ["make", target]


if __name__ == "__main__":
    sys.exit(main())
