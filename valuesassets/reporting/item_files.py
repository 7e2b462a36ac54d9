"""Answers for Stata and SPSS: `answers`, a row for each answer; `items`, a row for each cell, a variable per item."""

import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.records.errors import QuestionError, StorageError
from valuesassets.records.questions import Question, ResponseType, read_questions
from valuesassets.records.table import Table

Texts = dict[str, str]
Values = dict[str, dict[Any, str]]
CELL = ["model", "model_type", "model_id", "language"]
STATA_NAME, STATA_LABEL, SPSS_LABEL, VALUE_LABEL = 32, 80, 250, 120
"""The most characters of a name in Stata, of a variable's label in Stata and SPSS, and of a value's label in both."""
SAV_DATE = slice(92, 109)
"""The bytes of an SPSS file that hold the time at which it was written."""
LONGEST_TEXT = 2_000
"""The most bytes of a text in a row; Stata's plain texts hold 2,045."""
TEXTS = {
    "question_text": "the question as it was asked, in the language of the row",
    "option_label": "the words of the answer, in the language of the row",
}
RESERVED_NAMES = {
    *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),
    *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip"),
    *("byte", "double", "float", "if", "in", "int", "long", "strl", "using"),
}
"""Names that SPSS or Stata reserves, in small letters."""
DTA_DATE = re.compile(rb"(<timestamp>).*?(</timestamp>)", re.DOTALL)


def item_files(answers: pd.DataFrame, table: Table, folder: Path) -> dict[str, bytes]:
    """The files `answers` and `items` as `.dta` and `.sav`, by file name; the same answers give the same bytes.

    Args:
        answers: rows of `PROBE_DISTRIBUTIONS`, all cells.
        table: the record of these rows, whose words label the variables.
        folder: the instrument's folder; the master questions in it, if any, label the items.
    """
    questions = _questions(folder)
    long = with_texts(answers.drop(columns=[name for name in answers if name not in table.names]), folder)
    labels = {column.name: column.words for column in table.columns} | TEXTS
    wide, item_labels, values = items_of(answers, questions)
    files = (("answers", long, labels, {}), ("items", wide, {**labels, **item_labels}, values))
    return {
        f"{name}.{kind}": content
        for name, frame, variable_labels, value_labels in files
        if len(frame)
        for kind, content in _file_contents(frame, variable_labels, value_labels).items()
    }


