"""Reads questionnaires as Qualtrics exports them (QSF, JSON).

Source: no specification is public; the keys are those of exported surveys. Questions stand in the order of the
survey's flow; skip logic and randomised orders are not read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.exchange.entries import (
    Answer,
    Entry,
    FormContent,
    either,
    joined_conditions,
)
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.exchange.plain_text import plain_text, why_quoting
from valuesassets.instruments.survey.material.forms.exchange.safe_files import read_form_bytes
from valuesassets.records.errors import QuestionError
from valuesassets.records.files import read_json

SINGLE = {"SAVR", "SAHR", "SACOL", "DL", "SB", "NPS"}
"""Selectors of multiple-choice questions that take one answer."""
GROUPS = {"AndIf": "And", "OrIf": "Or", "ElseIf": "Or"}
"""How a further group of conditions is joined to those before it."""
SINGLE_ROWS = {"SingleAnswer", "DL", "SACOL"}
KINDS = {
    "TE": "an open question",
    "DB": "a text without answers",
    "RO": "a ranking",
    "Slider": "sliders",
    "CS": "a constant sum",
    "SBS": "several questions side by side",
    "Timing": "a timer",
    "Meta": "facts about the browser",
    "Captcha": "a captcha",
    "FileUpload": "an upload",
    "HeatMap": "a heat map",
    "HotSpot": "a hot spot",
    "PGR": "groups to fill",
    "DD": "lists that depend on each other",
    "TreeSelect": "lists that depend on each other",
}


@dataclass(frozen=True)
class _Form:
    """What holds for all questions of a survey.

    Attributes:
        language: to read; None for the main one.
        repeated: names of items that several matrices have.
    """

    language: str | None
    repeated: frozenset[str]
    content: FormContent


@dataclass(frozen=True)
class _Place:
    """Where the flow has a block: its name, and the conditions of all branches around it."""

    section: str
    condition: str | None


def read_qsf(path: Path, wanted: WantedLanguage) -> FormContent:
    """The entries of a Qualtrics survey.

    Raises:
        QuestionError: no QSF, or the survey lacks the language that is named.
    """
    read_form_bytes(path)
    survey = read_json(path, QuestionError)
    elements = survey.get("SurveyElements") if isinstance(survey, dict) else None
    if not isinstance(elements, list) or not all(isinstance(element, dict) for element in elements):
        raise QuestionError(f"{path}: no SurveyElements, a survey of Qualtrics (QSF) was expected; export it anew")
    questions = {
        str(element.get("PrimaryAttribute")): element["Payload"]
        for element in elements
        if element.get("Element") == "SQ" and isinstance(element.get("Payload"), dict)
    }
    main = str(_mapping(survey.get("SurveyEntry")).get("SurveyLanguage") or "EN")
    others = dict.fromkeys(code for each in questions.values() for code in _mapping(each.get("Language")))
    language = wanted.among([main, *(code for code in others if code != main)], main, path)
    content, seen, repeated = FormContent(), set(), _repeated_item_names(questions)
    for name, place in _in_flow(elements):
        if name in questions and name not in seen:
            seen.add(name)
            form = _Form(None if language == main else language, repeated, content)
            _read_question(questions[name], place, form)
    for name, question in questions.items():
        if name not in seen:
            content.leave_out(_tag(question), _text(question), "the survey's flow does not reach it")
    return content


def _in_flow(elements: list[dict[str, Any]]) -> Iterator[tuple[str, _Place]]:
    """The questions' ids in the order of the flow; those of a survey without a flow in the order of its blocks."""
    blocks: dict[str, dict[str, Any]] = {}
    for payload in (element.get("Payload") for element in elements if element.get("Element") == "BL"):
        for block in _values(payload):
            if isinstance(block, dict) and block.get("Type") != "Trash":
                blocks[str(block.get("ID"))] = block
    flows = [element.get("Payload") for element in elements if element.get("Element") == "FL"]
    steps = [step for flow in flows for step in _steps(flow, None)] or [(name, None) for name in blocks]
    conditions: dict[str, list[str | None]] = {}
    for name, condition in steps:
        conditions.setdefault(name, []).append(condition)
    for name in conditions:
        block = blocks.get(name, {})
        place = _Place(plain_text(block.get("Description")), either(conditions[name]))
        for part in _values(block.get("BlockElements")):
            if isinstance(part, dict) and part.get("Type") == "Question":
                yield str(part.get("QuestionID")), place


