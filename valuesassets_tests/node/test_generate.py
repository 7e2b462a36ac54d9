"""Jobs that let models write: real processes, stopped and killed anywhere, end with the same bytes."""

import json
import os
import resource
import signal
import sys

import pytest

from valuesassets.models.generating import _Writing
from valuesassets.models.known_readings import KnownAnswers
from valuesassets.models.writing import Writer
from valuesassets.node.job_process import main
from valuesassets.records.files import read_json
from valuesassets.records.jobs import EXIT_INTERRUPTED
from valuesassets.records.parquet import read_answers, table_metadata
from valuesassets.records.trials import Status
from valuesassets_tests.forks import FORKS
from valuesassets_tests.models.writers import asked
from valuesassets_tests.node.held_job import wait_until_held
from valuesassets_tests.node.node_jobs import ASKED, generate_job, run, score_job, start
from valuesassets_tests.tiny_models import PROMPTS

FEW = [asked(prompt, f"q{n}", max_tokens=6, samples=2) for n, prompt in enumerate(PROMPTS)]
MANY = [
    asked(f"{n}. {prompt}", f"q{n}/{k}", max_tokens=max_tokens, samples=3, seed=n, stop=("\n\n",))
    for n in range(70)
    for k, (prompt, max_tokens) in enumerate(zip(PROMPTS, (16, 16, 100), strict=True))
]
"""More answers than a block holds; the second block, of the shortest prompts, takes long enough to be stopped in."""


def blocks_in(folder):
    return sorted(folder.rglob("*.answers.jsonl"))


def kept_in(folder):
    return sum(len(path.read_text().splitlines()) for path in blocks_in(folder))


def test_answers_come_in_the_order_of_trials_and_samples_with_what_made_them(model, tmp_path, capsys):
    assert main([generate_job(tmp_path, model, asked=FEW, known=tmp_path / "known")]) == 0
    written = read_answers(tmp_path / "0.parquet")
    assert [(answer.trial_id, answer.sample) for answer in written] == [(t.trial_id, n) for t in FEW for n in (0, 1)]
    assert all(answer.status is Status.OK and answer.text for answer in written)
    described = table_metadata(tmp_path / "0.parquet")
    assert json.loads(described["batch_invariance"]) == {"agrees": True, "answers": 2, "equal_share": 1.0}
    assert json.loads(described["batch_plan"]) == {"blocks": 1, "width": 64}
    assert "answered 6/6" in capsys.readouterr().out
    before = (tmp_path / "0.parquet").read_bytes()
    assert main([str(tmp_path / "job.json")]) == 0
    assert "m/0: all 6 answers are written, nothing to generate" in capsys.readouterr().out
    (tmp_path / "0.parquet").unlink()
    assert main([str(tmp_path / "job.json")]) == 0
    assert "m/0: all 6 answers are known, nothing to generate" in capsys.readouterr().out
    assert (tmp_path / "0.parquet").read_bytes() == before


def test_trials_of_another_readout_are_refused_in_one_line(model, tmp_path, capsys):
    for name, job, trials, kind in (("a", score_job, FEW, "generate"), ("b", generate_job, ASKED, "score")):
        (tmp_path / name).mkdir()
        assert main([job(tmp_path / name, model, asked=trials)]) == 1
        found, sent = {"a": ("Generate", "score"), "b": ("ScoreLabels", "generate")}[name]
        assert capsys.readouterr().err == (
            f"{tmp_path / name / 'trials.parquet'}: trials for {found} in a job of kind {sent}; send a {kind} job\n"
        )


def test_a_cell_that_cannot_be_written_is_in_the_file_of_failures_and_the_others_are_done(model, tmp_path, capsys):
    failures = tmp_path / "failures.json"
    job = generate_job(tmp_path, tmp_path / "nowhere", model, asked=FEW, failures=failures)
    assert main([job]) == 1
    assert list(read_json(failures)) == ["m/0"]
    assert len(read_answers(tmp_path / "1.parquet")) == 6
    assert "no such folder" in capsys.readouterr().err


def test_a_job_whose_folder_cannot_be_written_says_so_before_any_work(model, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    job = generate_job(tmp_path, model, asked=FEW, known=tmp_path / "file" / "known")
    assert main([job]) == 1
    assert "cannot be written: Not a directory" in capsys.readouterr().err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, model):
    """The bytes of a job that nothing happens to."""
    folder = tmp_path_factory.mktemp("whole")
    assert main([generate_job(folder, model, asked=MANY, known=folder / "known")]) == 0
    assert len(blocks_in(folder / "known")) == 2
    return (folder / "0.parquet").read_bytes()


