"""Puts a family's preamble before a trial, as every model is shown it."""

from collections.abc import Sequence
from dataclasses import replace

from valuesassets.records.errors import InputError
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Trial, Turn


def with_preambles(trials: Sequence[Trial], prompting: Prompting, model: str) -> Sequence[Trial]:
    """The trials behind their preamble: a line before a bare prompt, or the beginning of a trial's own system turn.

    In a chat without a system turn of its own, `Prompting.system_in` has the preamble. Spans move with their text.

    Raises:
        InputError: a table of `prompting` lacks the language of a trial; names model, key and language.
    """
    try:
        prompting.check({trial.language for trial in trials})
    except ValueError as error:
        raise InputError(f"{model}: {error}") from None
    return trials if prompting.preamble is None else [_with_preamble(trial, prompting) for trial in trials]


def _with_preamble(trial: Trial, prompting: Prompting) -> Trial:
    preamble = f"{prompting.preamble_in(trial.language)}\n"
    is_bare = isinstance(trial.readout, ScoreSpans) and trial.chat is None
    if prompting.is_chat and not is_bare:
        return _with_system(trial, preamble)
    if isinstance(trial.readout, ScoreSpans):
        moved = (
            span._replace(start=span.start + len(preamble), end=span.end + len(preamble))
            for span in trial.readout.spans
        )
        return replace(trial, prompt=preamble + trial.prompt, readout=replace(trial.readout, spans=tuple(moved)))
    return replace(trial, prompt=preamble + trial.prompt)


def _with_system(trial: Trial, preamble: str) -> Trial:
    """A trial whose own system turn, if it has one, begins with a preamble."""
    if trial.chat is None or trial.chat[0].role != "system":
        return trial
    first, *others = trial.chat
    return replace(trial, chat=(Turn("system", preamble + first.text), *others))
