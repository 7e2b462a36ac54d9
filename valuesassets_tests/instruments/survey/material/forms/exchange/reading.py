"""What is compared of a form that was read: questions in order, and what was left out."""

from pathlib import Path

from valuesassets.instruments.survey.material.forms.imported_questions import read_with_left_out
from valuesassets.instruments.survey.material.normalisation import normalise_questions
from valuesassets.people.variables import load_variables


def read(path: Path, form_language: str | None = None, language: str = "eng"):
    """By question: id, stem, text or item, answers by code, missing answers by code, condition."""
    questions, _, _ = read_with_left_out(path, language, form_language)
    normalised = normalise_questions(questions, language, load_variables().of(questions)).questions
    return [row_of(question) for question in normalised]


def row_of(question):
    facts = question.model_extra or {}
    missing = {each["value"]: each["label"] for each in facts["missing"]}
    answers = {option.value: option.label for option in question.options}
    return question.id, question.stem, question.item or question.text, answers, missing, facts.get("when")


def left_out(path: Path) -> dict[str, str]:
    return {each.id: each.reason for each in read_with_left_out(path)[2]}


def unfit(path: Path) -> dict[str, str]:
    questions = read_with_left_out(path)[0]
    return {q.id: q.model_extra["unfit"] for q in questions if q.model_extra and q.model_extra.get("unfit")}


def source_codes(path: Path) -> list[list[str]]:
    return [[option.model_extra["source_code"] for option in q.options] for q in read_with_left_out(path)[0]]
