"""What was read of a form, in short."""

import functools

from valuesassets.instruments.survey.material.extracted_questions import extract_questions
from valuesassets.instruments.survey.material.forms.layout.checks import extraction_faults
from valuesassets_tests.needs import shared_file


def options(question):
    return [(option.value, option.label) for option in question.options]


def published(name):
    """Where a published form of EVS 2017 lies."""
    return shared_file("data", "questionnaires", f"{name}.pdf")


@functools.cache
def extracted(name, language):
    """The questions of a published form, at which several tests look; none may change them."""
    return tuple(extract_questions(published(name), language))


def faults_by_question(path, language="eng"):
    questions = extract_questions(path, language)
    return {(fault.question_id, fault.check) for fault in extraction_faults(questions, path, language)}
