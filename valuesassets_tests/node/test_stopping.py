import contextlib
import json
import os
import random
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from valuesassets.node.job_process import main
from valuesassets.node.stopping import stops_at_term
from valuesassets.records.jobs import EXIT_INTERRUPTED
from valuesassets_tests.forks import FORKS
from valuesassets_tests.node import held_job
from valuesassets_tests.node.node_jobs import planted, score_job, start, train_job
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model
from valuesassets_tests.waiting import wait_until

pytestmark = pytest.mark.job_faults


def asked(n):
    return [trial(f"{k}. {prompt}", 4, f"v{k}/0/{i}") for k in range(n) for i, prompt in enumerate(PROMPTS)]


ASKED = asked(150)


def slow_model(folder, seed=0):
    return write_model(folder, sentencepiece_like(), seed, num_hidden_layers=4)


def batches_in(folder):
    """The files of finished batches in a store."""
    return sorted(folder.rglob("[0-9a-f]*.jsonl"))


def kept_in(folder):
    """The keys of all readings in a store."""
    return [json.loads(line)["reading_key"] for path in batches_in(folder) for line in path.read_text().splitlines()]


def half_written(folder):
    return list(folder.rglob(".*"))


@pytest.mark.slow
def test_a_job_stopped_in_the_middle_keeps_what_it_has_says_how_much_and_the_next_attempt_does_the_rest(
    tmp_path, capsys
):
    models = [slow_model(tmp_path / name, seed) for seed, name in enumerate(("first", "second"))]
    undisturbed, stopped = (
        score_job(tmp_path / name, *models, asked=ASKED, known=tmp_path / name / "known")
        for name in ("whole", "stopped")
    )
    store = tmp_path / "stopped/known"
    process = start(stopped, len(ASKED), program=held_job.PROGRAM)
    held_job.wait_until_held(process)
    process.terminate()
    process.send_signal(signal.SIGCONT)
    process.terminate()  # a second one changes nothing
    said, errors = process.communicate()
    assert (process.returncode, errors) == (EXIT_INTERRUPTED, "")
    written, batches = (tmp_path / "stopped/0.parquet").read_bytes(), batches_in(store)
    kept = len(kept_in(store)) - len(ASKED)
    assert 0 < kept < len(ASKED)
    assert said.splitlines()[-1] == (
        f"stopped by SIGTERM at m/1 (cell 2 of 2): {kept} of {len(ASKED)} readings are kept; a new attempt goes on "
        "from there"
    )
    assert half_written(tmp_path) == []
    assert not (tmp_path / "stopped/1.parquet").exists()

    assert main([stopped]) == 0
    said = capsys.readouterr().out
    assert f"m/0: all {len(ASKED)} readings are written, nothing to score" in said
    assert [line for line in said.splitlines() if line.startswith("loaded")] == [f"loaded {models[1]} (float32, cpu)"]
    assert set(batches) < set(batches_in(store))
    assert len(kept_in(store)) == len(set(kept_in(store))) == 2 * len(ASKED)
    assert main([undisturbed]) == 0
    assert (tmp_path / "stopped/0.parquet").read_bytes() == written == (tmp_path / "whole/0.parquet").read_bytes()
    assert (tmp_path / "stopped/1.parquet").read_bytes() == (tmp_path / "whole/1.parquet").read_bytes()


def test_a_job_without_a_store_says_that_it_begins_its_cell_anew(tmp_path):
    process = start(score_job(tmp_path, slow_model(tmp_path / "model"), asked=ASKED), is_forked=True)
    while not process.stdout.readline().startswith("loaded"):
        assert process.poll() is None
    process.terminate()
    said, errors = process.communicate()
    assert (process.returncode, errors) == (EXIT_INTERRUPTED, "")
    assert said.splitlines()[-1] == (
        f"stopped by SIGTERM at m/0 (cell 1 of 1): none of {len(ASKED)} readings is kept, the job names no "
        "known_readings; a new attempt asks them all"
    )


IN_ONE_CALL = "torch.linalg.eigvals(matrix)"
IN_THREADS = "with ThreadPoolExecutor() as pool: pool.submit(sleep).result()"
"""As transformers loads weights: the way out of such a block waits for the threads."""
PROGRAM = """
import sys, time
if {torch}:
    import torch
    matrix = torch.rand(4000, 4000, dtype=torch.float64)
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from valuesassets.node import stopping
from valuesassets.records.files import whole_file

def sleep():
    print("in a thread", flush=True)
    time.sleep(900)

with stopping.stops_at_term(lambda: print("stopped", flush=True)):
    print("begun", flush=True)
    {work}
print("done", flush=True)
"""


def started(work, *arguments, **options):
    process = start(*arguments, program=("-c", PROGRAM.format(work=work, torch=work == IN_ONE_CALL)), **options)
    assert process.stdout.readline() == "begun\n"
    return process


def ticks_of(process):
    """The processor time of its main thread, in hundredths of a second."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/stat").read_text().rpartition(")")[2].split()[11])


def wait_for_its_call(process):
    """Wait until it computes: what it does before that takes less."""
    begun = ticks_of(process)
    wait_until(lambda: ticks_of(process) >= begun + 20, every=0.02)


def wait_for_its_threads(process):
    assert process.stdout.readline() == "in a thread\n"


@pytest.mark.parametrize(
    ("work", "wait"),
    [(IN_ONE_CALL, wait_for_its_call), (IN_THREADS, wait_for_its_threads)],
    ids=["in one call", "in threads"],
)
def test_what_takes_minutes_is_not_waited_for(work, wait):
    process = started(work)
    wait(process)
    process.terminate()
    assert process.communicate() == ("stopped\n", "")
    assert process.returncode == EXIT_INTERRUPTED


WRITING = """
    with whole_file(Path(sys.argv[1])) as temporary:
        temporary.write_text("half")
        print("half", flush=True)
        sys.stdin.readline()
        temporary.write_text("all of it")
    time.sleep(900)
