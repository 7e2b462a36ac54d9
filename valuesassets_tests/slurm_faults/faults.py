"""What can happen to a cell on a cluster, done to it for real: each fault ends with the cell read and nothing lost."""

import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

from valuesassets.orchestration.resources import Storage
from valuesassets.orchestration.slurm_cells import slurm_root
from valuesassets_tests.slurm_faults.bench import FAMILIES, CellBench, Outcome, evs_languages
from valuesassets_tests.slurm_faults.worker import work

GPU = "gpus = 1"
LANGUAGES = list(evs_languages())
ALL_CELLS = tuple((language, family) for language in ("eng", "fra") for family in FAMILIES)
WORKERS = multiprocessing.get_context("forkserver")
WORKERS.set_forkserver_preload(["valuesassets_tests.slurm_faults.worker"])


@dataclass(frozen=True)
class Seen:
    """What came of a fault.

    Attributes:
        said: state and message that the user saw.
        expected: words that must stand in it.
        starts: how often the node program had to be started at all.
        cells: those that were wanted.
    """

    said: str
    expected: str
    starts: int = 1
    cells: tuple[tuple[str, str], ...] = (("eng", "reference-mono"),)


@dataclass(frozen=True)
class Fault:
    """A fault: what is injected, on which cluster and study."""

    name: str
    injected: str
    inject: Callable[[CellBench], Seen]
    cluster: str = "plain"
    resources: str = GPU
    settings: dict[str, object] = field(default_factory=dict)


FAULTS: dict[str, Fault] = {}


def fault(injected: str, cluster: str = "plain", resources: str = GPU, **settings: object) -> Callable:
    """Put a function into the table, under its name."""

    def kept(inject: Callable[[CellBench], Seen]) -> Callable[[CellBench], Seen]:
        name = inject.__name__
        FAULTS[name] = Fault(name.replace("_", " "), injected, inject, cluster, resources, settings)
        return inject

    return kept


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


