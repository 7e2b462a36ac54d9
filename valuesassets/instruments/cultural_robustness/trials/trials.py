"""`cultural_robustness/trials`: the trials of models without a chat, whose prompts end with an answer cue."""

from collections.abc import Iterable
from dataclasses import replace

from valuesassets.records.errors import LexiconError
from valuesassets.records.files import read_toml
from valuesassets.records.places import STUDIES
from valuesassets.records.readouts import Generate
from valuesassets.records.trials import Trial


def as_text(trials: Iterable[Trial]) -> list[Trial]:
    r"""Trials as text for base models: the answer cue stands below the question, and an answer ends with its line.

    Languages without a lexicon have no cue; their prompts end with the line of the question.
    """
    text_trials = []
    for trial in trials:
        assert isinstance(trial.readout, Generate)  # noqa: S101
        prompt = f"{trial.prompt}\n{answer_cue(trial.language)}"
        text_trials.append(replace(trial, prompt=prompt, readout=replace(trial.readout, stop=("\n",))))
    return text_trials


def answer_cue(language: str) -> str:
    """The words that ask for an answer, with their colon, from the language's lexicon; empty where it has none.

    >>> answer_cue("deu"), answer_cue("kan")
    ('Antwort:', '')
    """
    path = STUDIES / "lexicons" / f"{language}.toml"
    if not path.is_file():
        return ""
    return f"{read_toml(path, 'a lexicon (TOML)', LexiconError)['answer_cues'][0]}:"
