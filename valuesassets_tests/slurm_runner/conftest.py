import os

import pytest

from valuesassets_tests.slurm_runner.cluster import Cluster


@pytest.fixture(scope="package")
def cluster():
    """A cluster of three nodes; Slurm's commands reach it."""
    with Cluster(CPUS=32) as cluster:
        kept = os.environ.get("SLURM_CONF")
        os.environ.update(cluster.environment)
        yield cluster
        os.environ.pop("SLURM_CONF")
        if kept is not None:
            os.environ["SLURM_CONF"] = kept