# Behind which call of a job it is at a moment, and by what of the object that is called this is known.
MOMENTS = {
    "while the model is loaded": None,
    "in the first prefill": (Writer, "_take", lambda writer: writer._rows is None),
    "in decoding": (Writer, "_take", lambda writer: writer._rows is not None),
    "between two blocks": (KnownAnswers, "add", lambda store: True),
    "in the second block": (_Writing, "_tick", lambda writing: writing._before > 0),
}


def _generate(job, moment, folder):
    """Do a job in this process, which is held at a moment of it."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY), number)
    if MOMENTS[moment] is not None:
        hold_behind(*MOMENTS[moment])
    sys.exit(main([job]))


def hold_behind(owner, name, is_there):
    """Have this process stop behind a call, until a signal lets it go on or kills it."""
    call = getattr(owner, name)

    def call_and_hold(self, *arguments):
        result = call(self, *arguments)
        if is_there(self):
            os.kill(os.getpid(), signal.SIGSTOP)
        return result

    setattr(owner, name, call_and_hold)


def stop_at(moment, job, folder, sent):
    """Start a job and stop it at a moment; its status and what it said."""
    for name in ("out", "err"):
        (folder / name).write_text("")
    process = FORKS.Process(target=_generate, args=(job, moment, folder))
    process.start()
    if MOMENTS[moment] is not None:
        wait_until_held(process)
    os.kill(process.pid, sent)
    if sent != signal.SIGKILL:  # which alone reaches a process that is held
        os.kill(process.pid, signal.SIGCONT)
    process.join()
    assert (folder / "err").read_text() == ""
    assert not (folder / "0.parquet").exists(), moment
    return process.exitcode, (folder / "out").read_text()


@pytest.mark.slow
@pytest.mark.job_faults
def test_a_job_that_is_killed_at_five_moments_ends_with_the_bytes_of_one_that_was_left_alone(
    model, undisturbed, tmp_path
):
    job = generate_job(tmp_path, model, asked=MANY, known=tmp_path / "known")
    for moment in MOMENTS:
        status, _ = stop_at(moment, job, tmp_path, signal.SIGKILL)
        assert status == -signal.SIGKILL, moment
        assert kept_in(tmp_path / "known") == (512 if moment in list(MOMENTS)[3:] else 0)
    assert main([job]) == 0
    assert (tmp_path / "0.parquet").read_bytes() == undisturbed


@pytest.mark.slow
@pytest.mark.job_faults
def test_a_job_that_is_told_to_stop_says_what_is_kept(model, undisturbed, tmp_path):
    job = generate_job(tmp_path, model, asked=MANY, known=tmp_path / "known")
    status, out = stop_at("between two blocks", job, tmp_path, signal.SIGTERM)
    assert status == EXIT_INTERRUPTED
    assert out.splitlines()[-1] == (
        f"stopped by SIGTERM at m/0 (cell 1 of 1): 512 of {3 * len(MANY)} answers are kept; a new attempt goes on "
        "from there"
    )
    assert main([job]) == 0
    assert (tmp_path / "0.parquet").read_bytes() == undisturbed


@pytest.mark.slow
@pytest.mark.job_faults
def test_two_processes_on_one_store_write_what_one_does(model, undisturbed, tmp_path):
    jobs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        job = generate_job(tmp_path / name, model, asked=MANY, known=tmp_path / "known")
        jobs.append(start(job, is_forked=True))
    for process in jobs:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, ""), out
    assert {(tmp_path / name / "0.parquet").read_bytes() for name in ("one", "two")} == {undisturbed}


@pytest.mark.slow
def test_a_disk_that_is_full_ends_the_job_in_one_line_and_leaves_nothing_half_written(model, tmp_path):
    job = generate_job(tmp_path, model, asked=FEW, known=tmp_path / "known")

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    status, _, err = run(job, preexec_fn=full)
    assert status == 1
    assert err.startswith(f"{tmp_path}/known/")
    assert err.endswith("cannot be written: File too large; nothing was changed; free space or choose another folder\n")
    assert list(tmp_path.rglob(".*")) == []
    assert not (tmp_path / "0.parquet").exists()
