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

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, KeepTogether, PageBreak, PageTemplate, Table

from valuesassets.studies.questionnaires import page_elements as page
from valuesassets.studies.questionnaires.content import (
    LANGUAGES,
    Asked,
    Words,
    load_form,
    load_words,
    missing_codes,
    question_numbers,
    scale_labels,
)

FOLDER = Path(__file__).parent
AFTER_QUESTION = 14  # pt


def render(language: str, path: Path) -> None:
    """Write one language's questionnaire, byte for byte the same every time.

    Raises:
        StudyError: no questionnaire is bundled in that language.
    """
    words = load_words(language)

    def furnish(canvas: Any, document: Any) -> None:
        canvas.setFont(page.PLAIN, 8)
        if document.page > 1:
            canvas.drawString(page.MARGIN, A4[1] - 36, words.form.header)
        canvas.drawCentredString(A4[0] / 2, 28, str(document.page))

    frame = Frame(page.MARGIN, 44, page.WIDTH, A4[1] - 44 - 50, 0, 0, 0, 0)
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
    yield from (page.gap(150), page.paragraph(form.title, page.TITLE), page.gap(6), page.paragraph(form.subtitle))
    yield from (page.gap(60), page.paragraph(form.instructions_heading, page.SECTION))
    for line in form.instructions:
        yield from (page.paragraph(line), page.gap(6))
    yield PageBreak()


def _question_pages(words: Words) -> Iterator[Flowable]:
    yield from (page.paragraph(words.form.greeting), page.gap(AFTER_QUESTION))
    section = ""
    for asked in load_form():
        block = list(_question(asked, words))
        if asked.section != section:
            section = asked.section
            block = [page.gap(4), page.paragraph(words.sections[section], page.SECTION), *block]
        yield KeepTogether([*block, page.gap(AFTER_QUESTION)])
    yield PageBreak()


def _question(asked: Asked, words: Words) -> Iterator[Flowable]:
    """A question as it stands on the page: note, number and text, then the answers."""
    worded, number = words.questions[asked.name], question_numbers()[asked.name]
    notes = _notes(asked, words)
    if notes:
        yield page.note(" – ".join(notes))
    yield page.stem(number, worded.text)
    if worded.second_text:
        yield page.stem(number + 1, worded.second_text)
    yield _answers(asked, words)


def _answers(asked: Asked, words: Words) -> Table:
    form, worded = words.form, words.questions[asked.name]
    labels = scale_labels(asked, words)
    missing = missing_codes(asked)
    short = list(zip(missing, (form.dont_know_short, form.no_answer_short), strict=True))
    rows = [(variable, worded.items.get(variable, "")) for variable in asked.variables]
    match asked.kind:
        case "list":
            spontaneous = list(zip(missing, (form.dont_know, form.no_answer), strict=True))
            routed = [(code, label + _route(asked, code, words)) for code, label in enumerate(labels, 1)]
            return page.answer_list(routed, spontaneous if asked.response_type else [], asked.variables[0])
        case "grid":
            codes = [str(code) for code in (*range(1, len(labels) + 1), *missing)]
            return page.grid(rows, [*labels, *[label for _, label in short]], [codes] * len(rows), asked.has_letters)
        case "scale":
            return page.scale((labels[0], labels[-1]), short, asked.variables[0])
        case "scales":
            return page.scales(rows, (labels[0], labels[-1]), short)
        case "choices":
            first = question_numbers()[asked.name]
            names = (form.first_choice, form.second_choice)
            columns = [
                (f"Q{first + position}", variable, names[position]) for position, variable in enumerate(asked.variables)
            ]
            return page.choices(labels, columns, short)
        case "blank":
            return page.blank(asked.variables[0])


def _notes(asked: Asked, words: Words) -> list[str]:
    numbers = {name: f"Q{number}" for name, number in question_numbers().items()}
    card = [words.notes["show_card"].format(card=_card_numbers()[asked.name])] if asked.has_card else []
    return card + [words.notes[key].format(**numbers) for key in asked.notes]


def _route(asked: Asked, code: int, words: Words) -> str:
    if code not in asked.routes:
        return ""
    target = f"Q{question_numbers()[asked.routes[code]]}"
    return f" {'-' * 40}> {words.notes['go_to'].format(question=target)}"


def _card_numbers() -> dict[str, int]:
    return {asked.name: number for number, asked in enumerate((a for a in load_form() if a.has_card), 1)}


def _card_pages(words: Words) -> Iterator[Flowable]:
    yield page.paragraph(words.form.cards_heading, page.TITLE)
    yield page.gap(12)
    for asked in load_form():
        if asked.has_card:
            title = words.notes["card"].format(card=_card_numbers()[asked.name])
            yield page.show_card(title, _card_lines(asked, words))


def _card_lines(asked: Asked, words: Words) -> Sequence[str]:
    """What a respondent has to see: the list to choose from, the two ends of the scale, or the answers."""
    worded = words.questions[asked.name]
    if asked.kind in ("scale", "scales"):
        low, high = worded.options
        return [f"1  {low}", "2   3   4   5   6   7   8   9", f"10  {high}"]
    if asked.is_list_to_choose_from or asked.kind == "choices":
        entries = [*worded.items.values()] or worded.options
        return [f"{chr(ord('A') + position)}   {entry}" for position, entry in enumerate(entries)]
    return worded.options


def _main(arguments: Sequence[str]) -> int:
    is_check = "--check" in arguments
    different = []
    for language in [argument for argument in arguments if argument != "--check"] or LANGUAGES:
        committed = FOLDER / f"{language}.pdf"
        with tempfile.TemporaryDirectory() as folder:
            fresh = Path(folder) / committed.name
            render(language, fresh)
            if not committed.is_file() or committed.read_bytes() != fresh.read_bytes():
                different.append(committed.name)
                if not is_check:
                    committed.write_bytes(fresh.read_bytes())
    for name in different:
        print(f"{name}: {'differs from what its words give; render it again' if is_check else 'written'}")
    return int(is_check and bool(different))


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
