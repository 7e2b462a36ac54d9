"""Faults when a job is submitted."""

from functools import partial

import pytest

from slurm_runner import watch
from slurm_runner.submission import submit
from valuesassets_tests.slurm_faults.bench import FAMILIES, CellBench
from valuesassets_tests.slurm_faults.fault import ALL_CELLS, GPU, Seen, fault, stand_in, state_of, warning


def refused_then_mended(bench: CellBench, bad: str, good: str, expected: str) -> Seen:
    """A submission that Slurm refuses; the study is mended and the cell is materialised again."""
    bench.go()
    outcome = bench.read()
    assert not outcome.is_success
    assert bench.noted("starts") == []
    bench.change(bad, good)
    assert bench.read().is_success
    return Seen(f"failed: {outcome.said}", expected)


@fault("the study names a partition that the cluster lacks", resources='partition = "nope"')
def refused_for_its_partition(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"nope"', '"gpu"', "invalid partition")


@fault("the study asks for 99 GPUs on one node", resources="gpus = 99")
def refused_for_its_gpus(bench: CellBench) -> Seen:
    return refused_then_mended(bench, "gpus = 99", GPU, "node configuration is not available")


@fault("the study asks for a resource of a kind that no node has", resources='gres = "tpu:1"')
def refused_for_its_resource(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"tpu:1"', '"gpu:1"', "generic resource")


@fault(
    "the study asks for more time than its partition allows, where Slurm refuses such jobs",
    cluster="forgetful",
    resources='partition = "short", hours = 2',
)
def refused_for_its_time(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"short", hours = 2', '"gpu", hours = 1', "time limit is invalid")


@fault("the study hands on a beginning that is no time", resources='extra = ["--begin=soon"]')
def refused_for_an_option(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"--begin=soon"', '"--begin=now"', "begin")


@fault("the study names an account that may not be used", cluster="accounting", resources='account = "strangers"')
def refused_for_its_account(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"strangers"', '"test"', "account")


@fault("the job asks for more time than its partition allows", resources='partition = "short", hours = 2')
def a_reason_that_never_clears(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"short", hours = 2', '"gpu", hours = 1', "PartitionTimeLimit")


@fault("slurmctld is down when the job is submitted, and comes back once that was said")
def controller_down_at_submission(bench: CellBench) -> Seen:
    bench.go()
    bench.cluster.kill("slurmctld")
    with bench.reading() as outcomes:
        bench.until(lambda: "Slurm does not answer" in bench.said_so_far())
        bench.cluster.start("slurmctld")
    return Seen(state_of(outcomes), "success")


@fault("slurmctld is frozen while sbatch asks: it makes the job, yet sbatch times out")
def controller_frozen_at_submission(bench: CellBench) -> Seen:
    bench.go()
    bench.cluster.freeze()
    try:
        with bench.reading() as outcomes:
            bench.until(lambda: "Slurm does not answer" in bench.said_so_far())
            bench.cluster.thaw()
    finally:
        bench.cluster.thaw()
    made = {job[1] for job in bench.cluster.jobs() if job[0].startswith("bench-survey-readings")}
    assert len(made & bench.job_ids()) == 1
    return Seen(f"{state_of(outcomes)}; {warning(bench)}", "success; Slurm does not answer")


@fault("slurmctld makes a grid's jobs and falls silent for longer than the run waits; the grid is run again")
def controller_silent_for_too_long(bench: CellBench) -> Seen:
    silent = "echo slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1"
    impatient = partial(submit, patience_seconds=2, settle_seconds=0.1)
    with pytest.MonkeyPatch.context() as patch, stand_in(bench, "squeue", silent):
        patch.setattr(watch, "submit", impatient)
        with stand_in(bench, "sbatch", f'$REAL "$@" > /dev/null; {silent}'):
            outcome = bench.read_grid()
    bench.go()
    assert bench.read_grid().is_success
    return Seen(f"failed: {outcome.said}", "failed: .*whether the job exists is not known", starts=3, cells=ALL_CELLS)


@fault("what one model asks of Slurm cannot be: a time limit that is over before the warning", warn_seconds=60)
def one_family_asks_for_what_cannot_be(bench: CellBench) -> Seen:
    bench.go()
    right = f'resources = {{ {GPU} }}\nmodel_type = "multi"'
    wrong = right.replace(GPU, f"{GPU}, hours = 0.01")
    bench.change(right, wrong)
    outcome = bench.read_grid()
    assert [bench.materialised("eng", family) for family in FAMILIES] == [1, 0]
    bench.change(wrong, right)
    assert bench.read_grid().is_success
    return Seen(
        f"failed: {outcome.said}", "2 of 4 cells .*reference-multi/eng: .*time limit", starts=3, cells=ALL_CELLS
    )
