"""Forms in two languages, side by side or one after the other, and pages that lie on their side."""

import textwrap

import pypdfium2
import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from valuesassets.instruments.survey.material.extracted_questions import examine_questions, extract_questions
from valuesassets.instruments.survey.material.forms.layout.pages import read_pages
from valuesassets.instruments.survey.material.forms.layout.text_layer import DISTINGUISHED, foreign_language
from valuesassets.instruments.survey.material.forms.review_page import render_review
from valuesassets.records.files import read_json
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.instruments.survey.material.forms.paper_forms import BUNDLED, HEIGHT, PaperForm
from valuesassets_tests.needs import shared_file
from valuesassets_tests.studies.expected_questions import expected_questions

FONT = BUNDLED.parent / "fonts" / "DejaVuSansCondensed.ttf"
COLUMNS = (60, 300)


class TwoColumns(PaperForm):
    """A form with the same questions in two languages, a column each, and their codes at the right edge."""

    def text(self, x, written, bold=False, size=8, italic=False):
        self.canvas.setFont("Wide", size)
        self.canvas.drawString(x, HEIGHT - self.y, written)

    def both(self, *questions):
        texts = [textwrap.wrap(question.text, 44) for question in questions]
        if self.y > 600:
            self.new_page()
        self.down(16)
        self.text(30, f"Q{questions[0].id[1:]}")
        self.text(540, f"({questions[0].id})")
        for number in range(max(map(len, texts))):
            for x, lines in zip(COLUMNS, texts, strict=True):
                self.text(x, lines[number] if number < len(lines) else "")
            self.down(11)
        for options in zip(*(question.options for question in questions), strict=True):
            for x, option in zip(COLUMNS, options, strict=True):
                self.text(x + 5, f"{option.value} - {option.label}")
            self.down(11)


def fits(question):
    """Whether a column is wide enough for each label."""
    return len(question.options) < 8 and max(len(option.label) for option in question.options) < 40


def two_columns(path, left, right):
    pdfmetrics.registerFont(TTFont("Wide", str(FONT)))
    paper = TwoColumns(path)
    pairs = [(one, other) for one, other in zip(expected_questions(left), expected_questions(right), strict=True)]
    for one, other in pairs:
        if fits(one) and fits(other):
            paper.both(one, other)
    return paper.save()


@pytest.mark.parametrize(
    ("left", "right", "language"), [("slk", "hun", "slk"), ("slk", "hun", "hun"), ("est", "bul", "est")]
)
@pytest.mark.slow
def test_of_two_columns_in_two_languages_the_declared_one_is_read(tmp_path, left, right, language):
    pdf = two_columns(tmp_path / "form.pdf", left, right)
    examined = examine_questions(extract_questions(pdf, language), pdf, language)
    pairs = zip(*map(expected_questions, (left, right)), strict=True)
    printed = [one.id for one, other in pairs if fits(one) and fits(other)]
    wanted = {question.id: question for question in expected_questions(language) if question.id in printed}
    assert len(wanted) > 15
    assert [question.id for question in examined.questions] == list(wanted)
    for question in examined.questions:
        assert question.text == wanted[question.id].text
        assert [(o.value, o.label) for o in question.options] == [
            (o.value, o.label) for o in wanted[question.id].options
        ]
    assert [fault.message for fault in examined.faults] == []


@pytest.mark.slow
def test_of_a_form_with_its_second_language_behind_it_those_questions_are_left_out_with_a_note(tmp_path):
    with pypdfium2.PdfDocument.new() as both:
        for language in ("slk", "hun"):
            with pypdfium2.PdfDocument(BUNDLED / f"{language}.pdf") as one:
                both.import_pages(one)
        both.save(tmp_path / "form.pdf")
    pdf = tmp_path / "form.pdf"
    examined = examine_questions(extract_questions(pdf, "slk"), pdf, "slk")
    assert [q.text for q in examined.questions] == [q.text for q in expected_questions("slk")]
    notes = {change.why for change in examined.changes}
    assert notes == {"in hun, not in slk: the form's other language"}
    assert len(examined.changes) == len(expected_questions("hun"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_question_of_a_bundled_form_is_in_its_own_language(language):
    texts = [" ".join([q.text, *(o.label for o in q.options)]) for q in expected_questions(language)]
    assert [text for text in texts if foreign_language(text, language)] == []


def test_languages_of_one_family_are_distinguished_by_a_whole_question():
    for one, other in (("slk", "ces"), ("dan", "swe"), ("hrv", "slv"), ("est", "fin"), ("spa", "por"), ("lit", "lvs")):
        texts = [" ".join([q.text, *(o.label for o in q.options)]) for q in expected_questions(one)]
        languages = [foreign_language(text, other) for text in texts]
        assert languages.count(one) >= 0.8 * len(texts), (one, other, languages)
    assert set(LANGUAGES) <= set(DISTINGUISHED)


def test_short_texts_and_unknown_languages_are_not_judged():
    assert foreign_language("Ja", "fra") is None
    assert foreign_language("Wie wichtig sind Freunde in Ihrem Leben? Sehr wichtig", "jpn") is None


@pytest.mark.parametrize("degrees", [90, 180, 270])
@pytest.mark.slow
def test_a_page_that_lies_on_its_side_is_read_and_shown_upright(tmp_path, degrees):
    with pypdfium2.PdfDocument(BUNDLED / "eng.pdf") as form:
        form[2].set_rotation(degrees)
        form.save(tmp_path / "form.pdf")
    pdf = tmp_path / "form.pdf"
    assert [page.turn for page in read_pages(pdf)] == [360 - degrees if number == 2 else 0 for number in range(7)]
    upright = extract_questions(BUNDLED / "eng.pdf", "eng")
    turned = extract_questions(pdf, "eng")
    assert [(q.id, q.text, q.options, q.page) for q in turned] == [(q.id, q.text, q.options, q.page) for q in upright]
    examined = examine_questions(turned, pdf, "eng")
    assert examined.faults == ()
    straight = examine_questions(upright, BUNDLED / "eng.pdf", "eng")
    pages = [render_review(each, pdf, "eng", pdf) for each in (examined,)]
    assert "data:image/png" in pages[0]
    assert len(pages[0]) == pytest.approx(len(render_review(straight, BUNDLED / "eng.pdf", "eng", pdf)), rel=0.1)


@pytest.mark.published
@pytest.mark.slow
def test_of_real_extractions_only_the_hungarian_questions_in_the_slovak_one_are_foreign():
    foreign = set()
    for file in sorted(shared_file("data", "evs_extractions").glob("*.json")):
        for row in read_json(file):
            labels = [str(option.get("label") or "") for option in row.get("options") or []]
            if other := foreign_language(" ".join([row.get("text") or "", *labels]), file.stem):
                foreign.add((file.stem, other))
    assert foreign == {("slk", "hun")}
