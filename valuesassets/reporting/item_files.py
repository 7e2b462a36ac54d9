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
"""Most characters of a name and of a variable's label that each takes, and of a value's label that both take."""
SAV_WRITTEN = slice(92, 109)
"""Where an SPSS file says when it was written."""
LONGEST_TEXT = 2_000
"""Most bytes of a text in a row: Stata's plain texts end at 2,045."""
TEXTS = {
    "question_text": "the question as it was asked, in the language of the row",
    "option_label": "the words of the answer, in the language of the row",
}
TAKEN = {
    *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),
    *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip"),
    *("byte", "double", "float", "if", "in", "int", "long", "strl", "using"),
}
"""Words that SPSS or Stata does not take for a variable, in small letters."""
DTA_WRITTEN = re.compile(rb"(<timestamp>).*?(</timestamp>)", re.DOTALL)


def item_files(answers: pd.DataFrame, table: Table, folder: Path) -> dict[str, bytes]:
    """`answers` and `items` as `.dta` and `.sav`, by file name; the same answers give the same bytes.

    Args:
        answers: rows of `PROBE_DISTRIBUTIONS`, all cells.
        table: their record, whose words label the variables.
        folder: the instrument's; its master questions, where there are some, give the labels of items.
    """
    questions = _questions(folder)
    long = with_texts(answers.drop(columns=[name for name in answers if name not in table.names]), folder)
    labels = {column.name: column.words for column in table.columns} | TEXTS
    wide, item_labels, values = items_of(answers, questions)
    given = (("answers", long, labels, {}), ("items", wide, {**labels, **item_labels}, values))
    return {
        f"{name}.{kind}": content
        for name, frame, said, named in given
        if len(frame)
        for kind, content in _written(frame, said, named).items()
    }


def with_texts(answers: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Rows of answers with the words of their question and of their option, in the language they were asked in."""
    asked = {code: _questions(folder, str(code)) for code in answers["language"].unique()}
    said = {
        (code, question.id, option.value): option.label
        for code, questions in asked.items()
        for question in questions.values()
        for option in question.options
    }
    keys = [
        (code, str(question).partition("@")[0], value)
        for code, question, value in zip(
            answers["language"], answers["question_id"], answers["response_value"], strict=True
        )
    ]
    texts = [asked[code][question].text if question in asked[code] else "" for code, question, _ in keys]
    return answers.assign(
        question_text=[shortened(text, LONGEST_TEXT) for text in texts],
        option_label=[shortened(said.get(key, ""), LONGEST_TEXT) for key in keys],
    )


def items_of(answers: pd.DataFrame, questions: Mapping[str, Question]) -> tuple[pd.DataFrame, Texts, Values]:
    """A row for each cell and a variable for each question, with labels of variables and of their values.

    A variable holds the mean answer, wordings averaged, in codes of the scale that is analysed; of a question without
    an order the likeliest answer.
    """
    read = answers.loc[answers["status"] == "ok"]
    code = read["analysis_value"].fillna(read["response_value"])
    read = read.assign(code=code.astype(float), part=read["prob_averaged"] * code.astype(float))
    by_answer = read.groupby([*CELL, "question_id", "response_type", "code"], sort=False, dropna=False)
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
    asked_ids = [str(each) for each in kinds.index]
    names = variable_names(asked_ids, taken=CELL)
    wide.columns = pd.Index([names[each] for each in asked_ids])
    wide = wide.reset_index()
    labels, values = {}, {}
    places = read.drop_duplicates(["question_id", "response_value"]).groupby("question_id")
    for asked in asked_ids:
        question = questions.get(asked.partition("@")[0])
        labels[names[asked]] = _label(asked, question, is_mean=asked not in unordered)
        if question is not None:
            place = places.get_group(asked).set_index("response_value")["code"]
            named = {option.value: option.label for option in question.options if option.label}
            values[names[asked]] = {int(place[each]): said for each, said in named.items() if each in place.index}
    return wide, labels, values


def variable_names(ids: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """By a question's id, the name of its variable as both programs take it; no two are alike, whatever their case.

    >>> variable_names(["v7", "Größe", "V7", "Щастя", "7", "with"])
    {'v7': 'v7', 'Größe': 'Groe', 'V7': 'V7_2', 'Щастя': 'q4', '7': 'q7', 'with': 'with_2'}
    """
    names: dict[str, str] = {}
    used = TAKEN | {name.casefold() for name in taken}
    for place, asked in enumerate(ids, 1):
        plain = unicodedata.normalize("NFKD", asked).encode("ascii", "ignore").decode()
        plain = re.sub(r"\W+", "_", plain.strip()) if re.search(r"[A-Za-z0-9]", plain) else f"q{place}"
        plain = (plain if plain[0].isalpha() else f"q{plain}")[:STATA_NAME]
        name, again = plain, 1
        while name.casefold() in used:
            again += 1
            name = f"{plain[: STATA_NAME - len(str(again)) - 1]}_{again}"
        used.add(name.casefold())
        names[asked] = name
    return names


def _label(asked: str, question: Question | None, is_mean: bool) -> str:
    """What a variable holds, what tells a question from its neighbours first: labels are cut off at their end."""
    kind = "mean answer" if is_mean else "likeliest answer"
    if question is None:
        return f"{asked}, {kind}"
    said = f"{question.item} ({question.stem})" if question.item and question.stem else question.item or question.text
    condition = asked.partition("@")[2]
    return f"{condition + ': ' if condition else ''}{said} [{asked}, {kind}]"


def _questions(folder: Path, language: str | None = None) -> dict[str, Question]:
    """A language's questions as they are asked, or the master's; none where they are not there."""
    file = f"aligned_questions/{language}.json" if language else "master_questions/master_questions.json"
    try:
        return {each.id: each for each in read_questions(folder / file)}
    except QuestionError:
        return {}


def _written(frame: pd.DataFrame, labels: Mapping[str, str], values: Values) -> dict[str, bytes]:
    """A frame as both programs read it; when it was written is taken out."""
    import pyreadstat

    plain = frame.copy()
    for name in plain:
        if plain[name].dtype == bool:
            plain[name] = plain[name].astype("int8")
        elif plain[name].dtype == object:
            plain[name] = plain[name].fillna("").astype(str)
    named = {name: {code: label[:VALUE_LABEL] for code, label in said.items()} for name, said in values.items()}
    writers: dict[str, tuple[Callable[..., None], int]] = {
        "dta": (pyreadstat.write_dta, STATA_LABEL),
        "sav": (pyreadstat.write_sav, SPSS_LABEL),
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, (write, most) in writers.items():
            path = Path(folder, f"written.{kind}")
            said = [shortened(labels.get(str(name), str(name)), most) for name in plain]
            try:
                write(plain, str(path), column_labels=said, variable_value_labels=named)
            except pyreadstat.PyreadstatError as error:
                raise StorageError(
                    f"{path}: cannot be written: {error}; free space or set TMPDIR to another folder"
                ) from None
            found[kind] = path.read_bytes()
    sav = bytearray(found["sav"])
    sav[SAV_WRITTEN] = b"01 Jan 8000:00:00"
    return {"dta": DTA_WRITTEN.sub(b"\\1\x1101 Jan 1980 00:00\\2", found["dta"]), "sav": bytes(sav)}


def shortened(text: str, most: int) -> str:
    """A text on one line of at most so many bytes."""
    line = " ".join(text.split())
    return line if len(line.encode()) <= most else line.encode()[: most - 3].decode(errors="ignore").rstrip() + "..."
