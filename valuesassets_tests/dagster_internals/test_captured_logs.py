"""What steps print lies in Dagster's files and is repeated, whole, and no process is started for it."""

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.instance import InstanceRef
from dagster._core.storage.compute_log_manager import ComputeIOType

from valuesassets.dagster_internals.captured_logs import CapturedLogManager, captured
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.waiting import wait_until


@pytest.fixture
def stream(tmp_path):
    """A stream to a file, as a terminal is one."""
    with open(tmp_path / "terminal", "w", encoding="utf-8", buffering=1) as opened:
        yield opened


def text_of(path):
    return Path(path).read_text(encoding="utf-8")


def test_all_that_is_written_is_in_the_file_and_repeated_to_the_last_line(stream, tmp_path):
    print("before", file=stream)
    with captured(stream, str(tmp_path / "log")):
        print("first", file=stream)
        subprocess.run([sys.executable, "-c", "print('of a child')"], stdout=stream, check=True)
        os.write(stream.fileno(), b"x" * 300_000 + b"\nlast\n")
    print("after", file=stream)
    log = "first\nof a child\n" + "x" * 300_000 + "\nlast\n"
    assert text_of(tmp_path / "log") == log
    assert text_of(stream.name) == f"before\n{log}after\n"


def test_what_is_written_is_repeated_while_the_step_goes_on(stream, tmp_path):
    with captured(stream, str(tmp_path / "log")):
        print("on its way", file=stream)
        wait_until(lambda: text_of(stream.name) == "on its way\n")


def test_a_file_that_is_there_goes_on_and_a_stream_without_a_file_is_left_alone(stream, tmp_path, capsys):
    (tmp_path / "log").write_text("of an earlier step\n", encoding="utf-8")
    with captured(stream, str(tmp_path / "log")):
        print("of this", file=stream)
    assert text_of(tmp_path / "log") == "of an earlier step\nof this\n"
    with captured(sys.stdout, str(tmp_path / "none")):  # pytest's own stream has no file
        print("seen")
    assert capsys.readouterr().out == "seen\n"


def test_a_terminal_that_is_gone_stops_no_step(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", buffering=1) as stream, captured(stream, str(tmp_path / "log")):
        print("for the file", file=stream)
    assert text_of(tmp_path / "log") == "for the file\n"


SCRIPT = """
import os, sys
from pathlib import Path
import dagster as dg
from valuesassets_tests.dagster_internals.test_captured_logs import instance_of

children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")

@dg.asset
def talking():
    print("to stdout")
    print("to stderr", file=sys.stderr)
    assert children.read_text() == "", "a process was started to repeat what is printed"

with instance_of(sys.argv[1]) as instance:
    print(dg.materialize([talking], instance=instance).run_id)
"""


def instance_of(folder):
    """An instance that keeps what steps print as the project's does."""
    kind = {"module": CapturedLogManager.__module__, "class": CapturedLogManager.__name__}
    overrides = {"compute_logs": kind | {"config": {"base_dir": str(folder)}}}
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=overrides))


@pytest.mark.slow
def test_the_ui_finds_what_a_step_printed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    assert "to stdout\n" in done.stdout
    assert "to stderr\n" in done.stderr
    run_id = done.stdout.splitlines()[-1]
    with instance_of(tmp_path) as instance:
        (event,) = [
            entry.dagster_event.logs_captured_data
            for entry in instance.all_logs(run_id)
            if entry.dagster_event and entry.dagster_event.event_type == dg.DagsterEventType.LOGS_CAPTURED
        ]
        log_key = [run_id, "compute_logs", event.file_key]
        manager = instance.compute_log_manager
        assert manager.is_capture_complete(log_key)
        for kind, text in ((ComputeIOType.STDOUT, "to stdout\n"), (ComputeIOType.STDERR, "to stderr\n")):
            assert text in text_of(
                manager.get_captured_local_path(log_key, {"stdout": "out", "stderr": "err"}[kind.value])
            )
