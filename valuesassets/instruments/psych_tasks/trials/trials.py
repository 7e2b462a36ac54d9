"""`psych_tasks/trials`: passages of transcripts as trials, in the layouts that models are shown."""

from valuesassets.instruments.psych_tasks.material.histories import Passage
from valuesassets.instruments.psych_tasks.material.layouts import lay_out_marked, lay_out_plain, with_chat
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.settings.psych_tasks import Layout
from valuesassets.records.trials import Trial


def write_trial(passage: Passage, layout: Layout, task: Task, language: str) -> Trial:
    """A passage as a trial, whose spans are the asked marks; layout `auto` is a chat for chat models, else marked."""
    laid_out = lay_out_plain(passage.pieces) if layout == "plain" else lay_out_marked(passage.pieces, task)
    if layout == "auto":
        laid_out = with_chat(laid_out, passage.pieces, task)
    is_own = passage.history == "own"
    readout = ScoreSpans(
        laid_out.spans,
        laid_out.sets,
        laid_out.close,
        history="own" if is_own else "given",
        seed=(passage.draw or None) if is_own else 0,
        as_published=passage.history == "human",
    )
    suffix = (f"/draw {passage.draw}" if is_own else "") + ("" if layout == "auto" else f"/{layout}")
    name, draw = f"{passage.name}/{passage.history}{suffix}", passage.draw
    prompt, chat = laid_out.prompt, laid_out.chat
    return Trial(name, task.name, language, prompt, "given", draw, passage.history, readout, None, chat)
