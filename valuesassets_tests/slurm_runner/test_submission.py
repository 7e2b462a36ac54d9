import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from slurm_runner.commands import SlurmCommands
from slurm_runner.errors import SlurmError, SubmissionRefused, SubmissionUncertain
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import RECORD, SCRIPT, cancel, open_submission, submit
from slurm_runner.verdicts import ENDED, Ending
from slurm_runner.watch import Watch
from valuesassets_tests.slurm_runner.batch import prepared
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.slurm_runner.endings import endings
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.slurm, pytest.mark.group("slurm")]
SUBMITTER = [sys.executable, "-m", "valuesassets_tests.slurm_runner.submitter"]


@pytest.fixture
def commands(cluster):
    return SlurmCommands()


def rows(cluster, submission):
    """[array job id, task, state] of whatever Slurm has under the submission's name."""
    return [row[1:4] for row in cluster.jobs() if row[0] == submission.name]


def ids(cluster, submission):
    return {row[0] for row in rows(cluster, submission)}


def submitter(submission):
    return subprocess.Popen([*SUBMITTER, str(submission.folder)], stdout=subprocess.PIPE, text=True)


def kill_submitter(submission, stand_in, asks=True):
    """Have a process submit that is killed before it notes the id, or even before Slurm is asked."""
    undo = stand_in("sbatch", '$REAL "$@"; kill -9 $PPID' if asks else "kill -9 $PPID")
    with submitter(submission) as process:
        process.communicate(timeout=60)
    undo()
    assert process.returncode == -signal.SIGKILL
    assert open_submission(submission.folder).job_id is None


def test_many_processes_at_once_submit_one_submission_once(cluster, tmp_path):
    submission = prepared(tmp_path, "true")
    processes = [submitter(submission) for _ in range(3)]
    said = {process.communicate(timeout=120)[0].strip() for process in processes}
    assert said == ids(cluster, submission) == {open_submission(submission.folder).job_id}


@pytest.mark.parametrize("asks", [True, False])
def test_what_a_submitter_has_asked_before_it_was_killed_is_found_by_its_name_and_what_it_has_not_is_asked(
    cluster, commands, tmp_path, stand_in, asks
):
    submission = prepared(tmp_path, "true")
    kill_submitter(submission, stand_in, asks)
    found = submit(submission, commands, settle_seconds=0.2)
    assert endings(found, commands) == [Ending.DONE]
    assert ids(cluster, submission) == {found.job_id}


def test_a_job_that_slurm_has_forgotten_is_found_by_what_it_left(tmp_path, stand_in, monkeypatch):
    submission = prepared(tmp_path, "true")
    with Cluster(NODES=1, MIN_JOB_AGE=2) as forgetful:
        monkeypatch.setenv("SLURM_CONF", forgetful.environment["SLURM_CONF"])
        kill_submitter(submission, stand_in)
        wait_until(lambda: list(submission.folder.rglob("exit.json")) and not ids(forgetful, submission))
        commands = SlurmCommands()
        found = submit(submission, commands, settle_seconds=0.2)
        assert ids(forgetful, submission) == set()
        assert endings(found, commands) == [Ending.DONE]
        assert len(list(submission.folder.rglob("exit.json"))) == 1


@pytest.mark.parametrize(
    ("options", "n_tasks", "said"),
    [
        (SlurmOptions(partition="nope"), 1, "invalid partition.*sinfo -s"),
        (SlurmOptions(gres="tpu:1"), 1, "generic resource.*sinfo -o"),
        (SlurmOptions(memory_mib=10**7), 1, "node configuration is not available.*less memory"),
        (SlurmOptions(), 1002, "job array.*fewer tasks"),
    ],
)
def test_what_slurm_refuses_is_said_with_advice_and_never_asked_again(
    cluster, commands, tmp_path, options, n_tasks, said
):
    submission = prepared(tmp_path, "true", options=options, n_tasks=n_tasks)
    with pytest.raises(SubmissionRefused, match=f"(?is){said}") as first:
        submit(submission, commands)
    asked = commands.count
    with pytest.raises(SubmissionRefused) as second:
        submit(submission, commands)
    assert (str(second.value), commands.count) == (str(first.value), asked)


