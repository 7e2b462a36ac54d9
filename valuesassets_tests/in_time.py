"""`python -m valuesassets_tests.in_time`: what CI runs, the checks beside the tests and then the other parts.

Machines differ by a factor of two, and what takes too long counts for nothing. How long `make test` took says how long
each further part will take here; one that would end after the limit is left out, and a line says so. A part that was
left out has not passed: whoever reads the last lines knows which.
"""

import os
import subprocess
import sys
import tempfile
import time

from valuesassets_tests import costs
from valuesassets_tests.needs import REPOSITORY

MINUTES = float(os.environ.get("VALUESASSETS_CI_MINUTES", "68"))
"""From the start of the tests to their end."""
SHARES = {"rest": 3.6, "mutations": 1.2}
"""How long each part takes over `make test` with the checks beside it, rounded up; in the order of the parts."""


def make(target: str) -> list[str]:
    """The command of a target."""
    return ["make", target]


def main() -> int:
    """Run all that there is time for; 1 where a part failed."""
    started = time.monotonic()
    failed, left_out = [], []
    with tempfile.TemporaryFile("w+") as said:
        check = subprocess.Popen(make("check"), cwd=REPOSITORY, stdout=said, stderr=subprocess.STDOUT)
        if subprocess.run(make("test"), cwd=REPOSITORY, check=False).returncode:
            failed.append("test")
        if check.wait():
            failed.append("check")
        said.seek(0)
        print(said.read(), flush=True)
    costs.main()  # says which of the tests that have just run are too dear; beside the checks seconds are no measure
    unit = time.monotonic() - started
    for part, share in SHARES.items():
        minutes = (time.monotonic() - started + share * unit) / 60
        if failed:
            break
        if minutes > MINUTES:
            left_out.append(f"{part} (it would end after {minutes:.0f} minutes of {MINUTES:.0f})")
        elif subprocess.run(make(part), cwd=REPOSITORY, check=False).returncode:
            failed.append(part)
    minutes = (time.monotonic() - started) / 60
    print(f"{minutes:.0f} minutes; failed: {', '.join(failed) or 'none'}; left out: {', '.join(left_out) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
