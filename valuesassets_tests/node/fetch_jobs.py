"""Jobs that fetch models, each in a process of its own, with the real hub library."""

import os
import subprocess
import sys

from valuesassets.records.files import read_json
from valuesassets.records.jobs import FetchWeightsJob, HubModel, write_job

NOT_READ = ("pytorch_model.bin", "modeling_own.py", "README.md", "consolidated.safetensors", "onnx/model.safetensors")
"""What lies beside the model of `hub` and is of no use here."""


def environment(hub, cache, **more):
    offline = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    return offline | {"HF_ENDPOINT": hub if isinstance(hub, str) else hub.url, "HF_HOME": str(cache)} | more


def job_of(folder, *models, **settings):
    asked = tuple(m if isinstance(m, HubModel) else HubModel(model=str(m)) for m in models)
    write_job(folder / "job.json", FetchWeightsJob(models=asked, summary=folder / "summary.json", **settings))
    return [sys.executable, "-W", "error", "-m", "valuesassets.node", str(folder / "job.json")]


def run(hub, folder, *models, env=None, cache=None, **settings):
    """A job's exit status, log and summary (None where there is none)."""
    (folder / "summary.json").unlink(missing_ok=True)
    done = subprocess.run(
        job_of(folder, *models, **settings),
        capture_output=True,
        text=True,
        check=False,
        env=environment(hub, cache or folder / "cache", **(env or {})),
    )
    summary = read_json(folder / "summary.json") if (folder / "summary.json").exists() else None
    return done, summary


def fetched(hub, folder, *models, **settings):
    """The models of a job that succeeded."""
    done, summary = run(hub, folder, *models, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return summary["models"]


def refused(hub, folder, *models, **settings):
    """The one line of a job that failed."""
    done, summary = run(hub, folder, *models, **settings)
    assert (done.returncode, summary) == (1, None)
    assert done.stderr.count("\n") == 1
    return done.stderr


def at(model, revision):
    return HubModel(model=model, revision=revision)


def start(hub, folder, *models, cache=None, **settings):
    return subprocess.Popen(
        job_of(folder, *models, **settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(hub, cache or folder / "cache"),
    )
