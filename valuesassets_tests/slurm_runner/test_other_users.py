"""Several people, one storage: each goes on with the jobs of the others, and none is made twice."""

import multiprocessing
import os
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from slurm_runner.claims import Claim, claims_lock, read_claim
from slurm_runner.commands import SlurmCommands
from slurm_runner.errors import SubmissionUncertain
from slurm_runner.files import locked, read_json, write_json
from slurm_runner.options import SlurmOptions
from slurm_runner.script import EXIT
from slurm_runner.submission import LOCK, RECORD, open_submission, submit, user_name
from slurm_runner.verdicts import Ending, read_exit
from slurm_runner.watch import UNKNOWN, Watch
from valuesassets_tests.slurm_runner.batch import prepared, run
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.slurm_runner.endings import endings
from valuesassets_tests.waiting import wait_until

OTHER = "setpriv --reuid=1 --regid=1 --clear-groups"
GROUP, ONE, TWO = 60_100, 60_101, 60_102
"""Ids that have no names here."""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who can become other users")


@pytest.fixture
def as_other(stand_in):
    """Lets another user ask Slurm; the test's own user is still this one."""

    def put(*commands):
        for name in commands:
            stand_in(name, f'exec {OTHER} "$REAL" "$@"')

    return put


@pytest.fixture
def shared():
    """A folder in which a group may write."""
    folder = Path(tempfile.mkdtemp(prefix="va-group-", dir="/tmp"))
    os.chown(folder, -1, GROUP)
    folder.chmod(0o770)
    yield folder
    shutil.rmtree(folder)


def by(user, work, *arguments):
    """What a function returns to a user of the group who lets nobody read what they write."""
    mine, theirs = multiprocessing.Pipe(duplex=False)

    def become():
        os.umask(0o077)
        os.setgroups([GROUP])
        os.setgid(user)
        os.setuid(user)
        theirs.send(work(*arguments))

    process = multiprocessing.get_context("fork").Process(target=become)
    process.start()
    process.join(300)
    assert process.exitcode == 0
    return mine.recv()


@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_a_job_of_another_user_is_watched_and_never_made_again(cluster, tmp_path, as_other):
    commands = SlurmCommands()
    work = "sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    submission = submit(prepared(tmp_path, *work), commands)
    assert submission.user == user_name()
    as_other("squeue", "sacct")
    others = replace(submission, user="another")
    watch = Watch(commands)
    watch.add(others)
    wait_until(lambda: watch.tick() or [report.state for _, report in watch.open_reports()] == ["RUNNING"])
    unanswered = replace(others, job_id=None)
    write_json(submission.folder / RECORD, read_json(submission.folder / RECORD) | {"job_id": None})
    assert submit(unanswered, commands, settle_seconds=0.2).job_id == submission.job_id
    (tmp_path / "go").touch()
    assert endings(others, commands) == [Ending.DONE]


@pytest.mark.accounting
@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_the_accounting_tells_of_another_users_job(accounted, tmp_path, as_other, monkeypatch):
    monkeypatch.setenv(*next(iter(accounted.environment.items())))
    commands = SlurmCommands()
    submission = replace(submit(prepared(tmp_path, "sh", "-c", "exit 3"), commands), user="another")
    wait_until(lambda: not accounted.jobs())
    next(submission.folder.rglob(EXIT)).unlink()
    as_other("squeue", "sacct")
    assert endings(submission, commands) == [Ending.FAILED]


@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_a_job_that_slurm_hides_from_this_user_stays_open_until_it_leaves_an_exit_file(tmp_path, as_other, monkeypatch):
    with Cluster(NODES=1, EXTRA="PrivateData=jobs") as private:
        monkeypatch.setenv(*next(iter(private.environment.items())))
        commands = SlurmCommands()
        work = "sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
        submission = submit(prepared(tmp_path, *work), commands)
        as_other("squeue", "sacct")
        others = replace(submission, user="another")
        watch = Watch(commands, unknown_seconds=0.5)
        watch.add(others)
        until = time.monotonic() + 2
        while time.monotonic() < until:
            assert watch.tick() == {}
        report = next(report for _, report in watch.open_reports())
        assert (report.state, watch.fault) == (UNKNOWN, None)
        assert f"jobs of another may be hidden from {user_name()}" in report.reason
        (tmp_path / "go").touch()
        assert endings(others, commands) == [Ending.DONE]


