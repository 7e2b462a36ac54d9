"""The command of a study whose assets take no time, fail or wait as the environment says; with `job` as its first
argument, a run of the job that starts it."""

import os
import sys
import time
from pathlib import Path

import dagster as dg

from valuesassets.orchestration.assets.survey.material import extract_and_align_job
from valuesassets.orchestration.commands import study_process
from valuesassets.orchestration.commands.jobs import whole_study_job
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.commands.study_command import main
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.study import Study
from valuesassets_tests.orchestration.toy_survey import toy_study

FAILING, GATE = "TOY_FAILING", "TOY_GATE"


def build(study: Study, storage: Path) -> dg.Definitions:
    @dg.asset(key_prefix="survey", group_name="questionnaires", partitions_def=part_partitions(study, SURVEY))
    def trials(context: dg.AssetExecutionContext) -> None:
        if context.partition_key == os.environ.get(FAILING):
            raise dg.Failure(f"{context.partition_key}: no lexicon\nadd one", allow_retries=False)
        while GATE in os.environ and not Path(os.environ[GATE]).exists():
            time.sleep(0.05)

    @dg.asset(key_prefix="survey", group_name="analyses", deps=[trials])
    def report() -> None: ...

    return dg.Definitions(
        [trials, report],
        jobs=[whole_study_job(study), extract_and_align_job(study)],
        resources={"storage": Storage(root=str(storage), study=study.name)},
        executor=dg.in_process_executor,
    )


def run_job(name: str, storage: Path, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    study_process.COMMAND = __name__ if __name__ != "__main__" else __spec__.name
    job = build(toy_study(), storage).resolve_job_def(name)
    return job.execute_in_process(QUIET, instance, raise_on_error=False)


if __name__ == "__main__":
    if sys.argv[1] == "job":
        with dg.DagsterInstance.get() as found:
            run_job(sys.argv[2], Path(sys.argv[3]), found)
    else:
        sys.exit(main(build))
