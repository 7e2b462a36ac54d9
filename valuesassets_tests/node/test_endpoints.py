"""Jobs whose cells stand behind an API: the real SDK in a real process, against a server on this machine."""

import json
import os
import re
import signal

import pytest

from valuesassets.node.job_process import main
from valuesassets.records.files import read_json
from valuesassets.records.jobs import EXIT_INTERRUPTED
from valuesassets.records.parquet import read_answers, table_metadata
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status
from valuesassets_tests.node.node_jobs import ASKED, generate_job, run, start
from valuesassets_tests.remote.loopback_gemini import KEY, MODEL, LoopbackGemini, hang, refusal
from valuesassets_tests.remote.remote_trials import asked
from valuesassets_tests.waiting import wait_until

FEW = [asked(f"How many are {n}?\nAnswer:", f"q{n}", samples=2, max_tokens=9) for n in range(3)]
SAYS_WHAT_IT_LOADED = (
    "import runpy, sys\n"
    "try:\n    runpy.run_module('valuesassets.node', run_name='__main__')\n"
    "finally:\n    print('loaded', *sorted({'torch', 'transformers', 'google.genai', 'dagster'} & {*sys.modules}))\n"
)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)


def job_of(folder, server, *models, trials=FEW, known="known", concurrency=2, **settings):
    """The file of a job that has a server's models answer."""
    endpoint = Endpoint(provider="gemini", base_url=server.base_url, timeout_s=20, attempts=2, concurrency=concurrency)
    cell = {"endpoint": endpoint, "prompting": Prompting(style="chat")}
    known = folder / known if known else None
    return generate_job(folder, *(models or (MODEL,)), asked=trials, cell=cell, known=known, **settings)


@pytest.mark.slow
def test_a_job_is_done_by_the_real_sdk_without_torch_and_asks_nothing_twice(tmp_path, capsys):
    server = LoopbackGemini()
    with server.serving():
        job = job_of(tmp_path, server)
        status, out, err = run(job, program=("-c", SAYS_WHAT_IT_LOADED))
        assert (status, err) == (0, "")
        assert out.splitlines()[-1] == "loaded google.genai"
        assert f"m/0: 3 trials for {MODEL} (127.0.0.1:{server.port})" in out
        assert "answered 6/6" in out
        assert server.total == 6
        before = (tmp_path / "0.parquet").read_bytes()
        assert main([job]) == 0
        assert "m/0: all 6 answers are written, nothing to generate" in capsys.readouterr().out
        (tmp_path / "0.parquet").unlink()
        assert main([job]) == 0
        assert "m/0: all 6 answers are known, nothing to generate" in capsys.readouterr().out
        assert (server.total, (tmp_path / "0.parquet").read_bytes()) == (6, before)
    written = read_answers(tmp_path / "0.parquet")
    assert [(a.trial_id, a.sample) for a in written] == [(t.trial_id, n) for t in FEW for n in (0, 1)]
    assert {(a.status, a.text, a.finish, a.n_tokens) for a in written} == {(Status.OK, "Seven.", "end", 50)}
    assert {a.model_version for a in written} == {f"{MODEL}-001"}
    assert len({a.answer_key for a in written}) == 6
    described = table_metadata(tmp_path / "0.parquet")
    assert (described["model"], described["host"]) == (MODEL, f"127.0.0.1:{server.port}")
    assert json.loads(described["usage"])["prompt_tokens"] == 6000


@pytest.mark.slow
def test_a_job_that_is_stopped_keeps_what_was_answered_and_asks_for_the_rest_alone(tmp_path):
    server = LoopbackGemini({("generate", 4): hang})
    with server.serving():
        job = job_of(tmp_path, server, concurrency=1)
        process = start(job)
        wait_until(lambda: server.total == 4 and len([*(tmp_path / "known").rglob("*.json")]) == 3)
        os.kill(process.pid, signal.SIGTERM)
        out, err = process.communicate()
        assert (process.returncode, err) == (EXIT_INTERRUPTED, "")
        assert out.splitlines()[-1] == (
            "stopped by SIGTERM at m/0 (cell 1 of 1): 3 of 6 answers are kept; a new attempt goes on from there"
        )
        assert main([job]) == 0
        assert server.total == 7
    assert all(answer.status is Status.OK for answer in read_answers(tmp_path / "0.parquet"))


def test_a_request_that_is_refused_is_a_row_with_its_reason_and_tried_again_by_the_next_job(tmp_path, capsys):
    server = LoopbackGemini({("generate", 2): refusal(400, "That will not do.")})
    with server.serving():
        job = job_of(tmp_path, server, concurrency=1)
        assert main([job]) == 0
        failed = [answer for answer in read_answers(tmp_path / "0.parquet") if answer.status is Status.FAILED]
        assert [answer.reason for answer in failed] == [
            f"{MODEL}: trial q0 (eng, sample 1): Gemini refuses the request (400 That will not do.); check the "
            "endpoint's settings"
        ]
        assert main([job]) == 0
        assert server.total == 7
    assert all(answer.status is Status.OK for answer in read_answers(tmp_path / "0.parquet"))


def test_a_cell_that_cannot_be_asked_costs_the_others_nothing_and_is_one_line(tmp_path, capsys):
    server = LoopbackGemini()
    with server.serving():
        job = job_of(tmp_path, server, "gemini-99", MODEL, failures=tmp_path / "failures.json")
        assert main([job]) == 1
    said = read_json(tmp_path / "failures.json")
    assert list(said) == ["m/0"]
    assert re.match(
        r"gemini-99: trial q\d .*: Gemini has no model gemini-99 \(404 models/gemini-99 is not", said["m/0"]
    )
    assert said["m/0"].endswith("name another one in the endpoint's settings")
    assert len(read_answers(tmp_path / "1.parquet")) == 6


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (None, "GEMINI_API_KEY is not set, the gemini endpoint needs it; set it to a key from https://"),
        ("AIza-wrong", r"Gemini refuses the key \(400 API key not valid.*\); check GEMINI_API_KEY"),
    ],
)
def test_without_a_key_that_is_taken_nothing_is_written(tmp_path, monkeypatch, capsys, key, said):
    monkeypatch.delenv("GEMINI_API_KEY")
    if key:
        monkeypatch.setenv("GEMINI_API_KEY", key)
    server = LoopbackGemini()
    with server.serving():
        assert main([job_of(tmp_path, server, known=None, concurrency=1)]) == 1
        assert server.total == bool(key)
    err = capsys.readouterr().err
    assert re.search(said, err)
    assert err.count("\n") == 1
    assert "AIza" not in err
    assert not (tmp_path / "0.parquet").exists()


def test_trials_that_read_probabilities_are_refused_before_anything_is_sent(tmp_path, capsys):
    server = LoopbackGemini()
    with server.serving():
        assert main([job_of(tmp_path, server, trials=ASKED)]) == 1
        assert server.total == 0
    assert "trials for ScoreLabels in a job of kind generate; send a score job" in capsys.readouterr().err
