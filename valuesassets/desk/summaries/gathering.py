"""Collects Dagster's records of a backfill that has ended."""

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
    """The summary of an ended backfill, of assets or of a job over partitions."""
    graph = repository.asset_graph
    records = instance.get_run_records(dg.RunsFilter(tags={BACKFILL_ID_TAG: backfill.backfill_id}))
    runs = _latest_runs(record.dagster_run for record in records)
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
    """The parts of a partition key, in a cell the model first."""
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
    """The outcome of each requested partition of each asset."""
    done: set[Place] = set()
    outcome_of_run: dict[Place, Outcome] = {}
    for run in runs:
        events = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION).records
        materialisations = [record.asset_materialization for record in events]
        done |= {(each.asset_key, each.partition) for each in materialisations if each is not None}
        outcome: Outcome = "cancelled" if run.status is dg.DagsterRunStatus.CANCELED else "failed"
        outcome_of_run |= {(key, run.tags.get(PARTITION_NAME_TAG)): outcome for key in _assets_of(run, repository)}
    requested = {*_requested_places(backfill, repository)} or done | outcome_of_run.keys()
    otherwise: Outcome = "cancelled" if backfill.status is BulkActionStatus.CANCELED else "not made"
    places = (place for place in requested if not is_no_cell(repository.asset_graph, *place))
    return {place: "done" if place in done else outcome_of_run.get(place, otherwise) for place in places}


def _requested_places(backfill: PartitionBackfill, repository: dg.RepositoryDefinition) -> Iterator[Place]:
    """The requested assets and partitions; empty if the assets have other partitions now."""
    if not backfill.is_asset_backfill:
        keys = _keys_of_job(backfill.job_name or "", repository)
        yield from ((key, name) for key in keys for name in backfill.partition_names or ())
        return
    try:
        requested = backfill.get_asset_backfill_data(repository.asset_graph).target_subset
    except DagsterDefinitionChangedDeserializationError:
        return
    yield from ((place.asset_key, place.partition_key) for place in requested.iterate_asset_partitions())


def _latest_runs(runs: Iterable[dg.DagsterRun]) -> list[dg.DagsterRun]:
    """The latest attempt for each partition and its assets, oldest first, from runs that are newest first."""
    latest: dict[tuple, dg.DagsterRun] = {}
    for run in runs:
        latest.setdefault((run.job_name, run.tags.get(PARTITION_NAME_TAG), run.asset_selection), run)
    return list(reversed(latest.values()))


def _assets_of(run: dg.DagsterRun, repository: dg.RepositoryDefinition) -> Collection[dg.AssetKey]:
    return run.asset_selection or _keys_of_job(run.job_name, repository)


def _keys_of_job(name: str, repository: dg.RepositoryDefinition) -> Collection[dg.AssetKey]:
    return repository.get_job(name).asset_layer.selected_asset_keys if repository.has_job(name) else ()


def _failed_checks(run: dg.DagsterRun, graph: BaseAssetGraph, instance: dg.DagsterInstance) -> Iterator[Failure]:
    records = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION).records
    for record in records:
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
    """Places with assets in topological order and partitions in the study's order."""
    all_places: list[Place] = []
    for key in graph.toposorted_asset_keys:
        partitions = graph.get(key).partitions_def
        all_places += [(key, str(name)) for name in partitions.get_partition_keys()] if partitions else [(key, None)]
    position = {place: index for index, place in enumerate(all_places)}
    return sorted(places, key=lambda place: (position.get(place, len(all_places)), str(place)))
