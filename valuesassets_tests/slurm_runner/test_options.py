import re
import subprocess

import pytest

from slurm_runner.errors import SlurmError
from slurm_runner.options import TAKEN, SlurmOptions


def test_what_is_not_said_is_left_to_the_cluster():
    assert SlurmOptions().directives() == ["--signal=B:TERM@120", "--no-requeue"]


def test_every_option_is_said_as_sbatch_takes_it():
    options = SlurmOptions(
        partition="gpu",
        account="values",
        qos="long",
        constraint="a100&nvlink",
        gres="gpu:a100:2",
        cpus=4,
        memory_mib=4096,
        minutes=90,
        warn_seconds=60,
        requeue=True,
        extra=("--exclusive", '--comment="two words"'),
    )
    assert options.directives() == [
        "--partition=gpu",
        "--account=values",
        "--qos=long",
        "--constraint=a100&nvlink",
        "--gres=gpu:a100:2",
        "--cpus-per-task=4",
        "--mem=4096M",
        "--time=90",
        "--signal=B:TERM@60",
        "--requeue",
        "--exclusive",
        '--comment="two words"',
    ]


@pytest.mark.parametrize("name", ["partition", "account", "qos", "constraint", "gres"])
@pytest.mark.parametrize("value", ["gpu\n#SBATCH --uid=0", "two words", 'gpu"', "gpu'", "gpu\\"])
def test_a_word_that_would_be_read_as_several_is_refused(name, value):
    with pytest.raises(SlurmError, match=f"{name}.*a word"):
        SlurmOptions(**{name: value})


@pytest.mark.parametrize(
    "option", ["exclusive", "-N2", "--", "", "--a\n--b", "--comment=two words", "--time 5", '--comment="open', "--a\\"]
)
def test_an_extra_option_is_one_long_option(option):
    with pytest.raises(SlurmError, match="option of sbatch"):
        SlurmOptions(extra=(option,))


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--time=5", "--time is set.*`minutes`"),
        ("--tim=5", "--time is set.*`minutes`"),
        ("--time-min=5", "--time-min.*`minutes`"),
        ("--part=x", "--partition.*`partition`"),
        ("--si=USR1", "--signal.*`warn_seconds`"),
        ("--mem=2G", "--mem .*`memory_mib`"),
        ("--no-req", "--no-requeue.*`requeue`"),
        ('--expor="NONE"', "--export.*`environment`"),
        ('"--wrap=two words"', "--wrap.*leave it out"),
        ("--clusters=east", "--clusters.*leave it out"),
        ("--test-only", "--test-only.*leave it out"),
        ("--w", "--wait"),
    ],
)
def test_an_option_that_a_job_is_found_timed_or_judged_by_is_refused_however_it_is_written(option, said):
    with pytest.raises(SlurmError, match=said):
        SlurmOptions(extra=(option,))


def test_every_other_option_of_the_manual_may_be_added():
    page = subprocess.run("man sbatch", shell=True, capture_output=True, text=True, check=False).stdout  # noqa: S602
    if not page:
        pytest.skip("needs the manual page of sbatch, which is not here")
    known = set(re.findall(r"^       (?:-\w, )?(--[a-z-]+)", re.sub(".\b", "", page), re.MULTILINE))
    assert known > TAKEN.keys()
    harmless = {"--exclude", "--exclusive", "--nice", "--mail-type", "--gres-flags", "--mem-bind", "--mem-per-cpu"}
    assert known - TAKEN.keys() > harmless
    assert SlurmOptions(extra=tuple(known - TAKEN.keys())).extra


def test_the_warning_comes_after_the_start():
    assert SlurmOptions(minutes=3, warn_seconds=120).minutes == 3
    with pytest.raises(SlurmError, match="2 min leaves no time"):
        SlurmOptions(minutes=2, warn_seconds=120)
