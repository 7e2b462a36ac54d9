"""Jobs done by forks: whoever starts one is to notice nothing but the time."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from valuesassets.node.fork_server import ADDRESS, MOST_TEMPLATES, fork_server
from valuesassets.records.jobs import EXIT_INTERRUPTED
from valuesassets_tests.node.node_jobs import run, score_job, start
from valuesassets_tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are Linux's")

WAITS = """
import os, sys, time
def do(job, progress):
    print("fork", os.getpid(), flush=True)
    print(sys.stdin.read(1), os.environ.get("WORD"), os.getcwd(), flush=True)
    sys.exit(int(os.environ.get("STATUS", "0")))
"""
"""Stands for `valuesassets.node.score` in a copy of the package: says where it is, and waits for a word."""


@pytest.fixture
def server(monkeypatch):
    """The address of a server of this test's own."""
    monkeypatch.delenv(ADDRESS, raising=False)
    with fork_server():
        yield os.environ[ADDRESS]


@pytest.fixture(scope="module")
def shared_server():
    """The address of a server of this file, for tests that leave its templates alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(ADDRESS, raising=False)
        with fork_server():
            yield os.environ[ADDRESS]


@pytest.fixture
def forked_by_the_shared(shared_server, monkeypatch):
    """Jobs of this test are forked by the shared server."""
    monkeypatch.setenv(ADDRESS, shared_server)


@pytest.fixture
def job(tmp_path):
    """A job's file; in its folder the kind of the job waits."""
    package = Path(__file__).parents[2] / "valuesassets"
    copy = tmp_path / "valuesassets"
    copy.mkdir()
    for path in package.iterdir():
        if path.name != "node":
            (copy / path.name).symlink_to(path)
    (copy / "node").mkdir()
    for path in (package / "node").glob("*.py"):
        (copy / "node" / path.name).symlink_to(path)
    (copy / "node" / "score.py").unlink()
    (copy / "node" / "score.py").write_text(WAITS)
    return score_job(tmp_path, "no model")


@pytest.fixture
def light_job(job):
    """The file of a job as `job`, whose templates import next to nothing: for tests of how many there are."""
    main = Path(job).parent / "valuesassets/node/__main__.py"
    text = main.read_text()
    main.unlink()
    main.write_text(text.replace("IMPORTS = {", 'MODELS = ("json",)\nIMPORTS = {'))
    return job


def waiting(job, **environment):
    """A job's process and its fork, which waits for a word."""
    folder = Path(job).parent
    process = start(job, is_forked=True, stdin=subprocess.PIPE, cwd=folder, env=os.environ | environment)
    said = process.stdout.readline()
    assert said.startswith("fork "), (said, process.stderr.read())
    return process, int(said.split()[1])


def is_there(pid):
    return Path(f"/proc/{pid}").exists() and "zombie" not in Path(f"/proc/{pid}/status").read_text()


def templates(server):
    """How many templates a server has."""
    listed = subprocess.run(["pgrep", "-f", f"fork_server.*{Path(server).parent}"], capture_output=True, text=True)
    (pid,) = map(int, listed.stdout.split())
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if is_there(child)]


def test_a_fork_has_the_streams_the_folder_and_the_environment_of_its_process_and_its_status(forked_by_the_shared, job):
    process, fork = waiting(job, WORD="seven", STATUS="7")
    assert fork != process.pid
    said, err = process.communicate("x")
    assert (said, err, process.returncode) == (f"x seven {Path(job).parent}\n", "", 7)
    assert not is_there(fork)


@pytest.mark.slow
def test_readings_are_the_same_bytes_and_a_mistake_the_same_line(server, model, tmp_path):
    job = score_job(tmp_path, model)
    said = {}
    for is_forked in (False, True):
        (tmp_path / "0.parquet").unlink(missing_ok=True)
        with start(job, is_forked=is_forked) as process:
            said[is_forked] = process.communicate(), process.returncode, (tmp_path / "0.parquet").read_bytes()
    assert said[True] == said[False]
    assert len(templates(server)) == 1
    assert run(score_job(tmp_path, tmp_path / "none"))[::2] == (1, run(score_job(tmp_path, tmp_path / "none"))[2])


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_fork_and_the_process_ends_as_it_does(sent, forked_by_the_shared, job):
    process, fork = waiting(job)
    process.send_signal(sent)
    with process:
        assert process.wait(300) == (EXIT_INTERRUPTED if sent == signal.SIGTERM else -sent)
    assert not is_there(fork)


