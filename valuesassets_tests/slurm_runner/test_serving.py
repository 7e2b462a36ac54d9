"""The loop over all that a run waits for, with real tasks: programs stand in for Slurm's, or a cluster is there."""

import dagster as dg
import pytest

from slurm_runner.commands import USUAL_ARRAY_SIZE, SlurmCommands, ask_array_size
from slurm_runner.options import SlurmOptions
from slurm_runner.serving import JobEnded, Order, Wanted
from slurm_runner.submission import Task, open_submission
from slurm_runner.verdicts import Ending
from slurm_runner.watch import Watch
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.slurm_runner.served import serve

SBATCH = """for script; do :; done
export SLURM_ARRAY_JOB_ID=7 SLURM_JOB_ID=8 SLURM_ARRAY_TASK_ID=0 SLURMD_NODENAME=n1
bash "$script" > /dev/null 2>&1
echo 7"""
SQUEUE = """for name; do :; done
echo "$name|7|0|{state}|0|{code}|n1|None|" """


@pytest.fixture
def instance(tmp_path):
    with dg.instance_for_test(temp_dir=str(tmp_path)) as made:
        yield made


def order_of(*commands, throttle=None):
    """One order, a task of shell lines for each thing that is wanted."""

    def order(wanted):
        tasks = [(Task(["bash", "-c", line]), [one]) for line, one in zip(commands, wanted, strict=True)]
        yield Order("test", SlurmOptions(throttle=throttle, minutes=5), tasks)

    return order


def serve_one(line, state, code, take, said, instance, folder, stand_in):
    """Serve what one task gives, of which Slurm says that it has ended so."""
    stand_in("sbatch", SBATCH)
    stand_in("squeue", SQUEUE.format(state=state, code=code))
    watch = Watch(SlurmCommands(), patience_seconds=600, poll_seconds=0.01)
    wanted = Wanted("cell", folder / "cell", "asked", take=take, fault=said)
    return serve([wanted], order_of(line), watch, folder / "root", instance)


@pytest.mark.slow
def test_a_task_that_failed_and_says_so_is_not_waited_for(instance, tmp_path, stand_in):
    looks = []

    def said(submission, index):
        looks.append(index)
        assert len(looks) == 1, "it is waited for"

    failed = serve_one("exit 3", "FAILED", 3 << 8, lambda *_: False, said, instance, tmp_path, stand_in)
    assert isinstance(failed["cell"], JobEnded)
    assert failed["cell"].verdict.ending is Ending.FAILED


@pytest.mark.slow
def test_the_result_of_a_task_that_is_done_is_waited_for_until_the_disk_shows_it(instance, tmp_path, stand_in):
    shown = iter([False, False, True])
    failed = serve_one("exit 0", "COMPLETED", 0, lambda *_: next(shown), lambda *_: None, instance, tmp_path, stand_in)
    assert failed == {}
    assert list(shown) == []


@pytest.mark.slurm
@pytest.mark.slow
@pytest.mark.group("slurm")
def test_more_tasks_than_the_cluster_takes_in_an_array_are_several_arrays(instance, tmp_path, monkeypatch):
    wanted = [Wanted(f"cell {n}", tmp_path / f"cell{n}", "asked") for n in range(5)]
    with Cluster(NODES=1, CPUS=8, EXTRA="MaxArraySize=3") as cluster:
        monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
        watch = Watch(SlurmCommands(), poll_seconds=0.5)
        assert watch.most_tasks == 3
        failed = serve(wanted, order_of(*["true"] * 5, throttle=4), watch, tmp_path / "root", instance)
    assert failed == {}
    made = [open_submission(folder) for folder in (tmp_path / "root").iterdir() if folder.is_dir()]
    assert sorted(one.n_tasks for one in made) == [2, 3]
    assert "--array=0-2%2" in "".join((one.folder / "batch.sh").read_text() for one in made)


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("echo 'MaxArraySize            = 101'", 101),
        ("echo 'SchedulerParameters     = max_array_tasks=50,bf_continue'; echo 'MaxArraySize = 101'", 50),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", USUAL_ARRAY_SIZE),
        ("echo 'MaxArraySize = 0'", 1),
    ],
)
def test_the_size_of_an_array_is_the_clusters_or_what_is_usual(stand_in, said, most):
    stand_in("scontrol", said)
    assert ask_array_size(SlurmCommands()) == most
