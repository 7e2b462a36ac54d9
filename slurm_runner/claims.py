"""Which task serves a thing that is wanted, so that two runs share one job and a later run finds it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock

from slurm_runner.files import read_json, write_json
from slurm_runner.submission import Submission, open_submission, unwritable

CLAIM = "claim.json"


@dataclass(frozen=True)
class Claim:
    """The task that was submitted for something, as long as its result is not used up.

    Attributes:
        submission: folder of the submission.
        index: of the task in it.
        fingerprint: of what was asked; another one asks something else.
        given_to: id of the run that has had the result; None while nobody has.
    """

    submission: str
    index: int
    fingerprint: str
    given_to: str | None = None

    def open(self) -> Submission | None:
        """Its submission; None where its folder is gone."""
        return open_submission(Path(self.submission))


def claim_path(folder: Path) -> Path:
    """Where a folder's claim lies."""
    return folder / CLAIM


def read_claim(folder: Path) -> Claim | None:
    """The claim in a folder; None where there is none that can be read."""
    found = read_json(claim_path(folder))
    try:
        return Claim(**found) if isinstance(found, dict) else None
    except TypeError:
        return None


def write_claim(folder: Path, claim: Claim) -> None:
    """Keep a claim, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(claim_path(folder), asdict(claim))


@contextlib.contextmanager
def claims_lock(root: Path) -> Iterator[None]:
    """What a process holds while it looks for claims and makes new ones below `root`.

    Raises:
        SlurmError: the folder cannot be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(root / "claims.lock")
        lock.acquire()
    except OSError as error:
        raise unwritable(root, error) from None
    try:
        yield
    finally:
        lock.release()


def standing_claim(
    folder: Path, fingerprint: str, is_used_up: Callable[[Claim], bool]
) -> tuple[Claim, Submission] | None:
    """The claim in a folder and its submission, where they serve what is asked now; None where a new one is needed."""
    claim = read_claim(folder)
    submission = claim.open() if claim else None
    if claim is None or submission is None or submission.refused or claim.fingerprint != fingerprint:
        return None
    return None if is_used_up(claim) else (claim, submission)


def hand_over(folder: Path, claim: Claim, run_id: str) -> None:
    """Note which run has had the result."""
    write_claim(folder, replace(claim, given_to=run_id))


def drop_claim(folder: Path, claim: Claim) -> None:
    """Remove a claim whose task ended badly, unless another one has taken its place."""
    found = read_claim(folder)
    if found and found.submission == claim.submission:
        claim_path(folder).unlink(missing_ok=True)
