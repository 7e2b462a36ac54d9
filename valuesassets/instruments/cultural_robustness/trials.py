"""`cultural_robustness/trials`: every question of a language, as it is and with each country, to be answered."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from valuesassets.instruments.cultural_robustness.questions import prompt_ids
from valuesassets.records.errors import LexiconError
from valuesassets.records.files import read_toml
from valuesassets.records.places import STUDIES
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.trials import Trial, Turn


def write_trials(questions: pd.DataFrame, language: str, settings: CulturalRobustness, seed: int) -> list[Trial]:
    """The trials of a language, each question before its countries, so that a prompt's beginning is shared.

    A model that is asked in chat is shown the question as one user's turn; others as `as_text` puts it.

    Args:
        questions: `question_id, anchor, country, persona, prompt`; the countries that are asked about.
        seed: of the draws.

    Returns:
        Trials whose `trial_id` is the prompt's id and whose `condition` is `country=AT` (`,persona=2`), None without.
    """
    readouts = {is_anchored: _readout(settings, is_anchored, seed) for is_anchored in (False, True)}
    columns = (questions[name] for name in ("question_id", "country", "persona", "prompt"))
    return [
        Trial(
            trial_id=name,
            question_id=question_id,
            language=language,
            prompt=prompt,
            order="given",
            wording=0,
            condition=None if pd.isna(country) else condition_of(country, None if pd.isna(persona) else int(persona)),
            readout=readouts[not pd.isna(country)],
            chat=(Turn("user", prompt),),
        )
        for name, question_id, country, persona, prompt in zip(prompt_ids(questions), *columns, strict=True)
    ]


def condition_of(country: str, persona: int | None = None) -> str:
    """What a prompt says beside its question.

    >>> condition_of("AT"), condition_of("AT", 2)
    ('country=AT', 'country=AT,persona=2')
    """
    return f"country={country}" + (f",persona={persona}" if persona is not None else "")


def _readout(settings: CulturalRobustness, is_anchored: bool, seed: int) -> Generate:
    samples = settings.samples_anchored if is_anchored else settings.samples
    return Generate(
        max_tokens=settings.max_tokens,
        temperature=0.0 if settings.greedy else settings.temperature,
        samples=1 if settings.greedy else samples,
        seed=seed,
    )


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
