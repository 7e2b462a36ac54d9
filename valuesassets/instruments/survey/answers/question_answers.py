"""`survey/question_answers`: every question with its answers, cell by cell, in words and numbers."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from valuesassets.instruments.survey.tables import ANSWERED, ANSWERS_BY_OPTION
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records, rows_where
from valuesassets.records.frames import rows as rows_of
from valuesassets.records.questions import Question

SHEET_ROWS = 30  # rows of a page's figure
QUESTION_ROWS = 3  # rows that a question takes beside those of its cells
CELL = ("model", "language")
AVERAGED = ("prob_averaged", "prob_forward", "prob_reversed")


def derive_question_answers(
    probe_distributions: pd.DataFrame,
    quality_report: Mapping[str, pd.DataFrame],
    aligned_questions: Mapping[str, Sequence[Question]],
) -> dict[str, pd.DataFrame]:
    """Tables `answers`, a row for each question in each cell, and `options`, a row for each of its options.

    Wordings are averaged. An answer that the quality report excludes has the reason in place of numbers.
    Questions have the order of the questionnaire, options that of the question.

    Args:
        aligned_questions: by language.

    Raises:
        MissingData: no answer has been read yet.
    """
    if not len(probe_distributions):
        raise MissingData("no answers have been read yet, so that there are none to show")
    options = list(_options(probe_distributions, quality_report["readings"], aligned_questions))
    sheets = _sheets(options, SHEET_ROWS)
    options = [row | {"sheet": sheets[row["question_id"]]} for row in options]
    answers = [
        _answer(list(rows))
        for _, rows in itertools.groupby(options, key=lambda row: [row[name] for name in ("question_id", *CELL)])
    ]
    return {"answers": ANSWERED.frame(answers), "options": ANSWERS_BY_OPTION.frame(options)}


def first_questions(options: pd.DataFrame, most_rows: int) -> pd.DataFrame:
    """The first questions of `options` that fit into `most_rows` rows of a figure, at least one question."""
    sheets = _sheets(records(options), most_rows)
    return rows_of(options, options["question_id"].map(sheets.get) == 1)


def _options(
    probe: pd.DataFrame, readings: pd.DataFrame, questions: Mapping[str, Sequence[Question]]
) -> Iterator[dict[str, Any]]:
    by_id = {(code, question.id): question for code, of_language in questions.items() for question in of_language}
    verdicts = {(row["model"], row["language"], row["question_id"]): row for row in records(readings)}
    models = list(dict.fromkeys(probe["model"]))
    pairs = dict.fromkeys(zip(probe["model"], probe["language"], strict=True))
    cells = sorted(pairs, key=lambda cell: models.index(cell[0]))
    groups = dict(iter(probe.groupby(["model", "language", "question_id"], sort=False)))
    for asked_id in _in_order(probe, questions):
        for model, language in cells:
            rows = groups.get((model, language, asked_id))
            if rows is None:
                continue
            base, _, condition = asked_id.partition("@")
            question = by_id.get((language, base))
            text = question.text if question else asked_id
            kind = str(rows["response_type"].iloc[0])
            row: dict[str, Any] = {"question_id": asked_id, "question": f"{text} ({condition})" if condition else text}
            row |= {"model": model, "language": language, "response_type": kind}
            verdict = verdicts.get((model, language, asked_id), {})
            readable = rows_where(rows, status="ok")
            row["p_valid"] = float(readable["p_valid"].mean()) if len(readable) else None
            if not verdict.get("is_usable") or not len(readable):
                reasons = [verdict.get("reason"), *rows["reason"].dropna().unique()]
                reason = next((text for text in reasons if isinstance(text, str) and text), "it cannot be used")
                readable, row = readable.head(0), row | {"reason": reason}
            means = readable.groupby("response_value", sort=False)[list(AVERAGED)].mean()
            labels = {option.value: option.label for option in question.options} if question else {}
            offered = list(dict.fromkeys(rows["response_value"].dropna().astype(int))) or list(labels)
            for value in [value for value in labels if value in offered] or offered:
                option = {"response_value": int(value), "option": labels.get(value) or str(value)}
                numbers = means.loc[value] if value in means.index else (None, None, None)
                yield row | option | dict(zip(("prob", *AVERAGED[1:]), numbers, strict=True))


def _in_order(probe: pd.DataFrame, questions: Mapping[str, Sequence[Question]]) -> list[str]:
    """The ids of the probe in the order of the longest questionnaire."""
    form = {question.id: place for place, question in enumerate(max(questions.values(), key=len, default=()))}
    ids = dict.fromkeys(map(str, probe["question_id"]))
    return sorted(ids, key=lambda each: form.get(each.partition("@")[0], len(form)))


def _sheets(options: Sequence[Mapping[str, Any]], most_rows: int) -> dict[str, int]:
    """The number of each question's figure, from 1; a figure has at most `most_rows` rows, or one question."""
    cells: dict[str, set[tuple[str, str]]] = {}
    for row in options:
        cells.setdefault(row["question_id"], set()).add((row["model"], row["language"]))
    sheets, sheet, used = {}, 1, 0
    for question, cells_of_question in cells.items():
        rows = QUESTION_ROWS + len(cells_of_question)
        if used and used + rows > most_rows:
            sheet, used = sheet + 1, 0
        sheets[question], used = sheet, used + rows
    return sheets


def _answer(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The likeliest answer to a question in a cell, also in each order, and the mean of an ordered scale."""
    first = rows[0]
    if "reason" in first:
        return {name: value for name, value in first.items() if name not in ("response_value", "option")}
    likeliest = max(rows, key=lambda row: row["prob"])
    is_ordered = first["response_type"] != "categorical"
    mean = sum(row["prob"] * row["response_value"] for row in rows) if is_ordered else None
    by_order = {
        f"likeliest_{order}": max(rows, key=lambda row, name=f"prob_{order}": row[name])["option"]
        for order in ("forward", "reversed")
    }
    return likeliest | by_order | {"mean_code": mean}
