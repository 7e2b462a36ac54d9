"""The prompt for Gemini, and the form of its answer; an edit of either changes `prompt_version`."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pydantic

from valuesassets.answers.language_codes import known_languages
from valuesassets.records.errors import StudyError
from valuesassets.records.faults import describe_faults, kind_of_value
from valuesassets.records.files import sha256_json
from valuesassets.records.questions import ResponseType
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import WrongAnswer

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse

LONGEST_QUOTE = 300  # characters of the last question that the next request quotes

CUT_OFF = "the answer was cut off"
_CUT_OFF_REASONS = {"MAX_TOKENS", "CONTINUATION"}
_WHOLE = {"STOP", "FINISH_REASON_UNSPECIFIED"}
_INSTRUCTIONS = """\
You are given the questionnaire of a survey of people's values. Copy its opinion questions as JSON, word by word.

Language
- Copy only what is printed in {language}. Some forms are printed in two languages: leave the other one out, and give
  no question twice.
- Never translate, correct or shorten. Keep every letter and accent as it is printed.

Leave out
- demographics: who the respondent and the household are (sex, age, education, work, income, denomination, residence)
- questions whose answers are a country's own: its political parties, its politicians, its head of state
- how elections are conducted in the country
- list experiments, which ask how many of several statements are true
- show cards, contents, routing, and whatever only the interviewer reads

One record for each question. Each item (row) of a grid or list is a record of its own: `stem` is the question that all
rows share, `item` the words of the row, `text` the stem and then the item. Otherwise `stem` and `item` are null.
- `id`: the variable code printed beside the question or item, as it is printed (v39); where there is none, the number
  of the question as it is printed.
- `section`: the heading of this part of the form, or null.
- `text`, `stem`, `item`: the exact wording, without question numbers, codes and notes for the interviewer such as
  "READ OUT", "SHOW CARD 5" or "ONE ANSWER ONLY".
- `response_type`: likert3, likert4, likert5 for ordered answers of that number (agreement, importance, trust);
  likert10 for scales from 1 to 10; binary for two answers (yes or no, mentioned or not mentioned); frequency for how
  often; action for have done, might do, would never do; categorical for any other list.
- `options`: the answers in the order printed, `value` the code, `label` the words printed for it. A scale from 1 to 10
  has two options, 1 and 10, labelled with the words at its ends. Don't know, no answer, refused and not applicable
  are never options, whatever their codes (7, 8, 9, 66, 77, 88, 99, negative numbers).
- `answer_cue`: the {language} word for "Answer".
- `page`: the page on which the item stands, or the question where it has no items. Pages are counted from 1 at the
  beginning of the file, whatever numbers are printed on them.

Records come in the order in which a reader meets them. A question belongs to the page on which it begins: where a grid
or list runs on to the next page, all its items belong to the page on which it begins.
"""
_BEFORE = """
The last question listed so far is {id}: "{text}". It is complete: list none of its items, even where they run on.
"""
_TASK = """
Now list the questions that begin on {pages} of the {total} pages of the file: all of them, and no others. Where none
begins there, the list is empty.
"""


@dataclass(frozen=True)
class PageRange:
    """Pages `first` to `last` of a form, counted from 1, both included.

    >>> print(PageRange(9, 12), "|", PageRange(9, 9))
    pages 9 to 12 | page 9
    """

    first: int
    last: int

    def __str__(self) -> str:
        return f"page {self.first}" if self.is_single else f"pages {self.first} to {self.last}"

    @property
    def is_single(self) -> bool:
        """Whether the range is a single page."""
        return self.first == self.last

    @property
    def count(self) -> int:
        """Number of pages."""
        return self.last - self.first + 1

    def halves(self) -> tuple["PageRange", "PageRange"]:
        """The pages in two parts; the first is the longer one.

        >>> [str(half) for half in PageRange(1, 3).halves()]
        ['pages 1 to 2', 'page 3']
        """
        middle = (self.first + self.last) // 2
        return PageRange(self.first, middle), PageRange(middle + 1, self.last)


def page_ranges(pages: int, pages_per_request: int) -> list[PageRange]:
    """All pages of a form in ranges of at most `pages_per_request`.

    >>> [str(each) for each in page_ranges(7, 3)]
    ['pages 1 to 3', 'pages 4 to 6', 'page 7']
    """
    firsts = range(1, pages + 1, pages_per_request)
    return [PageRange(first, min(first + pages_per_request - 1, pages)) for first in firsts]


# Gemini sees the names, types and docstrings below. Every field needs an answer, possibly null.
class OptionRow(pydantic.BaseModel):
    """One answer that is offered."""

    value: int
    label: str


class QuestionRow(pydantic.BaseModel):
    """One question, or one item of a grid, copied word by word."""

    id: str
    section: str | None
    text: str
    stem: str | None
    item: str | None
    response_type: ResponseType
    options: list[OptionRow]
    answer_cue: str | None
    page: int


class AnsweredQuestions(pydantic.BaseModel):
    """All the questions that begin on the pages asked for."""

    questions: list[QuestionRow]


def prompt_text(language: str, pages: PageRange, total: int, before: QuestionRow | None = None) -> str:
    """The prompt for one range of the `total` pages; `before` is the last question of the earlier pages."""
    instructions = _INSTRUCTIONS.format(language=language_name(language))
    context = _BEFORE.format(id=before.id, text=before.text[:LONGEST_QUOTE]) if before else ""
    return instructions + context + _TASK.format(pages=pages, total=total)


def language_name(language: str) -> str:
    """The usual English name of a language; raises `StudyError` if it is unknown."""
    facts = known_languages().get(language)
    if facts is None:
        raise StudyError(
            f"language {language}: the gemini extractor cannot name it; an ISO 639-3 code with a known English "
            "name was expected: mend the code, or choose the layout extractor"
        )
    return facts.names[0]


def prompt_version() -> str:
    """Twelve hexadecimal digits that identify the prompt and the form of the answer."""
    return sha256_json([_INSTRUCTIONS, _BEFORE, _TASK, LONGEST_QUOTE, AnsweredQuestions.model_json_schema()])[:12]


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
