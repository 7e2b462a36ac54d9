"""Automation: the conditions under which assets are made again when cells arrive, and the sensor that evaluates them.

Two kinds of assets are made automatically, distinguished by the tag `step`. Assets derived from a cell's readings
(`step=cell`) follow the readings, cell by cell. People's answers, analyses and the report (`step=analysis`) follow the
cells of their instrument, all in one run. No other asset has a condition, so that nothing that costs money, hours or a
GPU starts automatically.

A condition does not depend on recent events, but on whether an asset's input data have changed since it was made
(`staleness.StaleCache`). Therefore nothing runs twice: not after `valuesassets run`, not after a run that made the cell
and its followers together, and not after a failed attempt.
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
"""The step of an asset between readings and the report. Analyses need an existing `basis`, but do not wait for one."""
STEP = "step"
"""The tag that names an asset's step."""
PATIENCE = datetime.timedelta(minutes=30)
"""How long a new cell waits for others that are being made, before it is analysed without them."""
SECONDS_BETWEEN_LOOKS = 30


def condition_of(study: Study, instrument: str, step: Step | None) -> dg.AutomationCondition | None:
    """When an asset of an instrument is made automatically; None if only a person starts it.

    Assets derived from a cell: when its readings exist and are new, and nothing else is making the asset. Analyses with
    their followers: when no cell is being made, or one has waited for half an hour.
    """
    conditions, is_busy = dg.AutomationCondition, _IsBusy(is_on_slurm=study.slurm is not None)
    has_news = _HasNews()  # first, since it leaves few of thousands of partitions for the slow conditions
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
    """The analyses and the report of an instrument."""
    return dg.AssetSelection.tag(STEP, "analysis") & dg.AssetSelection.key_prefixes(instrument)


def steps_of(graph: BaseAssetGraph, instrument: str, step: Step) -> list[dg.AssetKey]:
    """The assets of an instrument with this step, in topological order."""
    keys = (key for key in graph.toposorted_asset_keys if key.path[0] == instrument)
    return [key for key in keys if graph.get(key).tags.get(STEP) == step]


def automation_sensor(assets: Iterable[dg.AssetsDefinition]) -> dg.AutomationConditionSensorDefinition:
    """The sensor that evaluates the conditions; it runs by default, since its runs take minutes and cost nothing."""
    followers = [key for asset in assets for key, condition in asset.automation_conditions_by_key.items() if condition]
    return dg.AutomationConditionSensorDefinition(
        SENSOR,
        target=followers,
        description="Derives answers from new readings, then makes the analyses and the report again in one run. Never "
        "starts an extraction, a preflight or a model.",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        run_tags={"dagster/priority": "-1"},  # runs that a person starts go first
        emit_backfills=False,
        use_user_code_server=True,  # needed for the conditions below
    )


class _Condition(dg.AutomationCondition):
    """Base class of our conditions."""

    description_text: ClassVar[str]

    @property
    def name(self) -> str:
        """The condition's text in the UI."""
        return self.description_text

    @abstractmethod
    def holds_for(self, context: dg.AutomationContext, candidates: set[str | None]) -> set[str | None]:
        """The candidates for which the condition holds; `{None}` stands for an asset without partitions."""

    def evaluate(self, context: dg.AutomationContext) -> dg.AutomationResult:
        """The candidates for which the condition holds, for Dagster."""
        candidates = context.candidate_subset
        if candidates.is_empty:
            return dg.AutomationResult(context, candidates)
        if not candidates.is_partitioned:
            return dg.AutomationResult(
                context, candidates if self.holds_for(context, {None}) else context.get_empty_subset()
            )
        partitions = self.holds_for(context, {*candidates.expensively_compute_partition_keys()})
        return dg.AutomationResult(
            context, candidates.compute_intersection_with_partition_keys({*filter(None, partitions)})
        )


@dataclass(frozen=True)
class _HasNews(_Condition):
    description_text = "it is missing, or its inputs have changed since or are made in the same run"

    def holds_for(self, context: dg.AutomationContext, candidates: set[str | None]) -> set[str | None]:
        graph, news = context.asset_graph, StaleCache.of(context.asset_graph_view).behind(context.key, candidates)
        for parent in graph.get(context.key).parent_keys & context.request_subsets_by_key.keys():
            requested = context.request_subsets_by_key[parent]
            if graph.get(parent).partitions_def == graph.get(context.key).partitions_def and not requested.is_empty:
                news |= candidates & (
                    requested.expensively_compute_partition_keys() if requested.is_partitioned else {None}
                )
        return news


@dataclass(frozen=True)
class _IsBusy(_Condition):
    is_on_slurm: bool
    description_text = "a command or a job is making the study step by step"

    def holds_for(self, context: dg.AutomationContext, candidates: set[str | None]) -> set[str | None]:
        return candidates if Unfinished.of(context.asset_graph_view).is_busy(self.is_on_slurm) else set()


@dataclass(frozen=True)
class _CellsHaveSettled(_Condition):
    instrument: str
    description_text = f"no cell is being made, or one has waited for {PATIENCE.seconds // 60} minutes"

    def holds_for(self, context: dg.AutomationContext, candidates: set[str | None]) -> set[str | None]:
        unfinished, graph = Unfinished.of(context.asset_graph_view), context.asset_graph
        followers, cells = (tuple(steps_of(graph, self.instrument, step)) for step in ("analysis", "cell"))
        requested = context.request_subsets_by_key
        is_cell_requested = any(not requested[key].is_empty for key in cells if key in requested)
        waits = is_cell_requested or not unfinished.has_settled(
            followers, cells[0], graph, context.evaluation_time, PATIENCE
        )
        return set() if waits else candidates
