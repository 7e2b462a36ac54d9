import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurm_runner.commands import SlurmCommands
from slurm_runner.errors import SubmissionRefused
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import submit
from slurm_runner.verdicts import Ending
from valuesassets_tests.slurm_runner.batch import prepared
from valuesassets_tests.slurm_runner.endings import endings, fails
from valuesassets_tests.slurm_runner.login_node import HOST, login_node

pytestmark = [pytest.mark.ssh, pytest.mark.slurm, pytest.mark.group("slurm")]


@pytest.fixture(scope="module")
def node(cluster, tmp_path_factory):
    """A login node of the cluster whose administrator has set more variables than one would wish."""
    variables = cluster.environment | {"SQUEUE_PARTITION": "short", "SBATCH_WAIT": "1", "SBATCH_JOB_NAME": "another"}
    with login_node(tmp_path_factory.mktemp("ssh") / "node", variables) as node:
        yield node


@pytest.fixture(scope="module")
def far(node):
    """Commands that run there; nothing here leads to the cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{node.client.parent}:{os.environ['PATH']}")
        patch.setenv("SLURM_CONF", "/nowhere")
        patch.setenv("HUB_TOKEN", "a secret")
        yield SlurmCommands(HOST)


@settings(max_examples=10)
@given(words=st.lists(st.text(st.sampled_from(" '\"$`\\!*~#;&|<>(){}\n\taé%"), max_size=8), max_size=20))
def test_a_command_gets_its_words_as_they_are(far, words):
    assert far.run(["printf", "%s|", "first", *words]) == "".join(f"{word}|" for word in ["first", *words])


def test_nothing_of_this_machine_travels_and_nothing_there_hides_a_job(far):
    seen = dict(line.split("=", 1) for line in far.run(["env"]).splitlines())
    assert "HUB_TOKEN" not in seen
    assert (seen["LC_ALL"], seen["SBATCH_JOB_NAME"]) == ("C", "another")
    assert not {"SQUEUE_PARTITION", "SBATCH_WAIT"} & seen.keys()


def test_an_array_is_submitted_and_watched(cluster, far, tmp_path):
    submission = prepared(tmp_path, "sh", "-c", "exit $(( SLURM_ARRAY_TASK_ID == 2 ? 3 : 0 ))", n_tasks=4)
    submission = submit(submission, far)
    assert endings(submission, far) == [Ending.DONE, Ending.DONE, Ending.FAILED, Ending.DONE]
    assert {row[1] for row in cluster.jobs() if row[0] == submission.name} == {submission.job_id}


def test_what_slurm_refuses_with_the_status_of_a_lost_connection_is_refused(far, tmp_path):
    options = SlurmOptions(extra=("--begin=soon",))
    with pytest.raises(SubmissionRefused, match="--begin"):
        submit(prepared(tmp_path, "true", options=options), far, patience_seconds=0)


def test_a_command_that_is_not_there_says_what_to_do(far):
    error = fails(far, "sbatch-of-nowhere")
    assert not error.is_unreachable
    assert f"are Slurm's commands installed on {HOST}?" in error.answer


def test_a_connection_that_is_lost_while_a_command_runs_tells_nothing(far):
    error = fails(far, "sh", "-c", "kill -9 $PPID; sleep 5")
    assert error.is_unreachable


def test_a_node_that_does_not_let_us_in_or_is_down_tells_nothing(cluster, tmp_path, monkeypatch):
    with login_node(tmp_path / "node", cluster.environment) as node:
        monkeypatch.setenv("PATH", f"{node.client.parent}:{os.environ['PATH']}")
        far = SlurmCommands(HOST)
        assert "PARTITION" in far.run(["sinfo"])
        (node.folder / "user.pub").unlink()
        closed = fails(far, "sinfo")
    down = fails(far, "sinfo")
    assert (closed.is_unreachable, "Permission denied" in closed.answer) == (True, True)
    assert (down.is_unreachable, "Connection refused" in down.answer) == (True, True)
