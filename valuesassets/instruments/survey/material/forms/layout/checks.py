"""Checks on an extraction: each fault names the question, the page, the problem, and what to do."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from valuesassets.instruments.survey.material.alignment.evidence import question_numbers
from valuesassets.instruments.survey.material.forms.layout import lost_lines, text_layer
from valuesassets.instruments.survey.material.forms.layout.grounding import Form
from valuesassets.instruments.survey.material.forms.layout.lines import Line, page_lines
from valuesassets.instruments.survey.material.forms.layout.pages import Page, read_pages
from valuesassets.instruments.survey.material.forms.layout.readings import read_form
from valuesassets.people.variables import Variables, canonical_id, load_variables
from valuesassets.records.lexicon import Lexicon, known_lexicon
from valuesassets.records.questions import Question, is_missing_code, question_faults

DAMAGED_SHARE = 0.005  # share of words with unreadable glyphs above which a whole form counts as damaged
SCRIPT_SHARE = 0.6  # least share of a question's letters in the language's script
OTHER_HALF = 0.25  # least share of a form's letters in its language's script; bilingual forms have about half
MOST_FOREIGN = 0.8  # most pages or questions of a form, as a share, in another language
GAP_SHARE = 0.2  # a form that lacks a larger share of the master's codes is a short form, and its gaps are no faults


@dataclass(frozen=True)
class Fault:
    """A problem for a person to review; `question_id` and `page` are None if it concerns the whole form."""

    question_id: str | None
    page: int | None
    check: str
    message: str


def extraction_faults(
    questions: Sequence[Question],
    pdf: Path | None,
    language: str,
    form: Form | None = None,
    lexicon: Lexicon | None = None,
) -> list[Fault]:
    """The problems that a person must review before the questions are used, those of the whole form first.

    Args:
        pdf: the form of the questions, for any extractor; None if the questions were made elsewhere.
        form: its pages, if they were searched before.
        lexicon: the language's words around a question; the bundled ones if left out.
    """
    variables = load_variables().of(questions)
    alone = [] if questions else [Fault(None, None, "no_questions", _none_read(pdf, language))]
    alone += [*shape_faults(questions, variables), *_text_faults(questions, language)]
    if pdf is None:
        alone += _stray_faults(questions, variables)
        return [
            *language_faults(questions, language),
            *alone,
            *_as_faults(lost_lines.battery_faults(questions, is_printed=False)),
        ]
    pages = text_layer.own_pages(read_pages(pdf), language)
    return [
        *_damage_faults(read_pages(pdf), language),
        *alone,
        *_grounding_faults(questions, form or Form(pages)),
        *_code_faults(questions, pages, variables.is_excluded),
        *lost_line_faults(questions, pages, lexicon or known_lexicon(language)),
    ]


def lost_line_faults(questions: Sequence[Question], pages: Sequence[Page], lexicon: Lexicon | None) -> list[Fault]:
    """Signs that the text layer has lost lines (`lost_lines`)."""
    form = read_form(tuple(pages))
    coded = {each.source_id for each in form.readings if each.code}
    doubts = (
        lost_lines.battery_faults(questions, lexicon),
        lost_lines.cell_faults(questions, pages),
        lost_lines.row_faults(pages),
        lost_lines.empty_row_faults(questions, pages),
        lost_lines.number_faults(form.numbers, coded),
    )
    return [*_as_faults(itertools.chain(*doubts))]


def _as_faults(doubts: Iterable[lost_lines.Doubt]) -> Iterator[Fault]:
    for code, page, message in doubts:
        where = f"{code} (page {page})" if page else code
        yield Fault(code, page, "lost_line", f"{where}: {message}")


def _none_read(pdf: Path | None, language: str) -> str:
    """The message for a form without questions."""
    what_to_do = "write its questions into a table, which `valuesassets template questions` begins"
    if pdf is None:
        return f"no question was read; {what_to_do}"
    form = read_form(text_layer.own_pages(read_pages(pdf), language))
    if form.layout:
        return f"no question was read, though the form looks like a {form.layout} ({form.why}); {what_to_do}"
    return f"no question was read: the form is set in no layout that is known ({form.why}); {what_to_do}"


def _damage_faults(pages: Sequence[Page], language: str) -> Iterator[Fault]:
    """Faults of the form's whole text layer."""
    words = [word.text for page in pages for word in page.words]
    share, text = text_layer.unreadable_share(words), " ".join(words)
    if share > DAMAGED_SHARE:
        worst = max(pages, key=lambda page: text_layer.unreadable_share([word.text for word in page.words]))
        example = next(word.text for word in worst.words if text_layer.is_damaged(word.text))
        yield Fault(
            None, worst.number, "damaged_text",
            f"{share:.1%} of the form's words hold glyphs without a character, such as {example[:40]!r} on page "
            f"{worst.number}; {text_layer.ADVICE}",
        )  # fmt: skip
    else:
        own = [" ".join(word.text for word in page.words) for page in text_layer.own_pages(tuple(pages), language)]
        foreign = [*_other_language("form", text, own, f"the form's {len(own)} pages", language)]
        yield from foreign
        if foreign:
            return
    if lost := text_layer.lost_letters(text, language):
        message = (
            f"the letters {' '.join(lost)} of {language} never occur in {len(text)} characters; {text_layer.ADVICE}"
        )
        yield Fault(None, None, "damaged_text", message)


