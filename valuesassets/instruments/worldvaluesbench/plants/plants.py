"""What reference models are trained to answer: as planted people do in the pooled, moving with their groups by a slope.

What a model answers over both orders is just that; in a single order the first answer shown has a pull besides, some
answers are none of the scale's, and numbers are written with or without a space before them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from valuesassets.answers.orders import averaged_orders
from valuesassets.answers.plants import Plant
from valuesassets.instruments.worldvaluesbench.answers.rating_distributions import response_type_of
from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF, Backgrounds, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.value_questions import (
    ValueQuestion,
    chosen_questions,
    load_value_questions,
)
from valuesassets.instruments.worldvaluesbench.plants.planted_people import (
    DEMO,
    MOST_MOVED,
    Design,
    plant_people,
    planted_model,
    pooled_shares,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import StudyError
from valuesassets.records.files import write_text
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial, main_trials

PULL = (0.2, 0.9)
"""The pull to the first answer shown, as a share of the largest that leaves every answer its probability."""


def planted_design(study: Study) -> Design:
    """Whom made-up people of a study stand for: four countries, and the questions of all its sets."""
    return replace(DEMO, questions=tuple(question.id for question in asked_questions(study)))


def asked_questions(study: Study) -> list[ValueQuestion]:
    """The questions of all sets of a study, each once."""
    asked = (chosen_questions(each.questions) for each in WorldValuesBench.of(study).sets.values())
    return list({question.id: question for found in asked for question in found}.values())


def answered_questions(study: Study) -> list[ValueQuestion]:
    """The questions that people's answers are stored of: made-up people answer what is asked, a survey's all 239.

    So another question in one set makes neither the people of a survey nor the other sets stale.
    """
    is_made_up = WorldValuesBench.of(study).answers == "planted"
    return asked_questions(study) if is_made_up else list(load_value_questions().values())


def write_planted_people(study: Study, path: Path) -> Path:
    """Write a study's made-up people in the columns and codes of WVS-7; gives the path."""
    people = plant_people(WorldValuesBench.of(study).people, study.seed, planted_design(study))
    write_text(path, people.to_csv(index=False))
    return path


def plant_ratings(study: Study, family: str, part: str, trials: Sequence[Trial]) -> dict[str, list[Plant]]:
    """The plants of a cell, by asked question id: what the family's slope makes of each profile that is asked.

    Raises:
        StudyError: a profile's code has no level, so that nothing says what people of it answer.
    """
    design, slope = planted_design(study), WorldValuesBench.of(study).slopes[family]
    known, questions = load_backgrounds(), load_value_questions()
    orders: dict[tuple[str, int], dict[str, Trial]] = {}
    for trial in main_trials(trials):
        orders.setdefault((trial.asked_id, trial.wording), {})[trial.order] = trial
    planted: dict[str, list[Plant]] = {}
    for (asked_as, wording), shown in orders.items():
        first = next(iter(shown.values()))
        question = questions[first.question_id]
        pooled = pooled_shares(question.id, study.seed, design)
        wanted = pooled
        if first.condition is not None:
            wanted = planted_model(question.id, _levels(first.condition, known), study.seed, slope, design)
        over = averaged_orders({name: trial.values for name, trial in shown.items()})
        places = tuple(question.values.index(shown[name].values[0]) for name in over)
        comes_first = np.bincount(places, minlength=len(wanted)) / len(places)
        draw = seeded(study.seed, "manner", family, question.id)
        least = pooled * (1 - abs(slope) * sum(MOST_MOVED.values()))
        pull = float(draw.uniform(*PULL) * min(0.2, (least[comes_first > 0] / comes_first[comes_first > 0]).min()))
        p_valid, shift = draw.uniform(0.75, 0.9), draw.uniform(-0.08, 0.08)
        plant = Plant(
            question_id=asked_as,
            response_type=str(response_type_of(question)),
            is_converted=False,
            wording=wording,
            cue=first.prompt.rpartition("\n")[2].removesuffix(":"),
            values=question.values,
            analysis_values=question.values,
            texts=tuple(label.strip() for label in question.labels),
            preference=tuple(((wanted - pull * comes_first) / (1 - pull)).tolist()),
            pull=pull,
            p_valid=(float(p_valid + shift), float(p_valid - shift)),
            bare=float(draw.uniform(0.3, 0.7)),
            shown_first=places,
        )
        planted.setdefault(asked_as, []).append(plant)
    return planted


def _levels(profile: str, known: Backgrounds) -> Mapping[str, str]:
    """The level of each factor of a profile such as `B_COUNTRY=156,H_URBRURAL=1,Q275=3`."""
    codes = dict(each.split("=") for each in profile.split(","))
    tables = {"continent": known.continents, "settlement": known.settlement, "education": known.education}
    levels = {}
    for factor, attribute in ATTRIBUTE_OF.items():
        if attribute not in codes or int(codes[attribute]) not in tables[factor]:
            raise StudyError(
                f"profile {profile}: its {factor} is not known, so nothing can be planted for it; have attributes name "
                f"{attribute}"
            )
        levels[factor] = tables[factor][int(codes[attribute])]
    return levels
