"""The command `python -m valuesassets.definitions STUDY --storage FOLDER`: a study, or parts of it, in one process.

A job of the UI starts the same command as a process of its own (`study_process.py`): it then names the job's run with
`--part-of`, gets the study as one line of JSON on its standard input, says in lines of JSON how far it is, and ends
when that input does, so that it never outlives the run.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import dagster as dg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from slurm_runner.errors import SlurmError
from valuesassets.dagster_internals.graph import BaseAssetGraph
from valuesassets.desk.database import open_instance
from valuesassets.desk.run_names import PART_OF_TAG
from valuesassets.desk.server_process import end_with_parent
from valuesassets.node.fork_server import fork_server
from valuesassets.orchestration.commands.run_study import LeftOut, Tell, Wanted, run_study
from valuesassets.orchestration.commands.side_by_side import end_soon, side_by_side
from valuesassets.orchestration.grid.on_slurm import grid_scripts
from valuesassets.orchestration.instruments import instruments_of
from valuesassets.records.errors import StorageError, StudyError, ValuesAssetsError
from valuesassets.records.garbage import collect_seldom
from valuesassets.records.study import Study, load_study, stored_study
from valuesassets.records.terminal import terminal_text

INTERRUPTED = 130


def main(build_definitions: Callable[[Study, Path], dg.Definitions]) -> int:
    """Materialise the study named on the command line; exit 1 where a run failed."""
    collect_seldom()
    parser = argparse.ArgumentParser(description="Materialise a study, skipping what is fresh.")
    parser.add_argument("study", help="name of a bundled study, or a path")
    parser.add_argument("--storage", type=Path, required=True, help="folder for the study's files")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="assets, or groups of them")
    parser.add_argument("--cells", nargs="+", metavar="MODEL/LANGUAGE", help="cells of the grid, and what they rest on")
    parser.add_argument("--force", action="store_true", help="make what is fresh too")
    parser.add_argument("--part-of", metavar="RUN", help="the run that wants it; see study_command.py")
    parser.add_argument("--dry-run", action="store_true", help="print what Slurm would be given, submit nothing")
    arguments = parser.parse_args()
    is_part = arguments.part_of is not None
    try:
        study = (
            Study.model_validate_json(sys.stdin.readline())
            if is_part
            else stored_study(load_study(arguments.study), arguments.storage)
        )
        if arguments.dry_run:
            print("\n".join(grid_scripts(study, arguments.storage)))
            return 0
        definitions = build_definitions(study, arguments.storage)
        wanted = Wanted(
            assets=_known_assets(arguments.only, definitions.get_repository_def().asset_graph),
            cells=None if arguments.cells is None else _known_cells(arguments.cells, study),
            tags={PART_OF_TAG: arguments.part_of} if is_part else {},
            is_forced=arguments.force,
        )
    except (ValuesAssetsError, SlurmError) as error:
        print(terminal_text(str(error)), file=sys.stderr)
        return 1
    # The forks are made first, as long as there is no thread and no open database.
    with fork_server(), side_by_side(definitions) as runs:
        try:
            opened = open_instance(os.environ.get("VALUESASSETS_DAGSTER", ""), is_migrated=False)
        except StorageError as error:
            print(terminal_text(str(error)), file=sys.stderr)
            return 1
        with opened as instance:

            def run(tell: Tell) -> Iterator[str]:
                return run_study(definitions, instance, tell, study, wanted, runs)

            if not is_part:
                return _show_bar(run) if sys.stderr.isatty() else _say_lines(run, is_json=False)
            end_with_parent(end_soon)
            try:
                _say_lines(run, is_json=True)  # what failed is in the lines: the process has done what it was to do
            except KeyboardInterrupt:
                return INTERRUPTED
            return 0


def _known_assets(asked: Collection[str], graph: BaseAssetGraph) -> set[dg.AssetKey] | None:
    """The assets asked for, each by its whole key, its last word, its instrument or its group; None where none is."""
    keys, groups = graph.get_all_asset_keys(), {node.key: node.group_name for node in graph.asset_nodes}
    called: dict[str | None, set[dg.AssetKey]] = {}
    for key in keys:
        for name in (key.to_user_string(), key.path[-1], key.path[0], groups[key]):
            called.setdefault(name, set()).add(key)
    for name in asked:
        if name not in called:
            raise StudyError(
                f"{name}: no such part of the study; there are the groups "
                f"{', '.join(sorted({group for group in groups.values() if group}))}, and the assets "
                f"{', '.join(sorted(key.path[-1] for key in keys))}"
            )
    return set[dg.AssetKey]().union(*(called[name] for name in asked)) if asked else None


def _known_cells(asked: Collection[str], study: Study) -> Collection[str]:
    cells = [str(cell) for instrument in instruments_of(study) for cell in instrument.cells(study)]
    for name in asked:
        if name not in cells:
            raise StudyError(f"{name}: none of the study's cells; say <model>/<language> such as {cells[0]}")
    return asked


def _show_bar(run: Callable[[Tell], Iterator[str]]) -> int:
    """Say on a terminal how far a run is; 1 where parts have failed."""
    failures = 0
    columns = [SpinnerColumn(), TextColumn("{task.description:<44}", markup=False), BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)

        def tell(what: str, number: int, total: int, _: bool) -> None:
            progress.update(task, description=what, completed=number - 1, total=total)

        for line in run(tell):
            is_failure = not isinstance(line, LeftOut)
            failures += is_failure
            head = ("failed ", "red") if is_failure else ("left out ", "yellow")
            progress.console.print(Text.assemble(head, terminal_text(line)))
    return 1 if failures else 0


def _say_lines(run: Callable[[Tell], Iterator[str]], is_json: bool) -> int:
    """Say in lines what is being made and, told apart, what has failed; 1 where parts have."""
    made = failures = whole = 0

    def say(line: str, has_failed: bool) -> None:
        if is_json:
            print(json.dumps({"line": line, "has_failed": has_failed}), flush=True)
        else:
            print(terminal_text(f"failed {line}" if has_failed else line), file=sys.stderr, flush=True)

    def tell(what: str, number: int, total: int, is_made: bool) -> None:
        nonlocal made, whole
        made, whole = made + is_made, total
        if is_made:  # what is only looked at is not worth a line
            say(f"{number} of {total}: {what}", False)

    for line in run(tell):
        is_failure = not isinstance(line, LeftOut)
        failures += is_failure
        say(line if is_failure else f"left out {line}", is_failure)
    say(f"{made} made, of which {failures} failed; {whole - made} were fresh", False)
    return 1 if failures else 0
