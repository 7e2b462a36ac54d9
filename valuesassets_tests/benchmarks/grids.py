"""What large grids cost Dagster: the load of the graph, looks of the sensor, what is stale. A process for each size."""

import json
import logging
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from valuesassets_tests.needs import REPOSITORY

if TYPE_CHECKING:
    from valuesassets_tests.benchmarks.evidence import Entries, Tell

MODULE = "valuesassets_tests.benchmarks.grids"
FAMILIES = 30
WANTED = {"load": "<= 5", "first_look": "<= 2", "quiet_look": "<= 2", "look_at_one_new_cell": "<= 2"}
"""CPU seconds; the others are shown."""
CODES = [f"q{one}{other}" for one in ascii_lowercase for other in ascii_lowercase]
STUDY = """
name = "large"
title = "A large grid"
seed = 1
questionnaires = { source = "folder", pdf_dir = "." }
human = { source = "planted", respondents = 100 }
"""
LANGUAGE = 'name = "{code}"\ncountry = "IE"\nzone = "Protestant Europe"\nresource = "low"\n{lexicon}'
FAMILY = 'kind = "reference"\nmodel_type = "multi"\ndtype = "float32"\n'


def measure(scratch: Path, languages: tuple[int, ...], tell: "Tell") -> "Entries":
    """CPU seconds and MiB, one value for each size of the grid."""
    from valuesassets_tests.benchmarks.evidence import entry  # it imports torch, which no server of Dagster does

    rows = []
    for n in languages:
        folder = scratch / f"grid{n}"
        write_study(folder, n)
        row: dict[str, Any] = {}
        for what in ("arrived", "whole"):  # readings alone; then all that follows from them
            tell(f"grids: {n * FAMILIES} cells, {what}")
            for asked in ("made", what):
                command = [sys.executable, "-m", MODULE, str(folder), what, asked]
                ran = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
            row |= json.loads(ran.stdout.splitlines()[-1])
        rows.append(row)
    more = {"first_look": {"rows": rows}}
    return {
        f"grid_{name}": entry(
            [row[name] for row in rows], "MiB" if "mib" in name else "CPU s", WANTED.get(name), **more.get(name, {})
        )
        for name in rows[0]
        if name != "cells"
    }


def write_study(folder: Path, languages: int) -> None:
    """A study file of so many languages, each with the English lexicon under another name."""
    folder.mkdir(parents=True)
    lexicon = REPOSITORY / "valuesassets" / "studies" / "lexicons" / "eng.toml"
    named = dict.fromkeys(CODES[: languages - 1], f'lexicon = "{lexicon}"\n')
    text = STUDY + "".join(
        f"[languages.{code}]\n{LANGUAGE.format(code=code, lexicon=more)}" for code, more in {"eng": "", **named}.items()
    )
    text += "".join(f"[families.family{n:02}]\n{FAMILY}" for n in range(FAMILIES))
    (folder / "large.toml").write_text(text, encoding="utf-8")


