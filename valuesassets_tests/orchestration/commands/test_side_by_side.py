"""Runs in forks, with real processes and a real instance."""

import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import dagster as dg
import pytest

from valuesassets.orchestration.commands.run_study import KILLED, run_study
from valuesassets.orchestration.commands.side_by_side import SideBySide, side_by_side
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.waiting import wait_until


@pytest.fixture
def instance(tmp_path):
    with dg.instance_for_test(temp_dir=str(tmp_path)) as made:
        yield made


@pytest.fixture
def forks():
    made = []

    def fork(definitions, at_once=2):
        made.append(SideBySide(definitions, at_once))
        return made[-1]

    yield fork
    for each in made:
        each.interrupt()
        each.end()


def assets(**bodies):
    return dg.Definitions(
        [dg.asset(key_prefix="toy", name=name)(body) for name, body in bodies.items()], executor=dg.in_process_executor
    )


def made(definitions, instance, runs):
    return list(run_study(definitions, instance, runs=runs))


def meets(own, other):
    """An asset that is done once the other one has begun."""

    def body() -> None:
        own.touch()
        wait_until(other.exists)

    return body


@pytest.mark.slow
def test_parts_that_rest_on_nothing_unmade_are_made_at_the_same_time(instance, forks, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    definitions = assets(one=meets(one, two), two=meets(two, one))
    assert made(definitions, instance, forks(definitions)) == []
    processes = {run.tags[".dagster/valuesassets_run_process"] for run in instance.get_runs()}
    assert len(processes) == 2


@pytest.mark.slow
def test_a_part_waits_for_its_inputs_and_a_failed_one_stops_only_itself(instance, forks, tmp_path):
    order = tmp_path / "order"

    def is_failed() -> bool:
        return any(run.status == dg.DagsterRunStatus.FAILURE for run in instance.get_runs())

    @dg.asset(key_prefix="toy")
    def slow() -> None:
        wait_until(is_failed)
        order.write_text("slow")

    @dg.asset(key_prefix="toy", deps=[slow])
    def after() -> None:
        order.write_text(order.read_text() + ", after")

    @dg.asset(key_prefix="toy")
    def broken() -> None:
        raise dg.Failure("no lexicon", allow_retries=False)

    definitions = dg.Definitions([slow, after, broken], executor=dg.in_process_executor)
    assert made(definitions, instance, forks(definitions)) == ["broken: no lexicon"]
    assert order.read_text() == "slow, after"
    assert made(definitions, instance, forks(definitions)) == ["broken: no lexicon"]
    assert order.read_text() == "slow, after"


@pytest.mark.slow
def test_a_killed_fork_is_a_failed_part_and_what_comes_later_is_made_by_new_forks(instance, forks):
    @dg.asset(key_prefix="toy")
    def hungry() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    @dg.asset(key_prefix="toy", deps=[hungry])
    def later() -> None: ...

    definitions = dg.Definitions([hungry, later], executor=dg.in_process_executor)
    runs = forks(definitions)
    assert made(definitions, instance, runs) == [f"hungry: {KILLED}"]
    statuses = {key.path[-1]: run.status for run in instance.get_runs() for key in run.asset_selection or ()}
    assert statuses == {"hungry": dg.DagsterRunStatus.FAILURE, "later": dg.DagsterRunStatus.SUCCESS}


@pytest.mark.slow
def test_an_error_that_is_no_failed_run_reaches_the_command(instance, forks):
    runs = forks(assets())
    assert runs.submit(_its_process).result() != os.getpid()
    with pytest.raises(ZeroDivisionError):
        runs.submit(_wrong).result()
    with pytest.raises(BrokenProcessPool):
        runs.submit(_killed).result()


def _its_process(here):
    return os.getpid()


def _wrong(here):
    return 1 / 0


def _killed(here):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc")
@pytest.mark.slow
def test_forks_end_when_their_command_is_killed(instance, tmp_path):
    code = (
        "import sys, time, dagster as dg; from pathlib import Path\n"
        "from valuesassets.orchestration.commands.side_by_side import side_by_side\n"
        "with side_by_side(dg.Definitions()) as runs:\n"
        "    print(*(f.pid for f in __import__('multiprocessing').active_children()), flush=True)\n"
        "    time.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as command:
        forks = command.stdout.readline().split()
        command.kill()
    assert len(forks) == min(4, len(os.sched_getaffinity(0)))
    wait_until(lambda: not any(Path("/proc", pid).exists() for pid in forks))


def test_on_one_core_runs_are_made_one_by_one(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with side_by_side(dg.Definitions()) as runs:
        assert runs is None
