"""The clusters that faults are injected into, started when they are first asked for."""

import contextlib
import os
from types import TracebackType

from valuesassets_tests.slurm_runner.cluster import Cluster

KINDS: dict[str, dict[str, object]] = {
    "plain": {},
    "forgetful": {"NODES": 1, "MIN_JOB_AGE": 2, "EXTRA": "EnforcePartLimits=ALL"},
    "accounting": {"NODES": 1, "MIN_JOB_AGE": 2, "DBD": 1},
}


class Clusters:
    """One cluster of each kind at most; the last one asked for is the one that Slurm's commands reach."""

    def __init__(self) -> None:
        self._stack, self._up = contextlib.ExitStack(), dict[str, Cluster]()

    def __enter__(self) -> "Clusters":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.environ.pop("SLURM_CONF", None)
        self._stack.close()

    def get(self, kind: str) -> Cluster:
        """The cluster of a kind, its nodes idle."""
        if kind not in self._up:
            self._up[kind] = self._stack.enter_context(Cluster(**KINDS[kind]))
        cluster = self._up[kind]
        os.environ.update(cluster.environment)
        cluster.wait_until_idle()
        return cluster
