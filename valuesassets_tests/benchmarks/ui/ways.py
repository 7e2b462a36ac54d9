"""Forms to prompts in 22 languages through the UI: by the job that makes parts itself, and by a backfill of assets."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from slurm_runner.files import tail
from valuesassets.records.study import study_path
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.ui.backfill import ENDED, LAUNCH, SETTLED_SECONDS, STATUS
from valuesassets_tests.benchmarks.ui.clicks import shown
from valuesassets_tests.benchmarks.ui.processes import Processes, totals
from valuesassets_tests.desk.web_ui import ask_graphql, launch_job
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.waiting import wait_until

ASSETS = ("questionnaire_pdf", "extracted_questions", "master_questions", "aligned_questions", "trials")
RUN = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
STUDY = "demo_survey_22"


def measure_ways(folder: Path, tell: Tell) -> Entries:
    """Wall and CPU time of each way, from the launch in a UI that is ready, with the work of its servers."""
    found: Entries = {}
    for way, make in {"job": _by_job, "backfill": _by_backfill}.items():
        tell(f"forms and prompts of {STUDY} by one {way}")
        environment, log = study_environment(folder / way, study_path(STUDY)), folder / f"{way}.log"
        with Processes(environment) as processes, shown(environment, log) as address:
            time.sleep(SETTLED_SECONDS)
            before, began = sum(totals(processes.look()).values()), time.monotonic()
            assert make(address, log) in ("SUCCESS", "COMPLETED_SUCCESS"), tail(log)
            found[f"forms_by_{way}_wall"] = entry([time.monotonic() - began], "s")
            found[f"forms_by_{way}_cpu"] = entry([sum(totals(processes.look()).values()) - before], "s of CPU time")
    return found


def _by_job(address: str, log: Path) -> str:
    run = launch_job(address, "extract_and_align")
    return _ended(lambda: ask_graphql(address, RUN, id=run)["runOrError"]["status"], log)


def _by_backfill(address: str, log: Path) -> str:
    params = {"assetSelection": [{"path": ["survey", name]} for name in ASSETS], "allPartitions": True}
    backfill = ask_graphql(address, LAUNCH, params=params)["launchPartitionBackfill"]["backfillId"]
    return _ended(lambda: ask_graphql(address, STATUS, id=backfill)["partitionBackfillOrError"]["status"], log)


def _ended(status: Callable[[], str], log: Path) -> str:
    wait_until(lambda: status() in (*ENDED, "SUCCESS", "FAILURE"), 3600, every=1, said=partial(tail, log))
    return status()
