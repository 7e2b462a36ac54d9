import json
import os
import socket
import threading
from base64 import b64encode
from zlib import compress

import pytest

from valuesassets.node import progress
from valuesassets.records.files import write_json
from valuesassets.records.jobs import EXIT_INTERRUPTED
from valuesassets_tests.node.node_jobs import run, score_job, start

CONTEXT = dict.fromkeys(
    [
        "asset_keys",
        "code_version_by_asset_key",
        "provenance_by_asset_key",
        "partition_key",
        "partition_key_range",
        "partition_time_window",
        "job_name",
    ]
) | {"run_id": "a-run", "retry_number": 0, "extras": {}}
PROGRAM = """
import sys
from valuesassets.node import progress
from valuesassets.node.job_process import main
progress.SECONDS_BETWEEN_BEATS = {seconds}
sys.exit(main(sys.argv[1:]))
"""


def every(seconds):
    return {"program": ("-c", PROGRAM.format(seconds=seconds))}


def encode(value):
    return b64encode(compress(json.dumps(value).encode())).decode()


@pytest.fixture
def dagster(tmp_path):
    """The environment of a process that Dagster started, and how to read the messages that it left."""
    write_json(tmp_path / "context.json", CONTEXT)
    env = {
        "DAGSTER_PIPES_CONTEXT": encode({"path": str(tmp_path / "context.json")}),
        "DAGSTER_PIPES_MESSAGES": encode({"path": str(tmp_path / "messages")}),
    }

    def messages():
        return [
            json.loads(line) for line in (tmp_path / "messages").read_text().splitlines(True) if line.endswith("\n")
        ]

    return os.environ | env, messages


def beats_in(messages):
    return [m["params"]["payload"]["heartbeat"] for m in messages if m["method"] == "report_custom_message"]


@pytest.mark.slow
def test_progress_and_signs_of_life_reach_dagster_and_end_with_the_session(model, tmp_path, dagster):
    env, messages = dagster
    status, _, errors = run(score_job(tmp_path, model), env=env, **every(0.05))
    assert (status, errors) == (0, "")
    methods = [message["method"] for message in messages()]
    assert (methods[0], methods[-1]) == ("opened", "closed")
    assert methods.count("closed") == 1
    assert "scored 3/3" in [m["params"]["message"] for m in messages() if m["method"] == "log"]
    beats = beats_in(messages())
    assert len(beats) > 5
    assert {beat["host"] for beat in beats} == {socket.gethostname()}
    assert [beat["seconds"] for beat in beats] == sorted(beat["seconds"] for beat in beats)
    assert 0 < beats[0]["memory_gib"] < beats[-1]["memory_gib"]  # torch and the model came


@pytest.mark.slow
def test_errors_end_with_1_under_dagster_too_and_a_long_interval_holds_nobody(tmp_path, dagster):
    env, messages = dagster
    assert run(score_job(tmp_path, tmp_path / "nowhere"), env=env, **every(3600))[0] == 1
    assert len(beats_in(messages())) == 1
    assert messages()[-1]["method"] == "closed"


@pytest.mark.slow
def test_dagster_hears_how_far_a_stopped_job_came_and_then_no_more(model, tmp_path, dagster):
    env, messages = dagster
    process = start(score_job(tmp_path, model), env=env, **every(0.001))
    while not (tmp_path / "messages").exists() or not beats_in(messages()):
        assert process.poll() is None
    process.terminate()
    said, errors = process.communicate()
    assert (process.returncode, errors) == (EXIT_INTERRUPTED, "")
    last, closed = messages()[-2:]
    assert last["params"]["message"] == said.splitlines()[-1]
    assert last["params"]["message"].startswith("stopped by SIGTERM ")
    assert closed["method"] == "closed"


def test_a_message_that_cannot_be_written_does_not_end_the_signs_of_life(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_BEATS", 0)
    sent, three = [], threading.Event()

    def send(message):
        sent.append(message)
        if len(sent) == 3:
            three.set()
        raise OSError("No space left on device")

    with progress.heartbeat(send):
        assert three.wait(300)
