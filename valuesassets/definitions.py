"""Study file -> `dg.Definitions`: the only place where anything is wired.

`VALUESASSETS_STUDY` names the study (a bundled name or a path), `VALUESASSETS_STORAGE` the folder for its files.
"""

import os
import sys
from pathlib import Path

import dagster as dg
from threadpoolctl import threadpool_limits

from valuesassets.desk.summaries.sensor import backfill_sensor
from valuesassets.desk.warm_runs import start_runs_warm
from valuesassets.node.fork_server import start_fork_server
from valuesassets.orchestration.commands.jobs import study_jobs
from valuesassets.orchestration.following.automation import automation_sensor
from valuesassets.orchestration.instruments import MODELS, instruments_of
from valuesassets.orchestration.io_managers import study_io_managers
from valuesassets.orchestration.resources import Storage, StorageResource
from valuesassets.records.places import storage_root
from valuesassets.records.study import DEMO, Study, load_study, stored_study

if start_runs_warm():
    start_fork_server()


def build_definitions(study: Study, storage_root: Path) -> dg.Definitions:
    """The graph of a study, its files below `storage_root/<study>/`.

    From here on linear algebra has one thread in this process and its forks: of several, sums differ in their last bits
    with how many there are; and runs that are made side by side would wait for each other's.
    """
    threadpool_limits(1, user_api="blas")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of libraries that are loaded later
    storage = Storage(root=str(storage_root.absolute()), study=study.name)
    instruments = instruments_of(study)
    assets = [asset for each in (MODELS, *instruments) for asset in each.assets(study)]
    return dg.Definitions(
        assets=assets,
        jobs=study_jobs(study, assets, instruments),
        sensors=[automation_sensor(assets), backfill_sensor(storage_root.absolute(), study.name)],
        resources={"storage": StorageResource(storage), **study_io_managers(storage)},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """The graph of the study that the environment names."""
    named = load_study(os.environ.get("VALUESASSETS_STUDY") or DEMO)
    return build_definitions(stored_study(named, storage_root()), storage_root())


if __name__ == "__main__":
    from valuesassets.orchestration.commands.study_command import main

    sys.exit(main(build_definitions))
