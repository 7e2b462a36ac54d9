"""Stands in for `python -m valuesassets.node job.json`: hands out prepared readings, and misbehaves as it is told.

It runs as a bare script (`python -S`), so that a fault costs no time but its own. In the folder that PLAN names it
finds `readings/<cell>.parquet` and `behaviour.json`; it notes there in `starts` and `ends` what was run, and waits for
`go` to appear, and with parts that are `held` for `released`.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

STOPPED_EARLY = 75


def note(plan, name):
    line = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']} {os.environ['SLURMD_NODENAME']}\n"
    with open(plan / name, "a") as stream:
        stream.write(line)


def stop(number, frame):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Slurm and the batch script may both send one
    print("stopped by SIGTERM: what was read is kept", flush=True)
    note(Path(os.environ["PLAN"]), "stops")
    sys.exit(STOPPED_EARLY)


def main():
    signal.signal(signal.SIGTERM, stop)
    plan = Path(os.environ["PLAN"])
    job = json.loads(Path(sys.argv[-1]).read_text())
    note(plan, "starts")
    told = json.loads((plan / "behaviour.json").read_text())
    memory = bytearray(told.get("memory_mib", 0) << 20)
    while not (plan / "go").exists():
        time.sleep(0.05)
    if told.get("fill"):
        with open("filler", "wb") as stream:
            while True:
                stream.write(bytes(65_536))
    failures = {}
    for cell in job["cells"]:
        while cell["name"].split("/")[1] in told.get("held", []) and not (plan / "released").exists():
            time.sleep(0.05)
        if told.get("no_output"):
            break
        if cell["name"].split("/")[1] in told.get("failing", []):
            failures[cell["name"]] = "the model says NaN; download its weights again"
            Path(job["failures"]).write_text(json.dumps(failures))
            continue
        content = (plan / "readings" / f"{cell['name']}.parquet").read_bytes()
        target = Path(cell["readings"])
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden = target.with_name(".hidden")
        hidden.write_bytes(content[: len(content) // 2] if told.get("truncate") else content)
        hidden.replace(target)
    time.sleep(told.get("seconds_after", 0))
    note(plan, "ends")
    print(f"read {len(job['cells'])} cells with {len(memory)} bytes", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
