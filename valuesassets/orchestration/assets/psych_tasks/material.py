"""Psych tasks as a graph; each asset is derived by the instrument's file of its name. Here: up to the trials."""

from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.psych_tasks import lines as own_lines
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

HOME, DOCS = "valuesassets.instruments.psych_tasks", "psych_tasks"


def psych_tasks_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the instrument."""
    return [
        *material_assets(study),
        *grid_assets(study, PSYCH_TASKS),
        *answer_assets(study),
        *analysis_assets(study),
    ]


def stamp_of(study: Study, *keys: str) -> str:
    """A word for some keys of the instrument's table, as they are now."""
    return sha256_json(PsychTasks.of(study).model_dump(mode="json", include={*keys}))


def stamps_of_tasks(study: Study) -> dict[str, str]:
    """A word for each task's entry, its task file and its transcripts: a task that changes makes no other stale."""
    settings = PsychTasks.of(study)
    return {name: _stamp(settings.task_file(name), asked) for name, asked in settings.tasks.items()}


def _stamp(file: Path, asked: AskedTask) -> str:
    found: list[Any] = [asked.model_dump(mode="json", exclude={"transcripts"}), sha256_file(file)]
    if isinstance(asked.transcripts, Path):
        place = asked.transcripts
        found.append(file_stamps(place.parent, {place.name: place.name}))  # not where it lies, but what it is
    return sha256_json(found)[:12]


def material_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Transcripts, their marks, and what is asked at these."""
    settings = PsychTasks.of(study)
    declared = partial(declare, study, PSYCH_TASKS, "transcripts", docs=DOCS, reads=())
    declared = partial(
        declared,
        partitions_def=part_partitions(study, PSYCH_TASKS),
        files=stamps_of_tasks(study),
        modules=(f"{HOME}.task_files",),
        io_manager_key="frame",
    )
    is_planted = any(asked.transcripts == "planted" for asked in settings.tasks.values())

    def task_of(context: dg.AssetExecutionContext) -> Any:
        from valuesassets.instruments.psych_tasks.task_files import load_task

        return load_task(settings.task_file(context.partition_key))

    def people_of(context: dg.AssetExecutionContext, transcripts: pd.DataFrame) -> tuple[Any, Any]:
        from valuesassets.instruments.psych_tasks.marks import mark_person
        from valuesassets.instruments.psych_tasks.transcripts import shown_rows

        task = task_of(context)
        return [mark_person(shown, task) for shown in shown_rows(transcripts)], task

    @declared(line=own_lines.transcripts_line, reads=("seed",) if is_planted else ())
    def transcripts(context: dg.AssetExecutionContext, storage: Storage) -> pd.DataFrame:
        """People's transcripts, word for word."""
        from valuesassets.instruments.psych_tasks.planted_people import transcript_lines
        from valuesassets.instruments.psych_tasks.transcripts import derive_transcripts

        asked, task = settings.tasks[context.partition_key], task_of(context)
        place = asked.transcripts
        if not isinstance(place, Path):
            place = storage.path(context.asset_key, context.partition_key, "jsonl")
            made = transcript_lines(task.name, asked.participants or PLANTED_PEOPLE, study.seed, "read")
            write_text(place, "\n".join(made) + "\n")
        return derive_transcripts(place, task, asked.participants)

    @declared(
        line=own_lines.marks_line,
        checks=[
            checks.MARKS_ARE_ACCOUNTED_FOR,
            checks.MARKS_CAN_BE_ASKED,
            checks.ANSWERS_ARE_CANDIDATES,
            checks.MARKS_STAND_BEHIND_THEIR_ITEM,
        ],
        stamp=stamp_of(study, "unread_marks"),
    )
    def marks(context: dg.AssetExecutionContext, transcripts: pd.DataFrame) -> Any:
        """Every opening delimiter: its block and kind, what may be answered there, or why it cannot be asked."""
        from valuesassets.instruments.psych_tasks.marks import mark_rows, unread_rows
        from valuesassets.instruments.psych_tasks.marks_without_item import marks_without_item
        from valuesassets.instruments.psych_tasks.statuses import MarkStatus
        from valuesassets.instruments.psych_tasks.tables import TASK_MARKS

        people, task = people_of(context, transcripts)
        found = TASK_MARKS.frame(mark_rows(people, task))
        n_opened = sum(text.count(task.delimiters[0]) for text in transcripts["text"])
        lost = n_opened - int(found["mark"].notna().sum())
        unread = unread_rows(found)
        unlisted = found.loc[found["status"] == str(MarkStatus.UNLISTED)]
        shown = ["experiment", "participant", "mark", "kind", "human_answer"]
        share = len(unread) / max(1, len(found))
        without = [each.as_row() for each in marks_without_item(people, task)]
        return dg.MaterializeResult(
            value=found,
            check_results=[
                checks.MARKS_ARE_ACCOUNTED_FOR.result([{"lost": lost}] if lost else [], n_opened),
                checks.MARKS_CAN_BE_ASKED.result(unread, len(found), share <= settings.unread_marks, share=share),
                checks.ANSWERS_ARE_CANDIDATES.result(unlisted.loc[:, shown].to_dict("records"), len(found)),
                checks.MARKS_STAND_BEHIND_THEIR_ITEM.result(without, len(found)),
            ],
        )

    def asked_of(context: dg.AssetExecutionContext, transcripts: pd.DataFrame) -> Any:
        from valuesassets.instruments.psych_tasks.asked_marks import ask_task

        people, task = people_of(context, transcripts)
        part = PSYCH_TASKS.part_of(study, context.partition_key)
        return ask_task(people, task, settings.histories, settings.layout, settings.own_draws, part.language)

    asking = partial(
        declared,
        modules=(f"{HOME}.task_files", f"{HOME}.asked_marks"),
        stamp=stamp_of(study, "histories", "layout", "own_draws"),
        deps=[PSYCH_TASKS.key("marks")],
    )

    @asking(line=own_lines.asked_line)
    def asked_marks(context: dg.AssetExecutionContext, transcripts: pd.DataFrame) -> pd.DataFrame:
        """Which trial and span ask each mark in each history, or why none does."""
        return asked_of(context, transcripts).rows

    @asking(line=lines.trials_line, io_manager_key="trials")
    def trials(context: dg.AssetExecutionContext, transcripts: pd.DataFrame) -> Any:
        """Transcripts as models are shown them, after each history."""
        return asked_of(context, transcripts).trials

    return [transcripts, marks, asked_marks, trials]


PLANTED_PEOPLE = 40
"""Made-up people of a task where the study names no number."""
