import time

import pytest

from slurm_runner.commands import CommandFailed, Row, SlurmCommands, ask_sacct, ask_squeue

NOW = time.time()


def says(stand_in, name, text):
    stand_in(name, f"cat <<'END'\n{text}\nEND")


def test_every_task_is_a_row_and_what_else_stands_there_is_none(stand_in):
    says(
        stand_in,
        "squeue",
        "Welcome to the | cluster\n\nCLUSTER: east\na-1|23|0|RUNNING|1|0|n1|None|\n"
        "a-1|23|11|PENDING|0|0||ReqNodeNotAvail, UnavailableNodes:n[1-3]|\nb-2|24|0|FAILED|0|768|n2|NonZeroExitCode|\n"
        "another|25|0|RUNNING|0|0|n1|None|",
    )
    assert ask_squeue(["b-2", "a-1"], SlurmCommands()) == [
        Row("a-1", "23", 0, "RUNNING", 0, "n1", 1, "None"),
        Row("a-1", "23", 11, "PENDING", 0, "", 0, "ReqNodeNotAvail, UnavailableNodes:n[1-3]"),
        Row("b-2", "24", 0, "FAILED", 3 << 8, "n2", 0, "NonZeroExitCode"),
    ]


def test_a_reason_may_hold_whatever_an_administrator_writes(stand_in):
    says(stand_in, "squeue", "a-1|23|0|PENDING|0|0||held | ask 0 | me|")
    assert ask_squeue(["a-1"], SlurmCommands())[0].reason == "held | ask 0 | me"


def test_a_job_that_is_no_array_has_no_index(stand_in):
    says(stand_in, "squeue", "a-1|23|N/A|RUNNING|0|0|n1|None|")
    assert ask_squeue(["a-1"], SlurmCommands())[0].index is None


@pytest.mark.parametrize("line", ["a-1|23|0|RUNNING|0|0:0|n1|None|", "a-1|23|0|RUNNING", "a-1|"])
def test_a_line_of_ours_that_nobody_understands_is_a_failure_and_no_missing_job(stand_in, line):
    says(stand_in, "squeue", line)
    with pytest.raises(CommandFailed, match="no line of a job"):
        ask_squeue(["a-1"], SlurmCommands())


def test_the_accounting_tells_states_apart_from_who_ended_them_and_exit_codes_as_wait_does(stand_in):
    says(
        stand_in,
        "sacct",
        "a-1|23_0|CANCELLED by 0|0:15|n1\na-1|23_1|FAILED|3:0|n2\na-1|23_[2-5%8]|PENDING|0:0|None assigned\n"
        "another|24_0|FAILED|1:0|n1",
    )
    assert ask_sacct(["a-1"], NOW, SlurmCommands()) == [
        Row("a-1", "23", 0, "CANCELLED", 15, "n1"),
        Row("a-1", "23", 1, "FAILED", 3 << 8, "n2"),
        Row("a-1", "23", None, "PENDING", 0, "None assigned"),
    ]


@pytest.mark.parametrize("line", ["a-1|23_0||0:0|n1", "a-1|23_0|FAILED||n1"])
def test_so_is_a_line_of_the_accounting(stand_in, line):
    says(stand_in, "sacct", line)
    with pytest.raises(CommandFailed, match="no line of a job"):
        ask_sacct(["a-1"], NOW, SlurmCommands())


@pytest.mark.parametrize(("age_days", "asked"), [(0, "now-2days"), (0.9, "now-2days"), (30, "now-32days")])
def test_the_accounting_is_asked_from_before_the_job_was_made(stand_in, age_days, asked):
    stand_in("sacct", 'echo "$@" >&2; exit 1')
    with pytest.raises(CommandFailed, match=f"-S {asked} --name a-1,b-2$"):
        ask_sacct(["b-2", "a-1"], NOW - age_days * 86_400, SlurmCommands())


@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_a_cluster_without_accounting_says_so(cluster):
    assert ask_sacct(["a-1"], NOW, SlurmCommands()) is None
