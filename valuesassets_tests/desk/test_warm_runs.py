"""Runs that are forked from a warm process are no different from others, but for what they cost."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.selector import JobSubsetSelector
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import PythonFileTarget

from valuesassets.desk.warm_runs import PRELOADED, start_runs_warm
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="runs are forked on Linux only"),
    pytest.mark.ui_faults,
]

CODE = """
import os
from pathlib import Path

import dagster as dg

from valuesassets.desk.warm_runs import start_runs_warm

start_runs_warm()


@dg.asset
def told():
    Path({path!r}).write_text(f"{word} {{os.getppid()}}")


defs = dg.Definitions([told], executor=dg.in_process_executor)
"""


@pytest.fixture
def instance(tmp_path, monkeypatch):
    for name, value in study_environment(tmp_path, Path("demo_survey")).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setattr(dg.DagsterInstance, "wait_for_local_code_server_processes_on_shutdown", True)
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as made:
        yield made


@contextmanager
def asking(instance, file):
    """A code server, and how to have it run the asset of a file: gives the asset's word and its run's parent."""
    target = PythonFileTarget(str(file), attribute=None, working_directory=str(file.parent), location_name="told")
    key = dg.AssetKey("told")
    alike = dg.Definitions([dg.asset(name="told")(lambda: None)], executor=dg.in_process_executor)
    with WorkspaceProcessContext(instance, target) as server:

        def ask():
            served = server.create_request_context()
            asked = JobSubsetSelector("told", "__repository__", "__ASSET_JOB", None, asset_selection=[key])
            job = served.get_code_location("told").get_job(asked)
            run = instance.create_run_for_job(
                alike.resolve_implicit_global_asset_job_def(),
                asset_selection={key},
                remote_job_origin=job.get_remote_origin(),
                job_code_origin=job.get_python_origin(),
            )
            instance.launch_run(run.run_id, served)
            wait_until(lambda: instance.get_run_by_id(run.run_id).is_finished)
            assert instance.get_run_by_id(run.run_id).is_success
            return (file.parent / "word").read_text().split()

        yield ask


@pytest.mark.slow
def test_runs_have_one_parent_and_each_takes_the_code_as_it_stands_when_it_starts(instance, tmp_path):
    """As they do where each is a new Python: what is kept warm is nothing of the project's own."""
    file = tmp_path / "told.py"
    file.write_text(CODE.format(path=str(tmp_path / "word"), word="old"))
    with asking(instance, file) as ask:
        word, first_parent = ask()
        assert word == "old"
        assert b"forkserver" in Path(f"/proc/{first_parent}/cmdline").read_bytes()
        file.write_text(CODE.format(path=str(tmp_path / "word"), word="new"))
        assert ask() == ["new", first_parent]


def test_what_runs_are_forked_from_has_no_thread_no_grpc_and_no_module_of_this_project():
    code = f"""
import sys, threading
for name in {PRELOADED!r}:
    __import__(name)
assert threading.active_count() == 1
print(*sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    names = done.stdout.split()
    tops = {name.partition(".")[0] for name in names}
    assert {"dagster", "pandas", "matplotlib"} <= tops
    assert not {"grpc", "torch", "slurm_runner"} & tops
    assert [name for name in names if name.partition(".")[0] == "valuesassets"] == []


def test_a_process_that_serves_no_code_is_left_as_it_is(monkeypatch):
    monkeypatch.delitem(sys.modules, "dagster._grpc.server", raising=False)
    assert not start_runs_warm()
