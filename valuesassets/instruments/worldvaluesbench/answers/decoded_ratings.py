"""`worldvaluesbench/decoded_ratings`: ratings parsed from the texts that models wrote."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from valuesassets.answers.written_options import Options, Standing, read_option, shown_number
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.instruments.worldvaluesbench.tables import DECODED_RATINGS
from valuesassets.records.errors import MissingData
from valuesassets.records.readouts import Generate, ScoreLabels
from valuesassets.records.trials import Answer, Status, Trial, main_trials

_KEYED = re.compile(
    r"""["'“”]?[^"'“”\n{},:]*\b(?:score|rating)["'“”]?\s*[:=]\s*["'“”]?((?:[^"'“”\n{},]|,(?=\d))*)""", re.IGNORECASE
)
"""The value after a key such as "answer as a score", in complete or incomplete JSON."""


def parse_rating(text: str, question: ValueQuestion, values: Sequence[int] | None = None) -> int | None:
    r"""The rating in an answer: the score of a JSON object, or the number or label at its beginning.

    Two different scores, a fraction, a range or a number further on are no rating.

    Args:
        values: codes of the numbers 1, 2, ... in the prompt; None if the numbers are the codes themselves.

    Returns:
        A code, on the scale or not; None for a number that the prompt did not show.

    >>> from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
    >>> q = load_value_questions()["Q1"]
    >>> [parse_rating(text, q) for text in ('{"why": "2 children", "score": "1"}', " 3.", "7", "3.5", "2 or 3")]
    [1, 3, 7, None, None]
    >>> parse_rating(" 1\n", q, values=(4, 3, 2, 1)), parse_rating("Very important.", q, values=(4, 3, 2, 1))
    (4, 1)
    """
    options = _options(question, values)
    codes = {_code(reply, options, are_codes=values is None) for reply in (_keyed_scores(text) or [text])}
    return codes.pop() if len(codes) == 1 else None


def derive_decoded_ratings(
    trials: Sequence[Trial], answers: Iterable[Answer], questions: Mapping[str, ValueQuestion]
) -> pd.DataFrame:
    """Rows of `decoded_ratings`, in the order of the trials and their samples.

    Args:
        trials: those with written answers. If their readout is labels, numbers in answers are those shown, else codes.
        questions: by id.

    Raises:
        MissingData: an answer belongs to no trial, or a trial has none.
    """
    by_trial: dict[str, list[Answer]] = {trial.trial_id: [] for trial in trials}
    for answer in answers:
        if answer.trial_id not in by_trial:
            raise MissingData(f"answers: {answer.trial_id} is no trial; let the model answer again")
        by_trial[answer.trial_id].append(answer)
    lacking = [name for name, replies in by_trial.items() if not replies]
    if lacking:
        raise MissingData(f"answers: {lacking[0]} (and {len(lacking) - 1} more) has none; let the model answer again")
    rows = []
    for trial in trials:
        question = questions[trial.question_id]
        values = trial.values if isinstance(trial.readout, ScoreLabels) else None
        label = {name: getattr(trial, name) for name in ("trial_id", "question_id", "order", "wording")}
        label["profile"] = trial.condition
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
    """The values of all keys that name a score or rating, in a JSON object or a fragment of one."""
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


def _options(question: ValueQuestion, values: Sequence[int] | None) -> Options:
    """The answers of a question as the prompt numbered them."""
    codes = range(question.lo, question.lo + len(question.labels)) if values is None else values
    numbers = codes if values is None else range(1, len(values) + 1)
    texts = tuple(question.labels[code - question.lo] for code in codes)
    return Options(tuple(map(str, numbers)), texts, tuple(codes))


def _code(reply: str, options: Options, *, are_codes: bool) -> int | None:
    """The code in a reply; of a number off the scale, the number itself, if the numbers are codes."""
    value, standing, _ = read_option(reply, options)
    return shown_number(reply) if are_codes and standing is Standing.OFF_SCALE else value


MAX_TOKENS = 8
"""The longest drawn answer; a number is shorter."""


def sampling_trials(trials: Sequence[Trial], samples: int, seed: int) -> dict[Trial, Trial]:
    """By prompt, forward and reversed, the trial in which a model writes its answers at temperature 1."""
    drawn = Generate(max_tokens=MAX_TOKENS, samples=samples, seed=seed, stop=("\n",))
    both = (trial for trial in main_trials(trials) if trial.order in ("forward", "reversed"))
    return {trial: replace(trial, readout=drawn) for trial in both}


def derive_sampled_ratings(
    trials: Sequence[Trial], counted: pd.DataFrame, questions: Mapping[str, ValueQuestion]
) -> pd.DataFrame:
    """Rows of `decoded_ratings` from counted answers (rows of `SAMPLED_ANSWERS`): one for each drawn answer.

    Raises:
        MissingData: an answer belongs to no trial, or a trial has none.
    """
    answers, times = list[Answer](), dict[tuple[str, int], int]()
    for trial_id, part in counted.groupby("trial_id", sort=False):
        for number, (text, n) in enumerate(zip(part["answer_text"], part["n"], strict=True)):
            answers.append(Answer(str(trial_id), number, text, "stop", 1, Status.OK, None, ""))
            times[str(trial_id), number] = int(n)
    answered_ids = {answer.trial_id for answer in answers}
    once = derive_decoded_ratings([trial for trial in trials if trial.trial_id in answered_ids], answers, questions)
    n = [times[key] for key in zip(once["trial_id"], once["sample"], strict=True)]
    each = once.loc[np.repeat(once.index.to_numpy(), n)].reset_index(drop=True)
    return each.assign(sample=each.groupby("trial_id", sort=False).cumcount())