@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_a_job_that_another_user_may_have_asked_for_unseen_is_not_asked_for_again(cluster, tmp_path):
    commands = SlurmCommands()
    submission = prepared(tmp_path, "true")
    write_json(
        submission.folder / RECORD, read_json(submission.folder / RECORD) | {"was_asked": True, "user": "another"}
    )
    with pytest.raises(SubmissionUncertain, match=f"seen by {user_name()}: let another materialise again"):
        submit(submission, commands, settle_seconds=0.2)
    assert not [row for row in cluster.jobs() if row[0] == submission.name]


@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_a_task_of_another_user_that_can_never_start_is_left_to_them(cluster, tmp_path, as_other):
    commands = SlurmCommands()
    options = SlurmOptions(partition="short", minutes=5)
    submission = submit(prepared(tmp_path, "true", options=options), commands)
    wait_until(lambda: "PartitionTimeLimit" in cluster.ask("squeue", "-h", "-j", submission.job_id, "-o", "%r"))
    as_other("squeue")
    watch, ended = Watch(commands), {}
    watch.add(replace(submission, user="another"))
    wait_until(lambda: ended.update(watch.tick()) or ended)
    assert [row[3] for row in cluster.jobs() if row[1] == submission.job_id] == ["PENDING"]
    cluster.ask("scancel", submission.job_id)
    assert [report.verdict.ending for report in ended.values()] == [Ending.STUCK]
    assert "let another cancel it" in ended[submission.uuid, 0].verdict.reason


def test_a_record_that_names_no_user_is_of_ones_own(tmp_path):
    submission = prepared(tmp_path, "true")
    record = read_json(submission.folder / RECORD)
    del record["user"]
    write_json(submission.folder / RECORD, record)
    assert open_submission(submission.folder) == submission
    assert not submission.is_foreign


@as_root
def test_a_user_without_a_name_is_known_by_the_number():
    assert by(ONE, user_name) == str(ONE)


def claim_and_use(folder):
    """Make a claim, or join the one that is there; write to all that a run writes to."""
    root, cell = folder / "slurm", folder / "jobs" / "cell"
    with claims_lock(root):
        claim = read_claim(cell)
        if claim is None:
            claim = Claim(cell, str(prepared(root, "true", files={"job.json": "{}"}).folder), 0, "asked").write()
        else:
            claim = claim.join("second")
    submission = open_submission(Path(claim.submission))
    with locked(submission.folder / LOCK):
        for path in (submission.log(0), submission.task_folder(0) / "job.json"):
            path.open("a").close()
        write_json(submission.folder / RECORD, read_json(submission.folder / RECORD))
    return claim


@as_root
def test_members_of_a_group_that_may_write_the_storage_use_each_others_locks_and_files_whatever_the_umask(shared):
    claim = by(ONE, claim_and_use, shared)
    assert by(TWO, claim_and_use, shared) == replace(claim, wanted_by=("second",))
    assert by(ONE, claim_and_use, shared) == replace(claim, wanted_by=("second", "second"))
    assert {path.stat().st_gid for path in shared.rglob("*")} == {GROUP}


@as_root
@pytest.mark.slow
def test_what_a_job_writes_there_can_be_read_by_the_group(shared):
    submission = open_submission(Path(by(ONE, claim_and_use, shared).submission))
    assert by(ONE, run, submission) == 0
    assert by(TWO, read_exit, submission, 0) == read_exit(submission, 0)
    assert by(TWO, lambda: len(list(submission.folder.rglob(EXIT)))) == 1


def test_a_folder_that_is_ones_own_is_shared_with_nobody(tmp_path):
    tmp_path.chmod(0o755)
    submission = prepared(tmp_path / "slurm", "true")
    assert run(submission) == 0
    assert not any(path.stat().st_mode & 0o022 for path in (tmp_path / "slurm").rglob("*"))