def with_texts(answers: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Rows of answers with the texts of their question and option, in the language in which they were asked."""
    questions_by_language = {code: _questions(folder, str(code)) for code in answers["language"].unique()}
    option_labels = {
        (code, question.id, option.value): option.label
        for code, questions in questions_by_language.items()
        for question in questions.values()
        for option in question.options
    }
    ids = [str(question).partition("@")[0] for question in answers["question_id"]]
    keys = list(zip(answers["language"], ids, answers["response_value"], strict=True))
    texts = [
        questions_by_language[code][question].text if question in questions_by_language[code] else ""
        for code, question, _ in keys
    ]
    return answers.assign(
        question_text=[shortened(text, LONGEST_TEXT) for text in texts],
        option_label=[shortened(option_labels.get(key, ""), LONGEST_TEXT) for key in keys],
    )


def items_of(answers: pd.DataFrame, questions: Mapping[str, Question]) -> tuple[pd.DataFrame, Texts, Values]:
    """A row for each cell and a variable for each question, with labels of variables and of their values.

    A variable holds the mean answer over wordings, in codes of the analysed scale; for a question whose options have
    no order, the likeliest answer.
    """
    ok_answers = answers.loc[answers["status"] == "ok"]
    code = ok_answers["analysis_value"].fillna(ok_answers["response_value"])
    ok_answers = ok_answers.assign(code=code.astype(float), part=ok_answers["prob_averaged"] * code.astype(float))
    by_answer = ok_answers.groupby([*CELL, "question_id", "response_type", "code"], sort=False, dropna=False)
    probs = by_answer["prob_averaged"].mean().reset_index()
    probs["part"] = probs["prob_averaged"] * probs["code"]
    of_item = probs.groupby([*CELL, "question_id"], sort=False, dropna=False)
    mean = of_item["part"].sum() / of_item["prob_averaged"].sum()
    likeliest = probs.loc[of_item["prob_averaged"].idxmax()].set_index([*CELL, "question_id"])["code"]
    kinds = probs.drop_duplicates("question_id").set_index("question_id")["response_type"]
    unordered = {name for name, kind in kinds.items() if kind == ResponseType.CATEGORICAL}
    is_unordered = mean.index.get_level_values("question_id").isin(unordered)
    wide = mean.where(~is_unordered, likeliest.reindex(mean.index)).unstack("question_id")
    wide = wide[list(kinds.index)]
    question_ids = [str(each) for each in kinds.index]
    names = variable_names(question_ids, reserved=CELL)
    wide.columns = pd.Index([names[each] for each in question_ids])
    wide = wide.reset_index()
    labels, values = {}, {}
    places = ok_answers.drop_duplicates(["question_id", "response_value"]).groupby("question_id")
    for question_id in question_ids:
        question = questions.get(question_id.partition("@")[0])
        labels[names[question_id]] = _label(question_id, question, is_mean=question_id not in unordered)
        if question is not None:
            place = places.get_group(question_id).set_index("response_value")["code"]
            option_labels = {option.value: option.label for option in question.options if option.label}
            values[names[question_id]] = {
                int(place[each]): label for each, label in option_labels.items() if each in place.index
            }
    return wide, labels, values


def variable_names(ids: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """The name of each question's variable, by its id; both programs take it, and no two differ in case alone.

    Args:
        ids: ids of questions.
        reserved: names that other variables have.

    >>> variable_names(["v7", "Größe", "V7", "Щастя", "7", "with"])
    {'v7': 'v7', 'Größe': 'Groe', 'V7': 'V7_2', 'Щастя': 'q4', '7': 'q7', 'with': 'with_2'}
    """
    names: dict[str, str] = {}
    used = RESERVED_NAMES | {name.casefold() for name in reserved}
    for place, question_id in enumerate(ids, 1):
        plain = unicodedata.normalize("NFKD", question_id).encode("ascii", "ignore").decode()
        plain = re.sub(r"\W+", "_", plain.strip()) if re.search(r"[A-Za-z0-9]", plain) else f"q{place}"
        plain = (plain if plain[0].isalpha() else f"q{plain}")[:STATA_NAME]
        name, again = plain, 1
        while name.casefold() in used:
            again += 1
            name = f"{plain[: STATA_NAME - len(str(again)) - 1]}_{again}"
        used.add(name.casefold())
        names[question_id] = name
    return names


def _label(question_id: str, question: Question | None, is_mean: bool) -> str:
    """The label of a variable, which begins with what distinguishes the question, since programs cut off its end."""
    kind = "mean answer" if is_mean else "likeliest answer"
    if question is None:
        return f"{question_id}, {kind}"
    words = f"{question.item} ({question.stem})" if question.item and question.stem else question.item or question.text
    condition = question_id.partition("@")[2]
    return f"{condition + ': ' if condition else ''}{words} [{question_id}, {kind}]"


def _questions(folder: Path, language: str | None = None) -> dict[str, Question]:
    """The questions of a language, or without one the master questions, by id; empty if no file has them."""
    file = f"aligned_questions/{language}.json" if language else "master_questions/master_questions.json"
    try:
        return {each.id: each for each in read_questions(folder / file)}
    except QuestionError:
        return {}


def _file_contents(frame: pd.DataFrame, labels: Mapping[str, str], values: Values) -> dict[str, bytes]:
    """The bytes of a `.dta` and a `.sav` file of a frame, with a fixed date in place of the time of writing."""
    import pyreadstat

    plain = frame.copy()
    for name in plain:
        if plain[name].dtype == bool:
            plain[name] = plain[name].astype("int8")
        elif plain[name].dtype == object:
            plain[name] = plain[name].fillna("").astype(str)
    value_labels = {
        name: {code: label[:VALUE_LABEL] for code, label in by_value.items()} for name, by_value in values.items()
    }
    writers: dict[str, tuple[Callable[..., None], int]] = {
        "dta": (pyreadstat.write_dta, STATA_LABEL),
        "sav": (pyreadstat.write_sav, SPSS_LABEL),
    }
    contents = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, (write, most) in writers.items():
            path = Path(folder, f"written.{kind}")
            column_labels = [shortened(labels.get(str(name), str(name)), most) for name in plain]
            try:
                write(plain, str(path), column_labels=column_labels, variable_value_labels=value_labels)
            except pyreadstat.PyreadstatError as error:
                raise StorageError(
                    f"{path}: cannot be written: {error}; free space or set TMPDIR to another folder"
                ) from None
            contents[kind] = path.read_bytes()
    sav = bytearray(contents["sav"])
    sav[SAV_DATE] = b"01 Jan 8000:00:00"
    return {"dta": DTA_DATE.sub(b"\\1\x1101 Jan 1980 00:00\\2", contents["dta"]), "sav": bytes(sav)}


def shortened(text: str, most: int) -> str:
    """A text on one line, cut to at most `most` bytes."""
    line = " ".join(text.split())
    return line if len(line.encode()) <= most else line.encode()[: most - 3].decode(errors="ignore").rstrip() + "..."
