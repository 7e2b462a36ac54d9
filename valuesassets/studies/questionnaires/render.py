"""Print the bundled questionnaires: `python -m valuesassets.studies.questionnaires.render [--check] [language ...]`.

Byte for byte the same on every run; `--check` compares with the PDFs that are there and ends with 1 where one differs.

How a page is laid out, for whoever reads the PDFs back: the running header is above, the page number below. A section
starts with a bold line in capitals, a question with a boxed note in capitals (its show card, what to code), then its
number and text in bold. Under it stands one of
- an answer list: `1 – label` in lines, `8 – don't know (spontaneous)` under a rule, `(v7)` right of the first line;
- a grid with a line per item: `v1`, a letter where the list has letters, the item, the codes in columns under their
  labels, which may take several lines; don't know and no answer are the last two columns;
- a ten-point scale: the label of 1 at the left and that of 10 at the right above `1 2 3 ... 10 88 99`, DK and NA above
  the last two, and `(v39)` at the right of the labels; or a grid of such scales with a line per item;
- two choices out of one list: both question texts, each with its number, one after the other; the grid below has a
  line per option, `A`, the option, then in six columns its code as first choice, DK, NA, its code as second choice,
  DK, NA, under `Q13 (v110) first choice` and `Q14 (v111) second choice`; DK and NA codes are in the first line only.
"""

import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

from valuesassets.records.places import STUDIES
from valuesassets.studies.questionnaires.content import LANGUAGES, FormQuestion, Words, load_form, load_words

FOLDER = Path(__file__).parent
PLAIN, BOLD = "DejaVuSansCondensed", "DejaVuSansCondensed-Bold"
MARGIN = 48  # pt
WIDTH = A4[0] - 2 * MARGIN  # pt
CODE_WIDTH, LETTER_WIDTH = 36, 18  # pt, columns of the variable codes and of the letters A, B, ...
INDENT = 28  # pt, of a question's text and of what stands under it
THIN = 0.5  # pt
PADDING = 4  # pt left and right of a cell's text
AFTER_QUESTION = 14  # pt
ALL = ((0, 0), (-1, -1))  # every cell of a table
CELL = [("VALIGN", *ALL, "MIDDLE"), ("TOPPADDING", *ALL, 2), ("BOTTOMPADDING", *ALL, 3)]

for name in (PLAIN, BOLD):
    registerFont(TTFont(name, STUDIES / "fonts" / f"{name}.ttf"))

BODY = ParagraphStyle("body", fontName=PLAIN, fontSize=9, leading=11.5)
STEM = ParagraphStyle("stem", BODY, fontName=BOLD, leftIndent=INDENT, firstLineIndent=-INDENT, spaceAfter=4)
NOTE = ParagraphStyle("note", BODY, fontSize=8, leading=10)
SECTION = ParagraphStyle("section", BODY, fontName=BOLD, fontSize=10, leading=13, spaceAfter=8)
TITLE = ParagraphStyle("title", BODY, fontName=BOLD, fontSize=22, leading=28)
HEAD = ParagraphStyle("head", BODY, fontSize=7.5, leading=9, alignment=1)
LEFT_HEAD = ParagraphStyle("left", HEAD, alignment=0)
RIGHT_HEAD = ParagraphStyle("right", HEAD, alignment=2)
CARD = ParagraphStyle("card", BODY, fontSize=9.5, leading=11.5)


def render(language: str, path: Path) -> None:
    """Write one language's questionnaire, byte for byte the same every time.

    Raises:
        StudyError: no questionnaire is bundled in that language.
    """
    words = load_words(language)

    def furnish(canvas: Any, document: Any) -> None:
        canvas.setFont(PLAIN, 8)
        if document.page > 1:
            canvas.drawString(MARGIN, A4[1] - 36, words.form.header)
        canvas.drawCentredString(A4[0] / 2, 28, str(document.page))

    frame = Frame(MARGIN, 44, WIDTH, A4[1] - 44 - 50, 0, 0, 0, 0)
    document = BaseDocTemplate(
        str(path),
        pagesize=A4,
        pageTemplates=[PageTemplate("page", [frame], onPage=furnish)],
        title=words.form.title,
        author="valuesassets",
        lang=language,
        invariant=1,
    )
    document.build([*_title_page(words), *_question_pages(words), *_card_pages(words)])


