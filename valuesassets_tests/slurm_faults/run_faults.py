"""Faults of Dagster's runs: killed, cancelled, more than one at once."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from slurm_runner.claims import CLAIM, claims_lock, read_claim
from valuesassets_tests.slurm_faults.bench import CellBench, Outcome
from valuesassets_tests.slurm_faults.fault import (
    ALL_CELLS,
    LANGUAGES,
    Seen,
    fault,
    first_line,
    run_worker,
    slurm_folder,
    state_of,
    terminate,
)


def read_again(bench: CellBench) -> Seen:
    """A cell whose job runs is materialised again."""
    with bench.reading() as outcomes:
        bench.until(lambda: "going on with job" in bench.said_so_far())
        bench.go()
    return Seen(f"{state_of(outcomes)}; {first_line(bench, 'going on with')}", "success; going on with job")


@fault("Dagster's run worker is killed -9 while the job runs; the cell is materialised again")
def worker_killed(bench: CellBench) -> Seen:
    with run_worker(bench) as worker:
        bench.until_started()
        worker.kill()
        worker.join()
    return read_again(bench)


@fault(
    "Dagster's run worker is killed -9 while its job runs, and at ten random moments, each of another cell",
    languages=LANGUAGES[:13],
)
def worker_killed_at_random_moments(bench: CellBench) -> Seen:
    bench.behave(seconds_after=4)
    bench.go()
    moments, gone_on = random.Random(20170620), 0  # noqa: S311
    warm_up, timed, *others = bench.languages
    for language in (warm_up, timed):
        started = time.monotonic()
        with run_worker(bench, language):
            pass
        seconds = time.monotonic() - started
    for language in others:
        with run_worker(bench, language) as worker:
            if language == others[0]:
                bench.until_started(3)
            else:
                time.sleep(moments.uniform(0, 1) * seconds)
            worker.kill()
            worker.join()
        if not bench.materialised(language):
            assert bench.read(language).is_success
            gone_on += "going on with" in bench.said_so_far()
    assert {bench.materialised(language) for language in bench.languages} == {1}
    assert gone_on, "no worker was killed while its job ran"
    cells = tuple((language, "reference-mono") for language in bench.languages)
    return Seen(f"each materialised once, {gone_on} of them by going on with a job", "once", len(cells), cells)


@fault("the daemon and its workers are stopped (SIGTERM) while the job runs; the cell is materialised again")
def worker_stopped(bench: CellBench) -> Seen:
    with run_worker(bench) as worker:
        bench.until_started()
        worker.terminate()
        worker.join()
    assert [job[3] for job in bench.cluster.jobs() if job[1] in bench.job_ids()] == ["RUNNING"]
    return read_again(bench)


def cancelled(bench: CellBench, language: str | None, read: Callable[[], Outcome], **wanted: Any) -> Seen:
    """A run is cancelled in the UI, and what it should have read is read anew."""
    with run_worker(bench, language) as worker:
        bench.until_started(wanted["starts"] // 2)
        run = terminate(bench, worker)
    bench.until(lambda: bench.noted("stops"))
    states = {job[3] for job in bench.cluster.jobs() if job[1] in bench.job_ids()}
    assert states <= {"CANCELLED", "COMPLETING"}, states
    status = bench.instance.get_run_by_id(run).status.value
    bench.go()
    assert read().is_success
    return Seen(f"run {status.lower()}, job cancelled", "run canceled, job cancelled", **wanted)


@fault("the run is cancelled in the UI")
def cancelled_in_the_ui(bench: CellBench) -> Seen:
    return cancelled(bench, "eng", bench.read, starts=2)


@fault("the run of a grid is cancelled in the UI")
def grid_cancelled_in_the_ui(bench: CellBench) -> Seen:
    return cancelled(bench, None, bench.read_grid, starts=6, cells=ALL_CELLS)


@fault("another run looks for claims while the jobs of a grid end: no claim changes meanwhile")
def claims_looked_at_while_a_grid_ends(bench: CellBench) -> Seen:
    with bench.reading(bench.read_grid) as grid:
        bench.until_started(3)
        with claims_lock(slurm_folder(bench)):
            claims = {path: path.read_bytes() for path in bench.storage_root.rglob(CLAIM)}
            bench.go()
            bench.until(lambda: any(bench.materialised(*cell) for cell in ALL_CELLS))
            time.sleep(1)
            assert claims == {path: path.read_bytes() for path in claims}
    return Seen(state_of(grid), "success", starts=3, cells=ALL_CELLS)


@fault("two runs of one cell at once")
def two_runs_of_one_cell(bench: CellBench) -> Seen:
    with bench.reading() as first, bench.reading() as second:
        bench.until_started()
        bench.until(lambda: bench.has_said("going on with job"))
        bench.go()
    return Seen(f"{state_of(first)}, {state_of(second)}, one job", "success, success")


@fault("a run of the grid and a run of one of its cells at once")
def grid_and_cell_at_once(bench: CellBench) -> Seen:
    with bench.reading(bench.read_grid) as grid:
        bench.until_started(3)
        with bench.reading() as cell:
            bench.until(lambda: "going on with job" in bench.said_so_far())
            bench.go()
    return Seen(f"{state_of(grid)}, {state_of(cell)}, one job a model", "success, success", starts=3, cells=ALL_CELLS)


@fault("the run of one cell is cancelled in the UI while a run of the grid reads it too")
def shared_job_cancelled_in_the_ui(bench: CellBench) -> Seen:
    with bench.reading(bench.read_grid) as grid:
        bench.until_started(3)
        with run_worker(bench) as worker:
            bench.until(lambda: "going on with job" in bench.said_so_far())
            run = terminate(bench, worker)
        bench.go()
    seen = f"{state_of(grid)}, {bench.instance.get_run_by_id(run).status.value.lower()}, one job a model"
    return Seen(seen, "success, canceled", starts=3, cells=ALL_CELLS)


@fault("the run of one cell shares the job of a grid, which stumbles over another cell")
def shared_job_fails_for_another_cell(bench: CellBench) -> Seen:
    bench.behave(failing=["fra"])
    with bench.reading(partial(bench.read_grid, "reference-multi/eng", "reference-multi/fra")) as grid:
        bench.until_started()
        with bench.reading(partial(bench.read, "eng", "reference-multi")) as cell:
            bench.until(lambda: "going on with job" in bench.said_so_far())
            bench.go()
    said = f"{state_of(cell)}; grid {state_of(grid)}"
    return Seen(said, "success; grid failed: 1 of 2 .*the model says NaN", cells=(("eng", "reference-multi"),))


@fault("two instruments have readings of one model and part at once, and the worker of one of them is killed -9")
def two_instruments_read_one_cell(bench: CellBench) -> Seen:
    with run_worker(bench) as worker:
        bench.until_started()
        with bench.reading(bench.read_for_another_instrument) as other:
            bench.until_started(2)
            worker.kill()
            worker.join()
            with bench.reading() as outcomes:
                bench.until(lambda: "going on with job" in bench.said_so_far())
                bench.go()
    submissions = {read_claim(path.parent).submission for path in bench.storage_root.rglob(CLAIM)}  # type: ignore
    assert len(submissions) == 2
    said = f"{state_of(outcomes)}, {state_of(other)}; {first_line(bench, 'going on with')}"
    return Seen(said, "success, success; going on with job", starts=2)
