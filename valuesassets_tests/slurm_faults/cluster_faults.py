"""Faults of controller, nodes, disks and jobs."""

import os
import shutil
import signal
import subprocess
import time

from valuesassets_tests.slurm_faults.bench import CellBench
from valuesassets_tests.slurm_faults.fault import (
    Seen,
    drain,
    fault,
    payload,
    resume,
    slurm_folder,
    stand_in,
    state_of,
    then_again,
    warning,
)


@fault("slurmctld is killed -9 while the job runs, and started again")
def controller_restarted_during_the_job(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        bench.cluster.kill("slurmctld")
        time.sleep(2)
        bench.cluster.start("slurmctld")
        bench.go()
    return Seen(state_of(outcomes), "success")


@fault("slurmctld is killed -9 and its state is wiped: the job is gone, its id is given to others")
def controller_loses_the_job(bench: CellBench) -> Seen:
    drain(bench)
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
    return Seen(f"{state_of(outcomes)}; {warning(bench)}", "success; job .*vanished")


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
    return Seen(state_of(outcomes), "success")


def crash_of_its_node(bench: CellBench) -> str:
    """What became of a cell whose job has started again after its node fell."""
    with bench.reading() as outcomes:
        bench.until_started()
        node = bench.noted("starts")[0].split()[1]
        bench.cluster.crash(node)
        bench.until_started(2)
        bench.go()
    bench.cluster.start(f"slurmd.{node}")
    return state_of(outcomes)


@fault("the job's node falls; Slurm is not to start the job again")
def node_crash_without_requeue(bench: CellBench) -> Seen:
    return Seen(f"{crash_of_its_node(bench)}; {warning(bench)}", "success; job .*node lost", starts=2)


@fault("the job's node falls; Slurm starts the job again elsewhere", requeue=True)
def node_crash_with_requeue(bench: CellBench) -> Seen:
    state = crash_of_its_node(bench)
    assert len(bench.job_ids()) == 1
    return Seen(state, "success", starts=2)


@fault("slurmd is lost for good, Slurm starts the job again elsewhere, and the old attempt writes last", requeue=True)
def an_old_attempt_writes_after_the_new_one(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        old = bench.noted("starts")[0].split()[1]
        bench.cluster.kill(f"slurmd.{old}")
        attempt = next(bench.storage_root.rglob("attempt-*"))
        os.kill(payload(attempt), signal.SIGSTOP)
        bench.until_started(2)
        bench.go()
    right = bench.is_right()
    bench.behave(truncate=True)
    os.kill(payload(attempt), signal.SIGCONT)
    bench.until(lambda: len(bench.noted("ends")) == 2)
    bench.cluster.start(f"slurmd.{old}")
    assert right
    return Seen(state_of(outcomes), "success", starts=2)


@fault("an admin cancels the job (scancel)")
def cancelled_by_an_admin(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        bench.cluster.ask("scancel", bench.noted("starts")[0].split("_")[0])
    return then_again(bench, outcomes, "somebody cancelled the job")


@fault("the job runs into its time limit of a minute", resources="gpus = 1, hours = 0.017")
def job_over_its_time(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
    assert bench.noted("stops"), "it was told to save what it had"
    return then_again(bench, outcomes, "out of time: .* ask for more time")


@fault("the job takes more memory than it asked for", resources="gpus = 1, memory_gib = 1")
def job_over_its_memory(bench: CellBench) -> Seen:
    bench.behave(memory_mib=1500)
    with bench.reading() as outcomes:
        bench.until_started()
    bench.behave()
    return then_again(bench, outcomes, "out of memory: .* ask for more")


@fault("the node program is killed -9")
def job_killed(bench: CellBench) -> Seen:
    with bench.reading() as outcomes:
        bench.until_started()
        os.kill(payload(next(bench.storage_root.rglob("attempt-*"))), signal.SIGKILL)
    return then_again(bench, outcomes, "SIGKILL")


@fault("the folder of the submissions cannot be written on this side")
def folder_unwritable_here(bench: CellBench) -> Seen:
    root = slurm_folder(bench)
    root.parent.mkdir(parents=True, exist_ok=True)
    root.write_text("a file in the way")
    outcome = bench.read()
    root.unlink()
    bench.go()
    assert bench.read().is_success
    return Seen(f"failed: {outcome.said}", "cannot be written")


@fault("the node cannot open the job's log: its folder is gone")
def log_folder_unwritable_on_the_node(bench: CellBench) -> Seen:
    drain(bench)
    with bench.reading() as outcomes:
        bench.until(lambda: "PENDING" in bench.said_so_far())
        log = next(slurm_folder(bench).rglob("log.txt"))
        log.parent.rename(log.parent.with_name("gone"))
        resume(bench)
    return then_again(bench, outcomes, "could not open the log", starts=1)


def exit_0(bench: CellBench, expected: str, **told: object) -> Seen:
    """The node program ends with 0, and not all is there."""
    bench.behave(**told)
    bench.go()
    outcome = bench.read()
    bench.behave()
    return then_again(bench, [outcome], expected)


@fault("the node program ends with 0 and leaves nothing")
def exit_0_without_output(bench: CellBench) -> Seen:
    return exit_0(bench, "has left no readings", no_output=True)


@fault("the node program ends with 0 and leaves half a parquet")
def exit_0_with_a_truncated_parquet(bench: CellBench) -> Seen:
    return exit_0(bench, "not whole", truncate=True)


@fault("the shared disk shows the exit file 2 s after Slurm says COMPLETED", exit_file_seconds=300)
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
    return Seen(state_of([outcome]), "success")


@fault("the disk of the job's folder is full on the node")
def disk_full_on_the_node(bench: CellBench) -> Seen:
    root = slurm_folder(bench)
    root.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(root)], check=True)
    try:
        bench.behave(fill=True)
        bench.go()
        outcome = bench.read()
        bench.behave()
        for filler in root.rglob("filler"):
            filler.unlink()
        return then_again(bench, [outcome], "No space left")
    finally:
        subprocess.run(["umount", str(root)], check=True)


@fault(
    "accounting is off, and Slurm forgets the job 2 s after its end, before anybody looked",
    cluster="forgetful",
    poll_seconds=8,
)
def record_gone_before_it_was_seen(bench: CellBench) -> Seen:
    bench.go()
    return Seen(state_of([bench.read()]), "success")


@fault("accounting is on, and squeue forgets the job before anybody looked", cluster="accounting", poll_seconds=8)
def record_only_in_the_accounting(bench: CellBench) -> Seen:
    bench.go()
    return Seen(state_of([bench.read()]), "success")


@fault("squeue fails five times in a row")
def squeue_fails_five_times(bench: CellBench) -> Seen:
    count = bench.folder / "count"
    script = (
        f'echo x >> {count}; [ $(wc -l < {count}) -le 5 ] && echo "squeue: error: broken" >&2 && exit 1; $REAL "$@"'
    )
    with stand_in(bench, "squeue", script):
        bench.go()
        outcome = bench.read()
    assert len(count.read_text().split()) > 5
    return Seen(f"{state_of([outcome])}; {warning(bench)}", "success; Slurm does not answer: squeue: .*broken")
