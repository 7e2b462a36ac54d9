import pytest

from slurm_runner.commands import SlurmCommands
from valuesassets_tests.slurm_runner.endings import fails
from valuesassets_tests.waiting import wait_until

OF_THE_WAY = [
    "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
    "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
    "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
    "sbatch: error: Batch job submission failed: Slurm backup controller in standby mode",
    "sbatch: error: Batch job submission failed: Unable to create job record, try again",
    "sbatch: error: Batch job submission failed: Resource temporarily unavailable",
    "sbatch: error: Munge encode failed: Failed to access '/run/munge/munge.socket.2': No such file or directory",
    "slurm_load_jobs error: Protocol authentication error",
    "sacct: error: Problem talking to the database: Connection refused",
]
OF_THE_QUESTION = [
    "sbatch: error: invalid partition specified: nope",
    "sbatch: error: Batch job submission failed: Requested node configuration is not available",
    "sbatch: error: Invalid --time specification",
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)",
    "sbatch: error: Unable to open file batch.sh",
]


def test_a_command_gets_its_words_as_they_are_and_says_what_it_wrote():
    commands = SlurmCommands()
    assert commands.run(["printf", "%s|", "a b", "$HOME", "'", "é\n"]) == "a b|$HOME|'|é\n|"
    assert commands.count == 1


def test_a_command_that_takes_too_long_is_stopped_and_nothing_is_known(tmp_path):
    error = fails(SlurmCommands(), "sh", "-c", f"sleep 2; touch {tmp_path}/late", seconds=0.3)
    assert (str(error), error.is_unreachable) == ("sh: no answer within 0 s", True)
    assert fails(SlurmCommands(), "sleep", "30", seconds=0.2).is_unreachable


def test_a_command_that_is_not_installed_says_what_to_do():
    error = fails(SlurmCommands(), "sbatch-of-nowhere")
    assert not error.is_unreachable
    assert "are Slurm's commands installed on this machine? else name a login node" in str(error)


@pytest.mark.parametrize(("said", "expected"), [(s, True) for s in OF_THE_WAY] + [(s, False) for s in OF_THE_QUESTION])
def test_what_the_way_to_the_controller_says_is_told_from_what_the_question_brought(said, expected):
    error = fails(SlurmCommands(), "sh", "-c", f'echo "{said}" >&2; exit 1')
    assert (error.answer, error.is_unreachable) == (said, expected)


def test_an_error_is_one_line_of_the_last_that_were_said():
    error = fails(SlurmCommands(), "sh", "-c", "for i in 1 2 3 4 5; do echo $i; echo; done >&2; exit 3")
    assert str(error) == "sh: 3 / 4 / 5"
    assert str(fails(SlurmCommands(), "sh", "-c", "exit 3")) == "sh: exit status 3"


def test_a_command_sees_what_slurm_needs_and_nothing_else(monkeypatch):
    for name in ("HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SQUEUE_FORMAT", "SBATCH_WAIT", "LC_ALL"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("SBATCH_ACCOUNT", "mine")
    monkeypatch.setenv("SLURM_CONF", "/c")
    seen = dict(line.split("=", 1) for line in SlurmCommands().run(["env"]).splitlines())
    assert (seen["SBATCH_ACCOUNT"], seen["SLURM_CONF"], seen["LC_ALL"]) == ("mine", "/c", "C")
    assert not {"HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SQUEUE_FORMAT", "SBATCH_WAIT"} & seen.keys()


@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_a_controller_that_is_down_is_unreachable_and_an_unknown_partition_is_not(cluster):
    commands = SlurmCommands()
    assert not fails(commands, "sbatch", "-p", "nope", "--wrap", "true").is_unreachable
    cluster.kill("slurmctld")
    try:
        assert fails(commands, "squeue").is_unreachable
    finally:
        cluster.start("slurmctld")
        wait_until(lambda: "UP" in cluster.ask("scontrol", "ping"))
