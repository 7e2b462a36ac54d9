"""Forms in the folder of a study: the file's ending says what it is, its name the language."""

import shutil

import pytest

from valuesassets.instruments.survey.material.forms.exchange.entries import (
    Answer,
    Entry,
    FormContent,
    askable_content,
    record_of,
)
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.extractors import extract
from valuesassets.instruments.survey.material.forms.misnamed_forms import misnamed_form
from valuesassets.records.errors import QuestionError, StudyError
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets_tests.instruments.survey.material.forms.exchange.test_lss import GROUPS, answers, question, survey
from valuesassets_tests.instruments.survey.material.forms.exchange.test_qsf import question as choice
from valuesassets_tests.instruments.survey.material.forms.exchange.test_qsf import survey as qualtrics


def folder_of(tmp_path):
    folder = tmp_path / "forms"
    folder.mkdir()
    rows = [question(1, "L", "q"), question(2, "T", "open", order=2)]
    form = survey(tmp_path, questions=rows, answers=answers(1, ("Y", "Yes"), ("N", "No")), groups=GROUPS)
    shutil.move(form, folder / "eng.lss")
    shutil.move(qualtrics(tmp_path, choice("q")), folder / "deu.qsf")
    return Questionnaires(source="none", extractor="imported", extractions=folder)


@pytest.mark.parametrize(("language", "name"), [("eng", "eng.lss"), ("deu", "deu.qsf")])
def test_a_study_takes_the_form_of_each_language(tmp_path, language, name):
    extraction = extract("imported", None, language, folder_of(tmp_path), tmp_path / "cache")
    assert [each.id for each in extraction.questions] == ["q"]
    assert extraction.facts["imported_from"] == name
    assert extraction.facts.get("left_out") == ("1 entry of the form" if language == "eng" else None)


@pytest.mark.parametrize(
    ("main", "others", "language", "chosen"),
    [
        ("EN", ("DE",), "deu", "DE"),
        ("EN", ("de-AT",), "deu", "de-AT"),
        ("EN", ("pt_BR",), "por", "pt_BR"),
        ("EN", ("pt-BR", "pt"), "por", "pt"),
        ("EN", ("zh-Hans",), "zho", "zh-Hans"),
        ("EN", ("German (de)",), "deu", "German (de)"),
        ("EN", ("de-informal",), "deu", "de-informal"),
        ("EN", ("NB",), "nor", "NB"),
        ("EN", ("FR",), "deu", "EN"),
    ],
)
def test_the_language_of_the_files_name_chooses_among_those_of_the_form(tmp_path, main, others, language, chosen):
    wanted = WantedLanguage.of(language)
    assert wanted.among([main, *others], main, tmp_path) == chosen


@pytest.mark.parametrize(("named", "chosen"), [("PT-br", "pt_BR"), ("pt", "pt_BR"), ("portuguese", "Portuguese (PT)")])
def test_a_language_is_named_in_any_spelling_of_its_code(tmp_path, named, chosen):
    assert WantedLanguage.of("por", named).among(["EN", "pt_BR", "Portuguese (PT)"], "EN", tmp_path) == chosen


def test_two_forms_of_one_language_are_refused(tmp_path):
    settings = folder_of(tmp_path)
    shutil.copy(tmp_path / "forms/deu.qsf", tmp_path / "forms/eng.qsf")
    with pytest.raises(StudyError, match=r"eng.qsf: eng.lss is there as well; leave one of them"):
        extract("imported", None, "eng", settings, tmp_path / "cache")


def test_a_record_has_codes_missing_answers_and_conditions_beside_what_tables_give():
    listed = (Answer("A", "yes"), Answer("B", "no"), Answer("-", "none", is_missing=True))
    entry = Entry("q_a", "the police", listed, stem="Whom do you trust?", when="age > 17", section="Trust")
    assert record_of(entry) == {
        "id": "q_a",
        "section": "Trust",
        "text": "Whom do you trust? the police",
        "stem": "Whom do you trust?",
        "item": "the police",
        "response_type": "binary",
        "options": [
            {"value": 1, "label": "yes", "source_code": "A"},
            {"value": 2, "label": "no", "source_code": "B"},
        ],
        "answer_cue": None,
        "is_type_guessed": True,
        "missing": [{"value": 3, "label": "none"}],
        "when": "age > 17",
    }


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        (
            "a.lss",
            "<LimeSurveyDocType>Group</L",
            "this is a group of a LimeSurvey survey; export the whole survey (.lss)",
        ),
        ("a.doc", "x", "files of this kind are not read; save it as a.docx"),
        ("a.xlsm", "x", "files of this kind are not read; save it as a.xlsx"),
    ],
)
def test_files_that_are_near_to_a_form_are_told_what_to_do(tmp_path, name, content, line):
    path = tmp_path / name
    path.write_text(content)
    assert misnamed_form(path) == f"{path}: {line}"


def test_a_question_without_a_name_is_refused(tmp_path):
    content = FormContent([Entry("", "Well?", (Answer("1", "yes"), Answer("2", "no")))])
    with pytest.raises(QuestionError, match="the question 'Well\\?' has no name; give it one in the form"):
        askable_content(content, tmp_path)
