import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from valuesassets.node.checks import require_ready
from valuesassets.node.job_process import main
from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json
from valuesassets.records.jobs import (
    EmbedJob,
    PhantomPlan,
    SampleCell,
    SampleJob,
    ScoreCell,
    ScoreJob,
    TrainReferenceJob,
)
from valuesassets.records.parquet import read_readings
from valuesassets_tests.node.node_jobs import planted, score_job, train_job

HOST = socket.gethostname()


def score(readings="good", **settings):
    cell = ScoreCell(name="m/eng", model="m", trials=Path("t.parquet"), readings=Path(readings) / "eng.parquet")
    return ScoreJob(cells=(cell,), **settings)


def train(folder="good", summary="good"):
    plan = PhantomPlan(planted_texts=Path("p.parquet"), languages=("eng",), folder=Path(folder) / "eng")
    return TrainReferenceJob(phantoms=(plan,), steps=1, seed=1, summary=Path(summary) / "s.json")


JOBS = {
    "readings": score("bad/new"),
    "known readings": score(known_readings=Path("bad/new")),
    "failures": score(failures=Path("bad/new/failures.json")),
    "reference models": train(folder="bad/new"),
    "summary": train(summary="bad"),
    "sampled answers": SampleJob(
        cells=(SampleCell(name="m/eng", model="m", trials=Path("t.parquet"), answers=Path("bad/a.parquet")),),
        n=1,
        seed=1,
    ),
    "report on texts": EmbedJob(
        model="m", texts=Path("t.json"), vectors=Path("good/v.npy"), report=Path("bad/r.parquet")
    ),
    "known vectors": EmbedJob(model="m", texts=Path("t.json"), vectors=Path("good/v.npy"), known=Path("bad/new")),
    "vectors": EmbedJob(model="m", texts=Path("t.json"), vectors=Path("bad/v.npy")),
}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_every_place_that_a_job_writes_to_is_tried_before_any_work(job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad").write_text("a file where a folder should be")
    with pytest.raises(StorageError) as caught:
        require_ready(job)
    assert str(caught.value) == (
        f"{HOST}: bad: cannot be written: Not a directory; ask who may write there, or choose another folder"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_ready(score())
    require_ready(train())
    assert list(tmp_path.iterdir()) == []


def on_a_disk(options, job):
    """Status, errors and what is left where a job's folder `disk` is a file system of its own, seen by nobody else."""
    disk = Path(job).parent / "disk"
    disk.mkdir()
    program = f'"{sys.executable}" -m valuesassets.node "$0"; status=$?; ls -A "$1" >&2; exit $status'
    shell = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o {options} none "$1" && {program}', job, str(disk)]
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            "ro",
            "{disk}: cannot be written: Read-only file system; ask who may write there, or choose another folder",
        ),
        (
            "size=9m",
            "{disk}: 9 MiB are free on its disk, 100 at least were expected; free space or choose another folder",
        ),
    ],
)
def test_a_disk_that_is_read_only_or_nearly_full_is_named_and_nothing_is_left(options, fault, tmp_path):
    job = score_job(tmp_path, "not looked at", known=tmp_path / "disk/known", failures=tmp_path / "disk/failures.json")
    assert on_a_disk(options, job) == (1, f"{HOST}: {fault.format(disk=tmp_path / 'disk')}\n")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize(("visible", "said"), [(None, "is not set"), ("", "is ''"), ("7", "is '7'")])
def test_a_gpu_that_cannot_be_used_is_said_with_what_is_visible_and_where(visible, said, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert main([score_job(tmp_path, "not looked at", device="cuda")]) == 1
    assert capsys.readouterr().err == (
        f"{HOST}: device cuda asked for, no GPU can be used (CUDA_VISIBLE_DEVICES {said}); ask Slurm for a GPU "
        "(--gres=gpu:1), see whether nvidia-smi finds it there, or ask for device cpu\n"
    )


def test_looking_loads_no_torch(tmp_path):
    jobs = [score_job(tmp_path, "m"), train_job(tmp_path / "training", planted())]
    look = (
        "import sys; from pathlib import Path; from valuesassets.node import checks, job_process\n"
        "for job in sys.argv[1:]: checks.require_ready(job_process.read_job(Path(job)))\n"
        "print(sorted({'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look, *jobs], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_model_that_is_not_whole_is_named_before_a_sound_one_is_asked(model, tmp_path, capsys):
    cut, lacking = (Path(shutil.copytree(model, tmp_path / name)) for name in ("cut", "lacking"))
    os.truncate(cut / "model.safetensors", 5000)
    (lacking / "model.safetensors").rename(lacking / "model-00002-of-00002.safetensors")
    index = '{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}'
    (lacking / "model.safetensors.index.json").write_text(index)
    failures = tmp_path / "failures.json"
    assert main([score_job(tmp_path, model, cut, lacking, failures=failures)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in said[:2]] == ["m/1", "m/2"]
    told = read_json(failures)
    assert told["m/1"].startswith(f"{HOST}: {cut}/model.safetensors: not a whole file of weights: ")
    assert told["m/2"].startswith(f"{HOST}: {lacking}/model-00001-of-00002.safetensors: no such file of weights; ")
    assert len(read_readings(tmp_path / "0.parquet")) == 3
