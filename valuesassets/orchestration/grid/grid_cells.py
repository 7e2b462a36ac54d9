"""Chooses the cells that a grid run reads, with their jobs and the versions of their inputs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import dagster as dg
import pydantic

from slurm_runner.claims import materialised_by, retried_runs
from valuesassets.dagster_internals.graph import BaseAssetGraph
from valuesassets.dagster_internals.tags import (
    CODE_VERSION_TAG,
    INPUT_DATA_VERSION_TAG_PREFIX,
    INPUT_EVENT_POINTER_TAG_PREFIX,
    extract_data_version_from_entry,
)
from valuesassets.desk.inputs import inputs_of
from valuesassets.desk.staleness import Staleness
from valuesassets.orchestration.grid.cells import answers_job, readings_job
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import StudyError
from valuesassets.records.jobs import AskingJob, GenerateCell, ScoreCell
from valuesassets.records.study import Cell, Study

WORDS = ("missing", "stale", "failed", "all")


class GridConfig(dg.Config):
    """The cells to read; `stale` includes missing cells and those whose prompts, preflight or code have changed."""

    cells: list[str] = pydantic.Field(
        default=["missing"],
        description="missing (never read, or failed), stale, failed, all, or the names of cells as <model>/<part>",
    )


@dataclass(frozen=True)
class Grid:
    """The cells of one instrument in a study, with the storage of their results and the graph of the study's assets."""

    study: Study
    storage: Storage
    instrument: Instrument
    graph: BaseAssetGraph

    @property
    def asset(self) -> dg.AssetKey:
        """The key of the asset whose partitions are the cells."""
        return self.instrument.asked

    @property
    def cells(self) -> list[Cell]:
        """All cells, in the study's order."""
        return self.instrument.cells(self.study)


@dataclass(frozen=True)
class WantedCell:
    """A cell to ask, with its job and the tags of its materialisation: the versions of its code and inputs when it was
    requested; `rounds` are those of its draws, where its answers are drawn."""

    cell: Cell
    partition: dg.MultiPartitionKey
    job: AskingJob
    tags: Mapping[str, str]
    rounds: int = 1

    @property
    def request(self) -> ScoreCell | GenerateCell:
        """The entry of its job."""
        return self.job.cells[0]


def partition_of(instrument: Instrument, cell: Cell) -> dg.MultiPartitionKey:
    """The partition key of a cell."""
    return cell_key(cell.family, cell.part.name, instrument.part)


def choose_cells(choices: list[str], grid: Grid, instance: dg.DagsterInstance) -> list[Cell]:
    """The cells chosen by name or by the words of `WORDS`, in the study's order; StudyError where the grid has no such
    cell."""
    names = {str(cell): cell for cell in grid.cells}
    for name in choices:
        if name not in names and name not in WORDS:
            raise StudyError(
                f"cells: {name!r} is no cell of the study; use {', '.join(WORDS)}, or <model>/<{grid.instrument.part}> "
                f"such as {next(iter(names))}"
            )
    keys = {partition_of(grid.instrument, cell): name for name, cell in names.items()}
    partitions = grid.graph.get(grid.asset).partitions_def
    stale = Staleness(grid.graph, instance, grid.storage.folder)
    status = (instance.get_status_by_partition(grid.asset, list(keys), partitions) if partitions else None) or {}

    def is_wanted(name: str, key: dg.MultiPartitionKey) -> bool:
        if {name, "all"} & {*choices}:
            return True
        cell_status = status.get(key)
        if (
            cell_status is dg.AssetPartitionStatus.MATERIALIZED
            and grid.storage.path(grid.asset, key, "parquet").exists()
        ):
            return "stale" in choices and bool(stale.of([grid.asset], key))
        return bool({"missing", "stale"} & {*choices}) or (
            cell_status is dg.AssetPartitionStatus.FAILED and "failed" in choices
        )

    return [names[name] for key, name in keys.items() if is_wanted(name, key)]


def not_yet_read(cells: Iterable[Cell], grid: Grid, run: dg.DagsterRun, instance: dg.DagsterInstance) -> list[Cell]:
    """Cells without those that earlier attempts of this automatically retried run have read."""
    keys_read = {
        key for earlier_run in retried_runs(instance, run) for key in materialised_by(instance, earlier_run, grid.asset)
    }
    return [cell for cell in cells if str(partition_of(grid.instrument, cell)) not in keys_read]


Latest = Callable[[dg.AssetKey, str | None], tuple[str, str]]


def latest_of(instance: dg.DagsterInstance) -> Latest:
    """A function for the data version and storage id of the latest materialisation of an asset or partition.

    It looks up each once, since thousands of cells share a few hundred inputs.
    """

    @cache
    def latest(key: dg.AssetKey, partition: str | None) -> tuple[str, str]:
        records_filter = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
        records = instance.fetch_materializations(records_filter, limit=1).records
        version = extract_data_version_from_entry(records[0].event_log_entry) if records else None
        return version.value if version else "INITIAL", str(records[0].storage_id) if records else "NULL"

    return latest


def want_cell(grid: Grid, cell: Cell, latest: Latest, rounds: int = 1) -> WantedCell:
    """A cell with its job and the current versions of its inputs.

    Args:
        latest: see `latest_of`.
        rounds: of its draws, where its answers are drawn.

    Raises:
        MissingData, StorageError: its trials or preflight are missing, or the preflight failed.
    """
    wanted, partition = (grid.study, grid.storage, grid.instrument, cell), partition_of(grid.instrument, cell)
    job = answers_job(*wanted) if grid.instrument.asks == "answers" else readings_job(*wanted, rounds=rounds)
    tags = {f"dagster/partition/{name}": key for name, key in partition.keys_by_dimension.items()}
    tags[CODE_VERSION_TAG] = str(grid.graph.get(grid.asset).code_version)
    # Without these tags the cell would never become stale.
    for key, input_partition in inputs_of(grid.asset, partition, grid.graph):
        name, (version, pointer) = key.to_user_string(), latest(key, input_partition)
        tags[f"{INPUT_DATA_VERSION_TAG_PREFIX}/{name}"] = version
        tags[f"{INPUT_EVENT_POINTER_TAG_PREFIX}/{name}"] = pointer
    return WantedCell(cell, partition, job, tags, rounds)
