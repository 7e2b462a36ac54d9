"""`Target`: a variable, or a master question, that a question of a form can be matched to."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.people.variables import CODE, Variables
from valuesassets.records.questions import Question, ResponseType, question_faults


@dataclass(frozen=True)
class Target:
    """One variable of the master's survey, or one master question that is no variable.

    Attributes:
        code: canonical id.
        number: of the question in the forms (`38`), or None where it is unknown.
        battery: the same for all items of one list.
        n_options: how many answers it offers, or None.
        topic: what it asks about, in a few words of English, or None.
        question: the master's, or None where the master lacks it.
    """

    code: str
    number: str | None
    battery: str
    n_options: int | None
    topic: str | None = None
    question: Question | None = None

    @property
    def response_type(self) -> ResponseType | None:
        """The master's, where its question is sound."""
        return self.question.response_type if self.question and not question_faults(self.question) else None


def survey_targets(letter: str, variables: Variables) -> list[Target]:
    """The variables of a survey in order, with the excluded ones, since forms ask them too."""
    number_of = {code: number[1:] for number, codes in variables.numbers.items() for code in codes}
    codes = {code for code in variables.variables if code.startswith(letter)}
    return [
        Target(
            code,
            number_of.get(code, code[1:] if letter in variables.question_letters else None),
            number_of.get(code, code),
            variables.option_count(code),
            variables.topics.get(code),
        )
        for code in sorted(codes, key=code_order)
    ]


def master_targets(master: Sequence[Question], variables: Variables) -> list[Target]:
    """The master's questions among all variables of their survey, which other languages may have."""
    letters = variables.letters_of(master)
    remaining = {question.id: question for question in master}
    targets: list[Target] = []
    for letter in sorted(letter for letter in letters if any(code.startswith(letter) for code in remaining)):
        targets += survey_targets(letter, variables)
    for place, target in enumerate(targets):
        if question := remaining.pop(target.code, None):
            count = target.n_options if question_faults(question) else len(question.options)
            targets[place] = dataclasses.replace(target, n_options=count, question=question)
    for question in master:
        if question.id in remaining:
            battery, count = question.stem or question.id, len(question.options) or None
            targets.insert(_place(question, master, targets), Target(question.id, None, battery, count, None, question))
    return targets


def code_order(code: str) -> tuple[str, int, str]:
    """Sorts codes as forms have them: `v9` before `v10`, `v45` before `v45a`."""
    match = CODE.fullmatch(code)
    return (match[1], int(match[2]), match[3]) if match else (code, 0, "")


def _place(question: Question, master: Sequence[Question], targets: Sequence[Target]) -> int:
    """The place after the last earlier question of the master."""
    before = [each.id for each in master[: next(n for n, each in enumerate(master) if each.id == question.id)]]
    places = {target.code: place for place, target in enumerate(targets)}
    return max((places[code] + 1 for code in before if code in places), default=0)
