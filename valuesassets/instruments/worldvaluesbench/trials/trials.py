"""`worldvaluesbench/trials`: a prompt for each distinct profile and question, and for each question without profile."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from valuesassets.answers.orders import Order, option_orders
from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds, parse_profile
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.instruments.worldvaluesbench.trials.prompts import (
    WORDINGS,
    asking,
    opening,
    person_lines,
    wording_number,
)
from valuesassets.records.errors import MissingData, StudyError
from valuesassets.records.questions import Option, Question, ResponseType
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.trials import Trial, asked_id

Asking = tuple[str, str, ScoreLabels]
"""The name of an order of answers, the second part of the prompt, and its readout."""


def write_trials(
    personas: pd.DataFrame,
    pairs: pd.DataFrame,
    questions: Sequence[ValueQuestion],
    attributes: Sequence[str],
    language: str,
    elicitation: Elicitation | None = None,
    wordings: Sequence[str] = WORDINGS[:1],
    seed: int = 0,
) -> list[Trial]:
    """The trials of a set: all questions without profile, then by profile, so that prompts share their beginnings.

    People with an empty profile are covered by the trials without profile.

    Args:
        personas: `profile` of each persona.
        pairs: distinct `profile`, `question_id`.
        attributes: ids, in the order of a prompt's lines.
        elicitation: only its `orders`, the orders of answers, are used.
        wordings: some of `WORDINGS`.
        seed: of the drawn orders, if `elicitation.orders` is a number.


    Returns:
        Trials whose `condition` is the profile or None; `values` are codes of the question's scale.

    Raises:
        StudyError: the language is not that of the bundled texts, or a wording or an attribute is unknown.
        MissingData: a pair's profile is not among the personas, or its question not among `questions`.
    """
    if language != "eng":
        raise StudyError(f"language {language} found; the bundled questions are English, eng was expected")
    chosen = [load_backgrounds().attribute(name) for name in attributes]
    orders = (elicitation or Elicitation()).orders
    ids = [question.id for question in questions]
    askings = {
        wording: {question.id: list(_askings(question, orders, wording, seed)) for question in questions}
        for wording in wordings
    }
    by_profile = _by_profile(pairs, set(personas["profile"]), ids)
    trials = list(_of_person(None, (), ids, askings))
    for profile, ids_of_profile in by_profile.items():
        trials += _of_person(profile, person_lines(parse_profile(profile), chosen), ids_of_profile, askings)
    return trials


def _of_person(
    profile: str | None,
    lines: tuple[str, ...],
    ids: Sequence[str],
    askings: Mapping[str, Mapping[str, Sequence[Asking]]],
) -> Iterator[Trial]:
    for wording, by_question in askings.items():
        begins, number = opening(lines, wording), WORDINGS.index(wording)
        for question_id in ids:
            named = asked_id(question_id, profile)
            for order, text, readout in by_question[question_id]:
                yield Trial(
                    trial_id=f"{named}/{number}/{order}",
                    question_id=question_id,
                    language="eng",
                    prompt=begins + text,
                    order=order,
                    wording=number,
                    condition=profile,
                    readout=readout,
                )


def _askings(question: ValueQuestion, orders: str | int, wording: str, seed: int) -> Iterator[Asking]:
    wording_number(wording)
    labels = tuple(str(number) for number in range(1, len(question.values) + 1))
    for name, order in shown_orders(question, orders, seed, wording).items():
        readout = ScoreLabels(labels, tuple(question.values[place] for place in order))
        yield name, asking(question, order, wording), readout


def shown_orders(question: ValueQuestion, orders: str | int, seed: int, wording: str) -> dict[str, Order]:
    """The orders of answers, by name; the wording in a sentence only exchanges the two ends."""
    ends = (0, len(question.labels) - 1)
    is_sentence = wording == "sentence"
    labels = [label if place in ends or not is_sentence else "" for place, label in enumerate(question.labels)]
    options = tuple(Option(value=value, label=label) for value, label in zip(question.values, labels, strict=True))
    kind = ResponseType.LIKERT10 if len(options) == 10 else ResponseType.FREQUENCY
    as_survey = Question(id=question.id, text=question.text, response_type=kind, options=options)
    return option_orders(as_survey, orders, seed)


def _by_profile(pairs: pd.DataFrame, personas: set[str], ids: Sequence[str]) -> dict[str, list[str]]:
    """The questions of each profile, in the order of `pairs`."""
    once = pairs[["profile", "question_id"]].drop_duplicates()
    for column, allowed, what in (("profile", personas, "persona"), ("question_id", ids, "question of the set")):
        if unknown := [name for name in dict.fromkeys(once[column]) if name not in allowed]:
            raise MissingData(
                f"pairs: {column} {unknown[0]} (and {len(unknown) - 1} more) is no {what}; make the personas again"
            )
    grouped = once.loc[once["profile"] != ""].groupby("profile", sort=False)["question_id"]
    return {str(profile): list(ids_of_profile) for profile, ids_of_profile in grouped}