def test_a_controller_that_is_silent_for_too_long_leaves_it_open_and_the_job_is_found_later(
    cluster, commands, tmp_path
):
    submission, heard = prepared(tmp_path, "true"), []
    cluster.freeze()
    try:
        with pytest.raises(SubmissionUncertain, match=r"did not answer for 2 s.*timed out.*looked for by its name"):
            submit(submission, commands, heard.append, patience_seconds=2)
    finally:
        cluster.thaw()
    assert open_submission(submission.folder).was_asked
    found = submit(submission, commands, heard.append)
    submit(prepared(tmp_path, "true"), commands)  # once it is served, what was asked before it is
    assert ids(cluster, submission) == {found.job_id}


def test_a_question_that_fails_is_no_refusal(cluster, commands, tmp_path, stand_in):
    submission = prepared(tmp_path, "true")
    undo = stand_in("sbatch", '$REAL "$@" > /dev/null'), stand_in("squeue", "echo squeue: error: broken >&2; exit 1")
    with pytest.raises(SubmissionUncertain, match="squeue: error: broken"):
        submit(submission, commands, patience_seconds=1)
    for each in undo:
        each()
    assert {submit(submission, commands, settle_seconds=0.2).job_id} == ids(cluster, submission)


def test_an_id_is_found_below_what_a_login_node_greets_with(cluster, commands, tmp_path, stand_in):
    for name in ("sbatch", "squeue"):
        stand_in(name, 'echo "Welcome | to 42"; echo; echo CLUSTER: tc; exec $REAL "$@"')
    submission = submit(prepared(tmp_path, "true"), commands)
    assert {submission.job_id} == ids(cluster, submission)
    assert endings(submission, commands) == [Ending.DONE]


def test_a_job_that_slurm_made_twice_is_cancelled_with_one_command_and_the_first_one_counts(
    cluster, commands, tmp_path
):
    work = "sh", "-c", f"touch mine; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    submission = submit(prepared(tmp_path, *work, n_tasks=3), commands)
    second = cluster.ask("sbatch", "--parsable", str(submission.folder / SCRIPT)).strip()
    wait_until(lambda: len(list(submission.folder.rglob("mine"))) == 6)
    watch = Watch(commands)
    watch.add(submission)
    asked = commands.count
    watch.tick()
    assert commands.count == asked + 2
    wait_until(lambda: {row[2] for row in rows(cluster, submission) if row[0] == second} == {"CANCELLED"})
    asked = commands.count
    watch.tick()
    assert commands.count == asked + 1
    (tmp_path / "go").touch()
    assert endings(submission, commands) == [Ending.DONE] * 3
    assert {row[2] for row in rows(cluster, submission) if row[0] == submission.job_id} == {"COMPLETED"}


def test_of_the_submitters_variables_no_secret_reaches_the_job_and_none_changes_what_is_asked(
    cluster, commands, tmp_path, monkeypatch
):
    variables = {
        "HUB_TOKEN": "a secret",
        "SBATCH_JOB_NAME": "another",
        "SBATCH_ARRAY_INX": "0-4",
        "SBATCH_OUTPUT": f"{tmp_path}/elsewhere",
        "SBATCH_TIMELIMIT": "1",
        "SBATCH_EXPORT": "NONE",
        "SBATCH_WAIT": "1",
        "SQUEUE_PARTITION": "short",
        "SQUEUE_STATES": "FAILED",
        "SACCT_FORMAT": "User",
    }
    options = SlurmOptions(minutes=7, environment={"STUDY": "evs"})
    submission = prepared(tmp_path, "sh", "-c", "env; while :; do sleep 0.1; done", options=options)
    with monkeypatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        submission = submit(submission, commands)
        watch = Watch(commands)
        watch.add(submission)
        assert watch.tick() == {}
        assert {report.state for _, report in watch.open_reports()} <= {"PENDING", "RUNNING"}
    wait_until(lambda: "STUDY=evs" in submission.log(0).read_text())
    shown = cluster.ask("scontrol", "show", "job", submission.job_id)
    cluster.ask("scancel", submission.job_id)
    assert "TimeLimit=00:07:00" in shown
    assert [row[:2] for row in rows(cluster, submission)] == [[submission.job_id, "0"]]
    assert "a secret" not in submission.log(0).read_text()
    assert endings(submission, commands) == [Ending.CANCELLED]