def _title_page(words: Words) -> Iterator[Flowable]:
    form = words.form
    yield from (_gap(150), _paragraph(form.title, TITLE), _gap(6), _paragraph(form.subtitle))
    yield from (_gap(60), _paragraph(form.instructions_heading, SECTION))
    for line in form.instructions:
        yield from (_paragraph(line), _gap(6))
    yield PageBreak()


def _question_pages(words: Words) -> Iterator[Flowable]:
    yield from (_paragraph(words.form.greeting), _gap(AFTER_QUESTION))
    section = ""
    for question in load_form():
        block = list(_question(question, words))
        if question.section != section:
            section = question.section
            block = [_gap(4), _paragraph(words.sections[section], SECTION), *block]
        yield KeepTogether([*block, _gap(AFTER_QUESTION)])
    yield PageBreak()


def _card_pages(words: Words) -> Iterator[Flowable]:
    """The show cards: the name of each, and the answers as the respondent sees them, without codes."""
    yield from (_paragraph(words.form.cards_heading, TITLE), _gap(12))
    style = [("BOX", *ALL, THIN, colors.black), ("TOPPADDING", (0, 0), (-1, 0), 5), ("TOPPADDING", (0, 1), (-1, -1), 0)]
    style += [("BOTTOMPADDING", *ALL, 1), ("BOTTOMPADDING", (0, -1), (-1, -1), 6)]
    for number, question in enumerate((question for question in load_form() if question.has_card), 1):
        title = _paragraph(words.notes["card"].format(card=number), SECTION)
        lines = [_paragraph(line, CARD) for line in _card_lines(question, words)]
        yield _table([[title], *[[line] for line in lines]], [WIDTH], 14, style, spaceAfter=9)


def _card_lines(question: FormQuestion, words: Words) -> Sequence[str]:
    """What a respondent has to see: the list to choose from, the two ends of the scale, or the answers."""
    worded = words.questions[question.name]
    if question.kind in ("scale", "scales"):
        low, high = worded.options
        return [f"1  {low}", "2   3   4   5   6   7   8   9", f"10  {high}"]
    if question.is_list_to_choose_from or question.kind == "choices":
        return [f"{_letter(place)}   {entry}" for place, entry in enumerate(worded.items.values() or worded.options)]
    return worded.options


def _question_numbers() -> dict[str, int]:
    """Number of each question by its name; a first and second choice takes two, the first is given."""
    form = load_form()
    firsts = itertools.accumulate((2 if question.kind == "choices" else 1 for question in form), initial=1)
    return {question.name: first for question, first in zip(form, firsts, strict=False)}


def _question(question: FormQuestion, words: Words) -> Iterator[Flowable]:
    """A question as it stands on the page: boxed note, number and text, then the answers."""
    worded, numbers = words.questions[question.name], _question_numbers()
    cards = [each.name for each in load_form() if each.has_card]
    notes = [words.notes["show_card"].format(card=cards.index(question.name) + 1)] if question.has_card else []
    labels = {name: f"Q{number}" for name, number in numbers.items()}
    notes += [words.notes[key].format(**labels) for key in question.notes]
    if notes:
        note = " – ".join(notes)
        width = min(WIDTH, stringWidth(note, PLAIN, NOTE.fontSize) + 3 * PADDING)
        box = [*CELL, ("BOX", *ALL, THIN, colors.black)]
        yield _table([[_paragraph(note, NOTE)]], [width], PADDING, box, spaceAfter=4)
    for number, text in enumerate(filter(None, (worded.text, worded.second_text)), numbers[question.name]):
        blanks = round((INDENT - stringWidth(f"Q{number}", BOLD, 9)) / stringWidth(" ", BOLD, 9))
        yield _paragraph(f"Q{number}" + "\u00a0" * max(1, blanks) + text, STEM)
    kinds = {"list": _list, "grid": _grid, "scale": _scales, "scales": _scales, "choices": _choices, "blank": _blank}
    yield kinds[question.kind](question, words)


