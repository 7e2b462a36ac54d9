"""What the job of the little project runs: `speaker.py FOLDER [word ...]`."""

import os
import sys
import time
from pathlib import Path

from dagster_pipes import open_dagster_pipes


def main(folder: Path, told: list[str]) -> None:
    attempt = int(os.environ.get("SLURM_RESTART_COUNT", 0))
    with open_dagster_pipes() as pipes:
        pipes.log.info(f"measuring in {pipes.extras['unit']} for run {pipes.run_id}")
        pipes.report_asset_materialization(metadata={"length": 1230 + attempt}, data_version="v1")
        pipes.report_asset_check("is_large", passed=True)
        if "half" in told and not attempt:
            with open(folder / "slurm" / Path.cwd().parents[1].name / "0" / "messages", "a") as messages:
                messages.write('{"__dagster_pipes_version": "0.1", "method": "lo')
        while "wait" in told and not (folder / "go").exists():
            time.sleep(0.05)
        if "fail" in told:
            print("the river is dry", flush=True)
            sys.exit(3)
        pipes.log.info("measured")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
