"""Psych tasks as a graph, second part: what each model says at every mark, and whether plants are recovered."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.psych_tasks.report import lines as own_lines
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.psych_tasks import checks
from valuesassets.orchestration.assets.training import reference_models_asset
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.first_look.shown import link_to
from valuesassets.orchestration.instruments import PSYCH_TASKS
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import cell_of, cell_partitions, is_reference
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json, write_text
from valuesassets.records.frames import records, rows
from valuesassets.records.parquet import table_metadata
from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import PLANTED_TRANSCRIPTS
from valuesassets.records.trials import Reading, Trial


def answer_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The answers read in each cell; and, where models are trained here, that plants are recovered."""
    judged = [
        checks.MARKS_ARE_READ,
        checks.UNREAD_ANSWERS_ARE_LIKE_THE_OTHERS,
        checks.P_VALID_IS_SUFFICIENT,
        checks.READ_BEFORE_THE_ANSWER,
    ]
    declared = partial(declare, study, PSYCH_TASKS, step="cell", io_manager_key="frames", entries=("families",))
    answers = declared(
        "models",
        line=own_lines.answers_line,
        checks=judged,
        partitions_def=cell_partitions(study, PSYCH_TASKS),
        reads=("thresholds",),
        modules=[".answers.mark_ledger", ".report.transcript_pages"],
        stamp=sha256_json(PsychTasks.of(study).unread_marks),
    )(answer_distributions)
    if not study.has_reference_models:
        return [answers]
    stamp = sha256_json([PsychTasks.of(study).model_dump(mode="json", include={"laws", "tasks"})])
    planted = declared(
        "calibration",
        line=own_lines.calibration_line,
        checks=[checks.PLANTS_ARE_RECOVERED],
        partitions_def=cell_partitions(study, PSYCH_TASKS, is_reference),
        reads=(),
        modules=[".trials.asked_marks"],
        stamp=stamp,
    )(calibration)
    return [answers, planted_models_asset(study, stamp), planted]


def answer_distributions(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    transcripts: pd.DataFrame,
    asked_marks: pd.DataFrame,
    trials: list[Trial],
    readings: list[Reading],
) -> Any:
    """How probable each candidate is at each mark, after each history."""
    from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
    from valuesassets.instruments.psych_tasks.answers.mark_ledger import masses_by_history, unread_differ, unread_share
    from valuesassets.instruments.psych_tasks.material.task_files import load_task
    from valuesassets.instruments.psych_tasks.report.transcript_pages import render_transcript_page

    settings = PsychTasks.of(study)
    name, part = cell_of(context)
    task, is_chat = load_task(settings.task_file(part)), study.families[name].prompting.is_chat
    people = _people(transcripts, task)
    tables = derive_answer_distributions(asked_marks, people, task, trials, readings, is_chat)
    marks = tables["marks"]
    unread = rows(marks, marks["p_valid"].isna() & ~marks["status"].isin(["not_asked"]))
    columns = ["experiment", "participant", "history", "mark", "kind", "status", "reason"]
    share = unread_share(marks)
    page = storage.path(context.asset_key, context.partition_key, "html")
    write_text(page, render_transcript_page(people, task, marks, tables["candidates"], f"{name} in {part}"))
    masses = masses_by_history(marks)
    faint = [row for row in masses if row["median_p_valid"] < study.thresholds.p_valid_cell]
    late = [row for row in masses if row["is_likelier_late"]]
    link = link_to(storage, page)
    metadata = table_metadata(storage.path(PSYCH_TASKS.key("readings"), context.partition_key, "parquet"))
    return dg.MaterializeResult(
        value=tables,
        metadata={"transcripts": link, "road": metadata.get("road", ""), "histories": table_of(masses)},
        check_results=[
            checks.MARKS_ARE_READ.result(
                records(unread.loc[:, columns]), len(marks), share <= settings.unread_marks, share=share, page=link
            ),
            checks.UNREAD_ANSWERS_ARE_LIKE_THE_OTHERS.result(_large(unread_differ(marks)), len(marks)),
            checks.P_VALID_IS_SUFFICIENT.result(faint, len(masses)),
            checks.READ_BEFORE_THE_ANSWER.result(late, len(masses)),
        ],
    )


def planted_models_asset(study: Study, stamp: str) -> dg.AssetsDefinition:
    """The reference models; `stamp` is a hash of what is planted."""

    def plant(cells: Sequence[Cell], inputs: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        from valuesassets.instruments.psych_tasks.plants.plants import plant_transcripts

        return plant_transcripts(study, cells[0].family, [cell.part.name for cell in cells])

    return reference_models_asset(
        study,
        PSYCH_TASKS,
        "go on answering as planted",
        plant,
        PLANTED_TRANSCRIPTS,
        stamp=stamp,
        reads=("phantom", "seed", TRAINED),
        modules=[".plants.plants"],
    )


def calibration(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    transcripts: pd.DataFrame,
    readings: list[Reading],
) -> Any:
    """Planted against read, mark by mark and history by history; and what the gains should be."""
    from valuesassets.instruments.psych_tasks.material.task_files import load_task
    from valuesassets.instruments.psych_tasks.plants.calibration import derive_calibration
    from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task

    settings = PsychTasks.of(study)
    name, part = cell_of(context)
    task = load_task(settings.task_file(part))
    people, language = _people(transcripts, task), settings.tasks[part].language
    asking = ask_task(people, task, settings.histories, settings.layout, settings.own_draws, language)
    tables = derive_calibration(asking, people, task, settings.laws[name], readings)
    failing = [
        row
        for table in (tables["recovery"], tables["gains"])
        for row in records(rows(table, ~table["is_recovered"].astype(bool)))
    ]
    n_rows = len(tables["recovery"]) + len(tables["gains"])
    return dg.MaterializeResult(
        value=tables,
        metadata={name: table_of(records(tables[name])) for name in ("recovery", "gains") if len(tables[name])},
        check_results=[checks.PLANTS_ARE_RECOVERED.result(failing, n_rows)],
    )


def _people(transcripts: pd.DataFrame, task: Any) -> list[Any]:
    from valuesassets.instruments.psych_tasks.material.marks import people_of
    from valuesassets.instruments.psych_tasks.material.transcripts import task_transcripts

    return people_of(task_transcripts(transcripts), task)


def _large(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kinds of marks with enough unread ones to compare, whose answers differ by more than a tenth."""
    return [row for row in differences if row["n_unread"] >= 10 and row["total_variation"] > 0.1]
