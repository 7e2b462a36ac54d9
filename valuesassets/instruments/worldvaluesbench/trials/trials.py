"""`worldvaluesbench/trials`: every distinct person and question, with and without what is known of the person."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from valuesassets.answers.orders import Order, option_orders
from valuesassets.instruments.worldvaluesbench.material.backgrounds import Backgrounds, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.profiles import parse_profile
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

Asking = tuple[int, str, str, str, ScoreLabels]
"""Of one question: number of the wording, its name, the order's name, what is asked, and how it is read."""


def write_trials(
    personas: pd.DataFrame,
    pairs: pd.DataFrame,
    questions: Sequence[ValueQuestion],
    attributes: Sequence[str],
    language: str,
    elicitation: Elicitation | None = None,
    wordings: Sequence[str] = WORDINGS[:1],
    seed: int = 0,
    backgrounds: Backgrounds | None = None,
) -> list[Trial]:
    """The trials of a set: every question by itself, then persona by persona, so that a prompt's beginning is shared.

    A person of whom nothing is known is asked as one without attributes.

    Args:
        personas: `profile` of everybody who is asked for.
        pairs: distinct `profile`, `question_id`.
        attributes: ids, in the order of a prompt's lines.
        elicitation: in which orders answers are shown; no other of its keys is used.
        wordings: some of `WORDINGS`.
        seed: of the orders drawn where `elicitation.orders` is a number.
        backgrounds: names of the attributes' codes; the bundled ones if left out.

    Returns:
        Trials whose `condition` is the profile, None without; `values` are codes of the question's scale.

    Raises:
        StudyError: the language is not that of the bundled texts, or a wording or an attribute is unknown.
        MissingData: a pair's profile is no persona's, or its question is not among `questions`.
    """
    if language != "eng":
        raise StudyError(f"language {language} found; the bundled questions are English, eng was expected")
    known = backgrounds or load_backgrounds()
    chosen = [known.attribute(name) for name in attributes]
    orders = (elicitation or Elicitation()).orders
    asked = {question.id: list(_askings(question, orders, wordings, seed)) for question in questions}
    by_profile = _by_profile(pairs, set(personas["profile"]), asked)
    trials = list(_of_person(None, (), wordings, list(asked), asked))
    for profile, ids in by_profile.items():
        trials += _of_person(profile, person_lines(parse_profile(profile), chosen), wordings, ids, asked)
    return trials


def _of_person(
    profile: str | None,
    lines: tuple[str, ...],
    wordings: Sequence[str],
    ids: Sequence[str],
    asked: Mapping[str, Sequence[Asking]],
) -> Iterator[Trial]:
    for wording in wordings:
        begins = opening(lines, wording)
        for question_id in ids:
            named = asked_id(question_id, profile)
            for number, name, order, text, readout in asked[question_id]:
                if name == wording:
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


def _askings(question: ValueQuestion, orders: str | int, wordings: Sequence[str], seed: int) -> Iterator[Asking]:
    labels = tuple(str(number) for number in range(1, len(question.values) + 1))
    for wording in wordings:
        number = wording_number(wording)
        for name, order in shown_orders(question, orders, seed, wording).items():
            readout = ScoreLabels(labels, tuple(question.values[place] for place in order))
            yield number, wording, name, asking(question, order, wording), readout


def shown_orders(question: ValueQuestion, orders: str | int, seed: int, wording: str) -> dict[str, Order]:
    """The orders in which answers are shown, by name; in a sentence the two ends can only change places."""
    ends = (0, len(question.labels) - 1)
    is_sentence = wording == "sentence"
    labels = [label if place in ends or not is_sentence else "" for place, label in enumerate(question.labels)]
    options = tuple(Option(value=value, label=label) for value, label in zip(question.values, labels, strict=True))
    kind = ResponseType.LIKERT10 if len(options) == 10 else ResponseType.FREQUENCY
    as_survey = Question(id=question.id, text=question.text, response_type=kind, options=options)
    return option_orders(as_survey, orders, seed)


def _by_profile(pairs: pd.DataFrame, personas: set[str], asked: Mapping[str, Sequence[Asking]]) -> dict[str, list[str]]:
    """The questions of each profile, in the order of `pairs`."""
    once = pairs[["profile", "question_id"]].drop_duplicates()
    for column, found, what in (("profile", personas, "persona"), ("question_id", asked, "question of the set")):
        if unknown := [name for name in dict.fromkeys(once[column]) if name not in found]:
            raise MissingData(
                f"pairs: {column} {unknown[0]} (and {len(unknown) - 1} more) is no {what}; make the personas again"
            )
    grouped = once.loc[once["profile"] != ""].groupby("profile", sort=False)["question_id"]
    return {str(profile): list(ids) for profile, ids in grouped}