def _list(question: FormQuestion, words: Words) -> Table:
    """`1 – label` in lines, don't know and no answer under a rule, the variable code and a box at the right."""
    numbers = _question_numbers()
    targets = {
        code: words.notes["go_to"].format(question=f"Q{numbers[name]}") for code, name in question.routes.items()
    }
    arrows = {code: f" {'-' * 40}> {target}" for code, target in targets.items()}
    lines = [f"{code} – {label}{arrows.get(code, '')}" for code, label in enumerate(words.labels(question), 1)]
    style = [
        ("TOPPADDING", *ALL, 0),
        ("BOTTOMPADDING", *ALL, 1),
        ("FONT", (3, 0), (3, 0), PLAIN, 8),
        ("LEFTPADDING", (3, 0), (3, 0), 5),
        ("BOX", (2, 0), (2, 0), THIN, colors.black),
    ]
    if question.response_type:
        rule = ((1, len(lines)), (1, len(lines)))
        style += [("LINEABOVE", *rule, THIN, colors.black), ("TOPPADDING", *rule, 2)]
        missing = zip(question.missing_codes, (words.form.dont_know, words.form.no_answer), strict=True)
        lines += [f"{code} – {label}" for code, label in missing]
    cells = [["", _paragraph(line), "", ""] for line in lines]
    cells[0][3] = f"({question.variables[0]})"
    return _table(cells, [INDENT, WIDTH - INDENT - 14 - 40, 14, 40], 0, style)


def _grid(question: FormQuestion, words: Words) -> Table:
    """A battery: variable code, item and the code of every answer, a line per item under the answers' labels."""
    labels = words.labels(question)
    headers = (*labels, words.form.dont_know_short, words.form.no_answer_short)
    codes = [str(code) for code in (*range(1, len(labels) + 1), *question.missing_codes)]
    longest = [max(stringWidth(word, PLAIN, HEAD.fontSize) for word in header.split()) for header in headers]
    least = [28.0 if len(header) <= 3 else 44.0 for header in headers]
    widths = [max(width, word + 2 * PADDING + 2) for width, word in zip(least, longest, strict=True)]
    left = [CODE_WIDTH, LETTER_WIDTH] if question.has_letters else [CODE_WIDTH]
    first = len(left) + 1
    cells: list[list[Any]] = [[*[""] * first, *[_paragraph(header, HEAD) for header in headers]]]
    for place, variable in enumerate(question.variables):
        item = _paragraph(words.questions[question.name].items.get(variable, ""))
        cells.append([variable, *[_letter(place)] * question.has_letters, item, *codes])
    style = [
        *CELL,
        ("FONT", *ALL, PLAIN, 9),
        ("FONT", (0, 0), (0, -1), PLAIN, 8),
        ("ALIGN", (first, 0), (-1, -1), "CENTER"),
        ("GRID", (0, 1), (-1, -1), THIN, colors.black),
        ("GRID", (first, 0), (-1, 0), THIN, colors.black),
    ]
    if question.has_letters:
        style.append(("LINEAFTER", (1, 1), (1, -1), THIN, colors.white))
    return _table(cells, [*left, WIDTH - sum(left) - sum(widths), *widths], PADDING, style)