class LargeGrid:
    """A grid of which as much is made as is said.

    Args:
        folder: with its study file.
        what: `arrived` where only readings are there, and what they rest on; `whole` where all is.
    """

    def __init__(self, folder: Path, what: str) -> None:
        started = time.process_time()
        import dagster as dg  # what is imported is a part of the load

        from valuesassets.definitions import build_definitions
        from valuesassets.records.study import load_study

        self.study, self._what = load_study(str(folder / "large.toml")), what
        self.repository = build_definitions(self.study, folder / "storage").get_repository_def()
        self.load_seconds = time.process_time() - started
        self.graph, self._cursor = self.repository.asset_graph, None
        os.environ |= {"VALUESASSETS_DAGSTER": str(folder / what), "DAGSTER_HOME": str(REPOSITORY)}
        (folder / what).mkdir(exist_ok=True)
        self.instance = dg.DagsterInstance.from_config(str(REPOSITORY))
        logging.getLogger("dagster").setLevel(logging.CRITICAL)

    def make(self) -> None:
        """Store what was made, as runs of it would have."""
        latest: dict[Any, int] = {}
        for key in self.graph.toposorted_asset_keys:
            node = self.graph.get(key)
            if node.is_materializable and not (self._what == "arrived" and "step" in node.tags):
                for partition in node.partitions_def.get_partition_keys() if node.partitions_def else [None]:
                    self.store(key, partition, latest)
                    latest[key] = self.instance.event_log_storage.get_maximum_record_id() or 0

    def store(self, key: Any, partition: str | None, latest: Mapping[Any, int]) -> None:
        """Store that an asset was made of the latest of what it rests on."""
        import dagster as dg
        from dagster._core.definitions import data_version as tag

        from valuesassets.desk.staleness import ENTRIES, entries_of_partition, tags_of_entries

        node = self.graph.get(key)
        tags = {tag.CODE_VERSION_TAG: str(node.code_version), tag.DATA_VERSION_TAG: "1"}
        tags |= {tag.DATA_VERSION_IS_USER_PROVIDED_TAG: "true"}
        tags |= tags_of_entries(entries_of_partition(node.metadata.get(ENTRIES, {}), partition))
        for parent in node.parent_keys:
            tags[f"{tag.INPUT_DATA_VERSION_TAG_PREFIX}/{parent.to_user_string()}"] = "1"
            tags[tag.get_input_event_pointer_tag(parent)] = str(latest.get(parent, "NULL"))
        made = dg.AssetMaterialization(key, partition=partition, tags=tags)
        self.instance.report_runless_asset_event(made)

    def look(self) -> int:
        """One look of the sensor; how many runs it asks for."""
        import dagster as dg
        from dagster._core.definitions.automation_condition_sensor_definition import _evaluate

        from valuesassets.orchestration.following.automation import SENSOR

        (sensor,) = (one for one in self.repository.sensor_defs if one.name == SENSOR)
        context = dg.build_sensor_context(self.instance, repository_def=self.repository, cursor=self._cursor)
        context.log.setLevel(logging.CRITICAL)
        found = _evaluate(sensor, context)
        self._cursor = found.cursor
        return len(found.run_requests or ())

    def stale(self) -> int:
        """How many cells' readings the resolver finds stale, as a run of the whole study asks it."""
        from valuesassets.desk.staleness import Staleness
        from valuesassets.orchestration.instruments import SURVEY
        from valuesassets.orchestration.partitions import cell_partitions

        now, keys = Staleness(self.graph, self.instance), cell_partitions(self.study, SURVEY).get_partition_keys()
        return sum(bool(now.of([SURVEY.asked], key)) for key in keys)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of some work in this process, and what came of it."""
    started = time.process_time()
    found = work()
    return round(time.process_time() - started, 2), found


def main(folder: str, what: str, asked: str) -> None:
    grid = LargeGrid(Path(folder), what)
    if asked == "made":
        grid.make()
        return
    cells = len(grid.study.cells())
    seconds, asked_for = timed(grid.look)
    assert asked_for == (cells if what == "arrived" else 0), asked_for
    row: dict[str, Any] = {"cells": cells}
    if what == "arrived":
        row |= {"look_at_all_new_cells": seconds, "arrived_mib": peak_mib()}
    else:
        from valuesassets.orchestration.instruments import SURVEY

        row |= {"load": round(grid.load_seconds, 2), "first_look": seconds, "quiet_look": timed(grid.look)[0]}
        grid.store(SURVEY.asked, grid.graph.get(SURVEY.asked).partitions_def.get_partition_keys()[0], {})
        row |= {"look_at_one_new_cell": timed(grid.look)[0], "looks_mib": peak_mib()}
        row |= {"staleness": timed(grid.stale)[0], "staleness_mib": peak_mib()}
    print(json.dumps(row))


def peak_mib() -> float:
    """The highest mark of this process."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
