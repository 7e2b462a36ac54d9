"""Extraction: bundled PDFs word for word, small printed ones with a fault each."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from valuesassets.instruments.survey.material.extracted_questions import extract_questions
from valuesassets.instruments.survey.material.forms.layout.checks import extraction_faults
from valuesassets.instruments.survey.material.forms.layout.scales import answer_values
from valuesassets.records.errors import PdfError
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.instruments.survey.material.forms.paper_forms import BUNDLED, PaperForm
from valuesassets_tests.instruments.survey.material.forms.read_forms import faults_by_question, options
from valuesassets_tests.studies.expected_questions import expected_questions

HEADS = ("very|important", "quite|important", "not|important", "not at all|important", "DK", "NA")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.slow
def test_a_bundled_form_is_read_word_for_word(language):
    keys = ("id", "section", "text", "stem", "item", "response_type", "options")
    read = [q.model_dump(include=set(keys)) for q in extract_questions(BUNDLED / f"{language}.pdf", language)]
    assert read == [q.model_dump(include=set(keys)) for q in expected_questions(language)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.slow
def test_a_sound_form_has_no_faults(language):
    pdf = BUNDLED / f"{language}.pdf"
    assert extraction_faults(extract_questions(pdf, language), pdf, language) == []


def test_a_question_knows_its_number_page_and_box():
    question = {q.id: q for q in extract_questions(BUNDLED / "eng.pdf", "eng")}["v39"]
    assert (question.source_id, question.page) == ("Q4", 2)
    left, top, right, bottom = question.box
    assert 0 <= left < right <= 596
    assert 0 <= top < bottom <= 842


def test_progress_is_told_page_by_page(tmp_path):
    copy = tmp_path / "copy.pdf"
    copy.write_bytes((BUNDLED / "eng.pdf").read_bytes())
    progress = []
    extract_questions(copy, "eng", on_page=lambda done, total: progress.append((done, total)))
    assert progress == [(number, 7) for number in range(1, 8)]


# Small forms


@pytest.fixture
def form(tmp_path):
    return PaperForm(tmp_path / "form.pdf")


def test_a_list_gives_its_labels_without_arrows_notes_and_missing_codes(form):
    form.question("Q1", "Would you say you are… READ OUT…")
    form.options(
        "v7",
        "1 – very happy",
        "2 – quite happy -------> GO TO Q9",
        "3 – not very",
        "    happy",
        "4 – not at all happy?",
    )
    form.options(None, "8 – don’t know", "9 – no answer", "7 – not applicable")
    (question,) = extract_questions(form.save(), "eng")
    assert question.text == "Would you say you are…"
    assert options(question) == [(1, "very happy"), (2, "quite happy"), (3, "not very happy"), (4, "not at all happy")]


@pytest.mark.parametrize("leader", ["", " ........................", " _______________"])
def test_codes_behind_the_labels_are_read_too(form, leader):
    form.question("Q1", "Taking all things together, would you say you are:")
    form.text(450, "(v7)")
    for label, code in (("very happy", 1), ("quite happy", 2), ("not very happy", 3), ("not at all happy", 4)):
        width = form.text(85, label + leader)
        form.text(85 + width + 2 if leader else 300, str(code))
        form.down()
    form.text(85, "don't know (spontaneous)")
    form.text(300, "8")
    form.down()
    (question,) = extract_questions(form.save(), "eng")
    assert options(question) == [(1, "very happy"), (2, "quite happy"), (3, "not very happy"), (4, "not at all happy")]


def test_a_grid_gives_wrapped_items_and_heads_whole(form):
    form.question("Q1", "How important is it in your life?")
    form.grid(HEADS, [("v1", "A job that one|likes", *"123489"), ("v2", "Family", *"123489")])
    first, second = extract_questions(form.save(), "eng")
    assert (first.id, first.item, second.item) == ("v1", "A job that one likes", "Family")
    assert first.text == "How important is it in your life? A job that one likes"
    assert options(first)[3] == (4, "not at all important")
    assert len(first.options) == 4


def test_a_grid_without_rules_is_read_too(form):
    form.question("Q1", "How important is it in your life?")
    form.grid(HEADS, [("v1", "Work", *"123489"), ("v2", "Family", *"123489")], ruled=False)
    first, second = extract_questions(form.save(), "eng")
    assert (first.item, second.item) == ("Work", "Family")
    assert options(second)[0] == (1, "very important")


def test_a_code_before_the_first_line_of_an_item_opens_it(form):
    form.question("Q12", "How much do you agree?")
    heads = ("agree", "disagree", "DK", "NA")
    places = (300, 350, 400, 450)
    for x, head in zip(places, heads, strict=True):
        form.text(x, head)
    form.down(11)
    for code, lines in (
        ("v46", ("To have a job is", "what makes one", "whole.")),
        ("v47", ("It is not right", "to live on others.")),
    ):
        top = form.y
        form.text(50, code)
        for line in lines:
            form.text(90, line)
            form.down(11)
        bottom, form.y = form.y, top + 5.5 * (len(lines) - 1)
        for x, value in zip(places, "1289", strict=True):
            form.text(x, value)
        form.y = bottom + 3
    pdf = form.save()
    assert [(q.id, q.item, options(q)) for q in extract_questions(pdf, "eng")] == [
        ("v46", "To have a job is what makes one whole.", [(1, "agree"), (2, "disagree")]),
        ("v47", "It is not right to live on others.", [(1, "agree"), (2, "disagree")]),
    ]


def test_show_cards_that_repeat_numbers_and_codes_are_left_out(form):
    form.question("Q1", "How happy are you?")
    form.options("v31", "1 – very", "2 – not at all")
    form.question("Q2", "Did you do voluntary work?")
    form.options("v21", "1 – yes", "2 – no")
    form.new_page()
    form.question("Q1", "(v31)")
    form.options(None, "very", "not at all")
    pdf = form.save()
    assert [question.id for question in extract_questions(pdf, "eng")] == ["v31", "v21"]
    assert faults_by_question(pdf) == set()


def test_a_code_that_is_printed_is_never_called_misprinted(form):
    form.question("Q1", "How happy are you?")
    form.options("v21", "1 – very", "2 – not at all")
    form.text(85, "As v22 said, all is well.")
    form.question("Q2", "How free are you?")
    form.options("v23", "1 – yes", "2 – no")
    pdf = form.save()
    (fault,) = extraction_faults(extract_questions(pdf, "eng"), pdf, "eng")
    assert fault.message == "v22 is printed on page 1 but no question was read there; enter it by hand"


def test_codes_beside_the_figures_of_a_row_are_no_part_of_its_item(form):
    form.question("Q1", "To which do you belong?")
    form.grid(("Yes", "No", "DK", "NA"), [("v9", "Church", "1", "2", "8 v20a", "9 v20b"), ("v10", "Union", *"1289")])
    first, second = extract_questions(form.save(), "eng")
    assert (first.item, second.item) == ("Church", "Union")
    assert options(first) == options(second) == [(1, "Yes"), (2, "No")]


def test_a_grid_goes_on_over_the_page_break(form):
    form.question("Q1", "How important is it in your life?")
    form.grid(HEADS, [("v1", "Work", *"123489")])
    form.new_page()
    form.grid((), [("v2", "Family", *"123489")])
    first, second = extract_questions(form.save(), "eng")
    assert options(first) == options(second)
    assert (first.page, second.page) == (1, 2)


def test_anchors_torn_by_a_page_break_are_read_in_order(form):
    form.question("Q1", "How important is it for you?")
    form.y = 790.0
    form.text(450, "(v142)")
    form.down(12)
    for x, word in ((85, "Not at all"), (230, "Absolutely")):
        form.text(x, word)
    form.new_page()
    form.y = 60.0
    for x, word in ((85, "important"), (230, "important")):
        form.text(x, word)
    form.down()
    for value in range(1, 11):
        form.text(70 + 20 * value, str(value))
    (question,) = extract_questions(form.save(), "eng")
    assert options(question)[::9] == [(1, "Not at all important"), (10, "Absolutely important")]


def test_a_scale_goes_out_with_all_ten_options(form):
    form.question("Q1", "How satisfied are you with 10 things", "1 to 10, where 1 is the least?")
    form.scale("v39", "dissatisfied", "satisfied")
    (question,) = extract_questions(form.save(), "eng")
    assert question.text == "How satisfied are you with 10 things 1 to 10, where 1 is the least?"
    assert options(question) == [(1, "dissatisfied"), *((value, "") for value in range(2, 10)), (10, "satisfied")]


def test_demographics_and_none_rows_are_left_out(form):
    form.question("Q1", "Which of these do you belong to?")
    form.grid(("mentioned", "not|mentioned"), [("v9", "Church", "1", "2"), ("v20", "None", "1", "2")])
    form.question("Q2", "Sex of the respondent")
    form.options("v225", "1 – male", "2 – female")
    assert [question.id for question in extract_questions(form.save(), "eng")] == ["v9"]


def test_a_lost_anchor_is_named(form):
    form.question("Q1", "How satisfied are you?")
    form.scale("v39", "dissatisfied", "")
    pdf = form.save()
    (fault,) = extraction_faults(extract_questions(pdf, "eng"), pdf, "eng")
    assert (fault.question_id, fault.page, fault.check) == ("v39", 1, "complete")
    assert fault.message == (
        "v39 (page 1): a ten-point scale needs a label on 1 and on 10; "
        "compare with the page and mend the question by hand"
    )


def test_a_lost_option_is_named(form):
    form.question("Q1", "How happy are you?")
    form.options("v7", "1 – very happy", "2 – quite happy", "3 – not very happy", "8 – don’t know")
    assert faults_by_question(form.save()) == {("v7", "complete")}


def test_a_lost_label_in_a_head_is_named_for_each_row(form):
    form.question("Q1", "How important is it?")
    form.grid(("very|important", "", *HEADS[2:]), [("v1", "Work", *"123489"), ("v2", "Family", *"123489")])
    assert faults_by_question(form.save()) == {("v1", "complete"), ("v2", "complete")}


def test_a_code_printed_twice_is_named(form):
    form.question("Q1", "Did you do voluntary work?")
    form.options("v21", "1 – yes", "2 – no")
    form.question("Q2", "Do you vote for your village?")
    form.options("v21", "1 – yes", "2 – no")
    assert faults_by_question(form.save()) == {("v21", "duplicate_id")}


def test_a_code_without_readable_answers_goes_out_and_is_named(form):
    form.question("Q1", "How happy are you?")
    form.options("v7", "very", "quite")
    form.question("Q2", "Did you do voluntary work?")
    form.options("v21", "1 – yes", "2 – no")
    pdf = form.save()
    assert [question.id for question in extract_questions(pdf, "eng")] == ["v7", "v21"]
    assert faults_by_question(pdf) == {("v7", "complete")}


def test_answers_without_a_code_are_named(form):
    form.question("Q1", "How happy are you?")
    form.options(None, "1 – very", "2 – not at all")
    form.question("Q2", "Did you do voluntary work?")
    form.options("v21", "1 – yes", "2 – no")
    assert faults_by_question(form.save()) == {("Q1", "answers_without_code")}


def test_a_form_in_which_nothing_is_found_is_named(form):
    form.text(50, "A letter to the reader, without any question")
    assert faults_by_question(form.save()) == {(None, "no_questions")}


def test_another_script_than_the_language_s_is_named(form):
    form.question("Q1", "Did you do voluntary work?")
    form.options("v21", "1 – yes", "2 – no")
    assert faults_by_question(form.save(), "bul") == {(None, "script"), ("v21", "script")}


def test_words_that_are_not_on_the_page_are_named():
    pdf = BUNDLED / "eng.pdf"
    question = extract_questions(pdf, "eng")[0].replace(text="Nobody ever printed these invented words here")
    (fault,) = extraction_faults([question], pdf, "eng")[:1]
    assert (fault.question_id, fault.check) == ("v1", "grounding")
    assert "text 'Nobody ever printed these invented words here': nothing like it was found" in fault.message


def test_a_question_that_an_extractor_missed_is_named():
    pdf = BUNDLED / "eng.pdf"
    questions = [question for question in extract_questions(pdf, "eng") if question.id != "v63"]
    (fault,) = extraction_faults(questions, pdf, "eng")
    assert (fault.question_id, fault.page, fault.check) == ("v63", 3, "code_without_question")


# What is no questionnaire


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"<!doctype html><html>Sign in</html>", "HTML"),
        (b"\x00\x01\x02" * 100, "another kind of file"),
        (b"%PDF-1.7\n1 0 obj\n<< /Type /Cat", "truncated or damaged"),
    ],
)
def test_what_is_no_pdf_is_refused_in_one_line(tmp_path, content, reason):
    path = tmp_path / "form.pdf"
    path.write_bytes(content)
    with pytest.raises(PdfError, match=reason) as caught:
        extract_questions(path, "eng")
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PdfError, match=r"form\.pdf: no such file"):
        extract_questions(tmp_path / "form.pdf", "eng")


def test_a_truncated_pdf_is_refused(tmp_path):
    path = tmp_path / "form.pdf"
    whole = (BUNDLED / "eng.pdf").read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(PdfError, match=r"damaged|no pages|no text layer"):
        extract_questions(path, "eng")


def test_an_encrypted_pdf_is_refused(tmp_path):
    form = PaperForm(tmp_path / "form.pdf", encrypt="secret")
    form.question("Q1", "How happy are you?")
    with pytest.raises(PdfError, match="encrypted"):
        extract_questions(form.save(), "eng")


def test_a_scan_without_text_is_refused(tmp_path):
    form = PaperForm(tmp_path / "form.pdf")
    form.canvas.rect(50, 50, 100, 100)
    with pytest.raises(PdfError, match="no text layer on any of its 1 pages"):
        extract_questions(form.save(), "eng")


# Codes


@given(st.integers(2, 7), st.permutations([7, 8, 9]))
def test_missing_codes_are_dropped_whatever_their_order(count, missing):
    printed = [*range(1, count + 1), *(code for code in missing if code > count)]
    assume(printed[count : count + 1] != [7] or count != 6)  # a seventh answer looks the same
    assert answer_values(printed) == list(range(1, count + 1))


@given(st.integers(10, 30), st.permutations([66, 77, 88, 99]))
@settings(max_examples=20)
def test_long_lists_keep_seven_eight_and_nine(count, missing):
    assert answer_values([*range(1, count + 1), *missing]) == list(range(1, count + 1))
