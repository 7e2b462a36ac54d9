"""A file of tests made for a test of pytest's plugins, run by a pytest of its own."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from valuesassets_tests.forked_workers import NUMBER
from valuesassets_tests.needs import REPOSITORY

CONFTEST = """
    from pkgutil import resolve_name


    def pytest_configure(config):
        for name in {plugins}:
            config.pluginmanager.register(resolve_name(f"valuesassets_tests.{{name}}")())
"""


def run_made_tests(
    folder: Path, tests: str, plugins: Sequence[str], *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Write the tests into a folder and run them with plugins, each given as `module:Class` of this package."""
    (folder / "test_made.py").write_text(textwrap.dedent(tests), encoding="utf-8")
    conftest = textwrap.dedent(CONFTEST).format(plugins=list(plugins))
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if name != NUMBER}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={folder / 'temporary'}"]
    command += ["-W", "ignore::pytest.PytestUnknownMarkWarning"]
    return subprocess.run(
        [*command, *options],
        cwd=folder,
        env=variables | {"PYTHONPATH": str(REPOSITORY)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
