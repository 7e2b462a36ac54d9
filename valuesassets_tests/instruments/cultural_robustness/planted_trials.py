"""The bundled questions as reference models are asked them."""

from functools import cache

import pandas as pd

from valuesassets.instruments.cultural_robustness.material.questions import all_questions, read_questions
from valuesassets.instruments.cultural_robustness.trials.chat_trials import write_trials
from valuesassets.instruments.cultural_robustness.trials.trials import as_text
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.trials import Trial

MAX_TOKENS = 40


@cache
def bundled_questions() -> pd.DataFrame:
    """All of them, in one frame."""
    return all_questions(read_questions())


def planted_trials(language: str, temperature: float = 0.5) -> list[Trial]:
    """The trials of a language, as a model without a chat template is asked them."""
    settings = CulturalRobustness(max_tokens=MAX_TOKENS, temperature=temperature, embedder="planted")
    return as_text(write_trials(read_questions()[language], language, settings, seed=1))
