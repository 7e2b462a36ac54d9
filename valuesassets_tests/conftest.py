"""Leaves out what the machine cannot run, by name; `make test` says how to get it. A slow machine fails no test."""

import signal

import pytest
from hypothesis import HealthCheck, settings

from valuesassets_tests.needs import DEBIAN_PACKAGES, has_program

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # of a shell that started us in the background; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark, (program, packages) in DEBIAN_PACKAGES.items():
            if item.get_closest_marker(mark) and not has_program(mark):
                item.add_marker(pytest.mark.skip(reason=f"{program} is not installed: apt-get install {packages}"))
