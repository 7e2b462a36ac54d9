"""A question's place is drawn from its own page, framed, and small; a page is drawn once."""

import base64
import io

import pypdfium2
from PIL import Image

from valuesassets.instruments.survey.material.extracted_questions import extract_questions
from valuesassets.instruments.survey.material.forms.form_pictures import ABOVE, FRAME, MARGIN, SMALL_DPI, draw_questions
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm


def form(tmp_path):
    paper = PaperForm(tmp_path / "form.pdf")
    paper.question("Q1", "Are you happy & well these days?")
    paper.options("v7", "1 – very happy", "2 – quite happy", "3 – not very happy", "4 – not at all happy")
    paper.question("Q2", "Are most people to be trusted?")
    paper.options("v31", "1 – most can be trusted", "2 – one cannot be too careful")
    return paper.save()


def opened(uri):
    return Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1])))


def test_every_place_is_a_strip_as_wide_as_the_page_with_a_frame(tmp_path):
    pdf = form(tmp_path)
    questions = extract_questions(pdf, "eng")
    drawn = draw_questions(pdf, questions)
    assert set(drawn) == {(question.page, question.box) for question in questions}
    width = round(pypdfium2.PdfDocument(pdf)[0].get_width() * SMALL_DPI / 72)
    wanted = tuple(int(FRAME[n : n + 2], 16) for n in (1, 3, 5))
    for (_, box), uri in drawn.items():
        picture = opened(uri)
        assert abs(picture.width - width) <= 1
        assert picture.height < (box[3] - box[1] + ABOVE + MARGIN + 2) * SMALL_DPI / 72
        assert len(uri) < 30_000
        colours = [rgb for _, rgb in picture.convert("RGB").getcolors(1 << 16)]
        assert any(sum(abs(a - b) for a, b in zip(rgb, wanted, strict=True)) < 60 for rgb in colours)


def test_a_page_is_drawn_once_for_all_of_its_questions(tmp_path, monkeypatch):
    pdf = form(tmp_path)
    questions, drawn = extract_questions(pdf, "eng"), []
    render = pypdfium2.PdfPage.render
    monkeypatch.setattr(pypdfium2.PdfPage, "render", lambda page, **how: drawn.append(page) or render(page, **how))
    assert len(draw_questions(pdf, questions)) == 2
    assert len(drawn) == 1


def test_a_place_that_is_not_known_or_not_on_the_form_has_no_picture(tmp_path):
    pdf = form(tmp_path)
    question = extract_questions(pdf, "eng")[0]
    assert (
        draw_questions(pdf, [question.replace(page=None), question.replace(page=9), question.replace(box=None)]) == {}
    )


def test_a_page_that_lies_on_its_side_is_drawn_upright(tmp_path):
    pdf = form(tmp_path)
    turned = tmp_path / "turned.pdf"
    document = pypdfium2.PdfDocument(pdf)
    questions = extract_questions(pdf, "eng")
    upright = draw_questions(pdf, questions)
    document[0].set_rotation(90)
    document.save(turned)
    place = (questions[0].page, extract_questions(turned, "eng")[0].box)
    lying = draw_questions(turned, extract_questions(turned, "eng"))[place]
    straight = upright[questions[0].page, questions[0].box]
    assert abs(opened(lying).width - opened(straight).width) <= 1
    assert abs(opened(lying).height - opened(straight).height) <= 2
