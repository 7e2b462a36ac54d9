"""`Answer`: the questions of Gemini for some pages, or why they are incomplete, and their cost."""

import json
from typing import TYPE_CHECKING, Any

import pydantic

from valuesassets.instruments.survey.material.forms.gemini.request import AnsweredQuestions, QuestionRow
from valuesassets.records.faults import describe_faults, kind_of_value
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import WrongAnswer

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse

CUT_OFF = "the answer was cut off"
_CUT_OFF_REASONS = {"MAX_TOKENS", "CONTINUATION"}
_WHOLE = {"STOP", "FINISH_REASON_UNSPECIFIED"}


class Answer(pydantic.BaseModel):
    """The answer for one range of pages, and its usage; `unfinished` says why it is incomplete."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    rows: tuple[QuestionRow, ...] = ()
    unfinished: str | None = None
    usage: Usage = Usage()


def read_answer(response: "GenerateContentResponse") -> Answer:
    """The questions of an answer, or why it is incomplete, without usage.

    Raises:
        WrongAnswer: it is complete, but not of the requested form.
    """
    blocked = response.prompt_feedback and response.prompt_feedback.block_reason
    if blocked:
        return Answer(unfinished=f"Gemini refused to read ({blocked.name})")
    finish = response.candidates[0].finish_reason if response.candidates else None
    reason = finish.name if finish else "STOP"
    if reason not in _WHOLE:
        return Answer(unfinished=CUT_OFF if reason in _CUT_OFF_REASONS else f"Gemini stopped ({reason})")
    if not response.text:
        raise WrongAnswer("the answer is empty")
    try:
        return Answer(rows=_rows(json.loads(response.text)))
    except json.JSONDecodeError:
        return Answer(unfinished=CUT_OFF)


def _rows(answer: Any) -> tuple[QuestionRow, ...]:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"the answer is {kind_of_value(answer)}, an object with questions was expected")
    try:
        questions = AnsweredQuestions.model_validate(answer).questions
        json.dumps(answer, ensure_ascii=False).encode()
    except pydantic.ValidationError as error:
        raise WrongAnswer(f"the answer is not of the form asked for: {describe_faults(error.errors())}") from None
    except UnicodeEncodeError:
        raise WrongAnswer("the answer holds half a character, which no file can hold") from None
    return tuple(questions)