def test_a_folder_with_a_name_of_its_own_kind_is_written_by_the_nodes(cluster, commands, tmp_path):
    root = tmp_path / "it's $HOME `id` %a %% #x é"
    submission = submit(prepared(root, "sh", "-c", "echo said; touch made"), commands)
    assert endings(submission, commands) == [Ending.DONE]
    assert submission.log(0).read_text().splitlines()[1:] == ["said"]
    assert [path.name for path in tmp_path.iterdir()] == [root.name]


def test_a_job_is_seen_in_a_partition_that_slurm_hides_from_its_user(cluster, commands, stand_in):
    options = SlurmOptions(partition="hidden", extra=("--begin=now+1hour",))
    for name in ("sbatch", "squeue", "scancel"):
        stand_in(name, 'exec setpriv --reuid=65534 --regid=65534 --clear-groups "$REAL" "$@"')
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        submission = submit(prepared(Path(folder), "true", options=options), commands)
    watch = Watch(commands)
    watch.add(submission)
    assert watch.tick() == {}
    assert [report.state for _, report in watch.open_reports()] == ["PENDING"]
    cancel(submission, [0], commands)
    wait_until(lambda: {row[2] for row in rows(cluster, submission)} <= ENDED)


def test_a_task_is_cancelled_also_where_nobody_knows_its_id(cluster, commands, tmp_path, stand_in):
    submission = prepared(tmp_path, "sleep", "600")
    cancel(submission, [0], commands)
    assert commands.count == 0
    kill_submitter(submission, stand_in)
    cancel(submission, [0], commands)
    wait_until(lambda: {row[2] for row in rows(cluster, submission)} == {"CANCELLED"})


def test_a_record_that_is_gone_or_that_the_disk_does_not_give_is_never_taken_for_a_new_one(commands, tmp_path):
    submission = prepared(tmp_path, "true")
    (submission.folder / RECORD).unlink()
    with pytest.raises(SlurmError, match="holds no submission any more"):
        submit(submission, commands)
    (submission.folder / RECORD).mkdir()
    with pytest.raises(SlurmError, match="cannot be read"):
        submit(submission, commands)
    assert commands.count == 0


def test_a_submission_without_an_id_is_not_watched(commands, tmp_path):
    with pytest.raises(SlurmError, match="not submitted yet"):
        Watch(commands).add(replace(prepared(tmp_path, "true"), was_asked=True))


@pytest.mark.accounting
def test_who_may_not_submit_more_is_told_to_ask_for_fewer_cells(accounted, tmp_path, monkeypatch):
    monkeypatch.setenv(*next(iter(accounted.environment.items())))
    commands = SlurmCommands()
    accounted.ask("sacctmgr", "-i", "modify", "user", "root", "set", "MaxSubmitJobs=2")
    with pytest.raises(SubmissionRefused, match=r"accounting/QOS policy.*; ask for fewer cells at a time, or wait"):
        submit(prepared(tmp_path, "true", n_tasks=3), commands)
    accounted.ask("sacctmgr", "-i", "modify", "user", "root", "set", "MaxSubmitJobs=-1")


POLICY = "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size"


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (f"sbatch: error: AssocMaxSubmitJobLimit / {POLICY}", "fewer cells"),
        (f"sbatch: error: QOSMaxSubmitJobPerUserLimit / {POLICY}", "fewer cells"),
        (f"{POLICY} and/or time limits)", "fewer cells"),
        (f"sbatch: error: AssocMaxWallDurationPerJobLimit / {POLICY}", "less time than your account"),
        (f"sbatch: error: QOSMaxGRESPerJob / {POLICY}", "fewer GPUs"),
        ("Invalid account or account/partition combination specified", "name an account"),
        ("Invalid qos specification", "name a QOS"),
        ("Invalid time specification (pos=0): soon / sbatch: error: Invalid --begin specification", "mend it in"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "less time than the partition"),
        ("User's group not permitted to use this partition", "name one of the cluster's partitions"),
        ("Job has no idea", "mend the study's Slurm options"),
    ],
)
def test_the_advice_fits_what_slurm_refused(tmp_path, stand_in, said, advice):
    stand_in("sbatch", f'echo "{said}" >&2; exit 1')
    with pytest.raises(SubmissionRefused, match=advice):
        submit(prepared(tmp_path, "true"), SlurmCommands())