def test_a_killed_process_takes_its_fork_with_it_and_a_killed_fork_its_process(forked_by_the_shared, job):
    process, fork = waiting(job)
    process.kill()
    wait_until(lambda: not is_there(fork))
    process.communicate()
    process, fork = waiting(job)
    os.kill(fork, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_a_job_goes_on_without_its_template_and_the_next_has_another(server, light_job):
    process, _ = waiting(light_job)
    (template,) = templates(server)
    os.kill(template, signal.SIGKILL)
    wait_until(lambda: not is_there(template))
    assert process.communicate("x")[0].startswith("x ")
    process, _ = waiting(light_job)
    assert templates(server) != [template]
    assert process.communicate("x")[0].startswith("x ")


def test_every_environment_has_a_template_and_few_are_kept(server, light_job):
    for n in [*range(MOST_TEMPLATES + 1), 0]:
        process, _ = waiting(light_job, HF_HOME=f"/home{n}", VALUESASSETS_ANYTHING=str(n))
        process.communicate("x")
        wait_until(lambda n=n: len(templates(server)) == min(n + 1, MOST_TEMPLATES) or n == 0)
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in templates(server)]
    assert sorted(re.findall(rb"HF_HOME=/home(\d)", b"".join(environments))) == [b"0", b"2", b"3"]


def test_jobs_of_one_environment_share_a_template_wherever_a_shell_has_started_them(server, light_job):
    for place in ("/one", "/other"):
        process, _ = waiting(light_job, PWD=place, SHLVL=place[:2], DAGSTER_HOME=place)
        assert process.communicate("x")[0].startswith("x ")
        assert len(templates(server)) == 1


def test_the_order_of_variables_and_what_imports_have_left_among_them_make_no_other_environment(server, light_job):
    for names, left in (("ONE", "TWO"), {}), (("TWO", "ONE"), {"KMP_INIT_AT_FORK": "FALSE"}):
        process, _ = waiting(light_job, **dict.fromkeys(names, "same"), **left)
        assert process.communicate("x")[0].startswith("x ")
        assert len(templates(server)) == 1


@pytest.mark.parametrize(
    "differs",
    [
        {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))},
        {"preexec_fn": lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])},
        {"preexec_fn": lambda: os.umask(0o77)},
        {"preexec_fn": lambda: os.nice(1)},
        {"env": {"SLURM_JOB_ID": "7"}},
    ],
    ids=["files", "cores", "mask", "niceness", "slurm"],
)
def test_what_a_fork_would_not_have_is_not_handed_over(differs, server, job):
    options = differs | {"env": os.environ | differs.get("env", {})}
    with start(job, is_forked=True, stdin=subprocess.PIPE, cwd=Path(job).parent, **options) as process:
        assert process.stdout.readline() == f"fork {process.pid}\n"
        process.communicate("x")
    assert process.returncode == 0
    assert templates(server) == []


def test_where_the_server_is_gone_a_job_imports_for_itself(job, monkeypatch, tmp_path):
    monkeypatch.setenv(ADDRESS, str(tmp_path / "nobody"))
    with start(job, is_forked=True, stdin=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout.readline() == f"fork {process.pid}\n"
        assert process.communicate("x")[1] == ""


@pytest.mark.slow
def test_jobs_behind_an_api_and_what_is_no_job_start_no_template(server, tmp_path):
    assert run(tmp_path / "none.json")[::2] == (1, f"{tmp_path}/none.json: no such file; check the path\n")
    assert run()[::2] == (2, "usage: python -m valuesassets.node JOB.json\n")
    behind = {"kind": "score", "cells": [{"endpoint": {"provider": "none"}}]}
    (tmp_path / "job.json").write_text(json.dumps(behind))
    assert run(tmp_path / "job.json")[0] == 1
    assert templates(server) == []


def test_the_server_ends_with_who_began_it_and_leaves_nothing(tmp_path, light_job, monkeypatch):
    monkeypatch.delenv(ADDRESS, raising=False)
    holder = "import os, sys; from valuesassets.node.fork_server import start_fork_server as s; server = s()\n"
    holder += f"print(os.environ[{ADDRESS!r}], server.pid, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as began:
        address, pid = began.stdout.readline().split()
        process, fork = waiting(light_job, **{ADDRESS: address})
        (template,) = templates(address)
        began.kill()
        wait_until(lambda: not any(map(is_there, (pid, template))))
    assert not Path(address).parent.exists()
    assert is_there(fork)  # as a process of its own would be
    assert process.communicate("x")[0].startswith("x ")


def test_a_place_whose_name_is_too_long_for_a_socket_has_no_server(tmp_path, monkeypatch):
    monkeypatch.delenv(ADDRESS, raising=False)
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with fork_server():
        assert ADDRESS not in os.environ
    assert list(long.iterdir()) == []
