import os
import shutil

import pytest

from valuesassets_tests.slurm_runner.cluster import Cluster


@pytest.fixture(scope="package")
def cluster():
    """A cluster of three nodes; Slurm's commands reach it."""
    with Cluster(CPUS=32, EXTRA="PartitionName=hidden Nodes=ALL Hidden=YES State=UP") as cluster:
        kept = os.environ.get("SLURM_CONF")
        os.environ.update(cluster.environment)
        yield cluster
        os.environ.pop("SLURM_CONF")
        if kept is not None:
            os.environ["SLURM_CONF"] = kept


@pytest.fixture(scope="package")
def accounted():
    """A cluster of one node with accounting that soon forgets its jobs; `Cluster.environment` leads to it."""
    with Cluster(NODES=1, MIN_JOB_AGE=2, DBD=1) as cluster:
        yield cluster


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a program of shell lines before a command; `$REAL` in them is the command itself."""
    folder, path = tmp_path / "stand-ins", os.environ["PATH"]

    def put(name, lines):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\nREAL={shutil.which(name, path=path)}\n{lines}\n")
        (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{path}")
        return (folder / name).unlink

    return put
