"""`survey/master_questions`: the aligned master list, with the languages that have each question."""

from collections.abc import Mapping, Sequence

from valuesassets.instruments.survey.material.aligned_questions import align_questions
from valuesassets.instruments.survey.material.alignment.evidence import question_numbers
from valuesassets.instruments.survey.material.alignment.match import Alignment
from valuesassets.instruments.survey.material.alignment.records import best_records
from valuesassets.instruments.survey.material.alignment.targets import survey_targets
from valuesassets.instruments.survey.material.normalisation import Normalised
from valuesassets.people.variables import Variables
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import Question, question_faults


def list_master_questions(
    extracted: Mapping[str, Sequence[Question]], master: str, variables: Variables
) -> list[Question]:
    """The master language's questions under canonical ids; `coverage` names the languages that have each.

    Canonical ids are the codes of the survey that most questions print; questions without a code are matched to its
    variables by number, shape and order. In an unknown survey a question's id is canonical.

    Args:
        extracted: questions by language; languages may be missing.
        master: the language whose questions make the list.

    Raises:
        QuestionError: the master language is missing, or none of its questions can be used.
    """
    master_list = canonical_questions(extracted.get(master), master, variables)
    aligned = {
        language: align_questions(Normalised.of(questions), language, master_list, variables)
        for language, questions in extracted.items()
    }
    return with_coverage(master_list, aligned)


def canonical_questions(extracted: Sequence[Question] | None, master: str, variables: Variables) -> list[Question]:
    """The master language's questions under canonical ids, with facts; raises errors as `list_master_questions`."""
    if extracted is None:
        raise QuestionError(
            f"master language {master}: no extracted questions; materialise extracted_questions/{master}"
        )
    variables = variables.of(extracted)
    letter = variables.survey_of(extracted, question_numbers(extracted))
    kept: dict[str, Question] = {}
    if letter is None:
        for question in extracted:
            kept.setdefault(question.id, question)
    else:
        for record in best_records(extracted, survey_targets(letter, variables)):
            if not variables.is_excluded(record.id):
                kept[record.id] = record
    listed = [_with_facts(question, variables) for question in kept.values() if question.id.strip()]
    if all(question_faults(question) for question in listed):
        raise QuestionError(_none_listed(master, extracted))
    return listed


def with_coverage(master: Sequence[Question], aligned: Mapping[str, Alignment]) -> list[Question]:
    """The master's questions with the languages that have each."""
    having: dict[str, list[str]] = {question.id: [] for question in master}
    for language, alignment in aligned.items():
        for question in alignment.questions:
            having[question.id].append(language)
    return [question.replace(coverage=having[question.id]) for question in master]


def coverage_rows(master: Sequence[Question], languages: Sequence[str]) -> list[dict[str, str]]:
    """A row for each of the master's questions: which languages have it, and which lack it."""
    rows = []
    for question in master:
        facts = question.model_extra or {}
        having = facts.get("coverage") or []
        row = {"question": question.id, "wvs_id": facts.get("wvs_id") or "", "languages": str(len(having))}
        lacking = " ".join(language for language in languages if language not in having)
        rows.append(row | {"lacking": lacking, "unfit": facts.get("unfit") or ""})
    return rows


def _with_facts(question: Question, variables: Variables) -> Question:
    faults = question_faults(question)
    facts = {
        "source_id": question.source_id or question.id,
        "wvs_id": variables.same_in_wvs.get(question.id),
        "asked_of": variables.asked_of.get(question.id),
        "names_country": question.id in variables.names_country.variables or None,
        "is_converted": variables.is_converted(question) or None,
        "unfit": "; ".join(faults) or (question.model_extra or {}).get("unfit"),
    }
    return question.replace(**facts)


def _none_listed(master: str, questions: Sequence[Question]) -> str:
    """The message for a language without usable questions."""
    problem = "no questions in it"
    if questions:
        faults = question_faults(questions[0]) or [f"'{questions[0].id}' is no variable of a survey that is known"]
        problem = f"none of its {len(questions)} questions can be used, the first because: {'; '.join(faults)}"
    return f"{master}.json makes the master list: {problem}; mend the file, or extract the questionnaire again"
