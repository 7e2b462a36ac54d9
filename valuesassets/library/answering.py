"""From prompts to answers and the map: `ask`, `answer_distributions`, `place_on_map`."""

# pyright: strict, reportMissingTypeStubs=false

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from valuesassets.library.progress import Progress, silent
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.extras import require
from valuesassets.records.frames import records
from valuesassets.records.questions import Question
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.trials import Reading, Record, Trial

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.models.loaded_model import LoadedModel, OpenedModel


IN_NO_CHAT = (
    "asked as bare text, though it comes with a chat template; a model that was made for chats answers more often in "
    "one: prompting=Prompting(style='chat') (Prompting() where bare text is meant)"
)


def ask(
    model: str | Path,
    trials: Sequence[Trial],
    known: Path | str | None = None,
    *,
    endpoint: Endpoint | None = None,
    prompting: Prompting = AS_TEXT,
    revision: str | None = None,
    dtype: Literal["float32", "bfloat16", "auto"] = "auto",
    device: Literal["cpu", "cuda", "auto"] = "auto",
    offline: bool = False,
    progress: Progress = silent,
) -> list[Reading]:
    """What a model answers: the probability of every option, a reading for each trial, in order.

    A model that comes with a chat template and is asked without `prompting` gives a warning of Python: models that were
    made for chats seldom answer outside of one.

    Args:
        model: folder, hub id, GGUF file or `index:NAME`; with an endpoint the model's name there.
        trials: all read by labels, or all by spans.
        known: a folder that keeps replies, so that nothing is asked twice; nothing is kept if left out.
        endpoint: where a model behind an API is; None for a model of this machine.
        prompting: how the model is shown trials; as bare text if left out.
        revision: commit or tag on the hub.
        dtype, device: of a model of this machine.
        offline: whether the model comes from this machine's cache alone.
        progress: shows how asking goes on.

    Raises:
        InputError: trials ask for written answers, or cannot be asked of this model; an extra is not installed.
        ScoringError, TokenizerError, EndpointError, BudgetSpent: nothing can be asked.
    """
    if any(isinstance(trial.readout, Generate) for trial in trials):
        raise InputError("ask: these trials want written answers; `valuesassets read` writes them to a file")
    require("ask", endpoint.provider if endpoint is not None else "models")
    load: Callable[[Any], Any]
    if endpoint is not None:
        from valuesassets.remote.asking import RemoteAsking

        asking = RemoteAsking(str(model), endpoint, prompting, trials)
        load = asking.connect
    else:
        from valuesassets.models.asking import Asking
        from valuesassets.models.loading import open_model

        opened = open_model(str(model), revision, dtype, device, offline, prompting=prompting)
        if prompting is AS_TEXT and opened.has_template:
            warnings.warn(f"{model}: {IN_NO_CHAT}", stacklevel=2)
        asking, load = Asking(opened, trials), partial(_loaded, opened)
    replies, _, _ = replies_of(asking, load, asking.open_known(Path(known)) if known else None, progress=progress)
    return [record for record in replies if isinstance(record, Reading)]


def _loaded(opened: "OpenedModel", store: Any) -> "LoadedModel":
    from valuesassets.models.loading import load_weights

    return load_weights(opened)


def replies_of(
    asking: Any,
    load: Callable[[Any], Any],
    store: Any,
    title: str = "asking the model",
    progress: Progress = silent,
    is_recalled: bool = True,
    **options: Any,
) -> tuple[Sequence[Record], dict[str, Any], Any]:
    """Records, their description, and what came of asking (None where every reply was known).

    Args:
        asking: what puts trials to a model, here or behind an API.
        load: gives what is asked, from the open store.
        store: of the model's known replies; None where nothing is kept.
        title: of the progress.
        is_recalled: whether nothing is loaded where all replies are known.
        options: of `asking.ask`.
    """
    if is_recalled and store is not None and (recalled := asking.recall(store)) is not None:
        return *recalled, None
    with progress(title) as tick:
        result, description = asking.ask(load(store), tick, store, **options)
    return result.records, description, result


def answer_distributions(
    questions: Sequence[Question], trials: Sequence[Trial], readings: Sequence[Reading], model: str = "model"
) -> "pd.DataFrame":
    """A model's answers to a survey in one language: a row for each question, wording and answer.

    Args:
        model: its name in the table.

    Returns:
        The table `probe_distributions` (docs/columns.md): probabilities averaged over orders, P_valid, status, reason;
        and behind `response_value` a column `label`, the answer's words on the form, empty where it has none.
    """
    from valuesassets.records.tables import PROBE_DISTRIBUTIONS

    rows = answer_rows_of(questions, trials, readings, model)
    labels = {(question.id, option.value): option.label for question in questions for option in question.options}
    words = [labels.get((row["question_id"], row["response_value"]), "") for row in rows]
    answers: Any = PROBE_DISTRIBUTIONS.frame(rows)
    answers.insert([*answers].index("response_value") + 1, "label", words)
    return answers


def answer_rows_of(
    questions: Sequence[Question], trials: Sequence[Trial], readings: Sequence[Reading], model: str
) -> list[dict[str, Any]]:
    """The rows of `answer_distributions`."""
    from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
    from valuesassets.instruments.survey.material.analysis_scale import analysis_places
    from valuesassets.people.variables import load_variables

    variables = load_variables().of(questions)
    return derive_probe_distributions(
        trials,
        readings,
        Cell(model_id=model, model_type="mono", model=model, language=trials[0].language),
        {question.id: str(question.response_type) for question in questions},
        frozenset(question.id for question in questions if variables.is_converted(question)),
        analysis_value=analysis_places(questions),
    )


def place_on_map(answers: "pd.DataFrame") -> "pd.DataFrame":
    """The points of models on the Inglehart-Welzel cultural map, with those of countries, their regions in `zone`.

    Args:
        answers: rows of `answer_distributions`, of one model and language or of several.

    Raises:
        MissingData: no answer can be used.
    """
    from valuesassets.answers.asked_languages import named_language
    from valuesassets.instruments.survey.measures.probed_map import place_probes

    if answers.empty:
        raise MissingData("answers: no rows in them; give those of a model that was asked")
    codes = sorted({str(row["language"]) for row in records(answers)})
    languages = {language: named_language(language) for language in codes}
    return place_probes(answers, languages, Path("answers"))[0]
