"""Psych tasks as a graph; each asset is derived by the instrument's file of its name. Here: up to the trials."""

from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.psych_tasks.report import lines as own_lines
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.grid import grid_assets
from valuesassets.orchestration.assets.psych_tasks import checks
from valuesassets.orchestration.assets.psych_tasks.analyses import analysis_assets
from valuesassets.orchestration.assets.psych_tasks.answers import answer_assets
from valuesassets.orchestration.code_versions import file_stamps
from valuesassets.orchestration.first_look import lines
from valuesassets.orchestration.instruments import PSYCH_TASKS
from valuesassets.orchestration.partitions import part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_file, sha256_json, write_text
from valuesassets.records.settings.psych_tasks import AskedTask, PsychTasks
from valuesassets.records.study import Study


def psych_tasks_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the instrument."""
    return [
        *material_assets(study),
        *grid_assets(study, PSYCH_TASKS),
        *answer_assets(study),
        *analysis_assets(study),
    ]


def stamp_of(study: Study, *keys: str) -> str:
    """A hash of some keys of the instrument's table."""
    return sha256_json(PsychTasks.of(study).model_dump(mode="json", include={*keys}))


def stamps_of_tasks(study: Study) -> dict[str, str]:
    """A hash of each task's entry, task file and transcripts: a task that changes makes no other stale."""
    settings = PsychTasks.of(study)
    return {name: _stamp(settings.task_file(name), task) for name, task in settings.tasks.items()}


def _stamp(file: Path, task: AskedTask) -> str:
    parts: list[Any] = [task.model_dump(mode="json", exclude={"transcripts"}), sha256_file(file)]
    if isinstance(task.transcripts, Path):
        path = task.transcripts
        parts.append(file_stamps(path.parent, {path.name: path.name}))  # not where it lies, but what it is
    return sha256_json(parts)[:12]


def material_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Transcripts, their marks, and what is asked at these."""
    is_planted = any(task.transcripts == "planted" for task in PsychTasks.of(study).tasks.values())
    declared = partial(
        declare,
        study,
        PSYCH_TASKS,
        "transcripts",
        reads=(),
        partitions_def=part_partitions(study, PSYCH_TASKS),
        files=stamps_of_tasks(study),
        modules=[".material.task_files"],
        io_manager_key="frame",
    )
    asking = partial(
        declared,
        modules=[".material.task_files", ".trials.asked_marks"],
        stamp=stamp_of(study, "histories", "layout", "own_draws"),
        deps=[PSYCH_TASKS.key("marks")],
    )
    judged = [
        checks.MARKS_ARE_ACCOUNTED_FOR,
        checks.MARKS_CAN_BE_ASKED,
        checks.ANSWERS_ARE_CANDIDATES,
        checks.MARKS_STAND_BEHIND_THEIR_ITEM,
    ]
    return [
        declared(line=own_lines.transcripts_line, reads=("seed",) if is_planted else ())(transcripts),
        declared(line=own_lines.marks_line, checks=judged, stamp=stamp_of(study, "unread_marks"))(marks),
        asking(line=own_lines.asked_line)(asked_marks),
        asking(line=lines.trials_line, io_manager_key="trials")(trials),
    ]


def transcripts(context: dg.AssetExecutionContext, study: Study, storage: Storage) -> pd.DataFrame:
    """People's transcripts, word for word."""
    from valuesassets.instruments.psych_tasks.material.transcripts import derive_transcripts
    from valuesassets.instruments.psych_tasks.plants.planted_people import transcript_lines

    settings = PsychTasks.of(study)
    entry, task = settings.tasks[context.partition_key], _task(study, context)
    path = entry.transcripts
    if not isinstance(path, Path):
        path = storage.path(context.asset_key, context.partition_key, "jsonl")
        lines_of_people = transcript_lines(task.name, entry.participants or PLANTED_PEOPLE, study.seed, "read")
        write_text(path, "\n".join(lines_of_people) + "\n")
    return derive_transcripts(path, task, entry.participants)


def marks(context: dg.AssetExecutionContext, study: Study, transcripts: pd.DataFrame) -> Any:
    """Every opening delimiter: its block and kind, what may be answered there, or why it cannot be asked."""
    from valuesassets.instruments.psych_tasks.material.marks import mark_rows, unread_rows
    from valuesassets.instruments.psych_tasks.material.marks_without_item import marks_without_item
    from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS

    settings = PsychTasks.of(study)
    people, task = _people_and_task(study, context, transcripts)
    table = TASK_MARKS.frame(mark_rows(people, task))
    n_opened = sum(text.count(task.delimiters[0]) for text in transcripts["text"])
    n_lost = n_opened - int(table["mark"].notna().sum())
    unread = unread_rows(table)
    unlisted = table.loc[table["status"] == str(MarkStatus.UNLISTED)]
    columns = ["experiment", "participant", "mark", "kind", "human_answer"]
    share = len(unread) / max(1, len(table))
    without_item = marks_without_item(people, task)
    return dg.MaterializeResult(
        value=table,
        check_results=[
            checks.MARKS_ARE_ACCOUNTED_FOR.result([{"lost": n_lost}] if n_lost else [], n_opened),
            checks.MARKS_CAN_BE_ASKED.result(unread, len(table), share <= settings.unread_marks, share=share),
            checks.ANSWERS_ARE_CANDIDATES.result(unlisted.loc[:, columns].to_dict("records"), len(table)),
            checks.MARKS_STAND_BEHIND_THEIR_ITEM.result(without_item, len(table)),
        ],
    )


def _asked_task(study: Study, context: dg.AssetExecutionContext, transcripts: pd.DataFrame) -> Any:
    """The marks of a partition as they are asked, and the trials that ask them."""
    from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task

    settings = PsychTasks.of(study)
    people, task = _people_and_task(study, context, transcripts)
    part = PSYCH_TASKS.part_of(study, context.partition_key)
    return ask_task(people, task, settings.histories, settings.layout, settings.own_draws, part.language)


def asked_marks(context: dg.AssetExecutionContext, study: Study, transcripts: pd.DataFrame) -> pd.DataFrame:
    """Which trial and span ask each mark in each history, or why none does."""
    return _asked_task(study, context, transcripts).rows


def trials(context: dg.AssetExecutionContext, study: Study, transcripts: pd.DataFrame) -> Any:
    """Transcripts as models are shown them, after each history."""
    return _asked_task(study, context, transcripts).trials


def _task(study: Study, context: dg.AssetExecutionContext) -> Any:
    """The task of a partition, from its file."""
    from valuesassets.instruments.psych_tasks.material.task_files import load_task

    return load_task(PsychTasks.of(study).task_file(context.partition_key))


def _people_and_task(
    study: Study, context: dg.AssetExecutionContext, transcripts: pd.DataFrame
) -> tuple[list[Any], Any]:
    """The people of a partition with their marks, and their task."""
    from valuesassets.instruments.psych_tasks.material.marks import mark_person
    from valuesassets.instruments.psych_tasks.material.transcripts import task_transcripts

    task = _task(study, context)
    return [mark_person(row, task) for row in task_transcripts(transcripts)], task


PLANTED_PEOPLE = 40
"""Made-up people of a task where the study names no number."""
