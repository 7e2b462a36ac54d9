"""The planted answers of reference models: preferences per question, language and family, and the manner of answering.

A country's preferences give the published position of the study's reference country on the map; they are nobody's
answers. A monolingual family follows the country with a deviation; a multilingual one is half way between the country
and the mean of all languages. There are two controls: a family without signal, which answers alike in every language,
and a family that always takes the first option.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valuesassets.answers.orders import averaged_orders, option_orders
from valuesassets.answers.plants import Plant
from valuesassets.instruments.survey.material.analysis_scale import analysis_places
from valuesassets.instruments.survey.plants.planted_leanings import (
    INDICATOR_OF,
    country_leanings,
    family_leanings,
    preference,
    solve_tilt,
)
from valuesassets.instruments.survey.trials.trials import answer_cues
from valuesassets.measure.seeding import seeded
from valuesassets.people.variables import Variables, load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.questions import Question, askable
from valuesassets.records.study import Study
from valuesassets.records.trials import asked_id


def plant_questions(study: Study, family: str, language: str, questions: Sequence[Question]) -> dict[str, list[Plant]]:
    """The plants of one cell by asked question id; a question's plants do not depend on the other questions.

    Each answer cue shifts preferences a little and has its own manner.

    Raises:
        StudyError: the family does not serve the language.
        HumanDataError: the language's country has no published map position.
    """
    study.require_cell(family, language)
    variables, lexicon = load_variables().of(questions), load_lexicon(language, study.languages[language].lexicon)
    by_asked_id, wordings = _by_asked_id(askable(questions), variables), study.elicitation.wordings
    # Without signal nothing may depend on the language, not even manners.
    is_alike = study.families[family].plants == "no-signal"
    cell = (family, "every language" if is_alike else language)
    parts = [*by_asked_id, *INDICATOR_OF]
    pulls = {part: _pull(study, cell, part) for part in parts}
    if study.families[family].plants == "always-first":
        pulls = dict.fromkeys(parts, 1.0)
    leanings = family_leanings(study, family, language)
    tilts = {name: solve_tilt(study, name, leanings, pulls) for name in leanings.indicator_means}

    def plant(asked_as: str, question: Question, wording: int, cue: str) -> Plant:
        orders = option_orders(question, study.elicitation.orders, study.seed)
        is_converted = variables.is_converted(question)
        texts = (lexicon.agree, lexicon.disagree) if is_converted else [option.label for option in question.options]
        wanted = preference(study, asked_as, question, leanings, tilts, (*cell, wording))
        return Plant(
            question_id=asked_as,
            response_type=str(question.response_type),
            is_converted=is_converted,
            wording=wording,
            cue=cue,
            values=question.values,
            analysis_values=tuple(analysis_places([question])(asked_as, value) for value in question.values),
            texts=tuple(text.strip() for text in texts),
            preference=tuple(wanted.tolist()),
            pull=pulls[asked_as],
            shown_first=tuple(orders[name][0] for name in averaged_orders(orders)),
            **_manner(study, cell, asked_as, wording),
        )

    return {
        asked_as: [plant(asked_as, question, *each) for each in enumerate(answer_cues(question, lexicon, wordings))]
        for asked_as, question in by_asked_id.items()
    }


def country_preferences(
    study: Study, language: str, questions: Sequence[Question]
) -> dict[str, tuple[Question, NDArray[np.float64]]]:
    """The preferences of a country's people: by asked question id, the question and (K,) probabilities."""
    leanings = country_leanings(study, language)
    no_pull = dict.fromkeys(INDICATOR_OF, 0.0)
    tilts = {name: solve_tilt(study, name, leanings, no_pull) for name in leanings.indicator_means}
    return {
        asked_as: (question, preference(study, asked_as, question, leanings, tilts))
        for asked_as, question in _by_asked_id(questions, load_variables().of(questions)).items()
    }


def _by_asked_id(questions: Sequence[Question], variables: Variables) -> dict[str, Question]:
    """Questions by asked id; a dependent question lacks the option chosen before."""
    by_id = {question.id: question for question in questions}
    by_asked_id = {}
    for question in questions:
        earlier = by_id.get(variables.depends_on.get(question.id) or "")
        if earlier is None:
            by_asked_id[question.id] = question
            continue
        for chosen in earlier.values:
            rest = tuple(option for option in question.options if option.value != chosen)
            by_asked_id[asked_id(question.id, f"{earlier.id}={chosen}")] = question.model_copy(update={"options": rest})
    return by_asked_id


def _pull(study: Study, cell: tuple[str, str], asked_as: str) -> float:
    """The pull to the first option: strong for half of the questions, weak for the others."""
    draw = seeded(study.seed, "pull", *cell, asked_as)
    return float(draw.uniform(0.16, 0.32) if draw.uniform() < 0.5 else draw.uniform(0.01, 0.12))


def _manner(study: Study, cell: tuple[str, str], asked_as: str, wording: int) -> dict[str, Any]:
    """P_valid of both orders, and the share of bare answers.

    In half of the questions P_valid differs clearly between orders, which would reveal averaging before normalising.
    """
    draw = seeded(study.seed, "manner", *cell, asked_as, wording)
    share = draw.uniform()
    # A few questions of a cell are hardly answered, except those of the map.
    is_spared = asked_as in INDICATOR_OF
    p_valid = 0.05 + draw.uniform(0, 0.04) if share < 0.04 and not is_spared else 0.20 + 0.74 * draw.uniform() ** 0.6
    shift = draw.choice([-1, 1]) * (draw.uniform(0.1, 0.25) if draw.uniform() < 0.5 else draw.uniform(0, 0.03))
    if p_valid < 0.1:
        shift = 0.0
    both = tuple(float(min(max(share, 0.05), 0.95)) for share in (p_valid + shift, p_valid - shift))
    return {"p_valid": both, "bare": float(draw.uniform(0.2, 0.8))}