def language_faults(questions: Sequence[Question], language: str) -> Iterator[Fault]:
    """Faults of questions without a form that are in another language."""
    texts = [question.text for question in questions]
    return _other_language("questions", " ".join(texts), texts, f"{len(texts)} questions", language)


def shape_faults(questions: Sequence[Question], variables: Variables) -> Iterator[Fault]:
    """Incomplete questions, codes for don't know among the options, and repeated ids.

    In a known survey only codes must be unique, since items of a list may share its number; otherwise every id must be.
    """
    seen: Counter[str] = Counter()
    letters = variables.letters_of(questions)
    is_survey_known = variables.survey_of(questions, question_numbers(questions)) is not None
    for question in questions:
        is_code = question.id[:1] in letters and question.id in variables.variables
        names_one = is_code if is_survey_known else bool(question.id.strip())
        seen[question.id] += 1
        if seen[question.id] == 2 and names_one:
            yield _fault(
                question, "duplicate_id",
                "stands twice (a split sample, or a misprint); keep one, and remove the other or give it its own id",
            )  # fmt: skip
        for fault in question_faults(question):
            has_missing = any(is_missing_code(value, len(question.values)) for value in question.values)
            check = "dk_codes" if has_missing and "don't know" in fault else "complete"
            yield _fault(question, check, f"{fault}; compare with the page and mend the question by hand")
        expected = variables.option_count(question.id) if is_code else None
        if expected is not None and expected != len(question.options) and not question_faults(question):
            yield _fault(
                question, "complete",
                f"{len(question.options)} options, the master has {expected}; compare with the page: was a label lost?",
            )  # fmt: skip


def _stray_faults(questions: Sequence[Question], variables: Variables) -> Iterator[Fault]:
    """Questions that would not be asked, because the other ids are read as codes of a survey without these ids."""
    numbers = question_numbers(questions)
    letter = variables.survey_of(questions, numbers)
    codes = [question.id for question in questions if question.id in variables.variables and question.id[:1] == letter]
    stray = [
        question
        for question, number in zip(questions, numbers, strict=True)
        if number is None and canonical_id(question.id) is None and question.id not in variables.variables
    ]
    if codes and stray:
        ids = ", ".join(question.id for question in stray[:5]) + (", ..." if len(stray) > 5 else "")
        yield _fault(
            stray[0], "no_code",
            f"{len(codes)} of {len(questions)} ids, such as {codes[0]}, are taken for a survey's codes; the others "
            f"({ids}) are none, and are matched to its variables by order, or asked of no model; where all ids are "
            "your own, say survey = 'own' under [questionnaires] (extract --survey own)",
        )  # fmt: skip


def _text_faults(questions: Sequence[Question], language: str) -> Iterator[Fault]:
    """Questions with unreadable glyphs, or in a script that their language does not use."""
    for question in questions:
        text = " ".join([question.text, *(option.label for option in question.options)])
        damaged = next((word for word in text.split() if text_layer.is_damaged(word)), None)
        share = text_layer.script_share(text, language)
        if damaged:
            yield _fault(
                question, "damaged_text", f"holds {damaged[:40]!r}, glyphs without a character; {text_layer.ADVICE}"
            )
        elif share is not None and share < SCRIPT_SHARE:
            yield _fault(
                question, "script",
                f"only {share:.0%} of its letters are {text_layer.named_script(language)}, as {language} is written: "
                "the second language of the form? Take the question out of the other column",
            )  # fmt: skip


