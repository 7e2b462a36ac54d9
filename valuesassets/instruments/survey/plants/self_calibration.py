"""`survey/self_calibration`: tests the prompts of a study of real models on a model with known answers.

A tiny model is trained on planted answers to the prompts of the master language and of another one, and is read like
any model. It is in no analysis and no figure of the study.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from valuesassets.answers.calibration import compare_with_plants
from valuesassets.answers.negative_controls import Pair, answered_as, derive_negative_controls
from valuesassets.answers.plants import Plants, planted_answers
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.answers.sampled_answers import derive_sampled_distributions
from valuesassets.instruments.survey.material.analysis_scale import analysis_value
from valuesassets.instruments.survey.plants.plants import plant_questions
from valuesassets.instruments.survey.published.axes import published_positions
from valuesassets.people.variables import load_variables
from valuesassets.records.questions import Question, askable
from valuesassets.records.settings.cells import Family
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES
from valuesassets.records.trials import Reading, Trial, main_trials

FAMILY = "calibration"
MOST_LANGUAGES = 2  # enough to test a wrong language; training takes a minute or more for each
INSTEAD = ("GB", "DE")  # in place of countries without a published position


def calibrating_study(study: Study, languages: Sequence[str]) -> Study:
    """The study with a reference family in place of its own, in the first `languages` with the master's before all."""
    master, published = Questionnaires.of(study).master, set(published_positions()["country"])
    chosen = sorted(languages, key=lambda code: (code != master, list(study.languages).index(code)))[:MOST_LANGUAGES]
    kept = {}
    for place, code in enumerate(chosen):
        language = study.languages[code]
        country = language.country if language.country in published else INSTEAD[place]
        kept[code] = language.model_copy(update={"country": country})
    family = Family(kind="reference", model_type="mono", dtype="float32")
    return study.model_copy(update={"languages": kept, "families": {FAMILY: family}})


def plants_of(study: Study, questions: Mapping[str, Sequence[Question]]) -> dict[str, Plants]:
    """What is planted in each language of `calibrating_study`."""
    return {code: plant_questions(study, FAMILY, code, questions[code]) for code in study.languages}


def derive_self_calibration(
    study: Study,
    questions: Mapping[str, Sequence[Question]],
    trials: Mapping[str, Sequence[Trial]],
    readings: Mapping[str, Sequence[Reading]],
    written: Mapping[str, pd.DataFrame],
    tried: Mapping[Pair, Sequence[Reading]],
) -> dict[str, pd.DataFrame]:
    """Tables `comparison`, planted against recovered answers, and `controls`, of wrong languages.

    Args:
        study: from `calibrating_study`.
        questions, trials, readings, written: by language; `written` are generated answers.
        tried: readings of each language's prompts by another language's model.
    """
    planted, comparisons = plants_of(study, questions), []
    for code, plants in planted.items():
        askables, variables = askable(questions[code]), load_variables().of(questions[code])
        kinds = {question.id: str(question.response_type) for question in askables}
        converted = frozenset(question.id for question in askables if variables.is_converted(question))
        cell, main = Cell(f"{FAMILY}/{code}", "mono", FAMILY, code), main_trials(trials[code])
        rows = derive_probe_distributions(main, readings[code], cell, kinds, converted, (), analysis_value)
        sampled = derive_sampled_distributions(written[code], main, plants, FAMILY, code)
        comparisons.append(compare_with_plants(pd.DataFrame(rows), planted_answers({(FAMILY, code): plants}), sampled))
    controls = TABLES["negative_controls"].empty_frame()
    if tried:
        answered = {
            pair: answered_as(pair, main_trials(trials[pair[1]]), tried[pair], planted[pair[1]]) for pair in tried
        }
        truth = planted_answers({(FAMILY, code): plants for code, plants in planted.items()})
        controls = derive_negative_controls(answered, truth, study.phantom)
    return {"comparison": pd.concat(comparisons, ignore_index=True), "controls": controls}
