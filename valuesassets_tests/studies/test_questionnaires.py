"""The bundled questionnaires: the same form in every language, and PDFs that say what the words say."""

import functools
import os
import re
import subprocess
import sys
import unicodedata

import pdfplumber
import pytest

from valuesassets.instruments.survey.material.forms.layout.text_layer import OWN_LETTERS
from valuesassets.records.errors import StudyError
from valuesassets.records.questions import ResponseType, question_faults
from valuesassets.studies.questionnaires import content, render
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.parameters import fast
from valuesassets_tests.studies.expected_questions import expected_questions

PRINTED = fast(LANGUAGES, "eng", "ell")
"""For tests that read a printed form."""
INDICATORS = {
    "v7",
    "v31",
    "v114",
    "v98",
    "v63",
    "v149",
    "v153",
    "v154",
    "v170",
    "v110",
    "v111",
    "v86",
    "v92",
    "v93",
    "v95",
}
SCRIPTS = {"ell": "GREEK", "bul": "CYRILLIC", "mkd": "CYRILLIC"}
QUOTES = {
    "„“": ("bul", "ces", "deu", "est", "lit", "mkd", "slk"),
    "„”": ("hrv", "hun", "lvs", "pol", "ron", "srp"),
    "«»": ("ell", "fra", "ita", "nor", "por", "spa", "sqi"),
    "»«": ("dan", "slv"),
    "””": ("fin", "swe"),
    "‘’": ("eng", "nld"),
}
"""Opening and closing marks."""
SELDOM = {"deu": "ß", "lvs": "č"}
"""Letters of a language that a short form may do without."""


@functools.cache
def laid_out(language: str) -> tuple[tuple[str, tuple[float, float], float], ...]:
    """Of each page of a PDF: its text, where its words begin and end, its width (points)."""
    with pdfplumber.open(render.FOLDER / f"{language}.pdf") as pdf:
        words = [page.extract_words() for page in pdf.pages]
        edges = [(min(word["x0"] for word in each), max(word["x1"] for word in each)) for each in words]
        return tuple((page.extract_text(), edge, page.width) for page, edge in zip(pdf.pages, edges, strict=True))