def _steps(node: Any, condition: str | None) -> Iterator[tuple[str, str | None]]:
    """The blocks of a part of the flow, each with the conditions of the branches around it."""
    node = _mapping(node)
    if node.get("Type") in ("Block", "Standard") and node.get("ID"):
        yield str(node["ID"]), condition
    if node.get("Type") == "Branch":
        condition = joined_conditions(condition, worded_logic(node.get("BranchLogic")))
    for part in _values(node.get("Flow")):
        yield from _steps(part, condition)


def worded_logic(logic: Any) -> str | None:
    """A condition of Qualtrics in the words that its editor shows; None where there is none.

    >>> worded_logic({"0": {"0": {"Description": "<b>If</b> Age <i>Is Less Than</i> 18"}, "Type": "If"}})
    'If Age Is Less Than 18'
    """
    words = [_worded_group(group) for group in _values(logic) if isinstance(group, dict)]
    return " ".join(filter(None, words)) or None


def _worded_group(group: dict[str, Any]) -> str:
    words = " ".join(filter(None, map(_worded_expression, _expressions(group))))
    joint = GROUPS.get(str(group.get("Type")))
    return f"{joint} {words}" if joint and words else words


def _expressions(logic: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(logic, dict):
        return
    if logic.get("Type") == "Expression" or "Description" in logic or "LogicType" in logic:
        yield logic
        return
    for part in logic.values():
        yield from _expressions(part)


def _worded_expression(expression: Mapping[str, Any]) -> str:
    if description := plain_text(str(expression.get("Description") or "").replace("</span><span", "</span> <span")):
        return description
    keys = ("Conjuction", "Conjunction", "LeftOperand", "Operator", "RightOperand")
    return " ".join(plain_text(expression[key]) for key in keys if expression.get(key))


def _repeated_item_names(questions: Mapping[str, dict[str, Any]]) -> frozenset[str]:
    """The names that items of more than one matrix have."""
    names = [{*map(str, _mapping(each.get("ChoiceDataExportTags")).values())} for each in questions.values()]
    counts = Counter(name for each in names for name in each)
    return frozenset(name for name, count in counts.items() if count > 1)


def _read_question(question: dict[str, Any], place: _Place, form: _Form) -> None:
    """Add a question, or the items of a matrix, to the content."""
    tag, text, content, language = _tag(question), _text(question), form.content, form.language
    if why := _why_not_closed(question):
        content.leave_out(tag, text, why)
        return
    words = question
    if language is not None:
        words = _mapping(_mapping(question.get("Language")).get(language))
        if not words:
            content.leave_out(tag, text, f"it is not translated into {language}")
            return
    text = plain_text(words.get("QuestionText"))
    when = joined_conditions(place.condition, worded_logic(question.get("DisplayLogic")))
    if question.get("QuestionType") == "Matrix":
        content.entries += _items(question, words, text, place, when, form.repeated)
        return
    answers = _answers(question, words, "Choices", "ChoiceOrder")
    unfit = why_quoting(text, *(answer.label for answer in answers))
    content.entries.append(Entry(tag, text, answers, section=place.section, when=when, unfit=unfit))


def _items(
    question: dict[str, Any],
    words: Mapping[str, Any],
    stem: str,
    place: _Place,
    when: str | None,
    repeated: frozenset[str],
) -> Iterator[Entry]:
    """The items of a matrix with one answer a row."""
    tag = _tag(question)
    answers = _answers(question, words, "Answers", "AnswerOrder")
    names, statements = _mapping(question.get("ChoiceDataExportTags")), _by_key(question.get("Choices"))
    translated = _by_key(words.get("Choices"))
    for key in _order(question, "ChoiceOrder", statements):
        statement = _mapping(statements[key])
        item = plain_text(_mapping(translated.get(key)).get("Display"))
        own = joined_conditions(when, worded_logic(statement.get("DisplayLogic")))
        unfit = why_quoting(stem, item, *(answer.label for answer in answers))
        own_name = str(names.get(key) or key)
        name = own_name if own_name in {*map(str, names.values())} - repeated else f"{tag}_{own_name}"
        yield Entry(name, item, answers, stem=stem, section=place.section, when=own, unfit=unfit)


def _answers(question: Mapping[str, Any], words: Mapping[str, Any], key: str, order: str) -> list[Answer]:
    offered, translated = _by_key(question.get(key)), _by_key(words.get(key))
    codes = _by_key(question.get("RecodeValues"))
    names = _order(question, order, offered)
    missing = _missing_codes([str(codes.get(name, name)) for name in names])
    answers = []
    for name in names:
        code, when = str(codes.get(name, name)), worded_logic(_mapping(offered[name]).get("DisplayLogic"))
        answers.append(Answer(code, _label(offered[name], translated.get(name)), code in missing, when))
    return answers


def _missing_codes(codes: Sequence[str]) -> frozenset[str]:
    """The codes below 0; none where the codes are a scale around 0, such as -2 to 2.

    >>> sorted(_missing_codes(["1", "2", "-1"])), sorted(_missing_codes(["-2", "-1", "0", "1", "2"]))
    (['-1'], [])
    """
    below = frozenset(code for code in codes if code.startswith("-") and code[1:].isdecimal())
    end = max((int(code) for code in below), key=abs, default=0)
    is_scale = end < -1 and sorted(codes) == sorted(map(str, range(end, -end + 1)))
    return frozenset() if is_scale else below


def _label(offered: Any, translated: Any) -> str:
    """The words of an answer in the language that is read; figures need no translation."""
    own, main = (plain_text(_mapping(each).get("Display")) for each in (translated, offered))
    return own or ("" if any(map(str.isalpha, main)) else main)


def _why_not_closed(question: Mapping[str, Any]) -> str | None:
    kind, selector = str(question.get("QuestionType")), str(question.get("Selector"))
    if kind not in ("MC", "Matrix"):
        return KINDS.get(kind, f"type {kind}") + ", no closed question with one answer"
    if question.get("DynamicChoices") or question.get("DynamicAnswers"):
        return "its answers or items are carried over from another question"
    if kind == "MC":
        return None if selector in SINGLE else f"several answers may be chosen ({selector})"
    row = str(question.get("SubSelector"))
    is_single = selector == "Likert" and row in SINGLE_ROWS
    return None if is_single else f"a matrix ({selector}, {row}) that is not one answer a row"


def _tag(question: Mapping[str, Any]) -> str:
    return str(question.get("DataExportTag") or question.get("QuestionID") or "").strip()


def _text(question: Mapping[str, Any]) -> str:
    return plain_text(question.get("QuestionText"))


def _order(question: Mapping[str, Any], key: str, present: Mapping[str, Any]) -> list[str]:
    order = [str(name) for name in _values(question.get(key))]
    return [name for name in order if name in present] or list(present)


def _by_key(value: Any) -> dict[str, Any]:
    """An object of the file by its keys as text; PHP writes one with the keys 0 to n as an array."""
    pairs = enumerate(value) if isinstance(value, list) else _mapping(value).items()
    return {str(key): each for key, each in pairs}


def _values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [*_mapping(value).values()]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
