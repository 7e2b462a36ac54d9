"""Web scripts printed for a test from the words of the bundled questionnaire."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, KeepTogether, SimpleDocTemplate, Spacer

from valuesassets.studies.questionnaires.content import FormQuestion, Words, load_form, load_words
from valuesassets.studies.questionnaires.render import BODY, BOLD, _paragraph, _table

ASKED = ParagraphStyle("asked", BODY, fontName=BOLD)
ITEM = ParagraphStyle("item", ASKED, leftIndent=30)


@dataclass(frozen=True)
class Script:
    """How a script is printed.

    Attributes:
        language: of the words, by the place of a question in the form.
        name: what opens a question, of its number, its item's letter and its variable.
        answer: what stands behind a label, of its code.
        places: the questions that are printed, from the first place to before the last.
    """

    language: Callable[[int], str]
    name: Callable[[str, str, str], str] = lambda number, letter, code: (
        f"[Q{number}{letter}]" + (f"[{code}]" if code else "")
    )
    answer: Callable[[int], str] = lambda code: f"[{code}]"
    places: tuple[int, int | None] = (0, None)

    def print(self, path: Path) -> Path:
        """Write the PDF."""
        flowables = [
            each for place, question in _numbered()[slice(*self.places)] for each in self._question(place, question)
        ]
        SimpleDocTemplate(str(path), pagesize=A4, invariant=1).build(flowables)
        return path

    def _question(self, place: int, question: FormQuestion) -> Iterator[Flowable]:
        words, number = load_words(self.language(place)), str(place + 1)
        worded = words.questions[question.name]
        if place == 0 or load_form()[place - 1].section != question.section:
            yield from (_line(f"[SECTION{place}]"), _line(words.sections[question.section], ASKED), Spacer(1, 14))
        if question.is_list_to_choose_from:
            yield from (_line(self.name(number, "", "")), _line(worded.text, ASKED), Spacer(1, 12))
            rows = [
                [self.name(number, letter, code), worded.items[code], self.answer(1)]
                for letter, code in zip("ABCDEFGHIJKL", question.variables, strict=False)
            ]
            yield from (_table([[*map(_line, row)] for row in rows], [80, 260, 40], 2, []), Spacer(1, 20))
            return
        for place, (letter, code) in enumerate(zip(_letters(question), question.variables, strict=False)):
            text = worded.second_text if question.kind == "choices" and place else worded.text
            item = worded.items.get(code)
            block = [_line(self.name(number, letter, code)), _line(text, ASKED), Spacer(1, 12)]
            block += [_line(item, ITEM), Spacer(1, 4)] if item else []
            yield KeepTogether([*block, self._answers(question, words), Spacer(1, 18)])

    def _answers(self, question: FormQuestion, words: Words) -> Flowable:
        labels = [*enumerate(words.labels(question), 1)]
        labels += zip(question.missing_codes, (words.form.dont_know, words.form.no_answer), strict=True)
        is_ten = len(words.labels(question)) == 10
        rows = [[label, str(code) if is_ten and code <= 10 else "", self.answer(code)] for code, label in labels]
        return _table([[*map(_line, row)] for row in rows], [230, 30, 40], 2, [])


def _numbered() -> list[tuple[int, FormQuestion]]:
    return [(place, question) for place, question in enumerate(load_form()) if question.response_type]


def _letters(question: FormQuestion) -> Iterator[str]:
    return iter([""]) if len(question.variables) == 1 else iter("ab" if question.kind == "choices" else "ABCDEFGHIJKL")


def _line(text: str, style: ParagraphStyle = BODY) -> Flowable:
    return _paragraph(text, style)
