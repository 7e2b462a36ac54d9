"""Leaves out what the machine cannot run, by name; `make test` says how to get it. A slow machine fails no test.

Tests are dealt out to processes by groups: those that share a cluster or a UI name theirs, others go with their module,
whose fixtures are then made once. The groups that take longest come first, so that no process works alone in the end.
With a number in `VALUESASSETS_TEST_ORDER` groups and the tests of each come in a random order that the number gives:
none may need what another has left.
"""

import gc
import logging
import os
import re
import signal
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from valuesassets.node.fork_server import start_fork_server
from valuesassets.records import limited
from valuesassets_tests import needs
from valuesassets_tests.__main__ import NEEDY, PROCESSES, SLOW
from valuesassets_tests.costs import PART, Costs
from valuesassets_tests.forked_workers import ForkedWorkers, folder_of_all_forks, group_of
from valuesassets_tests.needs import DEBIAN_PACKAGES, has_program
from valuesassets_tests.orchestration.small_study import (
    run_once,
    write_demo,
    write_small_psych,
    write_small_ratings,
    write_small_robustness,
    write_small_worldwise,
)
from valuesassets_tests.time_limit import TimeLimit

FIRST = (
    *("browser", "slurm", "valuesassets_tests/test_mutations.py", "browser, psych tasks", "forms"),
    *("valuesassets_tests/desk/make_ui/test_killed_ui.py", "plain cluster 0", "plain cluster 1"),
    *("valuesassets_tests/recomputed/test_recomputed.py", "valuesassets_tests/real/test_labels.py"),
)
"""Groups that take minutes; after them come modules by their number of slow tests."""
LATER = "graph"
"""The last of these: it shares the study that the first group begins with, and would wait for it."""

os.environ.pop("VALUESASSETS_STUDY", None)  # which `make` sets for the UI: tests name the study that they want
REST_MARK = re.compile(rf"\bmark\.({'|'.join((SLOW, *NEEDY))})\b")
"""Of a test that `make test` leaves to `make rest`, where it is named."""

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny models would mostly wait for their threads
if os.environ.get("ATEN_CPU_CAPABILITY") == "avx2":  # torch asks oneDNN, which does not heed that variable
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # of a shell that started us in the background; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Have the node jobs of all tests begin as forks; where lines are counted, each imports what it runs."""
    config.pluginmanager.register(Costs())
    config.pluginmanager.register(TimeLimit())
    config.pluginmanager.register(ForkedWorkers(int(os.environ.pop(PROCESSES, "1"))))
    if "COVERAGE_PROCESS_CONFIG" not in os.environ and (server := start_fork_server()):
        config.add_cleanup(server.communicate)


def pytest_collection_finish() -> None:
    """What is there when tests begin is never garbage: looking through it takes a second each time.

    Garbage is looked for seldom: with Python's own thresholds that took a quarter of the processor time of tests.
    """
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    needs.is_marked_published = item.get_closest_marker("published") is not None
    limited.reads_here = item.get_closest_marker("limited") is None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Files without a test of `make rest` are not imported for it: each of its processes would import them all."""
    is_left_out = os.environ.get(PART) == "rest" and collection_path.suffix == ".py" and not names_mark(collection_path)
    return is_left_out or None


@cache
def names_mark(path: Path) -> bool:
    """Whether a file names a mark of `make rest`."""
    return REST_MARK.search(path.read_text(encoding="utf-8")) is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.get_closest_marker(mark) for mark in (SLOW, *NEEDY)) and not names_mark(item.path):
            raise pytest.UsageError(
                f"{item.nodeid}: its file names no mark, so that `make rest` leaves it out; name it"
            )
        for mark, (program, packages) in DEBIAN_PACKAGES.items():
            if item.get_closest_marker(mark) and not has_program(mark):
                item.add_marker(pytest.mark.skip(reason=f"{program} is not installed: apt-get install {packages}"))
    if seed := os.environ.get("VALUESASSETS_TEST_ORDER"):
        shuffle(items, int(seed))
        return
    slow = Counter(group_of(item) for item in items if item.get_closest_marker("slow"))
    order = [*FIRST, *(group for group, _ in slow.most_common() if group not in (*FIRST, LATER)), LATER]
    ranks = {group: rank for rank, group in enumerate(order)}
    items.sort(key=lambda item: ranks.get(group_of(item), len(order)))


def shuffle(items: list[pytest.Item], seed: int) -> None:
    """Put groups, the modules of each and the tests of a module into a random order, the same in every process."""
    rng = np.random.default_rng(seed)
    ranks: defaultdict[str, float] = defaultdict(rng.random)
    items[:] = [items[place] for place in rng.permutation(len(items))]
    items.sort(key=lambda item: (ranks[group_of(item)], ranks[item.nodeid.partition("::")[0]]))


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What loggers say while the test runs, from DEBUG on.

    pytest's own plugin for it is switched off: it goes through all loggers six times for each test, wanted or not.
    """
    texts: list[str] = []
    handler, root = logging.Handler(), logging.getLogger()
    handler.emit = lambda record: texts.append(handler.format(record))  # type: ignore[method-assign]
    level = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    yield texts
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small study in three languages that is run once for all tests; none may change it."""
    return run_once(_of_all_processes(tmp_path_factory) / "small_study")


@pytest.fixture(scope="session")
def small_ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `small_study`, of WorldValuesBench."""
    return run_once(_of_all_processes(tmp_path_factory) / "small_ratings", write_small_ratings)


@pytest.fixture(scope="session")
def small_robustness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `small_study`, of cultural robustness."""
    return run_once(_of_all_processes(tmp_path_factory) / "small_robustness", write_small_robustness)


@pytest.fixture(scope="session")
def demo_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `small_study`, of the bundled demonstration of the survey."""
    return run_once(_of_all_processes(tmp_path_factory) / "demo_study", write_demo)


@pytest.fixture(scope="session")
def small_psych(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `small_study`, of psych tasks."""
    return run_once(_of_all_processes(tmp_path_factory) / "small_psych", write_small_psych)


@pytest.fixture(scope="session")
def small_worldwise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `small_study`, of worldwise."""
    return run_once(_of_all_processes(tmp_path_factory) / "small_worldwise", write_small_worldwise)


def _of_all_processes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for what processes share."""
    if folder := os.environ.get(needs.SHARED_STUDIES):
        return Path(folder)
    return folder_of_all_forks(tmp_path_factory)
