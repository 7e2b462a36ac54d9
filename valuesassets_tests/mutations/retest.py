"""Named tests, run against whatever copy of the package this was imported from."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings


class _Failures:
    """Which tests failed, and the last line that each said."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash is not None else str(report.longrepr)
            self.said[report.nodeid] = message.splitlines()[0]


def main(tests: list[str]) -> dict[str, Any]:
    """pytest's exit code (0: all passed, 1: some failed) and what the failed ones said."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no test named needs one, and loading them takes seconds
    settings.register_profile(
        "the same examples every time",
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],  # that a test fails is enough, the smallest example takes seconds more
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("the same examples every time")
    failures = _Failures()
    # What a mutation leaves behind unclosed is not in question. Temporary files have their own folder: at every end
    # pytest clears the shared one of old runs, and two that clear it at once fail.
    options = ["-q", "--maxfail=1", "-p", "no:unraisableexception", "--basetemp=temporary"]
    # A failure's last line is enough: to find the source of each of its calls took an eighth of the time. Doctests are
    # looked for, which takes as long again, where one is named.
    options += ["--tb=native", "-o", "addopts=--strict-markers -p no:cacheprovider"]
    if any(test.startswith("valuesassets/") for test in tests):
        options.append("--doctest-modules")
    code = pytest.main([*options, *tests], plugins=[failures])
    return {"code": int(code), "failed": failures.said}