def _scales(question: FormQuestion, words: Words) -> Table:
    """Ten-point scales, the anchors above their ends: a line per item, or one with the variable code at the right."""
    worded, is_one = words.questions[question.name], question.kind == "scale"
    low, high = worded.options
    left, step, last = [CODE_WIDTH, 80 if is_one else 180], 20.0, 30.0
    head: list[Any] = ["", "", _paragraph(low, LEFT_HEAD), *[""] * 4, _paragraph(high, RIGHT_HEAD), *[""] * 4]
    head += [_paragraph(label, HEAD) for label in (words.form.dont_know_short, words.form.no_answer_short)]
    codes = [str(code) for code in (*range(1, 11), *question.missing_codes)]
    rows = [("", "")] if is_one else [(variable, worded.items[variable]) for variable in question.variables]
    body = [[variable, _paragraph(item), *codes, ""] for variable, item in rows]
    style = [
        *CELL,
        ("FONT", *ALL, PLAIN, 9),
        ("FONT", (0, 0), (0, -1), PLAIN, 8),
        ("FONT", (-1, 0), (-1, 0), PLAIN, 8),
        ("ALIGN", (-1, 0), (-1, 0), "RIGHT"),
        ("LEFTPADDING", (0, 0), (1, -1), PADDING),
        ("RIGHTPADDING", (1, 1), (1, -1), PADDING),
        ("ALIGN", (2, 1), (-1, -1), "CENTER"),
        ("SPAN", (2, 0), (6, 0)),
        ("SPAN", (7, 0), (11, 0)),
    ]
    if not is_one:
        style += [("GRID", (0, 1), (1, -1), THIN, colors.black), ("BOX", (2, 1), (-2, -1), THIN, colors.black)]
        style += [("LINEBELOW", (2, 1), (-2, -1), THIN, colors.black)]
    tail = WIDTH - sum(left) - 10 * step - 2 * last
    after = f"({question.variables[0]})" if is_one else ""
    return _table([[*head, after], *body], [*left, *[step] * 10, last, last, tail], 0, style)


def _choices(question: FormQuestion, words: Words) -> Table:
    """A list with a first and a second choice: a line per option, its code once under each choice."""
    number = _question_numbers()[question.name]
    short = [_paragraph(label, HEAD) for label in (words.form.dont_know_short, words.form.no_answer_short)]
    heads: list[Any] = []
    for place, choice in enumerate((words.form.first_choice, words.form.second_choice)):
        lines = (f"Q{number + place}", f"({question.variables[place]})", choice)
        heads += [[_paragraph(line, HEAD) for line in lines], *short]
    cells: list[list[Any]] = [["", "", *heads]]
    for value, option in enumerate(words.labels(question), 1):
        missing = [str(code) if value == 1 else "" for code in question.missing_codes]
        cells.append([_letter(value - 1), _paragraph(option), *[str(value), *missing] * 2])
    widths = [64.0, 28.0, 28.0] * 2
    style = [
        *CELL,
        ("FONT", *ALL, PLAIN, 9),
        ("ALIGN", (2, 0), (-1, -1), "CENTER"),
        ("GRID", (0, 1), (-1, -1), THIN, colors.black),
        ("GRID", (2, 0), (-1, 0), THIN, colors.black),
        ("LINEAFTER", (0, 1), (0, -1), THIN, colors.white),
    ]
    return _table(cells, [LETTER_WIDTH, WIDTH - LETTER_WIDTH - sum(widths), *widths], PADDING, style)


def _blank(question: FormQuestion, words: Words) -> Table:
    """Four places for digits, the variable code at the right."""
    style = [("FONT", (0, 0), (1, 0), PLAIN, 9), ("FONT", (2, 0), (2, 0), PLAIN, 8)]
    return _table([["", "_ " * 4, f"({question.variables[0]})"]], [INDENT, WIDTH - INDENT - 40, 40], 0, style)


def _table(cells: list[Any], widths: list[float], padding: float, style: list[Any], **more: Any) -> Table:
    sides = [(f"{side}PADDING", *ALL, padding) for side in ("LEFT", "RIGHT")]
    return Table(cells, widths, style=[*sides, *style], hAlign="LEFT", **more)


def _paragraph(text: str, style: ParagraphStyle = BODY) -> Paragraph:
    """Plain text as a paragraph; nothing in it is markup."""
    return Paragraph(escape(text, quote=False), style)


def _gap(height: float) -> Flowable:
    return Spacer(1, height)


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def _main(arguments: Sequence[str]) -> int:
    is_check = "--check" in arguments
    different = []
    for language in [argument for argument in arguments if argument != "--check"] or LANGUAGES:
        committed = FOLDER / f"{language}.pdf"
        with tempfile.TemporaryDirectory() as folder:
            render(language, Path(folder) / committed.name)
            fresh = (Path(folder) / committed.name).read_bytes()
        if not committed.is_file() or committed.read_bytes() != fresh:
            different.append(committed.name)
            if not is_check:
                committed.write_bytes(fresh)
    for name in different:
        print(f"{name}: {'differs from what its words give; render it again' if is_check else 'written'}")
    return int(is_check and bool(different))


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
