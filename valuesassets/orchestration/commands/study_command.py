"""The command `python -m valuesassets.definitions STUDY --storage FOLDER`, which makes a study or parts of it.

Jobs of the UI start the same command as a process (`study_process.py`). It then gets the id of the job's run as
`--part-of` and the study as one line of JSON on its standard input, reports its progress in lines of JSON, and ends
when that input ends, so that it never outlives the run.
"""

import argparse
import difflib
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
from valuesassets.orchestration.assets.declaring import ASKING
from valuesassets.orchestration.commands.run_study import LeftOut, Tell, Wanted, run_study
from valuesassets.orchestration.commands.side_by_side import end_soon, side_by_side
from valuesassets.orchestration.grid.on_slurm import grid_scripts
from valuesassets.orchestration.instruments import instruments_of
from valuesassets.records.errors import StorageError, StudyError, ValuesAssetsError
from valuesassets.records.extras import extras_of, require
from valuesassets.records.garbage import collect_seldom
from valuesassets.records.study import Study, load_study, stored_study, study_of_json
from valuesassets.records.terminal import terminal_text

INTERRUPTED = 130


def main(build_definitions: Callable[[Study, Path], dg.Definitions]) -> int:
    """Materialise the study named on the command line; returns 1 if a run failed."""
    collect_seldom()
    parser = argparse.ArgumentParser(description="Materialise a study, skipping what is fresh.")
    parser.add_argument("study", help="name of a bundled study, or path of a study file")
    parser.add_argument("--storage", type=Path, required=True, help="folder for the files of studies")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="make only these assets or groups")
    parser.add_argument("--cells", nargs="+", metavar="MODEL/LANGUAGE", help="make only these cells and their inputs")
    parser.add_argument("--force", action="store_true", help="also make fresh parts again")
    parser.add_argument("--part-of", metavar="RUN", help="id of the run that starts this command; see study_command.py")
    parser.add_argument("--dry-run", action="store_true", help="print the scripts for Slurm without submitting them")
    arguments = parser.parse_args()
    is_part = arguments.part_of is not None
    try:
        study = (
            study_of_json(sys.stdin.readline())
            if is_part
            else stored_study(load_study(arguments.study), arguments.storage)
        )
        if arguments.dry_run:
            print("\n".join(grid_scripts(study, arguments.storage)))
            return 0
        definitions = build_definitions(study, arguments.storage)
        graph = definitions.get_repository_def().asset_graph
        assets = _require_assets(arguments.only, graph)
        if any(key.path[-1] in ASKING for key in assets or ()):
            require(f"study {study.name}", *extras_of(study))
        if assets is not None and not is_part:
            assets |= _made_first(assets, graph, arguments.storage / study.name)
        wanted = Wanted(
            assets=assets,
            cells=None if arguments.cells is None else _require_cells(arguments.cells, study),
            tags={PART_OF_TAG: arguments.part_of} if is_part else {},
            is_forced=arguments.force,
        )
    except (ValuesAssetsError, SlurmError) as error:
        print(terminal_text(str(error)), file=sys.stderr)
        return 1
    # The forks start first, before this process has threads or open databases.
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
                return _show_bar(run) if sys.stderr.isatty() else _print_lines(run, is_json=False)
            end_with_parent(end_soon)
            try:
                _print_lines(run, is_json=True)  # the lines name the failures, so that the exit status is 0
            except KeyboardInterrupt:
                return INTERRUPTED
            return 0


def _require_assets(names: Collection[str], graph: BaseAssetGraph) -> set[dg.AssetKey] | None:
    """The assets with these names (full keys, last words of keys, instruments or groups); None without names."""
    keys, groups = graph.get_all_asset_keys(), {node.key: node.group_name for node in graph.asset_nodes}
    keys_by_name: dict[str | None, set[dg.AssetKey]] = {}
    for key in keys:
        for name in (key.to_user_string(), key.path[-1], key.path[0], groups[key]):
            keys_by_name.setdefault(name, set()).add(key)
    for name in names:
        if name not in keys_by_name:
            like = difflib.get_close_matches(name, [each for each in keys_by_name if each], n=1)
            meant = f"did you mean {like[0]}? There" if like else "there"
            raise StudyError(
                f"{name}: no such part of the study; {meant} are the groups "
                f"{', '.join(sorted({group for group in groups.values() if group}))}, and the assets "
                f"{', '.join(sorted(key.path[-1] for key in keys))}"
            )
    return set[dg.AssetKey]().union(*(keys_by_name[name] for name in names)) if names else None


def _made_first(assets: Collection[dg.AssetKey], graph: BaseAssetGraph, folder: Path) -> set[dg.AssetKey]:
    """The assets that these rest on and that have no file yet, without those that ask models, which cost money or
    hours and are made where somebody names them."""
    missing, waiting = set[dg.AssetKey](), list(assets)
    while waiting:
        for parent in graph.get(waiting.pop()).parent_keys - missing - {*assets}:
            is_there = any(path.is_file() for path in folder.joinpath(*parent.path).rglob("*"))
            if graph.has(parent) and not is_there and parent.path[-1] not in ASKING:
                missing.add(parent)
                waiting.append(parent)
    if missing:
        names = ", ".join(sorted(key.to_user_string() for key in missing))
        print(f"made first, since there is none yet: {names}", file=sys.stderr, flush=True)
    return missing


def _require_cells(names: Collection[str], study: Study) -> Collection[str]:
    cells = [str(cell) for instrument in instruments_of(study) for cell in instrument.cells(study)]
    for name in names:
        if name not in cells:
            raise StudyError(f"{name}: none of the study's cells; say <model>/<language> such as {cells[0]}")
    return names


def _show_bar(run: Callable[[Tell], Iterator[str]]) -> int:
    """Show a progress bar on a terminal; returns 1 if parts have failed."""
    n_failures = 0
    columns = [SpinnerColumn(), TextColumn("{task.description:<44}", markup=False), BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)

        def tell(what: str, number: int, total: int, _: bool) -> None:
            progress.update(task, description=what, completed=number - 1, total=total)

        for line in run(tell):
            is_failure = not isinstance(line, LeftOut)
            n_failures += is_failure
            head = ("failed ", "red") if is_failure else ("left out ", "yellow")
            progress.console.print(Text.assemble(head, terminal_text(line)))
    return 1 if n_failures else 0


def _print_lines(run: Callable[[Tell], Iterator[str]], is_json: bool) -> int:
    """Print a line for each part that is made or has failed; returns 1 if parts have failed."""
    n_made = n_failures = n_parts = 0

    def say(line: str, has_failed: bool) -> None:
        if is_json:
            print(json.dumps({"line": line, "has_failed": has_failed}), flush=True)
        else:
            print(terminal_text(f"failed {line}" if has_failed else line), file=sys.stderr, flush=True)

    def tell(what: str, number: int, total: int, is_made: bool) -> None:
        nonlocal n_made, n_parts
        n_made, n_parts = n_made + is_made, total
        if is_made:  # fresh parts get no line
            say(f"{number} of {total}: {what}", False)

    for line in run(tell):
        is_failure = not isinstance(line, LeftOut)
        n_failures += is_failure
        say(line if is_failure else f"left out {line}", is_failure)
    say(f"{n_made} made, of which {n_failures} failed; {n_parts - n_made} were fresh", False)
    return 1 if n_failures else 0
