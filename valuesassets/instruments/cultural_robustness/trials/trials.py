"""`cultural_robustness/trials`: the same as models without a chat are asked, with the words that ask for an answer."""

from collections.abc import Iterable
from dataclasses import replace

from valuesassets.records.errors import LexiconError
from valuesassets.records.files import read_toml
from valuesassets.records.places import STUDIES
from valuesassets.records.readouts import Generate
from valuesassets.records.trials import Trial


def as_text(trials: Iterable[Trial]) -> list[Trial]:
    r"""The same as a base model is asked: the answer cue below the question, an answer ends at its line's end.

    Languages without a lexicon have no cue: there the question is followed by the end of its line alone.
    """
    shown = []
    for trial in trials:
        assert isinstance(trial.readout, Generate)  # noqa: S101
        prompt = f"{trial.prompt}\n{answer_cue(trial.language)}"
        shown.append(replace(trial, prompt=prompt, readout=replace(trial.readout, stop=("\n",))))
    return shown


def answer_cue(language: str) -> str:
    """The words that ask for an answer, with their colon, from the language's lexicon; empty where it has none.

    >>> answer_cue("deu"), answer_cue("kan")
    ('Antwort:', '')
    """
    path = STUDIES / "lexicons" / f"{language}.toml"
    if not path.is_file():
        return ""
    return f"{read_toml(path, 'a lexicon (TOML)', LexiconError)['answer_cues'][0]}:"
