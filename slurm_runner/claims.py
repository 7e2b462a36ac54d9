"""Claims: which Slurm task produces which cell, shared by all Dagster runs that want the cell.

Every function that reads or writes claims raises `SlurmError` if the disk fails.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Self

import dagster as dg

from slurm_runner.dagster_internals import RETRY_NUMBER_TAG
from slurm_runner.files import locked, make_folder, read_json, write_json
from slurm_runner.submission import Submission, open_submission

CLAIM = "claim.json"
PAGE = 1000
"""Number of events to fetch at a time."""


@dataclass(frozen=True)
class Claim:
    """The task that was submitted for a result, until a run has used the result.

    Attributes:
        folder: folder of the claim.
        submission: folder of the submission.
        index: index of the task in the submission.
        fingerprint: hash of the request; a different request has a different one.
        given_to: id of the run that received the result, or None.
        wanted_by: ids of the runs that requested the result.
    """

    folder: Path
    submission: str
    index: int
    fingerprint: str
    given_to: str | None = None
    wanted_by: tuple[str, ...] = ()

    def write(self) -> Self:
        """Write the claim's file, whole or not at all."""
        make_folder(self.folder)
        write_json(self.folder / CLAIM, {name: value for name, value in vars(self).items() if name != "folder"})
        return self

    def join(self, run_id: str) -> Self:
        """Record that another run waits for the result."""
        return replace(self, wanted_by=(*self.wanted_by, run_id)).write()

    def hand_over(self, run_id: str) -> None:
        """Record the run that received the result, unless another claim has replaced this one."""
        if current := self._current():
            replace(current, given_to=run_id).write()

    def drop(self) -> None:
        """Remove the claim after its task failed, unless another claim has replaced it."""
        if self._current():
            (self.folder / CLAIM).unlink(missing_ok=True)

    def is_used_up(self, history: "History", assets: Iterable[dg.AssetKey], partition: str | None) -> bool:
        """Whether a new request needs a new result, because another run has already used this one.

        That run has materialised the assets with it or, without assets, has succeeded.
        """
        receiver = history.run(self.given_to) if self.given_to else None
        if receiver is None or receiver.run_id in history.own:
            return False
        if not (keys := list(assets)):
            return receiver.status is dg.DagsterRunStatus.SUCCESS
        return all(partition in history.materialised_by(receiver.run_id, key) for key in keys)

    def is_wanted_by_others(self, instance: dg.DagsterInstance, run_id: str) -> bool:
        """Whether a run other than this one waits for the result."""
        current = self._current()
        others = map(instance.get_run_by_id, {*current.wanted_by} - {run_id} if current else ())
        return any(run and not run.is_finished and run.status is not dg.DagsterRunStatus.CANCELING for run in others)

    def _current(self) -> "Claim | None":
        """The claim as it is in the folder now; None where another claim has replaced it."""
        claim = read_claim(self.folder)
        return claim if claim is not None and claim.submission == self.submission else None


class History:
    """What other runs have done, as a new run sees it; each run is read only once.

    Attributes:
        own: ids of the run and of the runs that it retries automatically.
        run: returns a run by its id.
        materialised_by: see the function of that name.
    """

    def __init__(self, instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
        self.own = {run.run_id, *retried_runs(instance, run)}
        self.run = cache(instance.get_run_by_id)
        self.materialised_by = cache(partial(materialised_by, instance))


def read_claim(folder: Path) -> Claim | None:
    """The claim in a folder; None where there is none, or a damaged one."""
    try:
        fields = read_json(folder / CLAIM)
        return Claim(folder, **{**fields, "wanted_by": tuple(fields["wanted_by"])})
    except (TypeError, KeyError):
        return None


@contextlib.contextmanager
def claims_lock(root: Path) -> Iterator[None]:
    """The lock that a process holds while it looks for claims and makes new ones below `root`."""
    make_folder(root)
    with locked(root / "claims.lock"):
        yield


def standing_claim(folder: Path, fingerprint: str) -> tuple[Claim, Submission] | None:
    """The claim in a folder and its submission, if they fit this request; None where a new claim is needed."""
    claim = read_claim(folder)
    submission = open_submission(Path(claim.submission)) if claim else None
    if claim is None or submission is None or submission.refused or claim.fingerprint != fingerprint:
        return None
    return claim, submission


def materialised_by(instance: dg.DagsterInstance, run_id: str, asset: dg.AssetKey) -> set[str | None]:
    """The partitions of an asset that a run has materialised; `{None}` for an asset without partitions.

    They come from the asset's history, which the UI shows. If a worker is killed while it stores the event, the run's
    own log may have the event and the history not.
    """
    first = instance.get_records_for_run(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION, limit=1).records
    if not first:
        return set()
    since = dg.AssetRecordsFilter(asset, after_timestamp=first[0].timestamp - 1)
    partitions: set[str | None] = set()
    cursor, has_more = None, True
    while has_more:
        page = instance.fetch_materializations(since, limit=PAGE, cursor=cursor)
        partitions |= {record.partition_key for record in page.records if record.run_id == run_id}
        cursor, has_more = page.cursor, page.has_more
    return partitions


def retried_runs(instance: dg.DagsterInstance, run: dg.DagsterRun) -> set[str]:
    """Ids of the runs that a run retries automatically; empty if a person started the run."""
    group = instance.get_run_group(run.run_id) if RETRY_NUMBER_TAG in run.tags else None
    return {member.run_id for member in group[1]} - {run.run_id} if group else set()


def is_cancelled(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a person cancelled a run, as opposed to its process being stopped."""
    run = instance.get_run_by_id(run_id)
    return run is None or run.status in (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED)
