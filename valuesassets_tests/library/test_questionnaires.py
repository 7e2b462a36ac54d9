"""`extract`, `align` and `make_trials` give what the commands of these names write."""

import pytest

import valuesassets as va
from valuesassets.records.parquet import read_trials
from valuesassets.records.questions import write_questions
from valuesassets_tests.cli.commands import FORMS, succeed, write_json

TABLE = "id,text,item,options\nq1,How happy are you?,,1=very happy|2=rather happy|3=not very happy|4=not at all happy\n"


@pytest.fixture(scope="module")
def extractions():
    return {language: va.extract(FORMS / f"{language}.pdf", language) for language in ("eng", "deu")}


def test_a_form_is_extracted_as_by_the_command(extractions, tmp_path):
    succeed("extract", FORMS / "deu.pdf", "--language", "deu", "--output", tmp_path / "deu.json")
    questions = extractions["deu"].questions
    assert len(questions) > 30
    assert questions == va.read_questions(tmp_path / "deu.json")
    assert extractions["deu"].left_out == ()


def test_a_form_in_another_language_is_refused():
    with pytest.raises(va.ValuesAssetsError, match=r"deu\.pdf: "):
        va.extract(FORMS / "deu.pdf", "ell")


def test_a_table_gives_its_questions_and_what_is_in_doubt(tmp_path):
    (tmp_path / "mine.csv").write_text(TABLE, "utf-8")
    extraction = va.extract(tmp_path / "mine.csv", "eng", survey="own")
    assert [(question.id, len(question.options)) for question in extraction.questions] == [("q1", 4)]
    assert all(isinstance(doubt, str) for doubt in extraction.doubts)


def test_languages_are_aligned_as_by_the_command(extractions, tmp_path):
    aligned = va.align({language: each.questions for language, each in extractions.items()})
    for language in extractions:
        command = ("extract", FORMS / f"{language}.pdf", "--language", language)
        succeed(*command, "--output", tmp_path / f"{language}.json")
    succeed("align", tmp_path / "eng.json", tmp_path / "deu.json", "--output", tmp_path / "aligned")
    for name, questions in {"master_questions": aligned.master, **aligned.questions}.items():
        write_questions(tmp_path / "here.json", questions)
        assert (tmp_path / "here.json").read_bytes() == (tmp_path / "aligned" / f"{name}.json").read_bytes()
    reasons = aligned.reasons
    assert {*reasons["language"]} == {"eng", "deu"}
    assert (reasons["status"] == "aligned").mean() > 0.9


def test_without_questions_in_the_masters_language_nothing_is_aligned(questions):
    with pytest.raises(va.ValuesAssetsError, match="swe: no questions in this language"):
        va.align({"eng": questions}, "swe")


def test_trials_are_those_of_the_command(questions, tmp_path):
    file = write_json(tmp_path / "questions.json", [each.model_dump(mode="json") for each in questions])
    output = tmp_path / "trials.parquet"
    succeed("trials", "--questions", file, "--language", "deu", "--orders", "cyclic", "--output", output)
    assert va.make_trials(va.read_questions(file), "deu", "cyclic") == read_trials(output)


@pytest.mark.parametrize(("language", "orders", "words"), [("deu", "none", "orders none"), ("qqq", "both", "qqq")])
def test_orders_and_languages_that_are_none_are_refused(questions, language, orders, words):
    with pytest.raises(va.ValuesAssetsError, match=words):
        va.make_trials(questions, language, orders)