"""


def test_a_write_in_hand_is_ended_before_the_job_is(tmp_path):
    process = started(WRITING, tmp_path / "file", stdin=-1)
    assert process.stdout.readline() == "half\n"
    process.terminate()
    assert process.communicate("go on\n") == ("stopped\n", "")
    assert process.returncode == EXIT_INTERRUPTED
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "all of it")]


def test_a_write_that_hangs_does_not_hold_the_job_for_ever(tmp_path):
    process = started("stopping.GRACE_S = 0.1" + WRITING, tmp_path / "file", stdin=-1)
    assert process.stdout.readline() == "half\n"
    process.terminate()
    with process:  # which says nothing to it
        assert process.wait(300) == EXIT_INTERRUPTED
    assert not (tmp_path / "file").exists()


def test_a_job_that_ends_by_itself_leaves_the_signal_as_it_was():
    before = signal.getsignal(signal.SIGTERM)
    with stops_at_term(lambda: None):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


# Worker processes


def children_of(process):
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def stop_the_job(process):
    process.terminate()


def stop_one_worker(process):
    os.kill(children_of(process)[0], signal.SIGTERM)


def stop_every_process(process):
    os.killpg(process.pid, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("stop", [stop_the_job, stop_one_worker, stop_every_process])
def test_a_training_stopped_by_any_of_its_processes_ends_with_all_of_them_and_leaves_no_half_model(stop, tmp_path):
    job = train_job(tmp_path, many_planted("eng") + many_planted("deu"), ("eng", "deu"), steps=100_000)
    process = start(job, start_new_session=True)
    assert "pass 50/100000" in process.stdout.readline()
    workers = children_of(process)
    stop(process)
    said, errors = process.communicate()
    assert (process.returncode, errors) == (EXIT_INTERRUPTED, "")
    assert said.splitlines()[-1] == (
        "stopped by SIGTERM with 0 of 2 reference models trained; a new attempt trains the others"
    )
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert half_written(tmp_path) == []
    assert not (tmp_path / "summary.json").exists()


def many_planted(language):
    """More than can be learnt in a few passes."""
    rows = [
        row | {"prompt": f"{n}. {row['prompt']}", "trial_id": f"{n}/{row['trial_id']}"}
        for n in range(20)
        for row in planted(language)
    ]
    draw = random.Random(language)  # noqa: S311
    for first in range(0, len(rows), 3):
        cuts = sorted((0, draw.random(), draw.random(), 1))
        for row, (low, high) in zip(rows[first : first + 3], pairwise(cuts), strict=True):
            row["prob"] = high - low
    return rows


def test_a_training_stopped_while_its_workers_start_says_so(tmp_path):
    process = start(train_job(tmp_path, planted() + planted("deu"), ("eng", "deu"), steps=100_000))
    wait_until(lambda: children_of(process) or process.poll() is not None, every=0.002)
    process.terminate()
    said, errors = process.communicate()
    assert (process.returncode, errors) == (EXIT_INTERRUPTED, "")
    assert said.startswith("stopped by SIGTERM with 0 of 2 reference models trained")


# Anywhere


def _score(job, n_batches):
    """Do a job, which is held behind so many batches: it never comes to its end, however late it is stopped."""
    held_job.hold_behind_batch(lambda count, _: count == n_batches)
    sys.exit(main([job]))


@pytest.mark.slow
def test_a_cell_stopped_at_twelve_random_points_ends_with_the_bytes_of_an_undisturbed_one(tmp_path):
    """Real processes, told to stop and killed by turns, each somewhere in the batches that the last one left.

    What any of them loses or leaves is seen in the end, so that each is a case of its own: six of each signal, some
    before a batch of theirs is written and some behind it.
    """
    model = slow_model(tmp_path / "model")
    undisturbed, stopped = (
        score_job(tmp_path / name, model, asked=asked(270), known=tmp_path / name / "known")
        for name in ("whole", "stopped")
    )
    draw = random.Random(4)  # noqa: S311

    def kept():
        return len(batches_in(tmp_path / "stopped/known"))

    # Before the job has begun, SIGTERM is what it is to any process.
    ends = {signal.SIGTERM: {EXIT_INTERRUPTED, -signal.SIGTERM}, signal.SIGKILL: {-signal.SIGKILL}}
    for sent in 6 * [signal.SIGTERM, signal.SIGKILL]:
        left_by_killed_ones = half_written(tmp_path)
        n_batches = draw.randint(0, 1)
        process, enough = FORKS.Process(target=_score, args=(stopped, n_batches + 1)), kept() + n_batches
        process.start()
        while kept() < enough and process.is_alive():
            time.sleep(0.002)
        process.join(draw.uniform(0, 0.05))
        os.kill(process.pid, sent)
        while process.is_alive():  # it may stop itself after a first signal to go on, before it heeds the other
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
            process.join(0.05)
        assert process.exitcode in ends[sent]
        assert sent is signal.SIGKILL or half_written(tmp_path) == left_by_killed_ones
        assert not (tmp_path / "stopped/0.parquet").exists()
    assert kept() > 0
    assert main([stopped]) == 0
    assert main([undisturbed]) == 0
    assert (tmp_path / "stopped/0.parquet").read_bytes() == (tmp_path / "whole/0.parquet").read_bytes()
