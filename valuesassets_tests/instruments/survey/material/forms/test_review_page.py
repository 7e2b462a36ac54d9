"""The review page: worst first, the form beside the record, what to do, and nothing from outside."""

import base64
import io
import re
from html.parser import HTMLParser

import pytest
from PIL import Image

from valuesassets.instruments.survey.material.extracted_questions import examine_questions, extract_questions
from valuesassets.instruments.survey.material.forms.exchange.entries import NO_LIST, LeftOut
from valuesassets.instruments.survey.material.forms.review_page import FOUND, IN_DOUBT, render_review
from valuesassets.records.questions import Question
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm


@pytest.fixture
def pdf(tmp_path):
    form = PaperForm(tmp_path / "form.pdf")
    form.question("Q1", "Are you happy & well these days?")
    form.options("v7", "1 – very happy", "2 – quite happy", "3 – not very happy", "4 – not at all happy")
    form.question("Q2", "Are most people to be trusted?")
    form.options("v31", "1 – most can be trusted", "2 – one cannot be too careful")
    return form.save()


def page(pdf, tmp_path, overrides="", **changes):
    """The page, with some of what was extracted of v31 changed."""
    file = tmp_path / "eng.toml"
    file.write_text(overrides, encoding="utf-8")
    questions = extract_questions(pdf, "eng")
    questions[1] = questions[1].replace(**changes)
    return render_review(examine_questions(questions, pdf, "eng", file), pdf, "eng", file)


def pictures(html):
    matches = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return [Image.open(io.BytesIO(base64.b64decode(each))).convert("RGB") for each in matches]


def has_colour(picture, colour):
    wanted = tuple(int(colour[n : n + 2], 16) for n in (1, 3, 5))
    counted = picture.getcolors(1 << 24)
    return any(sum(abs(a - b) for a, b in zip(rgb, wanted, strict=True)) < 40 for _, rgb in counted)


@pytest.mark.slow
def test_a_doubtful_record_stands_first_beside_its_place_with_what_to_do(pdf, tmp_path):
    html = page(pdf, tmp_path, text="Are most people to be feared?")
    assert "1 of 2 questions in doubt" in html
    assert html.index('id="v31"') < html.index('id="v7"')
    assert "&#39;feared&#39;" in html
    assert re.search(r'<pre lang="en">\[v31\]\nreason = &#34;&#34;\nof = &#34;[0-9a-f]{8}&#34;</pre>', html)
    doubtful, sound = pictures(html)
    assert has_colour(doubtful, IN_DOUBT)
    assert has_colour(doubtful, FOUND)
    assert has_colour(sound, FOUND)
    assert not has_colour(sound, IN_DOUBT)


def test_what_a_person_changed_is_shown_with_its_reason(pdf, tmp_path):
    html = page(pdf, tmp_path, '[v31]\nreason = "read aloud"\ntext = "Can people be trusted?"\n')
    assert "0 of 2 questions in doubt" in html
    assert "Changed since they were read" in html
    assert "→ Can people be trusted?" in html
    assert "override: read aloud" in html


def test_a_question_whose_place_is_unknown_says_so(pdf, tmp_path):
    html = page(pdf, tmp_path, page=None, box=None)
    assert "It is not known where on the form this question stands." in html
    assert len(pictures(html)) == 1


def test_a_form_shows_conditions_missing_answers_and_what_may_be_a_question(tmp_path):
    answers = [{"value": 1, "label": "Yes", "when": "b was chosen"}, {"value": 2, "label": "No"}]
    facts = {"when": "age > 17", "missing": [{"value": 9, "label": "Left blank"}]}
    plain = {"id": "a", "text": "Are you well?", "response_type": "binary", "options": answers, **facts}
    quoting = plain | {"id": "b", "text": "Is {name} well?", "unfit": "its text quotes an answer"}
    questions = [Question.model_validate(each) for each in (plain, quoting)]
    others = [LeftOut("q7", "What is your job?", NO_LIST), LeftOut("q8", "Your age", "a number")]
    examined = examine_questions(questions, None, "eng")
    html = render_review(examined, None, "eng", tmp_path / "eng.toml", others)
    assert "<dd>age &gt; 17</dd>" in html
    assert "<small>b was chosen</small>" in html
    assert "<td>Left blank</td>" in html
    doubt, unfit, sound, unread = (html.index(f"<h2>{title}</h2>") for title in FORM_PARTS)
    assert doubt < html.index("What is your job?") < unfit < html.index('id="b"') < sound < html.index('id="a"')
    assert unread < html.index("Your age: a number")


FORM_PARTS = ("Perhaps a question", "Cannot be asked as they stand", "Sound", "Not read")


def test_the_page_is_whole_html_and_takes_nothing_from_outside(pdf, tmp_path):
    html = page(pdf, tmp_path)
    assert "happy &amp; well these days" in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    stack = []

    class Balanced(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "img"):
                stack.append(tag)

        def handle_endtag(self, tag):
            assert stack.pop() == tag

    Balanced().feed(html)
    assert stack == []
