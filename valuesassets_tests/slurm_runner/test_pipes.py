import contextlib
import json
import signal
import subprocess
import sys
import threading

import dagster as dg
import pytest

from slurm_runner.claims import read_claim
from slurm_runner.pipes import CONTEXT, MESSAGES
from valuesassets_tests.slurm_runner.little_project import materialise, project
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.slurm, pytest.mark.group("slurm")]
WORKER = [sys.executable, "-m", "valuesassets_tests.slurm_runner.little_project"]


@pytest.fixture
def instance(tmp_path):
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster" / "dagster.yaml").touch()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        yield instance


@pytest.fixture
def worker(tmp_path):
    """Starts a run in a process of its own; it is gone when the test ends."""
    processes = []

    def begin(told):
        processes.append(subprocess.Popen([*WORKER, str(tmp_path), *told.split()], stderr=subprocess.DEVNULL))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.wait()


def logged(instance, run_id):
    return [entry.user_message for entry in instance.all_logs(run_id) if not entry.is_dagster_event]


def latest_log(instance):
    return logged(instance, instance.get_runs(limit=1)[0].run_id) if instance.get_runs(limit=1) else []


def wait_until_said(instance, words):
    wait_until(lambda: any(words in line for line in latest_log(instance)))


def submissions(root):
    return [path for path in (root / "slurm").iterdir() if path.is_dir()]


def jobs(cluster, root):
    """[array job id, state] of every job of the little project."""
    names = {json.loads((path / "submission.json").read_text())["uuid"] for path in submissions(root)}
    return [(row[1], row[3]) for row in cluster.jobs() if row[0].removeprefix("rivers-") in names]


def failure(result):
    return next(event.step_failure_data.error.to_string() for event in result.all_events if event.is_step_failure)


def lengths(result):
    """What was reported of the asset, once for each materialisation."""
    events = result.get_asset_materialization_events()
    return [event.materialization.metadata["length"].value for event in events]


@contextlib.contextmanager
def measuring(instance, root, told):
    """The messages of a job that goes on when the block ends, and a list that its run's result is in afterwards."""
    results = []
    thread = threading.Thread(target=lambda: results.append(materialise(instance, project(root, told))), daemon=True)
    thread.start()
    wait_until_said(instance, "measuring")
    [submission] = submissions(root)
    yield submission / "0" / MESSAGES, results
    (root / "go").touch()
    thread.join(300)


def test_what_a_job_reports_arrives_and_its_context_stays(cluster, instance, tmp_path):
    result = materialise(instance, project(tmp_path))
    assert result.success
    [event] = result.get_asset_materialization_events()
    assert lengths(result) == [1230]
    assert event.materialization.tags["dagster/data_version"] == "v1"
    assert [check.passed for check in result.get_asset_check_evaluations()] == [True]
    said = logged(instance, result.run_id)
    assert f"measuring in km for run {result.run_id}" in said
    assert "measured" in said
    [submission] = submissions(tmp_path)
    context = json.loads((submission / "0" / CONTEXT).read_text())
    assert (context["run_id"], context["asset_keys"]) == (result.run_id, ["rivers"])
    assert (submission / "0" / MESSAGES).exists()


def test_a_run_that_goes_on_with_a_job_hears_all_that_it_has_said(cluster, instance, tmp_path, worker):
    first = worker("wait")
    wait_until_said(instance, "measuring")
    first.kill()
    first.wait()
    (tmp_path / "go").touch()
    result = materialise(instance, project(tmp_path, "wait"))
    said = logged(instance, result.run_id)
    assert result.success
    assert [line for line in said if line.startswith("measuring")] == [
        f"measuring in km for run {instance.get_runs()[1].run_id}"
    ]
    assert any(line.startswith("going on with job") for line in said)
    assert lengths(result) == [1230]
    assert len(jobs(cluster, tmp_path)) == 1


def test_half_a_line_at_the_end_does_no_harm_and_the_next_attempt_is_heard(cluster, instance, tmp_path):
    with measuring(instance, tmp_path, "half wait") as (messages, results):
        wait_until(lambda: messages.read_text().endswith("lo"))
        [(job, _)] = jobs(cluster, tmp_path)
        cluster.ask("scontrol", "requeue", f"{job}_0")
        wait_until(lambda: messages.read_text().count("measuring") == 2)  # told to go on, the first would end in time
    assert results[0].success
    assert lengths(results[0]) == [1231]
    assert latest_log(instance).count("measured") == 1


def test_a_message_that_dagster_does_not_take_stops_none_that_follow(cluster, instance, tmp_path):
    with measuring(instance, tmp_path, "wait") as (messages, results), open(messages, "a") as stream:
        stream.write('5\n{"method": "sing", "params": {}}\n')
    assert results[0].success
    assert "measured" in latest_log(instance)


