"""Automation: the conditions under which assets are made anew when cells arrive, and the sensor that evaluates them.

Two kinds of assets follow, told apart by the tag `step`. What a cell's readings say (`step=cell`) follows the readings,
cell by cell. The people's side, the analyses and the report (`step=analysis`) follow the cells of their instrument, all
of them in one run. Nothing that costs money, hours or a GPU ever starts by itself: no other asset has a condition.

A condition does not ask what has happened since it was last looked at, but whether an asset rests on data that have
changed since it was made (`staleness.StaleCache`). So nothing runs twice: not after `valuesassets run`, not after a run
that made the cell and all that follows at once, and not after a try that failed.
"""

import datetime
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import dagster as dg

from valuesassets.dagster_internals.graph import BaseAssetGraph
from valuesassets.desk.staleness import StaleCache
from valuesassets.desk.unfinished import Unfinished
from valuesassets.records.study import Study

SENSOR = "follow_arriving_cells"
Step = Literal["cell", "analysis", "basis"]
"""What an asset is on the way from readings to the report; analyses need a basis to be there, and wait for none."""
STEP = "step"
"""The tag that says so."""
PATIENCE = datetime.timedelta(minutes=30)
"""How long an arrived cell waits for others that are being made, before it is analysed without them."""
SECONDS_BETWEEN_LOOKS = 30


def condition_of(study: Study, instrument: str, step: Step | None) -> dg.AutomationCondition | None:
    """When an asset of an instrument is made by itself; None where only a person starts it.

    What a cell's readings say: when they are there and new, and nobody else is about to make it. An analysis, with all
    that follows from it: once no cell is in the making, or one has waited for half an hour.
    """
    conditions, is_busy = dg.AutomationCondition, _IsBusy(is_on_slurm=study.slurm is not None)
    has_news = _HasNews()  # asked before what maps partitions onto inputs: few are left then, of thousands
    if step == "cell":
        is_free = ~conditions.any_deps_missing() & ~conditions.in_progress() & ~conditions.any_deps_in_progress()
        return (~is_busy & has_news & is_free).with_label("the cell's readings are new")
    if step == "analysis":
        needed = analyses_of(instrument) | dg.AssetSelection.tag(STEP, "basis")
        is_complete = ~conditions.any_deps_missing().allow(needed)
        has_settled = _CellsHaveSettled(instrument)
        return (~is_busy & has_settled & has_news & is_complete).with_label("cells have arrived")
    return None


def analyses_of(instrument: str) -> dg.AssetSelection:
    """What follows the cells of an instrument."""
    return dg.AssetSelection.tag(STEP, "analysis") & dg.AssetSelection.key_prefixes(instrument)


def steps_of(graph: BaseAssetGraph, instrument: str, step: Step) -> list[dg.AssetKey]:
    """The assets of an instrument that are such a step, each after those that it is made from."""
    own = (key for key in graph.toposorted_asset_keys if key.path[0] == instrument)
    return [key for key in own if graph.get(key).tags.get(STEP) == step]


def automation_sensor(assets: Iterable[dg.AssetsDefinition]) -> dg.AutomationConditionSensorDefinition:
    """Looks at the conditions. On from the start, for all that it begins takes minutes and costs nothing."""
    followers = [key for asset in assets for key, held in asset.automation_conditions_by_key.items() if held]
    return dg.AutomationConditionSensorDefinition(
        SENSOR,
        target=followers,
        description="Derives what new readings say, then makes the analyses and the report again in one run. Never "
        "starts an extraction, a preflight or a model.",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        run_tags={"dagster/priority": "-1"},  # what a person starts goes first
        emit_backfills=False,
        use_user_code_server=True,  # the conditions below are none of Dagster's own
    )


class _Own(dg.AutomationCondition):
    """A condition of our own."""

    said: ClassVar[str]

    @property
    def name(self) -> str:
        """How the UI shows it."""
        return self.said

    @abstractmethod
    def kept(self, context: dg.AutomationContext, asked: set[str | None]) -> set[str | None]:
        """The partitions for which it holds, of those that are asked for; `{None}` is an asset without."""

    def evaluate(self, context: dg.AutomationContext) -> dg.AutomationResult:
        """Those of the candidates for which it holds."""
        asked = context.candidate_subset
        if asked.is_empty:
            return dg.AutomationResult(context, asked)
        if not asked.is_partitioned:
            return dg.AutomationResult(context, asked if self.kept(context, {None}) else context.get_empty_subset())
        kept = self.kept(context, {*asked.expensively_compute_partition_keys()})
        return dg.AutomationResult(context, asked.compute_intersection_with_partition_keys({*filter(None, kept)}))


@dataclass(frozen=True)
class _HasNews(_Own):
    said = "never made, or its inputs have changed since, or are about to be made in the same run"

    def kept(self, context: dg.AutomationContext, asked: set[str | None]) -> set[str | None]:
        graph, kept = context.asset_graph, StaleCache.of(context.asset_graph_view).behind(context.key, asked)
        for parent in graph.get(context.key).parent_keys & context.request_subsets_by_key.keys():
            requested = context.request_subsets_by_key[parent]
            if graph.get(parent).partitions_def == graph.get(context.key).partitions_def and not requested.is_empty:
                kept |= asked & (requested.expensively_compute_partition_keys() if requested.is_partitioned else {None})
        return kept


@dataclass(frozen=True)
class _IsBusy(_Own):
    is_on_slurm: bool
    said = "a command or a job is making it part by part"

    def kept(self, context: dg.AutomationContext, asked: set[str | None]) -> set[str | None]:
        return asked if Unfinished.of(context.asset_graph_view).is_busy(self.is_on_slurm) else set()


@dataclass(frozen=True)
class _CellsHaveSettled(_Own):
    instrument: str
    said = f"no cell is in the making, or one has waited for {PATIENCE.seconds // 60} minutes"

    def kept(self, context: dg.AutomationContext, asked: set[str | None]) -> set[str | None]:
        unfinished, graph = Unfinished.of(context.asset_graph_view), context.asset_graph
        followers, cells = (tuple(steps_of(graph, self.instrument, step)) for step in ("analysis", "cell"))
        requested = context.request_subsets_by_key
        is_cell_requested = any(not requested[key].is_empty for key in cells if key in requested)
        waits = is_cell_requested or not unfinished.has_settled(
            followers, cells[0], graph, context.evaluation_time, PATIENCE
        )
        return set() if waits else asked
