"""The same form set otherwise: no rules around its grids, question numbers without a letter, no question numbers."""

import dataclasses
import re

import numpy as np
import pytest

from valuesassets.instruments.survey.material.forms.layout.blocks import NUMBER
from valuesassets.instruments.survey.material.forms.layout.form_lines import PrintedForm
from valuesassets.instruments.survey.material.forms.layout.layouts.field_grid import question_numbers
from valuesassets.instruments.survey.material.forms.layout.pages import read_pages
from valuesassets.instruments.survey.material.forms.layout.readings import read_form
from valuesassets.instruments.survey.material.forms.layout.words import Word, printed_pattern, with_codes
from valuesassets.people.variables import load_variables
from valuesassets_tests.instruments.survey.material.forms.paper_forms import BUNDLED
from valuesassets_tests.needs import shared_file

NO_RULES = np.zeros((0, 3))


def without_rules(page):
    return dataclasses.replace(page, horizontal=NO_RULES, vertical=NO_RULES)


def numbers_as(written):
    """The page with each question number at the margin written otherwise; None leaves it out."""

    def change(page):
        words = []
        for word in page.words:
            match = NUMBER.fullmatch(word.text) if word.code is None and word.box[0] < 0.3 * page.width else None
            text = written(match) if match else word.text
            words += [dataclasses.replace(word, text=text)] if text else []
        return dataclasses.replace(page, words=tuple(words))

    return change


def codes_as(written, change):
    """The page, changed, with each variable code written otherwise, and known by how it is written alone."""

    def changed(page):
        words = [
            dataclasses.replace(word, text=written(word.code), code=None) if word.code else word
            for word in change(page).words
        ]
        return dataclasses.replace(page, words=with_codes(words, printed_pattern([words])))

    return changed


VARIANTS = {
    "no rules": without_rules,
    "12.": numbers_as(lambda match: f"{match[2]}."),
    "12": numbers_as(lambda match: match[2]),
    "F12:": numbers_as(lambda match: f"F{match[2]}:"),
    "no numbers": numbers_as(lambda match: None),
    "[v1] P12": codes_as("[{}]".format, numbers_as(lambda match: f"P{match[2]}")),
    "v1 В12)": codes_as("{}".format, numbers_as(lambda match: f"В{match[2]})")),
}


def share_read(pdf, variant):
    """Share of the opinion items of a form that are read, and of those read with as many options as the master."""
    variables = load_variables()
    pages = read_pages(pdf)
    printed = {word.code for page in pages for word in page.words} & variables.opinion_items
    readings = {each.code: each for each in read_form(tuple(VARIANTS[variant](page) for page in pages)).readings}
    codes = printed & set(readings)
    dropped = {code: variables.volunteered.get(code, ()) for code in codes}
    options = {code: [v for v, _ in readings[code].options if v not in dropped[code]] for code in codes}
    whole = [code for code in codes if len(options[code]) == variables.option_count(code)]
    return len(codes) / len(printed), len(whole) / len(printed)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("language", ["eng", "fra", "bul"])
def test_a_bundled_form_is_read_however_it_is_set(language, variant):
    read, whole = share_read(BUNDLED / f"{language}.pdf", variant)
    assert read >= 0.95
    assert whole >= 0.92


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.group("forms")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["q_gb", "q_fr", "q_at"])
def test_a_field_questionnaire_is_read_however_it_is_set(name, variant):
    read, whole = share_read(shared_file("data", "questionnaires", f"ZA7500_{name}.pdf"), variant)
    assert read >= 0.95
    assert whole >= 0.92


def pattern_of(letter):
    return next(pattern for pattern in load_variables().codes if pattern.letter == letter)


def word(text, left=100.0):
    return Word(text, (left, 100.0, left + 5.0 * len(text), 110.0))


@pytest.mark.parametrize("written", ["v39", "V39", "(v39)", "[v39]", "{V39}", "v039", "((v39))", "v39."])
def test_a_variable_code_is_known_however_it_is_written(written):
    assert [each.code for each in with_codes([word(written)], pattern_of("v"))] == ["v39"]


def test_questions_are_the_codes_only_where_rows_of_answers_are_led_by_them():
    rows = [
        [Word(text, (left, 20.0 * n, left + 9, 20.0 * n + 9)) for left, text in ((50, f"Q{n}"), (300, "1"), (330, "2"))]
        for n in range(1, 12)
    ]
    assert printed_pattern([[each for row in rows for each in row]]).letter == "Q"
    assert printed_pattern([[row[0] for row in rows]]).letter == "v"
    codes = [word(f"v{n}") for n in range(5)]
    assert printed_pattern([[*codes, *(each for row in rows for each in row)]]).letter == "v"


def test_a_code_glued_to_its_text_is_parted_from_it():
    parts = with_codes([word("Q224.Votes", 50.0)], pattern_of("Q"))
    assert [(each.text, each.code) for each in parts] == [("Q224.", "Q224"), ("Votes", None)]
    assert parts[0].box[2] == parts[1].box[0] == pytest.approx(75.0)


def test_numbers_without_a_letter_are_told_from_answer_codes():
    """A form without question numbers has none, though codes stand at its margin."""
    form = PrintedForm(tuple(VARIANTS["no numbers"](page) for page in read_pages(BUNDLED / "eng.pdf")))
    assert question_numbers(form.lines, form.widths) == {}
    assert read_form(form.pages).layout == "card_list"
    assert re.fullmatch(NUMBER, "12") is None
