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


@contextlib.contextmanager
def sketched() -> Iterator[None]:
    """A block whose figures are drawn, but neither laid out nor written: it is about tables and words alone."""
    blank = Image.new("RGB", (8, 8))
    with contextlib.ExitStack() as patches:
        patches.enter_context(unpainted())
        patches.enter_context(mock.patch("valuesassets.figures.saving.save_figure", return_value=blank))
        for module in ("figures.saving", "reporting.parts", "reporting.inline_svg", "instruments.survey.report.map"):
            patches.enter_context(mock.patch(f"valuesassets.{module}.svg_text", return_value="<svg></svg>"))
        yield


def run_study_here(
    path: Path, only: Sequence[str] = (), times: int = 1, is_forced: bool = False, may_fail: bool = False
) -> Iterator[Path]:
    """Make a study, or assets of it by their last words or their keys, its files beside its own file.

    Args:
        times: how often; what is fresh is not made again, unless it is forced to be.
        may_fail: whether parts may fail, as those whose inputs were never made.

    Yields:
        After each time the folder of the study's files.
    """
    study = load_study(str(path))
    storage = path.parent / "storage"
    definitions = build_definitions(study, storage)
    keys = definitions.get_repository_def().asset_graph.get_all_asset_keys()
    named = {key for key in keys if key.path[-1] in only or key.to_user_string() in only}
    wanted = Wanted(named if only else None, is_forced=is_forced)
    with unpainted(), dg.DagsterInstance.ephemeral() as instance:
        for _ in range(times):
            failures = list(run_study(definitions, instance, study=study, wanted=wanted))
            assert may_fail or failures == [], failures
            yield storage / study.name
