"""The notebooks of the documentation run to their end as they are, and what they print of an instrument is so."""

import os
import subprocess
import sys

import pytest

from valuesassets_tests.needs import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "docs" / "notebooks").glob("*.py"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.slow
def test_a_notebook_runs_offline_and_says_nothing_on_stderr(path, tmp_path):
    settings = {"PYTHONPATH": str(REPOSITORY), "TMPDIR": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    settings |= {"VALUESASSETS_STORAGE": str(tmp_path / "storage")}
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | settings,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "True" in done.stdout
    assert "False" not in done.stdout


def test_there_are_notebooks_in_the_percent_format():
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        text = path.read_text("utf-8")
        assert "format_name: percent" in text
        assert text.count("\n# %%") > 4
