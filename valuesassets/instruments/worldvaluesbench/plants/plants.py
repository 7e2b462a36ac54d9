"""The answers that reference models are trained on: planted people's pooled shares, moved between groups by a slope.

The average over both orders has exactly these shares. In each order the first answer is more frequent by a pull, some
replies are no answer of the scale, and numbers have a space before them or not.
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
"""The pull to the first answer, as a share of the largest pull with which no probability falls below 0."""


def planted_design(study: Study) -> Design:
    """The design of a study's synthetic people: four countries, and the questions of all sets."""
    return replace(DEMO, questions=tuple(question.id for question in asked_questions(study)))


def asked_questions(study: Study) -> list[ValueQuestion]:
    """The questions of all sets of a study, without repetition."""
    sets = WorldValuesBench.of(study).sets.values()
    return list({question.id: question for each in sets for question in chosen_questions(each.questions)}.values())


def answered_questions(study: Study) -> list[ValueQuestion]:
    """The questions with stored answers: those of the sets for synthetic people, all 239 for a survey.

    A further question in a set thus makes neither the people of a survey nor the other sets stale.
    """
    is_made_up = WorldValuesBench.of(study).answers == "planted"
    return asked_questions(study) if is_made_up else list(load_value_questions().values())


def write_planted_people(study: Study, path: Path) -> Path:
    """Write a study's synthetic people in the columns and codes of WVS-7, and return the path."""
    people = plant_people(WorldValuesBench.of(study).people, study.seed, planted_design(study))
    write_text(path, people.to_csv(index=False))
    return path


def plant_ratings(study: Study, family: str, part: str, trials: Sequence[Trial]) -> dict[str, list[Plant]]:
    """The plants of a cell, by question id with profile: the shares that the family's slope gives for each profile.

    Raises:
        StudyError: a profile's code has no level, so that its shares are not defined.
    """
    design, slope = planted_design(study), WorldValuesBench.of(study).slopes[family]
    backgrounds, questions = load_backgrounds(), load_value_questions()
    orders: dict[tuple[str, int], dict[str, Trial]] = {}
    for trial in main_trials(trials):
        orders.setdefault((trial.asked_id, trial.wording), {})[trial.order] = trial
    planted: dict[str, list[Plant]] = {}
    for (asked_as, wording), by_order in orders.items():
        first = next(iter(by_order.values()))
        question = questions[first.question_id]
        pooled = pooled_shares(question.id, study.seed, design)
        wanted = pooled
        if first.condition is not None:
            wanted = planted_model(question.id, _levels(first.condition, backgrounds), study.seed, slope, design)
        over = averaged_orders({name: trial.values for name, trial in by_order.items()})
        places = tuple(question.values.index(by_order[name].values[0]) for name in over)
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


def _levels(profile: str, backgrounds: Backgrounds) -> Mapping[str, str]:
    """The level of each factor of a profile such as `B_COUNTRY=156,H_URBRURAL=1,Q275=3`."""
    codes, levels = dict(each.split("=") for each in profile.split(",")), {}
    for factor, attribute in ATTRIBUTE_OF.items():
        if attribute not in codes or int(codes[attribute]) not in backgrounds.levels[factor]:
            raise StudyError(
                f"profile {profile}: its {factor} is not known, so nothing can be planted for it; have attributes name "
                f"{attribute}"
            )
        levels[factor] = backgrounds.levels[factor][int(codes[attribute])]
    return levels
