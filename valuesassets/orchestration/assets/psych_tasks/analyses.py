"""Psych tasks as a graph, third part: the ledger of marks, the analyses over all cells, and the page."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.psych_tasks.analyses import ANALYSES
from valuesassets.orchestration.assets.analyses import analysis_asset
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.psych_tasks import checks
from valuesassets.orchestration.assets.report import Beside, report_asset
from valuesassets.orchestration.instruments import PSYCH_TASKS
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.study import Study

OF_MARKS = {**DICT_OF_PARTITIONS, "tables": ["marks", "donors"]}
"""Analyses take no candidates, which fill most of the stored files."""


def analysis_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every analysis, and the page."""
    declared = partial(
        declare,
        study,
        PSYCH_TASKS,
        "analyses",
        step="analysis",
        entries=("families",),
        many=["marks"],
        ins={"answer_distributions": dg.AssetIn(PSYCH_TASKS.key("answer_distributions"), metadata=OF_MARKS)},
        stamp=sha256_json(PsychTasks.of(study).lines),
    )
    judged = {"mark_ledger": {checks.MARKS_ARE_ACCOUNTED_FOR: _lost_marks}}
    assets = [
        analysis_asset(declared, study, name, analysis, partial(_offered, study), judged.get(name, {}))
        for name, analysis in ANALYSES.items()
    ]
    planted = ("calibration",) * study.has_reference_models
    report = report_asset(
        study,
        PSYCH_TASKS,
        ANALYSES,
        partial(_beside_analyses, study),
        takes=("preflight", *planted),
        many=("preflight", *planted),
        reads=("title", "by_plan", "inference"),
        entries=("families",),
    )
    return [*assets, report]


def _offered(
    study: Study, *, storage: Storage, inputs: Mapping[str, Any], partition: str | None
) -> Mapping[str, Callable[[], Any]]:
    """The arguments that a derivation may take, by the name of its parameter."""

    def table(name: str) -> pd.DataFrame:
        from valuesassets.instruments.psych_tasks.measures.cells import table_of_cells

        return table_of_cells(inputs["answer_distributions"], name)

    def task_marks() -> pd.DataFrame:
        from valuesassets.instruments.psych_tasks.measures.cells import tables_of_tasks

        return tables_of_tasks(inputs["marks"])

    def tasks() -> Any:
        from valuesassets.instruments.psych_tasks.material.task_files import load_task

        settings = PsychTasks.of(study)
        return {part: load_task(settings.task_file(part)) for part in settings.tasks}

    def lines() -> dict[str, str]:
        from valuesassets.instruments.psych_tasks.measures.model_lines import lines_of_study

        return lines_of_study(study)

    return {
        "marks": partial(table, "marks"),
        "donors": partial(table, "donors"),
        "marks_by_task": lambda: inputs["marks"],
        "task_marks": task_marks,
        "tasks": tasks,
        "lines": lines,
        "inference": lambda: study.inference,
        "seed": lambda: study.seed,
    }


def _lost_marks(ledger: pd.DataFrame, offered: Mapping[str, Callable[[], Any]]) -> tuple[list[dict[str, Any]], int]:
    """The histories of cells that lack marks in the ledger."""
    from valuesassets.instruments.psych_tasks.measures.cells import lost_marks

    return lost_marks(ledger, offered["marks_by_task"]()), len(ledger)


def _beside_analyses(
    study: Study, context: dg.AssetExecutionContext, storage: Storage, inputs: Mapping[str, Any]
) -> Beside:
    """What the page shows besides its analyses: the cells that are asked for, their preflight, and the calibration."""
    from valuesassets.instruments.psych_tasks.measures.cells import table_of_cells
    from valuesassets.instruments.psych_tasks.report.gates import preflight_rows

    cells = [{"model": cell.family, "task": cell.part.name} for cell in PSYCH_TASKS.cells(study)]
    tables: dict[str, Any] = {"cells": pd.DataFrame(cells), "preflight": preflight_rows(inputs["preflight"])}
    if inputs.get("calibration"):
        tables["calibration"] = {name: table_of_cells(inputs["calibration"], name) for name in ("recovery", "gains")}
    return Beside(tables)
