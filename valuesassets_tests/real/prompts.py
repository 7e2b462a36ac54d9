"""Prompts of the bundled questionnaires, the short ones of every kind."""

from functools import cache

from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.settings.measuring import Elicitation
from valuesassets_tests.studies.expected_questions import expected_questions

LANGUAGES = ("eng", "deu", "fra", "spa", "ita", "por")


@cache
def prompts(n_each, n_ten_points):
    """So many trials of each language, in both orders, some of them on scales of ten points."""
    found = []
    for language in LANGUAGES:
        asked = write_trials(
            expected_questions(language), language, load_lexicon(language), load_variables(), Elicitation(wordings=1), 0
        )
        by_length = sorted(asked, key=lambda trial: len(trial.prompt))
        tens = [trial for trial in by_length if len(trial.labels) == 10][:n_ten_points]
        others = [trial for trial in by_length if len(trial.labels) != 10]
        found += [*tens, *others[: n_each - len(tens)]]
    return found
