"""Commands stopped in the middle of a file: a full disk, a read-only one, Ctrl-C, a job that is cancelled."""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from valuesassets.node.job_process import main as do_job
from valuesassets.orchestration.io_managers import study_io_managers
from valuesassets.orchestration.resources import Storage
from valuesassets.records.columns import Column
from valuesassets.records.jobs import PhantomPlan, ScoreCell, ScoreJob, TrainReferenceJob, write_job
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.table import Table
from valuesassets.records.tables import PLANTED_TEXTS, TABLES, TRIALS
from valuesassets_tests.bad_inputs.case import Case, listing, run_case, run_command
from valuesassets_tests.bad_inputs.making import QUESTIONS, good_questions, question
from valuesassets_tests.bad_inputs.model_folders import good_model
from valuesassets_tests.tiny_models import PROMPTS, trial
from valuesassets_tests.waiting import wait_until

pytestmark = pytest.mark.job_faults

NOBODY = 65534
TRIALS_COMMAND = ("trials", "--questions", "questions.json", "--language", "eng")


def started(*arguments, folder, **options):
    command = [sys.executable, "-m", "valuesassets.cli", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy(), **options
    )


@contextlib.contextmanager
def disk_full_after(n_bytes):
    """No file may grow beyond so many bytes, as if the disk were full from there on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def as_nobody():
    """Root becomes somebody else, for a while."""
    os.setresgid(NOBODY, NOBODY, 0)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)


# A disk of its own, really full or read-only


def on_a_disk(options, command, folder):
    """A command run where `disk` is a file system of its own, seen by nobody else."""
    mount = f'mount -t tmpfs -o {options} none disk && exec "$@"'
    namespace = ["unshare", "-m", "sh", "-c", mount, "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*namespace, "true"], cwd=folder, capture_output=True).returncode
    ):
        pytest.skip("mounting is not allowed here")
    (folder / "after.sh").write_text('"$@"; status=$?; ls -A disk > left; exit $status')
    shell = [*namespace, "sh", "after.sh", sys.executable, "-m", "valuesassets.cli", *command]
    done = subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=False)
    return done, (folder / "left").read_text().split()


@pytest.fixture
def with_disk(tmp_path):
    (tmp_path / "disk").mkdir()
    good_questions(tmp_path)
    return tmp_path


def test_a_disk_that_is_full_in_the_middle_of_a_parquet_keeps_nothing_of_it(with_disk):
    output = ("--output", "disk/trials.parquet", "--orders", "500")
    done, left = on_a_disk("size=4k", (*TRIALS_COMMAND, *output), with_disk)
    assert (done.returncode, left) == (1, [])
    assert done.stderr == (
        "disk/trials.parquet: cannot be written: No space left on device; nothing was changed; free space or choose "
        "another folder\n"
    )


def test_a_disk_that_is_read_only_is_named_before_a_model_is_loaded(with_disk):
    good_model(with_disk)
    command = ("probe", "--model", "model", *TRIALS_COMMAND[1:], "--output", "disk/new/probe.parquet")
    done, left = on_a_disk("ro", command, with_disk)
    assert (done.returncode, left) == (1, [])
    assert done.stderr == (
        f"disk/new/probe.parquet: cannot be written: {with_disk}/disk is not writable for you; choose another folder\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "trials --questions secret.json --language eng --output x.parquet",
            "secret.json: cannot be read: Permission denied; check who may read it",
        ),
        ("study secret.toml", "secret.toml: cannot be read: Permission denied; check who may read it"),
        (
            "extract secret.pdf --language eng --output open/x.json",
            "secret.pdf: cannot be read: Permission denied; check who may read it",
        ),
        (
            "trials --questions questions.json --language eng --output x.parquet",
            "x.parquet: cannot be written: . is not writable for you; choose another folder",
        ),
    ],
    ids=["questions", "study", "form", "output"],
)
def test_what_somebody_may_not_read_or_write_is_said(command, message):
    case = Case("no permission", command, message, prepare_secrets)
    with tempfile.TemporaryDirectory() as first:
        run_case(case, Path(first))  # whatever the command imports is now here, readable or not
    with tempfile.TemporaryDirectory() as here:
        Path(here).chmod(0o755)
        case.make(Path(here))
        (Path(here) / "tmp").mkdir()
        with as_nobody():
            outcome = run_command(case, Path(here))
    assert (outcome.code, outcome.stderr) == (1, message + "\n")
    assert outcome.before == outcome.after


def prepare_secrets(folder):
    good_questions(folder)
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    for ending in ("json", "toml", "pdf"):
        (folder / f"secret.{ending}").write_text("x")
        (folder / f"secret.{ending}").chmod(0o600)


# Stopped by a signal


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_stopped_in_the_middle_of_writing_leaves_nothing(tmp_path, sent, code):
    many = [question(n, 9, "categorical", id=f"q{n}") for n in (1, 2)]
    (tmp_path / "questions.json").write_text(json.dumps(many))
    output = tmp_path / "out" / "trials.parquet"
    output.parent.mkdir()
    command = (*TRIALS_COMMAND, "--output", "out/trials.parquet", "--orders", "9999")

    def stopped():
        process = started(*command, folder=tmp_path)
        wait_until(lambda: list(output.parent.iterdir()) or process.poll() is not None, every=0.001)
        process.send_signal(sent)
        return process.communicate()[1], process.returncode

    for _ in range(20):
        said, status = stopped()
        if not output.exists():
            break
        pq.read_table(output)  # the signal came when the file was whole: not the moment that is tried here
        output.unlink()
    assert status == code, said
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 1
    assert list(output.parent.iterdir()) == []


# The graph's files and the node's


VALUES = {
    "frame": pd.DataFrame({"x": [str(n) * 9 for n in range(900)]}),
    "frames": {"first": pd.DataFrame({"x": ["1"]}), "second": pd.DataFrame({"x": [str(n) * 9 for n in range(900)]})},
    "json": list(range(900)),
    "html": "<p>" * 900,
}


@pytest.mark.parametrize("kind", VALUES)
def test_a_full_disk_leaves_the_last_whole_file_of_an_asset(kind, tmp_path, monkeypatch):
    manager = study_io_managers(Storage(root=str(tmp_path), study="toy"))[kind]

    def store(value):
        @dg.asset(name="thing", key_prefix="survey", io_manager_def=manager)
        def thing():
            return value

        return dg.materialize([thing], raise_on_error=False, instance=dg.DagsterInstance.ephemeral())

    for name in ("thing", "thing/first", "thing/second"):
        monkeypatch.setitem(TABLES, f"survey/{name}", Table(f"survey/{name}", "a thing", Column("x", pa.string(), "x")))
    small = {"frame": pd.DataFrame({"x": ["a"]}), "frames": {"first": pd.DataFrame({"x": ["1"]})}}
    assert store(small.get(kind, "x")).success
    before = listing(tmp_path)
    with disk_full_after(2000):
        result = store(VALUES[kind])
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "cannot be written: File too large" in failure.step_failure_data.error.cause.message
    after = listing(tmp_path)
    if kind == "frames":  # the index, written last, is what stands for all of them: it is gone, and no half table is
        assert "toy/survey/thing/thing.json" not in after
        assert set(after) <= set(before)
    else:
        assert after == before


def test_a_node_job_on_a_full_disk_says_so_and_leaves_no_readings(tmp_path, capsys):
    good_model(tmp_path)
    asked = [trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)]
    write_table(tmp_path / "trials.parquet", trial_rows(asked), TRIALS)
    names = {"trials": tmp_path / "trials.parquet", "readings": tmp_path / "readings" / "eng.parquet"}
    write_job(tmp_path / "job.json", ScoreJob(cells=(ScoreCell(name="m/eng", model=str(tmp_path / "model"), **names),)))
    capsys.readouterr()  # making the model shows a bar, unless an earlier test has turned it off
    with disk_full_after(1000):
        assert do_job([str(tmp_path / "job.json")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{tmp_path}/readings/eng.parquet: cannot be written: File too large; nothing was changed")
    assert list((tmp_path / "readings").iterdir()) == []


def test_a_reference_model_on_a_full_disk_leaves_no_folder(tmp_path, capsys):
    planted = {"language": "eng", "trial_id": "v1", "prompt": "A?\nB:", "answer_text": " 1", "prob": 1.0}
    write_table(tmp_path / "texts.parquet", [planted], PLANTED_TEXTS)
    plan = PhantomPlan(planted_texts=tmp_path / "texts.parquet", languages=("eng",), folder=tmp_path / "models" / "eng")
    write_job(
        tmp_path / "job.json", TrainReferenceJob(phantoms=(plan,), steps=1, seed=1, summary=tmp_path / "summary.json")
    )
    with disk_full_after(1000):
        assert do_job([str(tmp_path / "job.json")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{tmp_path}/models/eng: the model cannot be written: ")
    assert list((tmp_path / "models").iterdir()) == []
    assert not (tmp_path / "summary.json").exists()


def test_a_byte_order_mark_does_no_harm(tmp_path):
    content = json.dumps(QUESTIONS).encode()
    (tmp_path / "questions.json").write_bytes(b"\xef\xbb\xbf" + content)
    process = started(*TRIALS_COMMAND, "--output", "trials.parquet", folder=tmp_path)
    assert process.communicate() == ("6 trials of 3 questions in trials.parquet\n", "")
