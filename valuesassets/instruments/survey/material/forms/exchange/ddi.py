"""Reads the questions that a data file's codebook documents (DDI-Codebook 1.2 to 2.6, XML).

Source: DDI Alliance, DDI-Codebook. A variable is a question where it has `qstnLit` and categories.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from valuesassets.instruments.survey.material.forms.exchange.entries import Answer, Entry, FormContent
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.exchange.plain_text import INLINE, plain_text, why_quoting
from valuesassets.instruments.survey.material.forms.exchange.safe_files import xml_root
from valuesassets.records.errors import QuestionError

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
Element = ElementTree.Element
WORDS = ("qstnLit", "preQTxt", "labl", "txt", "universe", "qstn")


@dataclass(frozen=True)
class _Codebook:
    """The words of one language, and the groups by variable."""

    language: str
    main: str
    grids: dict[str, Element]
    sections: dict[str, Element]
    several: frozenset[str]
    repeated: frozenset[str]
    """Names that variables of several data files have."""


def read_ddi(path: Path, wanted: WantedLanguage) -> FormContent:
    """The entries of a codebook.

    Raises:
        QuestionError: no DDI-Codebook, XML with entities, no question text in it, or it lacks the language that is
            named.
    """
    root = xml_root(path, "a DDI-Codebook")
    if root.tag == "DDIInstance":
        raise QuestionError(f"{path}: is DDI-Lifecycle, which is not read; export it as DDI-Codebook")
    variables = [*root.iterfind("dataDscr/var")]
    if root.tag != "codeBook" or not variables:
        raise QuestionError(
            f"{path}: no variables, a DDI-Codebook (codeBook, dataDscr, var) was expected; export it with its variables"
        )
    if not any(_has_question(variable) for variable in variables):
        raise QuestionError(
            f"{path}: none of its {len(variables)} variables has the text of its question (qstnLit); take a codebook "
            "with questions, or write a table of them"
        )
    book, content = _codebook(root, variables, path, wanted), FormContent()
    for variable in variables:
        _read_variable(variable, book, content)
    return content


def _has_question(variable: Element) -> bool:
    questions = variable.findall("qstn")
    return any(_own_words(each) or any(map(_whole_text, each.iter("qstnLit"))) for each in questions)


def _codebook(root: Element, variables: list[Element], path: Path, wanted: WantedLanguage) -> _Codebook:
    main = root.get(LANGUAGE, "")
    spoken = (
        part.get(LANGUAGE, main)
        for variable in variables
        for each in variable.iterfind("qstn")
        for part in (each.findall("qstnLit") or [each])
    )
    languages = list(dict.fromkeys(spoken))
    main = main if main in languages else languages[0]
    grids, sections, several = {}, {}, set()
    for group in root.iterfind("dataDscr/varGrp"):
        kind, names = group.get("type", ""), group.get("var", "").split()
        several |= {*names} if kind == "multipleResp" else set()
        place = grids if kind == "grid" else sections
        place.update({} if kind == "multipleResp" else dict.fromkeys(names, group))
    language, repeated = wanted.among(languages, main, path), _names_in_several_files(variables)
    return _Codebook(language, main, grids, sections, frozenset(several), repeated)


def _names_in_several_files(variables: list[Element]) -> frozenset[str]:
    files: dict[str, list[str]] = {}
    for variable in variables:
        files.setdefault(variable.get("name", ""), []).append(variable.get("files", ""))
    return frozenset(name for name, each in files.items() if len(each) > 1 and len({*each}) == len(each))


def _read_variable(variable: Element, book: _Codebook, content: FormContent) -> None:
    """Add a variable's question to the content."""
    name, identifier = variable.get("name", ""), variable.get("ID", "")
    if name in book.repeated:
        name = f"{variable.get('files', '')}/{name}"
    question = variable.find("qstn")
    text = "" if question is None else _words(question, "qstnLit", book) or _own_words(question)
    label = _words(variable, "labl", book)
    if not text:
        content.leave_out(name, label, "no text of a question (qstnLit)")
        return
    if not _is_spoken(question, book):
        content.leave_out(name, text, f"its question has no text in {book.language}")
        return
    if identifier in book.several or (question is not None and question.get("responseDomainType") == "multiple"):
        content.leave_out(name, text, "one of several answers that may be chosen")
        return
    answers = [*_answers(variable, book)]
    if not answers:
        content.leave_out(name, text, "no categories, no closed question with one answer")
        return
    grid, group = book.grids.get(identifier), book.sections.get(identifier)
    before = "" if question is None else _words(question, "preQTxt", book)
    stem = before or ("" if grid is None else _words(grid, "txt", book) or _words(grid, "labl", book))
    stem = "" if stem == text else stem
    section = "" if group is None else _words(group, "labl", book)
    when = "; ".join(filter(None, map(_universe, _in_language(variable, "universe", book))))
    unfit = why_quoting(stem, text, *(answer.label for answer in answers))
    content.entries.append(Entry(name, text, answers, stem or None, section or None, when or None, unfit))


