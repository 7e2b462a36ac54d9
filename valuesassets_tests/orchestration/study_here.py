"""Studies made in this process, which has its imports already, by the very function behind `valuesassets run`."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import dagster as dg
from PIL import Image

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import Wanted, run_study
from valuesassets.records.study import load_study


@contextlib.contextmanager
def unpainted() -> Iterator[None]:
    """A block whose figures are laid out and written as SVG and PDF, but no pixel of them is painted: nobody looks."""
    blank = Image.new("RGB", (8, 8))
    with mock.patch("valuesassets.figures.saving._rendered", return_value=blank):
        yield


def run_study_here(path: Path, only: Sequence[str] = (), times: int = 1) -> Iterator[Path]:
    """Make a study, or assets of it by their last words, its files beside its own file.

    Args:
        times: how often; what is fresh is not made again.

    Yields:
        After each time the folder of the study's files.
    """
    study = load_study(str(path))
    storage = path.parent / "storage"
    definitions = build_definitions(study, storage)
    keys = definitions.get_repository_def().asset_graph.get_all_asset_keys()
    wanted = Wanted({key for key in keys if key.path[-1] in only} if only else None)
    with unpainted(), dg.DagsterInstance.ephemeral() as instance:
        for _ in range(times):
            assert list(run_study(definitions, instance, study=study, wanted=wanted)) == []
            yield storage / study.name