@fault("the study hands on a time that is none", resources='extra = ["--time=soon"]')
def refused_for_its_time(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"--time=soon"', '"--time=5"', "--time")


@fault("the study names an account that may not be used", cluster="accounting", resources='account = "strangers"')
def refused_for_its_account(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"strangers"', '"test"', "account")


@fault("the job asks for more time than its partition allows", resources='partition = "short", hours = 2')
def a_reason_that_never_clears(bench: CellBench) -> Seen:
    return refused_then_mended(bench, '"short", hours = 2', '"gpu", hours = 1', "PartitionTimeLimit")


@fault("slurmctld is down when the job is submitted, and comes back 6 s later")
def controller_down_at_submission(bench: CellBench) -> Seen:
    bench.go()
    bench.cluster.kill("slurmctld")
    with bench.reading() as outcomes:
        time.sleep(6)
        bench.cluster.start("slurmctld")
    warned = "Slurm does not answer" in bench.said_so_far()
    return Seen(f"{_state(outcomes)}; warned: {warned}", "success; warned: True")


@fault("slurmctld is frozen while sbatch asks: it makes the job, yet sbatch times out")
def controller_frozen_at_submission(bench: CellBench) -> Seen:
    bench.go()
    bench.cluster.freeze()
    try:
        with bench.reading() as outcomes:
            bench.until(lambda: "Slurm does not answer" in bench.said_so_far(), 120)
            bench.cluster.thaw()
    finally:
        bench.cluster.thaw()
    made = {job[1] for job in bench.cluster.jobs() if job[0].startswith("bench-readings")}
    assert len(made & bench.job_ids()) == 1
    return Seen(f"{_state(outcomes)}; {_warning(bench)}", "success; Slurm does not answer")


@fault("slurmctld is killed -9 while the job runs, and started again")
def controller_restarted_during_the_job(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        bench.cluster.kill("slurmctld")
        time.sleep(2)
        bench.cluster.start("slurmctld")
        bench.go()
    return Seen(_state(outcomes), "success")


@fault("slurmctld is killed -9 and its state is wiped: the job is gone, its id is given to others")
def controller_loses_the_job(bench: CellBench) -> Seen:
    _drain(bench)
    with bench.reading() as outcomes:
        bench.until(lambda: "PENDING" in bench.said_so_far())
        bench.cluster.kill("slurmctld")
        shutil.rmtree(bench.cluster.folder / "state")
        (bench.cluster.folder / "state").mkdir()
        bench.cluster.start("slurmctld")
        for node in ("n1", "n2", "n3"):
            bench.cluster.kill(f"slurmd.{node}")
            bench.cluster.start(f"slurmd.{node}")
        bench.go()
    return Seen(f"{_state(outcomes)}; {_warning(bench)}", "success; job .*vanished")


@fault("slurmd of the job's node is killed -9, the job's processes go on")
def slurmd_killed(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        node = bench.noted("starts")[0].split()[1]
        bench.cluster.kill(f"slurmd.{node}")
        bench.go()
        bench.until(lambda: bench.noted("ends"))
        time.sleep(1)
        bench.cluster.start(f"slurmd.{node}")
    return Seen(_state(outcomes), "success")


@fault("the job's node falls; Slurm is not to start the job again")
def node_crash_without_requeue(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        node = bench.noted("starts")[0].split()[1]
        bench.cluster.crash(node)
        bench.until_started(2)
        bench.go()
    bench.cluster.start(f"slurmd.{node}")
    return Seen(f"{_state(outcomes)}; {_warning(bench)}", "success; job .*node lost", starts=2)


@fault("the job's node falls; Slurm starts the job again elsewhere", requeue=True)
def node_crash_with_requeue(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        node = bench.noted("starts")[0].split()[1]
        bench.cluster.crash(node)
        bench.until_started(2)
        bench.go()
    bench.cluster.start(f"slurmd.{node}")
    assert len(bench.job_ids()) == 1
    return Seen(_state(outcomes), "success", starts=2)


@fault("slurmd is lost for good, Slurm starts the job again elsewhere, and the old attempt writes last", requeue=True)
def an_old_attempt_writes_after_the_new_one(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        old = bench.noted("starts")[0].split()[1]
        bench.cluster.kill(f"slurmd.{old}")
        attempt = next(bench.storage_root.rglob("attempt-*"))
        os.kill(_payload(attempt), signal.SIGSTOP)
        bench.until_started(2)
        bench.go()
    right = bench.is_right()
    bench.behave(truncate=True)
    os.kill(_payload(attempt), signal.SIGCONT)
    bench.until(lambda: len(bench.noted("ends")) == 2)
    bench.cluster.start(f"slurmd.{old}")
    assert right
    return Seen(_state(outcomes), "success", starts=2)


@fault("an admin cancels the job (scancel)")
def cancelled_by_an_admin(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        bench.cluster.ask("scancel", bench.noted("starts")[0].split("_")[0])
    return _then_again(bench, outcomes, "somebody cancelled the job")


@fault("the job runs into its time limit of a minute", resources="gpus = 1, hours = 0.017")
def job_over_its_time(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
    assert bench.noted("stops"), "it was told to save what it had"
    return _then_again(bench, outcomes, "out of time: .* ask for more time")


@fault("the job takes more memory than it asked for", resources="gpus = 1, memory_gib = 1")
def job_over_its_memory(bench: CellBench) -> Seen:
    bench.behave(memory_mib=1500)
    with bench.reading() as outcomes:
        bench.until_started()
    bench.behave()
    return _then_again(bench, outcomes, "out of memory: .* ask for more")


@fault("the node program is killed -9")
def job_killed(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        os.kill(_payload(next(bench.storage_root.rglob("attempt-*"))), signal.SIGKILL)
    return _then_again(bench, outcomes, "SIGKILL")


@fault("the folder of the submissions cannot be written on this side")
def folder_unwritable_here(bench: CellBench) -> Seen:
    root = _root(bench)
    root.parent.mkdir(parents=True, exist_ok=True)
    root.write_text("a file in the way")
    outcome = bench.read()
    root.unlink()
    bench.go()
    assert bench.read().is_success
    return Seen(f"failed: {outcome.said}", "cannot be written")


@fault("the node cannot open the job's log: its folder is gone")
def log_folder_unwritable_on_the_node(bench: CellBench) -> Seen:
    _drain(bench)
    with bench.reading() as outcomes:
        bench.until(lambda: "PENDING" in bench.said_so_far())
        log = next(_root(bench).rglob("log.txt"))
        log.parent.rename(log.parent.with_name("gone"))
        _resume(bench)
    return _then_again(bench, outcomes, "could not open the log", starts=1)


@fault("the node program ends with 0 and leaves nothing")
def exit_0_without_output(bench: CellBench) -> Seen:
    bench.behave(no_output=True)
    bench.go()
    outcome = bench.read()
    bench.behave()
    return _then_again(bench, [outcome], "has left no readings")


@fault("the node program ends with 0 and leaves half a parquet")
def exit_0_with_a_truncated_parquet(bench: CellBench) -> Seen:
    bench.behave(truncate=True)
    bench.go()
    outcome = bench.read()
    bench.behave()
    return _then_again(bench, [outcome], "not whole")


@fault("the shared disk shows the exit file 2 s after Slurm says COMPLETED")
def exit_file_late(bench: CellBench) -> Seen:
    slow = bench.folder / "slow"
    slow.mkdir()
    (slow / "mv").write_text('#!/bin/sh\n(setsid sh -c \'sleep 2; exec /bin/mv "$@"\' mv "$@" > /dev/null 2>&1 &)\n')
    (slow / "mv").chmod(0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{slow}:{path}"
    try:
        bench.go()
        outcome = bench.read()
    finally:
        os.environ["PATH"] = path
    return Seen(_state([outcome]), "success")


@fault("the disk of the job's folder is full on the node")
def disk_full_on_the_node(bench: CellBench) -> Seen:
    root = _root(bench)
    root.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(root)], check=True)
    try:
        bench.behave(fill=True)
        bench.go()
        outcome = bench.read()
        bench.behave()
        for filler in root.rglob("filler"):
            filler.unlink()
        return _then_again(bench, [outcome], "No space left")
    finally:
        subprocess.run(["umount", str(root)], check=True)


@fault("Dagster's run worker is killed -9 while the job runs; the cell is materialised again")
def worker_killed(bench: CellBench) -> Seen:
    with _worker(bench) as worker:
        bench.until_started()
        worker.kill()
        worker.join()
    with bench.reading() as outcomes:
        bench.until(lambda: "going on with job" in bench.said_so_far())
        bench.go()
    return Seen(f"{_state(outcomes)}; {_first(bench, 'going on with')}", "success; going on with job")


@fault("Dagster's run worker is killed -9 at ten random moments, each of another cell", languages=LANGUAGES[:12])
def worker_killed_at_random_moments(bench: CellBench) -> Seen:
    bench.behave(seconds_after=4)
    bench.go()
    moments, gone_on = random.Random(20170620), 0  # noqa: S311
    warm_up, timed, *others = bench.languages
    for language in (warm_up, timed):
        started = time.monotonic()
        with _worker(bench, language):
            pass
        seconds = time.monotonic() - started
    for language in others:
        with _worker(bench, language) as worker:
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
    with _worker(bench) as worker:
        bench.until_started()
        worker.terminate()
        worker.join()
    assert [job[3] for job in bench.cluster.jobs() if job[1] in bench.job_ids()] == ["RUNNING"]
    with bench.reading() as outcomes:
        bench.until(lambda: "going on with job" in bench.said_so_far())
        bench.go()
    return Seen(f"{_state(outcomes)}; {_first(bench, 'going on with')}", "success; going on with job")


@fault("the run is cancelled in the UI")
def cancelled_in_the_ui(bench: CellBench) -> Seen:
    with _worker(bench) as worker:
        bench.until_started()
        run = _cancel(bench, worker)
    bench.until(lambda: bench.noted("stops"))
    states = {job[3] for job in bench.cluster.jobs() if job[1] in bench.job_ids()}
    assert states <= {"CANCELLED", "COMPLETING"}, states
    status = bench.instance.get_run_by_id(run).status.value
    bench.go()
    assert bench.read().is_success
    return Seen(f"run {status.lower()}, job cancelled", "run canceled, job cancelled", starts=2)


@fault("two runs of one cell at once")
def two_runs_of_one_cell(bench: CellBench) -> Seen:
    with bench.reading() as first, bench.reading() as second:
        bench.until_started()
        bench.until(lambda: len(bench.instance.get_runs()) == 2)
        time.sleep(2)
        bench.go()
    return Seen(f"{_state(first)}, {_state(second)}, one job", "success, success")


@fault("a run of the grid and a run of one of its cells at once")
def grid_and_cell_at_once(bench: CellBench) -> Seen:
    with bench.reading(bench.read_grid) as grid:
        bench.until_started(3)
        with bench.reading() as cell:
            bench.until(lambda: "going on with job" in bench.said_so_far())
            bench.go()
    return Seen(f"{_state(grid)}, {_state(cell)}, one job a model", "success, success", starts=3, cells=ALL_CELLS)


@fault("the run of one cell is cancelled in the UI while a run of the grid reads it too")
def shared_job_cancelled_in_the_ui(bench: CellBench) -> Seen:
    with bench.reading(bench.read_grid) as grid:
        bench.until_started(3)
        with _worker(bench) as worker:
            bench.until(lambda: "going on with job" in bench.said_so_far())
            run = _cancel(bench, worker)
        bench.go()
    seen = f"{_state(grid)}, {bench.instance.get_run_by_id(run).status.value.lower()}, one job a model"
    return Seen(seen, "success, canceled", starts=3, cells=ALL_CELLS)


@fault(
    "accounting is off, and Slurm forgets the job 2 s after its end, before anybody looked",
    cluster="forgetful",
    poll_seconds=8,
)
def record_gone_before_it_was_seen(bench: CellBench) -> Seen:
    bench.go()
    return Seen(_state([bench.read()]), "success")


@fault("accounting is on, and squeue forgets the job before anybody looked", cluster="accounting", poll_seconds=8)
def record_only_in_the_accounting(bench: CellBench) -> Seen:
    bench.go()
    return Seen(_state([bench.read()]), "success")


@fault("squeue fails five times in a row")
def squeue_fails_five_times(bench: CellBench) -> Seen:
    broken = bench.folder / "broken"
    broken.mkdir()
    count, real = broken / "count", shutil.which("squeue")
    (broken / "squeue").write_text(
        f'#!/bin/sh\necho x >> {count}\n[ $(wc -l < {count}) -le 5 ] && echo "squeue: error: broken" >&2 && exit 1\n'
        f'exec {real} "$@"\n'
    )
    (broken / "squeue").chmod(0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{broken}:{path}"
    try:
        bench.go()
        outcome = bench.read()
    finally:
        os.environ["PATH"] = path
    assert len(count.read_text().split()) > 5
    return Seen(f"{_state([outcome])}; {_warning(bench)}", "success; Slurm does not answer: squeue: .*broken")


def _state(outcomes: list[Outcome]) -> str:
    return "success" if outcomes[0].is_success else f"failed: {outcomes[0].said}"


def _cancel(bench: CellBench, worker: BaseProcess) -> str:
    """Do what a click on *Terminate* does to the latest run; gives its id when its worker is gone."""
    run = bench.instance.get_runs(limit=1)[0]
    bench.instance.report_run_canceling(run)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGINT)
    worker.join()
    return run.run_id


def _then_again(bench: CellBench, outcomes: list[Outcome], expected: str, starts: int = 2) -> Seen:
    """What the user saw of a run that failed; the cell is materialised again."""
    assert not outcomes[0].is_success
    assert bench.materialised() == 0
    bench.go()
    again = bench.read()
    assert again.is_success, again
    return Seen(f"failed: {outcomes[0].said}", expected, starts)


def _warning(bench: CellBench) -> str:
    return next((line for word in ("attempt ", "Slurm does not answer") for line in [_first(bench, word)] if line), "")


def _first(bench: CellBench, word: str) -> str:
    return next((line for line in bench.said_so_far().splitlines() if word in line), "")


def _root(bench: CellBench) -> Path:
    return slurm_root(Storage(root=str(bench.storage_root.absolute()), study="bench"))


def _drain(bench: CellBench) -> None:
    bench.cluster.ask("scontrol", "update", "nodename=n[1-3]", "state=drain", "reason=test")


def _resume(bench: CellBench) -> None:
    bench.cluster.ask("scontrol", "update", "nodename=n[1-3]", "state=resume")


def _payload(attempt: Path) -> int:
    """The process that works in an attempt's folder."""
    for entry in Path("/proc").iterdir():
        try:
            is_stub = "stub_node.py" in (entry / "cmdline").read_text()
            if is_stub and Path(os.readlink(entry / "cwd")) == attempt:
                return int(entry.name)
        except (OSError, ValueError):
            continue
    raise AssertionError(f"nothing runs in {attempt}")


@contextlib.contextmanager
def _worker(bench: CellBench, language: str = "eng") -> Iterator[BaseProcess]:
    """A process of its own that materialises a cell, as Dagster's daemon would start one."""
    folders = (str(bench.study_file), str(bench.storage_root), str(bench.folder / "dagster"))
    process = WORKERS.Process(target=work, args=(*folders, language))
    process.start()
    yield process
    process.join()