def _universe(element: Element) -> str:
    """Whom a question is asked; with the mark of DDI for those who are left out."""
    words = _whole_text(element)
    return f"all but: {words}" if words and element.get("clusion") == "E" else words


def _answers(variable: Element, book: _Codebook) -> Iterator[Answer]:
    """The categories of a variable; those without a code and sums of others are none."""
    ranges = [*_invalid_ranges(variable)]
    for category in variable.iterfind("catgry"):
        code = plain_text(category.findtext("catValu"))
        if code:
            is_missing = category.get("missing", "").upper() in ("Y", "YES", "TRUE") or _is_in(code, ranges)
            yield Answer(code, _words(category, "labl", book), is_missing)


def _invalid_ranges(variable: Element) -> Iterator[tuple[str, str]]:
    """The codes that a codebook declares missing: lowest and highest."""
    for declared in variable.iterfind("invalrng"):
        for item in declared.iterfind("item"):
            yield item.get("VALUE", ""), item.get("VALUE", "")
        for each in declared.iterfind("range"):
            yield each.get("min", "-inf"), each.get("max", "inf")


def _is_in(code: str, ranges: list[tuple[str, str]]) -> bool:
    for low, high in ranges:
        try:
            if float(low) <= float(code) <= float(high):
                return True
        except ValueError:
            if code == low:
                return True
    return False


def _words(element: Element, tag: str, book: _Codebook) -> str:
    """The words of the first child with this tag in the codebook's language; else in its main one."""
    texts = [_whole_text(each) for each in _in_language(element, tag, book)]
    return next(filter(None, texts), "")


def _in_language(element: Element, tag: str, book: _Codebook) -> list[Element]:
    parts = element.findall(tag)
    spoken = [part for part in parts if part.get(LANGUAGE, book.main) == book.language]
    return spoken or [part for part in parts if part.get(LANGUAGE, book.main) == book.main]


def _is_spoken(question: Element | None, book: _Codebook) -> bool:
    """Whether a question has words in the language that is read, and not only in the codebook's main one."""
    parts = [] if question is None else question.findall("qstnLit") or [question]
    return any(part.get(LANGUAGE, book.main) == book.language for part in parts)


def _own_words(question: Element) -> str:
    """The words that stand in `qstn` itself, as in DDI 1.2."""
    return plain_text(question.text)


def _whole_text(element: Element) -> str:
    return plain_text(" ".join("".join(_texts(element)).split()))


def _texts(element: Element) -> Iterator[str]:
    """The texts of an element, with blanks around paragraphs and the like."""
    yield element.text or ""
    for part in element:
        edge = "" if part.tag in INLINE else " "
        yield edge
        yield from _texts(part)
        yield edge
        yield part.tail or ""
