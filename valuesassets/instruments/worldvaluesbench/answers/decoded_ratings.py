"""`worldvaluesbench/decoded_ratings`: the ratings in what models wrote. What cannot be read stays as text."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.instruments.worldvaluesbench.tables import DECODED_RATINGS
from valuesassets.records.errors import MissingData
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.trials import Answer, Status, Trial

_KEYED = re.compile(
    r"""["'“”]?[^"'“”\n{},:]*\b(?:score|rating)["'“”]?\s*[:=]\s*["'“”]?((?:[^"'“”\n{},]|,(?=\d))*)""", re.IGNORECASE
)
"""What follows a key such as "answer as a score", whole JSON or not."""
_NUMBER = re.compile(r"[\s\"'(\[*]*([+-]?\d+)(?!\d*[.,]?\d|[a-z]|\s*(?:/|-|–|to|or|and|out of)\s*\d)", re.IGNORECASE)
_SAID = re.compile(r"[\s\"'(\[*.:]*(.*?)[\s\"')\]*.,;:!]*")


def parse_rating(text: str, question: ValueQuestion, values: Sequence[int] | None = None) -> int | None:
    r"""The rating in an answer: the score of a JSON object, or the number or label that it begins with.

    Nothing is guessed: two scores that differ, a fraction, a range or a number further on are no rating.

    Args:
        values: codes behind the numbers 1, 2, ... that the prompt showed; left out where the number is the code itself.

    Returns:
        A code. One off the scale is given as it is; a number that was not shown stands for none.

    >>> from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
    >>> q = load_value_questions()["Q1"]
    >>> [parse_rating(text, q) for text in ('{"why": "2 children", "score": "1"}', " 3.", "7", "3.5", "2 or 3")]
    [1, 3, 7, None, None]
    >>> parse_rating(" 1\n", q, values=(4, 3, 2, 1)), parse_rating("Very important.", q, values=(4, 3, 2, 1))
    (4, 1)
    """
    keyed = _keyed_scores(text)
    found = {_code(said, question, values) for said in (keyed or [text.split("\n\n")[0]])}
    return found.pop() if len(found) == 1 else None


def derive_decoded_ratings(
    trials: Sequence[Trial], answers: Iterable[Answer], questions: Mapping[str, ValueQuestion]
) -> pd.DataFrame:
    """Rows of `decoded_ratings`, in the order of the trials and their samples.

    Args:
        trials: that were answered in writing. Where labels are read, numbers are those shown; else they are codes.
        questions: by id.

    Raises:
        MissingData: an answer belongs to no trial, or a trial has none.
    """
    by_trial: dict[str, list[Answer]] = {trial.trial_id: [] for trial in trials}
    for answer in answers:
        if answer.trial_id not in by_trial:
            raise MissingData(f"answers: {answer.trial_id} is no trial; let the model answer again")
        by_trial[answer.trial_id].append(answer)
    lacking = [name for name, found in by_trial.items() if not found]
    if lacking:
        raise MissingData(f"answers: {lacking[0]} (and {len(lacking) - 1} more) has none; let the model answer again")
    rows = []
    for trial in trials:
        question = questions[trial.question_id]
        values = trial.values if isinstance(trial.readout, ScoreLabels) else None
        label = {
            "trial_id": trial.trial_id,
            "question_id": trial.question_id,
            "profile": trial.condition,
            "order": trial.order,
            "wording": trial.wording,
        }
        for answer in sorted(by_trial[trial.trial_id], key=lambda each: each.sample):
            is_written = answer.status is Status.OK and answer.text is not None
            rating = parse_rating(answer.text or "", question, values) if is_written else None
            unread = "no rating in the text" if rating is None else None
            rows.append(
                label
                | {
                    "sample": answer.sample,
                    "rating": rating,
                    "is_on_scale": rating is not None and question.lo <= rating <= question.hi,
                    "text": answer.text,
                    "status": str(answer.status),
                    "reason": unread if is_written else answer.reason,
                }
            )
    return DECODED_RATINGS.frame(rows).astype({"rating": "Int64"})


def _keyed_scores(text: str) -> list[str]:
    """What stands under the keys that name a score or rating, of a JSON object or of what is like one."""
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        try:
            content = json.loads(text[start : end + 1])
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict):
            named = (value for key, value in content.items() if re.search(r"\b(score|rating)\b", key, re.IGNORECASE))
            return [str(int(value) if isinstance(value, float) and value.is_integer() else value) for value in named]
    return _KEYED.findall(text)


def _code(said: str, question: ValueQuestion, values: Sequence[int] | None) -> int | None:
    number = _NUMBER.match(said)
    if number:
        shown = int(number[1])
        if values is None:
            return shown
        return values[shown - 1] if 1 <= shown <= len(values) else None
    return _labelled(said, question)


def _labelled(said: str, question: ValueQuestion) -> int | None:
    """The code of the label that is all that is said."""
    found = _SAID.fullmatch(said.split("\n")[0])
    words = found[1].casefold() if found else ""
    labels = [label.casefold() for label in question.labels]
    return question.lo + labels.index(words) if words and words in labels else None
