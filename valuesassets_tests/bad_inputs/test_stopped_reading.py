"""Models that are asked by real processes: stopped and killed in a pass, in decoding and between batches, on a full
disk, and two of them at once on one store. What comes of it is what one undisturbed process writes."""

import gc
import signal
import sys
import time
from pathlib import Path

import pytest

from valuesassets.cli import main
from valuesassets.cli.app import app
from valuesassets.node.job_process import main as do_job
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.files import write_json
from valuesassets.records.jobs import EXIT_INTERRUPTED, EmbedJob, write_job
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.tables import TRIALS
from valuesassets_tests.bad_inputs.test_stopped_writing import disk_full_after, on_a_disk
from valuesassets_tests.forks import FORKS
from valuesassets_tests.models.spans.texts import NUMBERS, span_trial, transcript
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.models.writers import asked
from valuesassets_tests.tiny_models import PROMPTS, byte_level, write_model

pytestmark = pytest.mark.job_faults

TRIALS_OF = {
    "spans": [span_trial(transcript([n, 12, 120]), NUMBERS[:30], f"p{n}", as_published=True) for n in range(3)],
    "own answers": [span_trial(transcript([n, 12]), NUMBERS[:30], f"p{n}", history="own", seed=n) for n in range(3)],
    "written": [asked(f"{n}. {PROMPTS[0]}", f"q{n}", max_tokens=4, samples=4, seed=n) for n in range(132)],
}
"""More texts, and more answers, than are kept together."""
KINDS = [*TRIALS_OF, "vectors"]
ENDS = {signal.SIGKILL: {-signal.SIGKILL}, signal.SIGTERM: {143, EXIT_INTERRUPTED}}


class Reading:
    """One command or job, in a folder of its own, with a store that others may use too."""

    def __init__(self, kind, model, folder, store):
        self.kind, self.store, self.output = kind, store, folder / "output"
        folder.mkdir()
        if kind == "vectors":
            write_json(folder / "texts.json", [f"text {n}" for n in range(600)])
            job = EmbedJob(model=str(model), texts=folder / "texts.json", vectors=self.output, known=store)
            write_job(folder / "job.json", job)
            self.arguments = [str(folder / "job.json")]
        else:
            write_table(folder / "trials.parquet", trial_rows(TRIALS_OF[kind]), TRIALS)
            files = ("--trials", folder / "trials.parquet", "--output", self.output, "--known", store)
            self.arguments = ["read", "--model", *map(str, (model, *files)), "--dtype", "float32", "--device", "cpu"]

    def do(self):
        """Here, to its end; gives the bytes that came of it."""
        if self.kind == "vectors":
            assert do_job(self.arguments) == 0
        else:
            app(self.arguments, standalone_mode=False)
        return self.output.read_bytes()

    def start(self, moment=None):
        """In a process, which stays in a pass of the model once the moment is there."""
        arrived = FORKS.Event()
        process = FORKS.Process(target=_read, args=(self, moment, arrived))
        process.start()
        return process, arrived


def _is_there(moment, store, tokens):
    match moment:
        case "in a pass":
            return tokens.shape[-1] > 1
        case "in decoding":
            return tokens.shape[-1] == 1
        case "between batches":
            return any(path.suffix in (".jsonl", ".safetensors") for path in store.rglob("[0-9a-f]*.*"))
    return False


def _read(reading, moment, arrived):
    import torch

    torch.set_num_threads(1)

    def stay(module, inputs):
        if isinstance(module, torch.nn.Embedding) and _is_there(moment, reading.store, inputs[0]):
            gc.disable()  # an exception that a signal raises while garbage is collected is lost
            arrived.set()
            # A signal that comes just before a sleep begins, or to another thread, would not end that sleep.
            while True:
                time.sleep(0.05)

    torch.nn.modules.module.register_module_forward_pre_hook(stay)
    sys.argv = ["valuesassets", *reading.arguments]
    sys.exit(do_job(reading.arguments) if reading.kind == "vectors" else main())


def half_written(folder):
    return list(folder.rglob(".*"))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    embedder = save_embedder(folder / "embedder", [f"text {n}" for n in range(600)])
    writer = write_model(folder / "m", byte_level(), spread=0.2)
    return {kind: embedder if kind == "vectors" else writer for kind in KINDS}


@pytest.fixture(scope="module")
def undisturbed(models, tmp_path_factory):
    """The bytes of each kind that nothing happens to."""
    folder = tmp_path_factory.mktemp("whole")
    return {kind: Reading(kind, models[kind], folder / kind, folder / kind / "known").do() for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_stopped_or_killed_at_any_moment_it_goes_on_and_ends_with_the_same_bytes(kind, models, undisturbed, tmp_path):
    reading = Reading(kind, models[kind], tmp_path / "own", tmp_path / "known")
    moments = ["in a pass", *(["in decoding"] if kind == "written" else []), "between batches"]
    for moment in moments:
        for sent in ENDS:
            left = half_written(tmp_path)
            process, arrived = reading.start(moment)
            assert arrived.wait(120), moment
            process.kill() if sent is signal.SIGKILL else process.terminate()
            process.join(300)
            assert process.exitcode in ENDS[sent], (moment, sent)
            assert half_written(tmp_path) == left, (moment, sent)
            assert not reading.output.exists()
            assert _is_there("between batches", reading.store, None) is (moment == "between batches")
    assert reading.do() == undisturbed[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_on_one_store_write_what_one_does(kind, models, undisturbed, tmp_path):
    pair = [Reading(kind, models[kind], tmp_path / name, tmp_path / "known") for name in ("one", "two")]
    started = [reading.start() for reading in pair]
    for process, _ in started:
        process.join(300)
    assert [process.exitcode for process, _ in started] == [0, 0]
    assert {reading.output.read_bytes() for reading in pair} == {undisturbed[kind]}
    assert half_written(tmp_path) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(kind, models, undisturbed, tmp_path, capsys):
    reading = Reading(kind, models[kind], tmp_path / "own", tmp_path / "known")
    with disk_full_after(600):
        if kind == "vectors":
            assert do_job(reading.arguments) == 1
            (said,) = capsys.readouterr().err.splitlines()
        else:
            with pytest.raises(ValuesAssetsError) as error:
                app(reading.arguments, standalone_mode=False)
            said = str(error.value)
    assert said.startswith(f"{tmp_path / 'known'}/")
    assert said.endswith("cannot be written: File too large; nothing was changed; free space or choose another folder")
    assert half_written(tmp_path) == []
    assert not reading.output.exists()
    assert reading.do() == undisturbed[kind]


def test_a_disk_that_is_really_full_keeps_whole_batches_alone(models, tmp_path):
    (tmp_path / "disk").mkdir()
    reading = Reading("spans", models["spans"], tmp_path / "own", Path("disk/known"))
    done, left = on_a_disk("size=24k", reading.arguments, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("disk/known/")
    assert done.stderr.endswith(
        "cannot be written: No space left on device; nothing was changed; free space or choose another folder\n"
    )
    assert left == ["known"]
    assert not reading.output.exists()
