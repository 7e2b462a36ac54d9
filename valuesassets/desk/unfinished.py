"""Unfinished runs, backfills and commands of an instance."""

import datetime
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache

import dagster as dg

from valuesassets.dagster_internals.graph import AssetGraphView, BaseAssetGraph
from valuesassets.desk import run_names
from valuesassets.desk.inputs import has_any
from valuesassets.desk.run_process import RunProcess

COMMANDS_LOOKED_AT = 5
UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.SUSPENDED,
    dg.DagsterRunStatus.CANCELING,
]


class Unfinished:
    """What an instance was making at one moment: all conditions of a tick are to see the same."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance

    @classmethod
    @lru_cache(maxsize=1)
    def of(cls, view: AssetGraphView) -> "Unfinished":
        """The one of a tick."""
        return cls(view.instance)

    @cached_property
    def runs(self) -> Sequence[dg.DagsterRun]:
        """Those that have not ended."""
        return self.instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))

    @cached_property
    def backfills(self):
        """Those that have not ended."""
        from valuesassets.dagster_internals.backfills import BulkActionsFilter, BulkActionStatus  # a sixth of a second

        unfinished = [BulkActionStatus.REQUESTED, BulkActionStatus.CANCELING, BulkActionStatus.FAILING]
        return self.instance.get_backfills(filters=BulkActionsFilter(statuses=unfinished))

    def is_making(self, assets: Collection[dg.AssetKey]) -> bool:
        """Whether a run or a backfill has any of some assets among what it makes, be it done or to come."""
        asked = set(assets)
        return any(
            run.job_name.endswith(run_names.ANALYSE_END) or asked & (run.asset_selection or set()) for run in self.runs
        ) or any(asked & set(backfill.asset_selection or ()) for backfill in self.backfills)

    @lru_cache(maxsize=16)  # noqa: B019 (one for each instrument; of the last ticks)
    def has_settled(
        self,
        followers: tuple[dg.AssetKey, ...],
        cells: dg.AssetKey,
        graph: BaseAssetGraph,
        now: datetime.datetime,
        patience: datetime.timedelta,
    ) -> bool:
        """Whether there are cells to follow, and none in the making that is worth waiting for; looked at once a tick.

        Args:
            followers: that are made from the cells; while they are in the making themselves, nothing has settled.
            patience: how long a cell that they have not seen waits for others.
        """
        if not has_any(graph, cells, self.instance) or self.is_making(followers):
            return False
        if not self.runs and not self.backfills:
            return True
        tries = map(self.instance.event_log_storage.get_latest_planned_materialization_info, followers)
        last = max((planned.storage_id for planned in tries if planned), default=None)
        since = dg.AssetRecordsFilter(cells, after_storage_id=last)
        waiting = self.instance.fetch_materializations(since, limit=1, ascending=True).records
        return bool(waiting) and now.timestamp() - waiting[0].timestamp >= patience.total_seconds()

    def is_busy(self, is_on_slurm: bool) -> bool:
        """Whether a job or a command goes through the study part by part: what is missing is about to be made.

        Not while it waits for a grid on Slurm: that may take days, and what has arrived is worth a look.
        """
        command = self._command
        if command is not None:
            return command.is_finished or not command.job_name.endswith(run_names.GRID_END)
        names = [run.job_name for run in self.runs]
        is_reading = not is_on_slurm and any(name.endswith(run_names.GRID_END) for name in names)
        by_parts = {run_names.DEMO, run_names.WHOLE_STUDY, run_names.EXTRACT_AND_ALIGN}
        return is_reading or not by_parts.isdisjoint(names)

    @cached_property
    def _command(self) -> dg.DagsterRun | None:
        """The latest run of a command that still lives on this machine."""
        asked = dg.RunsFilter(tags={run_names.COMMAND_TAG: run_names.RUN_STUDY})
        for run in self.instance.get_runs(asked, limit=COMMANDS_LOOKED_AT):
            process = RunProcess.of_run(run.run_id, run.tags)
            if process is not None and RunProcess.find(run.run_id, process.pid) == process:
                return run
        return None
