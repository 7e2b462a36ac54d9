"""What Dagster knows of a backfill that has ended."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import dagster as dg

from valuesassets.dagster_internals.backfills import (
    BulkActionStatus,
    DagsterDefinitionChangedDeserializationError,
    PartitionBackfill,
)
from valuesassets.dagster_internals.graph import BaseAssetGraph
from valuesassets.dagster_internals.tags import BACKFILL_ID_TAG, PARTITION_NAME_TAG
from valuesassets.desk.first_errors import first_error
from valuesassets.desk.inputs import is_no_cell
from valuesassets.desk.summaries.summary import BackfillSummary, Failure, Outcome, Partition

STATUSES = {BulkActionStatus.CANCELED: "cancelled", BulkActionStatus.FAILED: "failed"}
Place = tuple[dg.AssetKey, str | None]


def gather_summary(
    backfill: PartitionBackfill, study: str, repository: dg.RepositoryDefinition, instance: dg.DagsterInstance
) -> BackfillSummary:
    """A backfill of assets, or of a job over partitions, as it ended."""
    graph = repository.asset_graph
    records = instance.get_run_records(dg.RunsFilter(tags={BACKFILL_ID_TAG: backfill.backfill_id}))
    runs = _latest(record.dagster_run for record in records)
    outcomes = _outcomes(backfill, repository, runs, instance)
    assets: dict[str, dict[Partition, Outcome]] = {}
    for key, name in _in_order(outcomes, graph):
        assets.setdefault(key.to_user_string(), {})[_dimensions(key, name, graph)] = outcomes[key, name]
    failed_runs = []
    for run in runs:
        if run.status is dg.DagsterRunStatus.FAILURE:
            keys, name = _assets_of(run, repository), run.tags.get(PARTITION_NAME_TAG)
            missing = sorted(key.to_user_string() for key in keys if outcomes.get((key, name)) != "done")
            partition = _dimensions(next(iter(keys), None), name, graph)
            reason = first_error(run.run_id, instance).strip().splitlines()[0]
            failed_runs.append(Failure(tuple(missing), partition, reason, run.run_id))
    ended = [record.end_time for record in records if record.end_time]
    end = backfill.backfill_end_timestamp or max([backfill.backfill_timestamp, *ended])
    return BackfillSummary(
        study=study,
        backfill_id=backfill.backfill_id,
        status=STATUSES.get(backfill.status, "completed"),
        began=backfill.backfill_timestamp,
        seconds=end - backfill.backfill_timestamp,
        assets=assets,
        failed_runs=failed_runs,
        failed_checks=[failure for run in runs for failure in _failed_checks(run, graph, instance)],
        error=backfill.error.message.strip().splitlines()[0] if backfill.error else None,
    )


def _dimensions(key: dg.AssetKey | None, partition: str | None, graph: BaseAssetGraph) -> Partition:
    """A partition key in parts, the model of a cell first."""
    if partition is None:
        return ()
    partitions = graph.get(key).partitions_def if key and graph.has(key) else None
    if isinstance(partitions, dg.MultiPartitionsDefinition):
        keys = partitions.get_partition_key_from_str(partition).keys_by_dimension
        return tuple(keys[name] for name in sorted(keys, key=lambda name: (name != "model", name)))
    return (partition,)


def _outcomes(
    backfill: PartitionBackfill,
    repository: dg.RepositoryDefinition,
    runs: Sequence[dg.DagsterRun],
    instance: dg.DagsterInstance,
) -> dict[Place, Outcome]:
    """What became of each partition of each asset that was asked for."""
    made: set[Place] = set()
    ended: dict[Place, Outcome] = {}
    for run in runs:
        events = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION).records
        found = [record.asset_materialization for record in events]
        made |= {(each.asset_key, each.partition) for each in found if each is not None}
        outcome: Outcome = "cancelled" if run.status is dg.DagsterRunStatus.CANCELED else "failed"
        ended |= {(key, run.tags.get(PARTITION_NAME_TAG)): outcome for key in _assets_of(run, repository)}
    asked = {*_asked_for(backfill, repository)} or made | ended.keys()
    never: Outcome = "cancelled" if backfill.status is BulkActionStatus.CANCELED else "not made"
    places = (place for place in asked if not is_no_cell(repository.asset_graph, *place))
    return {place: "done" if place in made else ended.get(place, never) for place in places}


def _asked_for(backfill: PartitionBackfill, repository: dg.RepositoryDefinition) -> Iterator[Place]:
    """Nothing where the assets have other partitions by now: then its runs say what there was."""
    if not backfill.is_asset_backfill:
        keys = _keys_of_job(backfill.job_name or "", repository)
        yield from ((key, name) for key in keys for name in backfill.partition_names or ())
        return
    try:
        asked = backfill.get_asset_backfill_data(repository.asset_graph).target_subset
    except DagsterDefinitionChangedDeserializationError:
        return
    yield from ((each.asset_key, each.partition_key) for each in asked.iterate_asset_partitions())


def _latest(runs: Iterable[dg.DagsterRun]) -> list[dg.DagsterRun]:
    """Of runs that are newest first, the last that was tried of each partition and its assets; oldest first."""
    tried: dict[tuple, dg.DagsterRun] = {}
    for run in runs:
        tried.setdefault((run.job_name, run.tags.get(PARTITION_NAME_TAG), run.asset_selection), run)
    return list(reversed(tried.values()))


def _assets_of(run: dg.DagsterRun, repository: dg.RepositoryDefinition) -> Collection[dg.AssetKey]:
    return run.asset_selection or _keys_of_job(run.job_name, repository)


def _keys_of_job(name: str, repository: dg.RepositoryDefinition) -> Collection[dg.AssetKey]:
    return repository.get_job(name).asset_layer.selected_asset_keys if repository.has_job(name) else ()


def _failed_checks(run: dg.DagsterRun, graph: BaseAssetGraph, instance: dg.DagsterInstance) -> Iterator[Failure]:
    found = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION).records
    for record in found:
        event = record.event_log_entry.dagster_event
        evaluation = event.asset_check_evaluation_data if event else None
        if evaluation is not None and not evaluation.passed:
            partition = evaluation.partition or run.tags.get(PARTITION_NAME_TAG)
            yield Failure(
                (evaluation.asset_key.to_user_string(),),
                _dimensions(evaluation.asset_key, partition, graph),
                evaluation.description or "",
                run.run_id,
                evaluation.check_name,
                "warning" if evaluation.severity is dg.AssetCheckSeverity.WARN else "error",
            )


def _in_order(places: Iterable[Place], graph: BaseAssetGraph) -> list[Place]:
    """Assets as they follow from each other, partitions as the study names them."""
    known: list[Place] = []
    for key in graph.toposorted_asset_keys:
        partitions = graph.get(key).partitions_def
        known += [(key, str(name)) for name in partitions.get_partition_keys()] if partitions else [(key, None)]
    position = {place: index for index, place in enumerate(known)}
    return sorted(places, key=lambda place: (position.get(place, len(known)), str(place)))
