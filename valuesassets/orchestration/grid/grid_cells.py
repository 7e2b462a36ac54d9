"""The cells that a grid run is to read: which ones, with which trials, and the versions of their inputs."""

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
    """Which cells are read; `stale` are those missing, and those whose prompts, preflight or code have changed."""

    cells: list[str] = pydantic.Field(
        default=["missing"],
        description="missing (never read, or failed since), stale, failed, all, or <model>/<part> of each cell",
    )


@dataclass(frozen=True)
class Grid:
    """The cells of one instrument in a study, and where what comes of them lies.

    Attributes:
        graph: of the study's assets.
    """

    study: Study
    storage: Storage
    instrument: Instrument
    graph: BaseAssetGraph

    @property
    def asked(self) -> dg.AssetKey:
        """The asset that its cells materialise."""
        return self.instrument.asked

    @property
    def cells(self) -> list[Cell]:
        """All of them, in the study's order."""
        return self.instrument.cells(self.study)


@dataclass(frozen=True)
class WantedCell:
    """A cell that is to be asked by a job of its own.

    Attributes:
        tags: of its materialisation: the versions of the code and of its inputs at the time it was asked for.
    """

    cell: Cell
    partition: dg.MultiPartitionKey
    job: AskingJob
    tags: Mapping[str, str]

    @property
    def asked(self) -> ScoreCell | GenerateCell:
        """What is asked."""
        return self.job.cells[0]


def partition_of(instrument: Instrument, cell: Cell) -> dg.MultiPartitionKey:
    """The partition key of a cell."""
    return cell_key(cell.family, cell.part.name, instrument.part)


def choose_cells(asked: list[str], grid: Grid, instance: dg.DagsterInstance) -> list[Cell]:
    """The cells asked for, in the study's order.

    Raises:
        StudyError: a cell that the grid does not have.
    """
    names = {str(cell): cell for cell in grid.cells}
    for name in asked:
        if name not in names and name not in WORDS:
            raise StudyError(
                f"cells: {name!r} is none of the study's; say {', '.join(WORDS)}, or <model>/<{grid.instrument.part}> "
                f"such as {next(iter(names))}"
            )
    keys = {partition_of(grid.instrument, cell): name for name, cell in names.items()}
    partitions = grid.graph.get(grid.asked).partitions_def
    stale = Staleness(grid.graph, instance, grid.storage.folder)
    status = (instance.get_status_by_partition(grid.asked, list(keys), partitions) if partitions else None) or {}

    def is_wanted(name: str, key: dg.MultiPartitionKey) -> bool:
        if {name, "all"} & {*asked}:
            return True
        found = status.get(key)
        if found is dg.AssetPartitionStatus.MATERIALIZED and grid.storage.path(grid.asked, key, "parquet").exists():
            return "stale" in asked and bool(stale.of([grid.asked], key))
        return bool({"missing", "stale"} & {*asked}) or (found is dg.AssetPartitionStatus.FAILED and "failed" in asked)

    return [names[name] for key, name in keys.items() if is_wanted(name, key)]


def not_yet_read(cells: Iterable[Cell], grid: Grid, run: dg.DagsterRun, instance: dg.DagsterInstance) -> list[Cell]:
    """Cells without those that the runs have read which this one is the automatic retry of."""
    read = {key for other in retried_runs(instance, run) for key in materialised_by(instance, other, grid.asked)}
    return [cell for cell in cells if str(partition_of(grid.instrument, cell)) not in read]


Latest = Callable[[dg.AssetKey, str | None], tuple[str, str]]


def latest_of(instance: dg.DagsterInstance) -> Latest:
    """Gives the data version of the latest materialisation of an asset or partition, and where the event stands.

    Each is looked up once: what thousands of cells rest on is a few hundred.
    """

    @cache
    def latest(key: dg.AssetKey, partition: str | None) -> tuple[str, str]:
        asked = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
        records = instance.fetch_materializations(asked, limit=1).records
        version = extract_data_version_from_entry(records[0].event_log_entry) if records else None
        return version.value if version else "INITIAL", str(records[0].storage_id) if records else "NULL"

    return latest


def want_cell(grid: Grid, cell: Cell, latest: Latest) -> WantedCell:
    """A cell as it is to be asked now.

    Args:
        latest: see `latest_of`.

    Raises:
        MissingData, StorageError: its trials or its preflight are not there, or the preflight failed.
    """
    make = answers_job if grid.instrument.asks == "answers" else readings_job
    job, partition = make(grid.study, grid.storage, grid.instrument, cell), partition_of(grid.instrument, cell)
    tags = {f"dagster/partition/{name}": key for name, key in partition.keys_by_dimension.items()}
    tags[CODE_VERSION_TAG] = str(grid.graph.get(grid.asked).code_version)
    for key, needed in inputs_of(grid.asked, partition, grid.graph):  # without their versions it never goes stale
        name, (version, pointer) = key.to_user_string(), latest(key, needed)
        tags[f"{INPUT_DATA_VERSION_TAG_PREFIX}/{name}"] = version
        tags[f"{INPUT_EVENT_POINTER_TAG_PREFIX}/{name}"] = pointer
    return WantedCell(cell, partition, job, tags)
