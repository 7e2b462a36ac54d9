"""`survey/question_answers`: what was asked and what was answered, question by question, in words and numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from valuesassets.instruments.survey.tables import ANSWERED, ANSWERS_BY_OPTION
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records, rows_where
from valuesassets.records.frames import rows as rows_of
from valuesassets.records.questions import Question

SHEET_ROWS = 30
QUESTION_ROWS = 3
"""Rows of a page's figure, and how many of them a question takes beside those of its cells."""
AVERAGED = ("prob_averaged", "prob_forward", "prob_reversed")


def derive_question_answers(
    probe_distributions: pd.DataFrame,
    quality_report: Mapping[str, pd.DataFrame],
    aligned_questions: Mapping[str, Sequence[Question]],
) -> dict[str, pd.DataFrame]:
    """Two tables: `answers`, a row for each question in each cell, and `options`, a row for each of its options.

    Wordings are averaged. An answer that the quality report does not let through has the reason in place of numbers.
    Questions stand in the order of the questionnaire, options in that of the question.

    Args:
        aligned_questions: by language, as they were asked.

    Raises:
        MissingData: nothing was answered yet.
    """
    if not len(probe_distributions):
        raise MissingData("no answers have been read yet, so that there are none to show")
    options = list(_options(probe_distributions, quality_report["readings"], aligned_questions))
    sheets = _sheets(options)
    options = [row | {"sheet": sheets[row["question_id"]]} for row in options]
    answers = [_answer(rows) for rows in _by_answer(options)]
    return {"answers": ANSWERED.frame(answers), "options": ANSWERS_BY_OPTION.frame(options)}


def first_questions(options: pd.DataFrame, most_rows: int) -> pd.DataFrame:
    """The first questions of `options` that take so many rows of a figure together, one at least."""
    cells: dict[str, set[tuple[str, str]]] = {}
    for question, *cell in zip(options["question_id"], options["model"], options["language"], strict=True):
        cells.setdefault(str(question), set()).add((str(cell[0]), str(cell[1])))
    kept, used = list[str](), 0
    for question, there in cells.items():
        used += QUESTION_ROWS + len(there)
        if kept and used > most_rows:
            break
        kept.append(question)
    return rows_of(options, options["question_id"].isin(kept))


def _options(
    probe: pd.DataFrame, readings: pd.DataFrame, asked: Mapping[str, Sequence[Question]]
) -> Iterator[dict[str, Any]]:
    known = {(code, question.id): question for code, questions in asked.items() for question in questions}
    standing = {(row["model"], row["language"], row["question_id"]): row for row in records(readings)}
    models = list(dict.fromkeys(probe["model"]))
    cells = sorted(dict.fromkeys(zip(probe["model"], probe["language"], strict=True)), key=lambda c: models.index(c[0]))
    groups = dict(iter(probe.groupby(["model", "language", "question_id"], sort=False)))
    for asked_id in _in_order(probe, asked):
        for model, language in cells:
            rows = groups.get((model, language, asked_id))
            if rows is None:
                continue
            base, _, condition = asked_id.partition("@")
            question = known.get((language, base))
            text = question.text if question else asked_id
            kind = str(rows["response_type"].iloc[0])
            of_cell: dict[str, Any] = {
                "question_id": asked_id,
                "question": f"{text} ({condition})" if condition else text,
            }
            of_cell |= {"model": model, "language": language, "response_type": kind}
            verdict = standing.get((model, language, asked_id), {})
            read = rows_where(rows, status="ok")
            of_cell["p_valid"] = float(read["p_valid"].mean()) if len(read) else None
            if not verdict.get("is_usable") or not len(read):
                reasons = [verdict.get("reason"), *rows["reason"].dropna().unique()]
                why = next((str(each) for each in reasons if isinstance(each, str) and each), "it cannot be used")
                read, of_cell = read.head(0), of_cell | {"reason": why}
            means = read.groupby("response_value", sort=False)[list(AVERAGED)].mean()
            labels = {option.value: option.label for option in question.options} if question else {}
            offered = list(dict.fromkeys(rows["response_value"].dropna().astype(int))) or list(labels)
            for value in [value for value in labels if value in offered] or offered:
                named = {"response_value": int(value), "option": labels.get(value) or str(value)}
                numbers = means.loc[value] if value in means.index else (None, None, None)
                yield of_cell | named | dict(zip(("prob", *AVERAGED[1:]), numbers, strict=True))


def _in_order(probe: pd.DataFrame, asked: Mapping[str, Sequence[Question]]) -> list[str]:
    """The ids as they were asked, in the order of the longest questionnaire."""
    form = {question.id: place for place, question in enumerate(max(asked.values(), key=len, default=()))}
    ids = dict.fromkeys(map(str, probe["question_id"]))
    return sorted(ids, key=lambda each: form.get(each.partition("@")[0], len(form)))


def _sheets(options: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """By question, the number of the figure that it stands in, from 1."""
    cells: dict[str, set[tuple[str, str]]] = {}
    for row in options:
        cells.setdefault(row["question_id"], set()).add((row["model"], row["language"]))
    sheets, sheet, used = {}, 1, 0
    for question, there in cells.items():
        rows = QUESTION_ROWS + len(there)
        if used and used + rows > SHEET_ROWS:
            sheet, used = sheet + 1, 0
        sheets[question], used = sheet, used + rows
    return sheets


def _by_answer(options: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in options:
        groups.setdefault((row["question_id"], row["model"], row["language"]), []).append(row)
    yield from groups.values()


def _answer(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A question in a cell: the likeliest answer, in both orders too, and the mean of an ordered scale."""
    first = rows[0]
    if "reason" in first:
        return {name: each for name, each in first.items() if name not in ("response_value", "option")}
    likeliest = max(rows, key=lambda row: row["prob"])
    is_ordered = first["response_type"] != "categorical"
    mean = sum(row["prob"] * row["response_value"] for row in rows) if is_ordered else None
    by_order = {
        f"likeliest_{order}": max(rows, key=lambda row, name=f"prob_{order}": row[name])["option"]
        for order in ("forward", "reversed")
    }
    return likeliest | by_order | {"mean_code": mean}
