"""`survey/master_questions`: the aligned master list, with the languages that have each question."""

from collections.abc import Mapping, Sequence

from valuesassets.instruments.survey.aligned_questions import align_questions, canonical_id
from valuesassets.instruments.survey.variables import Variables
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import Question, question_faults


def list_master_questions(
    extracted: Mapping[str, Sequence[Question]], master: str, variables: Variables
) -> list[Question]:
    """The master language's sound questions under canonical ids; `coverage` names the languages that have each.

    Args:
        extracted: questions by language, as extracted; languages may be missing.
        master: the language whose questions make the list.

    Raises:
        QuestionError: the master language is missing, or none of its questions is sound.
    """
    if master not in extracted:
        raise QuestionError(
            f"master language {master}: no extracted questions; materialise extracted_questions/{master}"
        )
    listed: dict[str, Question] = {}
    for question in extracted[master]:
        code = canonical_id(question.id) or canonical_id(question.source_id or "")
        if code is not None and code not in listed and not question_faults(question):
            facts = {
                "source_id": question.source_id or question.id,
                "wvs_id": variables.wvs_id(code),
                "asked_of": variables.asked_of(code),
                "names_country": variables.names_country(code) or None,
                "is_converted": variables.is_converted(question.replace(id=code)) or None,
            }
            listed[code] = question.replace(id=code, **facts)
    if not listed:
        raise QuestionError(_none_listed(master, extracted[master]))
    master_list = list(listed.values())
    having: dict[str, list[str]] = {code: [] for code in listed}
    for language, questions in extracted.items():
        for question in align_questions(questions, master_list).questions:
            having[question.id].append(language)
    return [question.replace(coverage=having[question.id]) for question in master_list]


def _none_listed(master: str, questions: Sequence[Question]) -> str:
    """Why a language makes no master list, by its first question."""
    found = "no questions in it"
    if questions:
        faults = question_faults(questions[0]) or [f"'{questions[0].id}' is no variable code such as v39"]
        found = f"none of its {len(questions)} questions can be used, the first because: {'; '.join(faults)}"
    return f"{master}.json makes the master list: {found}; mend the file, or extract the questionnaire again"
