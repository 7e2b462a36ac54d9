"""`psych_tasks/trials`: passages of transcripts as trials, in the layouts that models are shown."""

from typing import Literal

from valuesassets.instruments.psych_tasks.material.histories import Passage
from valuesassets.instruments.psych_tasks.material.layouts import LaidOut, lay_out_marked, lay_out_plain, with_chat
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.trials import Trial

AskedLayout = Literal["auto", "marked", "plain"]
"""`auto`: a chat for models that are asked so, else marked."""


def lay_out(made: Passage, layout: AskedLayout, task: Task) -> LaidOut:
    """A passage in a layout."""
    if layout == "plain":
        return lay_out_plain(made.pieces)
    laid = lay_out_marked(made.pieces, task)
    return with_chat(laid, made.pieces, task) if layout == "auto" else laid


def write_trial(made: Passage, layout: AskedLayout, task: Task, language: str) -> Trial:
    """A passage as a trial: its asked marks are the spans."""
    laid = lay_out(made, layout, task)
    readout = ScoreSpans(
        laid.spans,
        laid.sets,
        laid.close,
        history="own" if made.history == "own" else "given",
        seed=(made.draw or None) if made.history == "own" else 0,
        as_published=made.history == "human",
    )
    beside = "" if layout == "auto" else f"/{layout}"
    drawn = f"/draw {made.draw}" if made.history == "own" else ""
    name = f"{made.name}/{made.history}{drawn}{beside}"
    return Trial(name, task.name, language, laid.prompt, "given", made.draw, made.history, readout, None, laid.chat)
