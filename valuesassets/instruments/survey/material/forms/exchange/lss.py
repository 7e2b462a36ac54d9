"""Reads questionnaires as LimeSurvey exports them (LSS, XML).

Source: LimeSurvey's manual, "Question types" and "ExpressionScript". Since version 4 the words of each language stand
in tables of their own (`question_l10ns`), before in the rows of the questions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from valuesassets.instruments.survey.material.forms.exchange.entries import (
    Answer,
    Entry,
    FormContent,
    either,
    joined_conditions,
)
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.exchange.plain_text import EXPRESSION, plain_text, why_quoting
from valuesassets.instruments.survey.material.forms.exchange.safe_files import xml_root
from valuesassets.records.errors import QuestionError

Row = dict[str, str]

LISTS = ("L", "!", "O")
"""Types with one answer of a list: radio buttons, a drop-down list, a list with room for a comment."""
ARRAYS = ("F", "H")
"""Types with items and one answer to each, from a list of the form."""
POINTS = {"5": 5, "A": 5, "B": 10}
"""Types answered on points from 1, which have no words."""
YES_NO = (
    "be Так Не, bg Да Не, bs Da Ne, cs Ano Ne, da Ja Nej, de Ja Nein, el Ναι Όχι, en Yes No, es Sí No, et Jah Ei, "
    "fi Kyllä Ei, fr Oui Non, hr Da Ne, hu Igen Nem, hy Այո Ոչ, is Já Nei, it Sì No, lt Taip Ne, lv Jā Nē, mk Да Не, "
    "nb Ja Nei, nl Ja Nee, nn Ja Nei, no Ja Nei, pl Tak Nie, pt Sim Não, ro Da Nu, ru Да Нет, sk Áno Nie, sl Da Ne, "
    "sq Po Jo, sr Да Не, sr-latn Da Ne, sv Ja Nej, uk Так Ні"
)
"""Language, yes and no."""
WORDED = {
    "Y": {language: (("Y", yes), ("N", no)) for language, yes, no in (words.split() for words in YES_NO.split(", "))},
    "C": {
        "en": (("Y", "Yes"), ("U", "Uncertain"), ("N", "No")),
        "de": (("Y", "Ja"), ("U", "Unsicher"), ("N", "Nein")),
    },
    "E": {"en": (("I", "Increase"), ("S", "Same"), ("D", "Decrease"))},
    "G": {"en": (("F", "Female"), ("M", "Male")), "de": (("F", "Weiblich"), ("M", "Männlich"))},
}
"""Types whose answers LimeSurvey words itself: code and label by language. The form does not hold them."""
WITH_ITEMS = (*ARRAYS, "A", "B", "C", "E")
KINDS = {
    "1": "two scales side by side",
    "D": "a date",
    "N": "a number",
    "K": "numbers",
    "S": "an open question",
    "T": "an open question",
    "U": "an open question",
    "Q": "open questions",
    "M": "several answers may be chosen",
    "P": "several answers may be chosen",
    "R": "a ranking",
    "X": "a text without answers",
    "*": "computed",
    "I": "the choice of a language",
    "|": "an upload",
    ":": "a table of numbers",
    ";": "a table of texts",
}
NO_CONDITION = ("", "1")


@dataclass(frozen=True)
class _Form:
    """The tables of a form, with the words of one language in their rows."""

    groups: dict[str, Row]
    questions: list[Row]
    items: dict[str, list[Row]]
    answers: dict[str, list[Row]]
    conditions: dict[str, str | None]
    language: str


def read_lss(path: Path, wanted: WantedLanguage) -> FormContent:
    """The entries of a LimeSurvey survey.

    Raises:
        QuestionError: no LSS, XML with entities, or the survey lacks the language that is named.
    """
    root = xml_root(path, "a survey of LimeSurvey (LSS)")
    if root.find("questions") is None or root.find("languages/language") is None:
        raise QuestionError(
            f"{path}: no questions or no languages, a survey of LimeSurvey (LSS) was expected; export the whole survey"
        )
    content, form = FormContent(), _form(root, path, wanted)
    for question in form.questions:
        _read_question(question, form, content)
    return content


def _form(root: ElementTree.Element, path: Path, wanted: WantedLanguage) -> _Form:
    languages = [plain_text(each.text) for each in root.iterfind("languages/language")]
    main = next((row["language"] for row in _rows(root, "surveys") if row.get("language")), languages[0])
    language = wanted.among(languages, main, path)
    groups = {row.get("gid", ""): row for row in _worded(root, "groups", "group_l10ns", "gid", language)}
    questions = _worded(root, "questions", "question_l10ns", "qid", language)
    questions = [row for row in questions if row.get("parent_qid", "0") in ("", "0")]
    questions.sort(key=lambda row: (_number(groups.get(row.get("gid", ""), {}).get("group_order")), _order_of(row)))
    items = _worded(root, "subquestions", "question_l10ns", "qid", language)
    answers = _worded(root, "answers", "answer_l10ns", "aid", language)
    return _Form(
        groups,
        questions,
        _grouped([row for row in items if row.get("scale_id", "0") in ("", "0")], "parent_qid", "question_order"),
        _grouped([row for row in answers if row.get("scale_id", "0") in ("", "0")], "qid", "sortorder"),
        _earlier_conditions(root),
        language,
    )


def _rows(root: ElementTree.Element, table: str) -> Iterator[Row]:
    for row in root.iterfind(f"{table}/rows/row"):
        yield {field.tag: (field.text or "").strip() for field in row}


def _worded(root: ElementTree.Element, table: str, words: str, key: str, language: str) -> list[Row]:
    """The rows of a table with the words of one language; rows without words in it are left out."""
    own = {row.get(key, ""): row for row in _rows(root, words) if row.get("language") == language}
    rows = [*_rows(root, table)]
    if own:
        names = {"id", "language"}
        return [
            row | {name: text for name, text in own[row[key]].items() if name not in names}
            for row in rows
            if row.get(key) in own
        ]
    return [row for row in rows if row.get("language", language) in ("", language)]


def _grouped(rows: list[Row], key: str, order: str) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: _number(row.get(order))):
        grouped.setdefault(row.get(key, ""), []).append(row)
    return grouped


def _earlier_conditions(root: ElementTree.Element) -> dict[str, str | None]:
    """The conditions of surveys before expressions came, by question.

    In a scenario, answers of one question are joined by or, questions by and; one of the scenarios has to hold.
    """
    scenarios: dict[str, dict[str, dict[str, list[str]]]] = {}
    for row in _rows(root, "conditions"):
        words = (row.get("cfieldname", ""), row.get("method", "").strip() or "==", row.get("value", ""))
        scenario = scenarios.setdefault(row.get("qid", ""), {}).setdefault(row.get("scenario", ""), {})
        scenario.setdefault(row.get("cqid", ""), []).append(" ".join(words))
    return {
        name: either(joined_conditions(*map(either, questions.values())) for questions in each.values())
        for name, each in scenarios.items()
    }


def _read_question(question: Row, form: _Form, content: FormContent) -> None:
    """Add a question, or the items of an array, to the content."""
    kind, name, text = question.get("type", ""), question.get("title", ""), plain_text(question.get("question"))
    if kind in KINDS or kind not in (*LISTS, *POINTS, *WORDED, *ARRAYS):
        content.leave_out(name, text, f"{KINDS.get(kind, f'type {kind}')}, no closed question with one answer")
        return
    answers = _answers(question, form)
    if answers is None:
        reason = f"its answers are LimeSurvey's own words, which the form does not hold in {form.language}"
        content.leave_out(name, text, reason)
        return
    group = form.groups.get(question.get("gid", ""), {})
    section, when = plain_text(group.get("group_name")), _condition(question, form)
    if kind not in WITH_ITEMS:
        unfit = why_quoting(text, *(answer.label for answer in answers), signs=EXPRESSION)
        content.entries.append(Entry(name, text, answers, section=section, when=when, unfit=unfit))
        return
    items = form.items.get(question.get("qid", ""), [])
    if not items:
        content.leave_out(name, text, "an array without items")
    for row in items:
        item, own = plain_text(row.get("question")), joined_conditions(when, _relevance(row))
        unfit = why_quoting(text, item, *(answer.label for answer in answers), signs=EXPRESSION)
        content.entries.append(
            Entry(f"{name}_{row.get('title', '')}", item, answers, text, section=section, when=own, unfit=unfit)
        )


def _answers(question: Row, form: _Form) -> list[Answer] | None:
    """The answers of a question; None where they are words of LimeSurvey that are not known in the language."""
    kind = question.get("type", "")
    if kind in POINTS:
        return [Answer(str(point), str(point)) for point in range(1, POINTS[kind] + 1)]
    if kind in WORDED:
        language = form.language.casefold().replace("_", "-")
        words = WORDED[kind].get(language) or WORDED[kind].get(language.partition("-")[0])
        return None if words is None else [Answer(code, label) for code, label in words]
    rows = form.answers.get(question.get("qid", ""), [])
    return [Answer(row.get("code", ""), plain_text(row.get("answer"))) for row in rows]


def _condition(question: Row, form: _Form) -> str | None:
    group = form.groups.get(question.get("gid", ""), {}).get("grelevance", "")
    own = _relevance(question) or form.conditions.get(question.get("qid", ""))
    return joined_conditions(None if group in NO_CONDITION else group, own)


def _relevance(row: Row) -> str | None:
    written = row.get("relevance", "")
    return None if written in NO_CONDITION else written


def _order_of(row: Row) -> float:
    return _number(row.get("question_order"))


def _number(written: str | None) -> float:
    try:
        return float(written or 0)
    except ValueError:
        return 0.0
