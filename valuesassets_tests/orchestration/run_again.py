"""A study that a command has run, run again in this process."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

import dagster as dg

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import Wanted, run_study
from valuesassets.records.study import load_study


def run_again_here(environment: Mapping[str, str], only: Sequence[str] = ()) -> list[str]:
    """Run the graph of a study that was run before, or some of its assets, in this process; gives what has failed."""
    study, kept = load_study(environment["VALUESASSETS_STUDY"]), mock.patch.dict(os.environ, environment)
    definitions = build_definitions(study, Path(environment["VALUESASSETS_STORAGE"]))
    keys = definitions.get_repository_def().asset_graph.get_all_asset_keys()
    wanted = Wanted({key for key in keys if key.path[-1] in only} if only else None)
    with kept, dg.DagsterInstance.get() as instance:
        return list(run_study(definitions, instance, study=study, wanted=wanted))