def pages_of(language: str) -> list[str]:
    return [text for text, _, _ in laid_out(language)]


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@pytest.mark.parametrize(("seed", "languages"), [("0", LANGUAGES[::2]), ("20170620", LANGUAGES[1::2])])
@pytest.mark.slow
def test_the_committed_pdfs_come_out_byte_for_byte_under_any_hash_seed(seed, languages):
    """Each once; what a seed could change is made alike for every language."""
    program = [sys.executable, "-m", "valuesassets.studies.questionnaires.render", "--check", *languages]
    done = subprocess.run(program, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_check_names_the_pdf_that_differs_and_leaves_it_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(render, "FOLDER", tmp_path)
    (tmp_path / "eng.pdf").write_bytes(b"another")
    assert render._main(["--check", "eng"]) == 1
    assert "eng.pdf" in capsys.readouterr().out
    assert (tmp_path / "eng.pdf").read_bytes() == b"another"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.slow
def test_every_word_of_a_question_is_read_back_on_one_page(language):
    pages = [words_of(text) for text in pages_of(language)]
    for question in expected_questions(language):
        wanted = set(words_of(question.text)).union(*(words_of(option.label) for option in question.options))
        assert any(wanted <= set(page) for page in pages), question.id


@pytest.mark.parametrize("language", PRINTED)
def test_the_words_of_a_question_stand_in_their_order(language):
    everything = " ".join(word for text in pages_of(language) for word in words_of(text))
    for question in expected_questions(language):
        assert " ".join(words_of(question.stem or question.text)) in everything, question.id


@pytest.mark.parametrize("language", PRINTED)
def test_every_variable_code_is_printed(language):
    printed = set(re.findall(r"\bv\d+", " ".join(pages_of(language))))
    assert printed == {variable for asked in content.load_form() for variable in asked.variables}


@pytest.mark.parametrize("language", PRINTED)
def test_no_word_is_lost_beyond_the_edge_of_a_page(language):
    for _, (left, right), width in laid_out(language):
        assert left >= 40
        assert right <= width - 40


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_ask_the_same_questions_with_the_same_codes(language):
    def shape(code):
        return [(q.id, q.response_type, q.values, q.item is None) for q in expected_questions(code)]

    assert shape(language) == shape("eng")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_question_is_sound(language):
    questions = expected_questions(language)
    assert {q.id: question_faults(q) for q in questions if question_faults(q)} == {}
    assert len({q.id for q in questions}) == len(questions)
    assert len({q.text for q in questions}) == len(questions)


@pytest.mark.parametrize("language", LANGUAGES)
def test_options_speak_in_the_numbers_that_their_scale_has(language):
    for asked in content.load_form():
        expected = 2 if asked.kind in ("scale", "scales") else None
        options = content.load_words(language).questions[asked.name].options
        english = content.load_words("eng").questions[asked.name].options
        assert len(options) == (expected or len(english)), asked.name


def test_the_ten_indicators_of_the_map_are_asked():
    assert {question.id for question in expected_questions("eng")} >= INDICATORS


def test_every_response_type_of_the_survey_occurs():
    own = set(ResponseType) - {ResponseType.ORDINAL}  # scales of other lengths, which no question of EVS 2017 has
    assert {question.response_type for question in expected_questions("eng")} == own


def test_demographics_are_printed_and_not_expected():
    expected = {question.id for question in expected_questions("eng")}
    left_out = {v for asked in content.load_form() for v in asked.variables} - expected
    assert left_out == {"v225", "v226", "v234", "v243"}


def test_questions_stand_in_the_order_of_their_codes():
    codes = [int(question.id[1:]) for question in expected_questions("eng")]
    assert codes == sorted(codes)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_letters_are_those_of_the_language(language):
    script = SCRIPTS.get(language, "LATIN")
    for question in expected_questions(language):
        said = question.text + " ".join(option.label for option in question.options)
        foreign = {c for c in said if c.isalpha() and not unicodedata.name(c).startswith(script)}
        assert not foreign, (question.id, foreign)


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_is_composed_and_knows_no_typewriter_quotes(language):
    for question in expected_questions(language):
        said = question.text + " ".join(option.label for option in question.options)
        assert said == unicodedata.normalize("NFC", said)
        assert not set(said) & set("\"'\u00a0\u202f"), question.id


def test_no_label_is_a_word_for_a_missing_answer():
    for language in LANGUAGES:
        form = content.load_words(language).form
        labels = {option.label for question in expected_questions(language) for option in question.options}
        assert not labels & {form.dont_know, form.no_answer, form.dont_know_short, form.no_answer_short}


def test_an_unknown_language_is_told_which_there_are():
    with pytest.raises(StudyError, match="epo: no bundled questionnaire; there are bul, "):
        expected_questions("epo")


def printed_words(language: str) -> list[str]:
    """Everything that a form says to respondents: what stands around the questions, and the questions."""
    words = content.load_words(language)
    around = [
        text for value in words.form.model_dump().values() for text in ([value] if isinstance(value, str) else value)
    ]
    asked = [[q.text, q.second_text, *q.items.values(), *q.options] for q in words.questions.values()]
    return [*around, *(text for texts in asked for text in texts)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_quotes_are_those_of_the_language_and_come_in_pairs(language):
    (opening, closing) = next(marks for marks, languages in QUOTES.items() if language in languages)
    apostrophe = r"|’(?!\w)" if closing == "’" else ""  # elsewhere it stands for a letter left out
    for text in printed_words(language):
        marks = re.findall(rf"[„“”«»‘]{apostrophe}", text)
        assert marks == [opening, closing] * (len(marks) // 2), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_letter_of_the_language_occurs(language):
    said = " ".join(printed_words(language)).casefold()
    missing = {letter for letter in OWN_LETTERS.get(language, "") if letter not in said}
    assert missing <= set(SELDOM.get(language, ""))


@pytest.mark.parametrize("language", LANGUAGES)
def test_notes_and_headings_are_in_capitals(language):
    words = content.load_words(language)
    for text in [*words.sections.values(), *words.notes.values()]:
        fixed = re.sub(r"\{\w+\}", "", text)
        assert fixed == fixed.upper()
