"""The scale on which answers are compared: codes put in the order of what they mean."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal

from valuesassets.records.questions import Question

REORDERED = {"v113": {1: 1, 2: 3, 3: 2}, "v114": {1: 1, 2: 3, 3: 2}}
"""EVS codes good 1, bad 2, don't mind 3; WVS-7 swaps 2 and 3. The analysis scale is good < don't mind < bad."""
DIRECTIONAL: dict[str, Literal["low", "high"]] = {"v149": "low", "v152": "low"}
"""Items for the preflight, with the side that a working model leans to: claiming benefits without a right to them and
taking bribes are not justifiable (low codes)."""


def base_id(question_id: str) -> str:
    """The question's own id, without the condition under which it was asked.

    >>> base_id("v111@v110=1")
    'v111'
    """
    return question_id.partition("@")[0]


def analysis_value(question_id: str, value: int) -> int:
    """The place of an answer code on the analysis scale: the code itself but for the scales in `REORDERED`.

    >>> [analysis_value("v114", code) for code in (1, 2, 3)]
    [1, 3, 2]
    """
    return REORDERED.get(base_id(question_id), {}).get(int(value), int(value))


def analysis_places(questions: Iterable[Question]) -> Callable[[str, int], int]:
    """The place of an answer by asked question id and code: by the question's `order` if it names one, else by code."""
    ordered = {question.id: question.places for question in questions if (question.model_extra or {}).get("order")}

    def place(question_id: str, value: int) -> int:
        own = ordered.get(base_id(question_id))
        return analysis_value(question_id, value) if own is None else own.get(int(value), int(value))

    return place


def ordinal_places(questions: Sequence[Question]) -> dict[str, Callable[[int], int]]:
    """For each question whose options have an order, by its id, the place of an answer code on the analysis scale."""
    place = analysis_places(questions)
    return {question.id: partial(place, question.id) for question in questions if question.response_type.is_ordinal}
