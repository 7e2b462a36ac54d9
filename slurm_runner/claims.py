"""Claims: which Slurm task is producing which cell, shared by all Dagster runs that want it.

Where the disk does not say, or cannot be written, each function that reads or writes claims raises `SlurmError`.
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
"""Events that are asked for at once."""


@dataclass(frozen=True)
class Claim:
    """The task that was submitted for something, as long as its result is not used up.

    Attributes:
        folder: where the claim lies.
        submission: folder of the submission.
        index: of the task in it.
        fingerprint: of what was asked; another one asks something else.
        given_to: id of the run that has had the result; None while nobody has.
        wanted_by: ids of the runs that have asked for it.
    """

    folder: Path
    submission: str
    index: int
    fingerprint: str
    given_to: str | None = None
    wanted_by: tuple[str, ...] = ()

    def write(self) -> Self:
        """Keep the claim, whole or not at all."""
        make_folder(self.folder)
        write_json(self.folder / CLAIM, {name: value for name, value in vars(self).items() if name != "folder"})
        return self

    def join(self, run_id: str) -> Self:
        """Note that a run too waits for the result."""
        return replace(self, wanted_by=(*self.wanted_by, run_id)).write()

    def hand_over(self, run_id: str) -> None:
        """Note which run has had the result, unless another claim has taken its place."""
        if found := self._as_it_is_now():
            replace(found, given_to=run_id).write()

    def drop(self) -> None:
        """Remove a claim whose task ended badly, unless another one has taken its place."""
        if self._as_it_is_now():
            (self.folder / CLAIM).unlink(missing_ok=True)

    def is_used_up(self, history: "History", assets: Iterable[dg.AssetKey], partition: str | None) -> bool:
        """Whether a run that asks for assets again wants the result anew: another one has materialised them with it,
        or, where there are no assets, has succeeded."""
        had = history.run(self.given_to) if self.given_to else None
        if had is None or had.run_id in history.own:
            return False
        if not (keys := list(assets)):
            return had.status is dg.DagsterRunStatus.SUCCESS
        return all(partition in history.materialised_by(had.run_id, key) for key in keys)

    def is_wanted_by_others(self, instance: dg.DagsterInstance, run_id: str) -> bool:
        """Whether a run other than this one waits for the result."""
        found = self._as_it_is_now()
        others = map(instance.get_run_by_id, {*found.wanted_by} - {run_id} if found else ())
        return any(run and not run.is_finished and run.status is not dg.DagsterRunStatus.CANCELING for run in others)

    def _as_it_is_now(self) -> "Claim | None":
        """The claim in the folder; None where another one has taken this one's place."""
        found = read_claim(self.folder)
        return found if found is not None and found.submission == self.submission else None


class History:
    """What other runs have done, as a run that asks again finds it: each is looked at once, whatever it has made.

    Attributes:
        own: ids of the run and of those that it is the automatic retry of.
        run: a run by its id.
        materialised_by: see the function of that name.
    """

    def __init__(self, instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
        self.own = {run.run_id, *retried_runs(instance, run)}
        self.run = cache(instance.get_run_by_id)
        self.materialised_by = cache(partial(materialised_by, instance))


def read_claim(folder: Path) -> Claim | None:
    """The claim in a folder; None where there is none, or a damaged one."""
    try:
        found = read_json(folder / CLAIM)
        return Claim(folder, **{**found, "wanted_by": tuple(found["wanted_by"])})
    except (TypeError, KeyError):
        return None


@contextlib.contextmanager
def claims_lock(root: Path) -> Iterator[None]:
    """What a process holds while it looks for claims and makes new ones below `root`."""
    make_folder(root)
    with locked(root / "claims.lock"):
        yield


def standing_claim(folder: Path, fingerprint: str) -> tuple[Claim, Submission] | None:
    """The claim in a folder and its submission, where they are of what is asked now; None where a new one is needed."""
    claim = read_claim(folder)
    submission = open_submission(Path(claim.submission)) if claim else None
    if claim is None or submission is None or submission.refused or claim.fingerprint != fingerprint:
        return None
    return claim, submission


def materialised_by(instance: dg.DagsterInstance, run_id: str, asset: dg.AssetKey) -> set[str | None]:
    """The partitions of an asset that a run has materialised; `{None}` where it has none.

    As the asset's history has it, which is what the UI shows: of a worker that is killed while it stores the event, the
    run's own log may have it and the history not.
    """
    first = instance.get_records_for_run(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION, limit=1).records
    if not first:
        return set()
    since = dg.AssetRecordsFilter(asset, after_timestamp=first[0].timestamp - 1)
    found: set[str | None] = set()
    cursor, has_more = None, True
    while has_more:
        page = instance.fetch_materializations(since, limit=PAGE, cursor=cursor)
        found |= {record.partition_key for record in page.records if record.run_id == run_id}
        cursor, has_more = page.cursor, page.has_more
    return found


def retried_runs(instance: dg.DagsterInstance, run: dg.DagsterRun) -> set[str]:
    """Ids of the runs that Dagster by itself has started a run again for; none where a person has asked for it."""
    group = instance.get_run_group(run.run_id) if RETRY_NUMBER_TAG in run.tags else None
    return {one.run_id for one in group[1]} - {run.run_id} if group else set()


def is_cancelled(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a person cancelled a run, rather than that its process was stopped."""
    run = instance.get_run_by_id(run_id)
    return run is None or run.status in (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED)
