"""The questions that a faultless extraction of a bundled questionnaire finds, made from its words."""

from collections.abc import Iterator

from valuesassets.records.questions import Option, Question
from valuesassets.studies.questionnaires.content import FormQuestion, Words, load_form, load_words


def expected_questions(language: str) -> list[Question]:
    """The value questions of the bundled PDF, in the order of the form.

    Demographics are not among them, don't know and no answer are not among the options, and there is no answer cue.
    """
    words = load_words(language)
    return [each for question in load_form() if question.response_type for each in _questions(question, words)]


def _questions(question: FormQuestion, words: Words) -> Iterator[Question]:
    worded = words.questions[question.name]
    assert question.response_type is not None  # demographics are filtered by the caller
    options = tuple(Option(value=value, label=label) for value, label in enumerate(words.labels(question), 1))
    texts = (worded.text, worded.second_text)
    for position, variable in enumerate(question.variables):
        item = worded.items.get(variable)
        text = _plain(f"{worded.text} {item}" if item else texts[position])
        yield Question(
            id=variable,
            section=words.sections[question.section],
            text=text,
            stem=_plain(worded.text) if item else None,
            item=_plain(item) if item else None,
            response_type=question.response_type,
            options=options,
        )


def _plain(text: str) -> str:
    """The text without no-break spaces, which nobody can tell from spaces on paper."""
    return " ".join(text.split())
