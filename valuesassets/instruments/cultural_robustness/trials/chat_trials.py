"""`cultural_robustness/chat_trials`: every question of a language, as it is and with each country, as a user's turn."""

import pandas as pd

from valuesassets.instruments.cultural_robustness.material.questions import prompt_ids
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.trials import Trial, Turn


def write_trials(questions: pd.DataFrame, language: str, settings: CulturalRobustness, seed: int) -> list[Trial]:
    """The trials of a language, each question before its countries, so that a prompt's beginning is shared.

    A model that is asked in chat is shown the question as one user's turn; others as `as_text` puts it.

    Args:
        questions: `question_id, anchor, country, persona, prompt`; the countries that are asked about.
        seed: seeds the samples of answers.

    Returns:
        Trials whose `trial_id` is the prompt's id and whose `condition` is `country=AT` (`,persona=2`), None without.
    """
    readouts = {
        is_anchored: Generate(
            max_tokens=settings.max_tokens,
            temperature=0.0 if settings.greedy else settings.temperature,
            samples=1 if settings.greedy else n_samples,
            seed=seed,
        )
        for is_anchored, n_samples in ((False, settings.samples), (True, settings.samples_anchored))
    }
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
    """The condition of a prompt: the country, and the persona, that it names.

    >>> condition_of("AT"), condition_of("AT", 2)
    ('country=AT', 'country=AT,persona=2')
    """
    return f"country={country}" + (f",persona={persona}" if persona is not None else "")
