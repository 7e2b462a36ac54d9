import pytest

from valuesassets.instruments.survey.material.forms.gemini import request
from valuesassets.instruments.survey.material.forms.gemini.request import (
    PageRange,
    QuestionRow,
    language_name,
    page_ranges,
    prompt_text,
    prompt_version,
)
from valuesassets.records.lexicon import bundled_lexicons
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import question


def test_every_language_of_the_survey_has_a_name():
    names = {code: language_name(code) for code in bundled_lexicons()}
    assert names.items() >= {code: language.name for code, language in load_study("evs2017").languages.items()}.items()
    assert (names["ell"], names["lvs"]) == ("Greek", "Latvian")


def test_the_prompt_names_language_pages_and_what_stays_out():
    prompt = prompt_text("lvs", PageRange(7, 12), 54)
    assert "Copy only what is printed in Latvian. Some forms are printed in two languages" in prompt
    assert 'the Latvian word for "Answer"' in prompt
    assert "that begin on pages 7 to 12 of the 54 pages of the file" in prompt
    for left_out in ("demographics", "political parties", "list experiments", "Don't know, no answer, refused"):
        assert left_out in prompt
    assert "{" not in prompt


def test_braces_and_length_of_the_question_before_do_no_harm():
    before = QuestionRow.model_validate({**question("v{1}"), "text": "{language}" * 99, "page": 6})
    prompt = prompt_text("eng", PageRange(7, 7), 7, before)
    assert 'is v{1}: "{language}{language}' in prompt
    assert len(prompt) < len(prompt_text("eng", PageRange(7, 7), 7)) + 500
    assert "begin on page 7 of" in prompt


@pytest.mark.parametrize("part", ["_INSTRUCTIONS", "_BEFORE", "_TASK"])
def test_a_changed_word_makes_a_new_version(monkeypatch, part):
    before = prompt_version()
    monkeypatch.setattr(request, part, getattr(request, part).replace("list", "List"))
    assert prompt_version() != before


def test_a_changed_answer_form_makes_a_new_version(monkeypatch):
    before = prompt_version()
    monkeypatch.setattr(request, "AnsweredQuestions", QuestionRow)
    assert prompt_version() != before


@pytest.mark.parametrize(("pages", "at_once"), [(1, 6), (6, 6), (7, 6), (27, 1), (27, 100)])
def test_ranges_and_their_halves_cover_every_page_once(pages, at_once):
    ranges = page_ranges(pages, at_once)
    assert [page for each in ranges for page in range(each.first, each.last + 1)] == list(range(1, pages + 1))
    for each in ranges:
        if not each.is_single:
            first, second = each.halves()
            assert (first.first, first.last + 1, second.last) == (each.first, second.first, each.last)
            assert first.count + second.count == each.count