def _grounding_faults(questions: Sequence[Question], form: Form) -> Iterator[Fault]:
    """Questions with a string that is not on or next to their page, or a label beside another code."""
    for question in questions:
        if failing := [each for each in form.ground(question) if each.fault]:
            more, first = f" (and {len(failing) - 1} more of its strings)" if len(failing) > 1 else "", failing[0]
            message = f"{first.field} {first.text[:60]!r}: {first.fault}{more}; read the page and correct the text"
            yield _fault(question, "grounding", message)


def _code_faults(
    questions: Sequence[Question], pages: Sequence[Page], is_excluded: Callable[[str], bool]
) -> Iterator[Fault]:
    """Codes that the form prints or skips and no question has, and answers without a code."""
    ids = {question.id for question in questions}
    printed: dict[str, int] = {}
    anywhere: dict[str, int] = {}
    for page in pages:
        for line in page_lines(page):
            for code in _margin_codes(line):
                printed.setdefault(code, page.number)
            for word in line.codes:
                anywhere.setdefault(word.code or "", page.number)
    wanted = _codes_between(ids, is_excluded)
    printed |= {code: page for code, page in anywhere.items() if code in wanted and code not in printed}
    for code, page in printed.items():
        if code not in ids and not is_excluded(code):
            message = f"{code} is printed on page {page} but no question was read there; enter it by hand"
            yield Fault(code, page, "code_without_question", message)
    missing = [code for code in wanted if code not in ids and code not in printed]
    if len(missing) <= GAP_SHARE * len(wanted):
        for code in missing:
            yield Fault(
                code, None, "gap",
                f"{code} is nowhere in the form, though most codes around it are; was it asked in this country? "
                "If so, its code is misprinted: enter the question by hand",
            )  # fmt: skip
    form = read_form(pages)
    numbers = {question.source_id for question in questions}
    last = max((position for position, number in enumerate(form.numbers) if number in numbers), default=-1)
    numbers_before_end = form.numbers[: last + 2]
    for reading in form.readings:
        if reading.code is None and reading.options and reading.source_id in numbers_before_end:
            yield Fault(
                reading.source_id, reading.page, "answers_without_code",
                f"{reading.source_id} (page {reading.page}) has answers but no variable code; left out as a country's "
                "own question: give it a code if it is not",
            )  # fmt: skip


def _other_language(what: str, text: str, parts: Sequence[str], counted: str, language: str) -> Iterator[Fault]:
    """A fault if a text is in another script, or most of its parts in another language."""
    mend = f"name the language of the {what}, or the right file"
    share = text_layer.script_share(text, language)
    if share is not None and share < OTHER_HALF:
        whose = f"{what}'" if what.endswith("s") else f"{what}'s"
        script = text_layer.named_script(language)
        message = f"only {share:.0%} of the {whose} letters are {script}, as {language} is written; {mend}"
        yield Fault(None, None, "script", message)
        return
    spoken = [text_layer.foreign_language(part, language) for part in parts]
    foreign = [code for code in spoken if code is not None]
    if len(foreign) > MOST_FOREIGN * len(parts):
        most = max(set(foreign), key=foreign.count)
        message = f"{len(foreign)} of {counted} are not in {language}, most of them in {most}; {mend}"
        yield Fault(None, None, "language", message)


def _codes_between(ids: set[str], is_excluded: Callable[[str], bool]) -> list[str]:
    """The master's codes from the first to the last of some ids."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for match in filter(None, (re.fullmatch(r"([a-zA-Z])(\d+)", code) for code in ids)):
        numbers[match[1]].append(int(match[2]))
    between = [f"{letter}{n}" for letter, all_n in numbers.items() for n in range(min(all_n), max(all_n) + 1)]
    return [code for code in between if not is_excluded(code)]


def _margin_codes(line: Line) -> list[str]:
    """Codes that name a question: alone in a cell, in brackets, or at the margin."""
    alone = {cell.words[0] for cell in line.cells if len(cell.words) == 1}
    at_margin = line.words[:1] if line.is_ruled else ()
    named = (code for code in line.codes if code in alone or code in at_margin or code.text.startswith("("))
    return [code.code for code in named if code.code]


def _fault(question: Question, check: str, message: str) -> Fault:
    where = f"{question.id} (page {question.page})" if question.page else question.id
    return Fault(question.id, question.page, check, f"{where}: {message}")
