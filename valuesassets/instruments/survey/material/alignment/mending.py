"""Gives every item of a list the answers that an extraction has only once for the whole list."""

from collections.abc import Mapping, Sequence

from valuesassets.instruments.survey.material.alignment.targets import Target
from valuesassets.people.variables import Variables
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import TEN, Option, Question, ResponseType, question_faults, ten_point_scale

MENTIONED = (1, 2)  # codes of mentioned and not mentioned

Mended = tuple[Question, str | None]
"""A question, and the change made to it, in words."""


def with_whole_options(
    questions: Mapping[str, Question], targets: Sequence[Target], variables: Variables, lexicon: Lexicon | None
) -> dict[str, Mended]:
    """The questions by canonical id; faulty answers are replaced by those of the list.

    Two questions share a scale if the master's questions have the same labels. A list of things to mention is asked as
    statements, with the lexicon's words for agreeing as answers.
    """
    target_of = {target.code: target for target in targets}
    places = {target.code: place for place, target in enumerate(targets)}
    typed = {code: _typed(question, target_of[code], variables) for code, question in questions.items()}
    whole = [code for code, question in typed.items() if not _lacks_answers(question, target_of[code], variables)]
    mended: dict[str, Mended] = {code: (question, None) for code, question in typed.items()}
    for code, question in typed.items():
        if code in whole:
            continue
        near = sorted(whole, key=lambda other: abs(places[other] - places[code]))
        lender = next((other for other in near if _share_scale(target_of[code], target_of[other], variables)), None)
        options, change, is_listed = question.options, None, code in variables.list_of
        if is_listed and sorted(question.values) == [0, 1]:
            options = tuple(option.model_copy(update={"value": option.value or 2}) for option in options)
            change = "not mentioned has code 2 in place of 0"
        elif lender is not None:
            options, change = typed[lender].options, f"answers as in {lender}, of the same list"
        elif lexicon is not None and is_listed and question.item:
            words = zip(MENTIONED, (lexicon.agree, lexicon.disagree), strict=True)
            options = tuple(Option(value=value, label=label) for value, label in words)
            change = "asked as a statement to agree with"
        mended[code] = question.model_copy(update={"options": options}), change
    return mended


def _typed(question: Question, target: Target, variables: Variables) -> Question:
    """The question with its variable's type; two answers of a ten-point scale become its ends."""
    ends = [option.label for option in question.options]
    if target.n_options == len(TEN) and len(ends) == 2 and all(any(map(str.isalpha, label)) for label in ends):
        question = question.model_copy(update={"options": ten_point_scale(*ends)})
    kind = target.response_type or variables.type_of.get(target.code) or question.response_type
    return question.model_copy(update={"response_type": kind})


def _lacks_answers(question: Question, target: Target, variables: Variables) -> bool:
    wanted = target.n_options or len(question.options)
    if variables.list_of.get(target.code) and set(question.values) != set(MENTIONED):
        return True
    return len(question.options) != wanted or bool(question_faults(question.model_copy(update={"text": "-"})))


def _share_scale(one: Target, other: Target, variables: Variables) -> bool:
    """Whether two questions of one list have the same answers in the master, or else by the facts."""
    if one.battery != other.battery or one.n_options != other.n_options:
        return False
    if one.question is not None and other.question is not None:
        labels = [[option.label for option in model.options] for model in (one.question, other.question)]
        return labels[0] == labels[1] and any(map(str.strip, labels[0]))
    return variables.type_of.get(one.code) is not ResponseType.LIKERT10