def test_a_job_that_fails_says_how_with_the_end_of_its_log_and_is_asked_anew(cluster, instance, tmp_path):
    result = materialise(instance, project(tmp_path, "fail"))
    assert not result.success
    assert "failed: exit status 3" in failure(result)
    assert read_claim(tmp_path / "rivers") is None
    assert materialise(instance, project(tmp_path)).success
    assert len(submissions(tmp_path)) == 2


def test_a_result_that_cannot_be_taken_is_asked_anew(cluster, instance, tmp_path):
    def take(submission, index):
        raise ValueError("half a file")

    assert "half a file" in failure(materialise(instance, project(tmp_path, take=take)))
    assert read_claim(tmp_path / "rivers") is None


def test_a_result_that_is_not_there_is_waited_for_and_then_the_job_has_failed(cluster, instance, tmp_path):
    shown = iter([False, False, True])
    assert materialise(instance, project(tmp_path, take=lambda submission, index: next(shown))).success
    message = failure(materialise(instance, project(tmp_path, take=lambda submission, index: False)))
    assert "done: exit status 0, yet its result is not there" in message
    assert read_claim(tmp_path / "rivers") is None


def test_what_can_be_taken_is_good_however_the_job_ended(cluster, instance, tmp_path):
    assert materialise(instance, project(tmp_path, "fail", take=lambda submission, index: True)).success


def test_a_result_in_a_job_that_serves_others_is_taken_before_its_end(cluster, instance, tmp_path, worker):
    first = worker("wait")
    wait_until_said(instance, "measuring")
    assert materialise(instance, project(tmp_path, "wait", take=lambda submission, index: True)).success
    assert [state for _, state in jobs(cluster, tmp_path)] == ["RUNNING"]
    (tmp_path / "go").touch()
    assert first.wait(300) == 0


def test_who_asks_again_after_a_success_wants_it_anew(cluster, instance, tmp_path):
    for n in (1, 2):
        assert materialise(instance, project(tmp_path)).success
        assert len(submissions(tmp_path)) == n


def cancel_in_the_ui(instance, process, is_signal_lost=False):
    """What a click does."""
    instance.report_run_canceling(instance.get_runs(limit=1)[0])
    if not is_signal_lost:
        process.send_signal(signal.SIGINT)
    process.wait(300)


@pytest.mark.parametrize("is_signal_lost", [False, True])
def test_a_run_that_is_cancelled_cancels_its_job(cluster, instance, tmp_path, worker, is_signal_lost):
    process = worker("wait")
    wait_until_said(instance, "measuring")
    cancel_in_the_ui(instance, process, is_signal_lost)
    assert instance.get_runs(limit=1)[0].status is dg.DagsterRunStatus.CANCELED
    wait_until(lambda: {state for _, state in jobs(cluster, tmp_path)} == {"CANCELLED"})
    assert read_claim(tmp_path / "rivers") is None


def test_a_job_that_another_run_waits_for_is_not_cancelled(cluster, instance, tmp_path, worker):
    first = worker("wait")
    wait_until_said(instance, "measuring")
    second = worker("wait")
    wait_until_said(instance, "going on with job")
    cancel_in_the_ui(instance, second)
    assert any("goes on: another run waits for it" in line for line in latest_log(instance))
    (tmp_path / "go").touch()
    assert first.wait(300) == 0
    assert {run.status.value for run in instance.get_runs()} == {"SUCCESS", "CANCELED"}
    assert len(jobs(cluster, tmp_path)) == 1


def test_a_run_that_is_cancelled_while_it_submits_leaves_no_job(cluster, instance, tmp_path, worker, stand_in):
    stand_in("sbatch", f'$REAL "$@"; touch {tmp_path}/made; sleep 30')
    process = worker("wait")
    wait_until(lambda: (tmp_path / "made").exists())
    cancel_in_the_ui(instance, process)
    wait_until(lambda: {state for _, state in jobs(cluster, tmp_path)} == {"CANCELLED"})
    assert read_claim(tmp_path / "rivers") is None


def test_a_job_that_could_not_be_cancelled_is_gone_on_with(cluster, instance, tmp_path, worker, stand_in):
    undo = stand_in("scancel", "echo scancel: error: broken >&2; exit 1")
    process = worker("wait")
    wait_until_said(instance, "measuring")
    cancel_in_the_ui(instance, process)
    assert any("could not be cancelled: scancel: scancel: error: broken" in line for line in latest_log(instance))
    undo()
    (tmp_path / "go").touch()
    assert materialise(instance, project(tmp_path, "wait")).success
    assert len(jobs(cluster, tmp_path)) == 1
