"""From forms to prompts by real commands: `extract`, `align`, `trials`."""

import zipfile

import pandas as pd
import pyarrow.parquet as pq
import pytest

from valuesassets_tests.cli.commands import QUESTIONS, read_json, refuse, run, succeed, write_json
from valuesassets_tests.instruments.survey.material.forms.exchange.test_qsf import question, survey
from valuesassets_tests.needs import shared_file


@pytest.mark.slow
def test_align_gives_the_same_questions_in_every_language(aligned):
    names = {path.name for path in aligned.iterdir()}
    assert names == {"master_questions.json", "eng.json", "deu.json", "alignment.csv"}
    ids = [[q["id"] for q in read_json(aligned / f"{name}.json")] for name in ("master_questions", "eng", "deu")]
    assert ids[0] == ids[1] == ids[2]
    assert len(ids[0]) > 25
    assert set(pd.read_csv(aligned / "alignment.csv")["status"]) == {"aligned"}


def test_unknown_keys_come_out_of_align_and_duplicates_say_what_was_merged(tmp_path):
    first, other = QUESTIONS[0] | {"reviewer": {"name": "N"}}, QUESTIONS[1]
    file = write_json(tmp_path / "in" / "eng.json", [first, other, first])
    succeed("align", file, "--output", tmp_path / "out")
    merged, alone = read_json(tmp_path / "out" / "eng.json")
    assert merged["reviewer"] == {"name": "N"}
    assert merged["merged_from"] == [0, 2]
    assert "merged_from" not in alone


def test_prompts_can_be_read_as_text(questions, tmp_path):
    output = tmp_path / "prompts.txt"
    for _ in range(2):  # what is there already is written anew
        succeed("trials", "--questions", questions, "--language", "eng", "--output", output)
    succeed("trials", "--questions", questions, "--language", "eng", "--output", tmp_path / "trials.parquet")
    trials = pd.read_parquet(tmp_path / "trials.parquet")
    shown = [f"=== {trial_id}\n{prompt}" for trial_id, prompt in zip(trials["trial_id"], trials["prompt"], strict=True)]
    assert output.read_text(encoding="utf-8") == "\n\n".join(shown) + "\n"


def test_trials_are_the_prompts_in_every_order(questions, tmp_path):
    output = tmp_path / "trials.parquet"
    assert "6 trials of 3 questions" in succeed(
        "trials", "--questions", questions, "--language", "eng", "--output", output
    )
    trials = pd.read_parquet(output)
    assert {"trial_id", "question_id", "order", "prompt"} <= set(trials.columns)
    assert list(trials["order"]) == ["forward", "reversed"] * 3
    assert trials["trial_id"].is_unique
    assert trials["prompt"][1].splitlines()[1:] == [*(f"{n}. likert4 label {5 - n}" for n in range(1, 5)), "Answer:"]


@pytest.mark.parametrize(("orders", "expected"), [("all", 24 + 6 + 2), ("cyclic", 5 + 6 + 2)])
def test_more_orders_for_all_but_ten_point_scales(questions, tmp_path, orders, expected):
    output = tmp_path / "trials.parquet"
    succeed("trials", "--questions", questions, "--language", "eng", "--output", output, "--orders", orders)
    assert pq.read_metadata(output).num_rows == expected


@pytest.mark.published
@pytest.mark.slow
def test_a_real_form_gives_its_questions(tmp_path):
    form = shared_file("data", "questionnaires", "ZA7500_q_gb.pdf")
    done = run("extract", form, "--language", "eng", "--output", tmp_path / "eng.json")
    assert done.returncode == 0
    complete = [q for q in read_json(tmp_path / "eng.json") if q["text"] and len(q["options"]) >= 2]
    assert len({q["id"] for q in complete}) >= 150


TABLE = "id,text,item,options\nhappy,Are you happy?,,yes | no\n"


def test_one_form_in_a_zip_is_read_and_of_several_one_line_names_them(tmp_path):
    packed, output = tmp_path / "form.zip", tmp_path / "eng.json"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/eng.csv", TABLE)
    said = succeed("extract", packed, "--language", "eng", "--output", output)
    assert said.startswith("form.zip: holds eng.csv, which is read\n1 questions")
    assert [question["id"] for question in read_json(output)] == ["happy"]
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("deu.csv", TABLE)
    said = refuse("extract", packed, "--language", "eng", "--output", output)
    assert said.endswith(
        "form.zip: is an archive that holds 2 files (deu.csv, folder/eng.csv), one file was expected; unpack it and "
        "name the file"
    )


def test_ids_that_are_all_taken_for_a_surveys_codes_are_said(tmp_path):
    rows = [f"Q{n},What of {n}?,,very | rather | hardly | not at all" for n in range(1, 6)]
    table, output = tmp_path / "eng.csv", tmp_path / "eng.json"
    table.write_text("\n".join(["id,text,item,options", *rows]))
    lines = succeed("extract", table, "--language", "eng", "--output", output)
    assert 'ids: Q1 and others are taken for variables of WVS-7; where they are your own, say survey = "own"' in lines
    assert "ids:" not in succeed("extract", table, "--language", "eng", "--output", output, "--survey", "own")


def test_a_damaged_zip_is_one_line(tmp_path):
    (tmp_path / "form.zip").write_bytes(b"PK\x03\x04 damaged")
    said = refuse("extract", tmp_path / "form.zip", "--language", "eng", "--output", tmp_path / "eng.json")
    assert "not a PDF but a ZIP archive" in said


def test_own_ids_like_a_surveys_codes_are_asked_as_they_are(tmp_path):
    rows = [f"v{n},What of {n}?,,never | sometimes | always" for n in range(1, 13)]
    table = tmp_path / "eng.csv"
    table.write_text("\n".join(["id,text,item,options", *rows]))
    assert "likert3 (ordered): v1?" in succeed(
        "extract", table, "--language", "eng", "--output", tmp_path / "in/eng.json"
    )
    assert "12 of 12 questions aligned" in succeed("align", tmp_path / "in/eng.json", "--output", tmp_path / "out")


def test_ids_are_own_where_the_command_says_so(tmp_path):
    rows = [f"Q{n},What of {n}?,,very | rather | hardly | not at all" for n in range(1, 6)]
    table, output = tmp_path / "eng.csv", tmp_path / "in/eng.json"
    table.write_text("\n".join(["id,text,item,options", *rows, "age,Old?,,very | rather | hardly | not at all"]))
    told = run("extract", table, "--language", "eng", "--output", output).stderr
    assert "5 of 6 ids, such as Q1, are taken for a survey's codes; the others (age) are none" in told
    assert [question["id"] for question in read_json(output)] == [f"Q{n}" for n in range(1, 6)] + ["age"]
    own = run("extract", table, "--language", "eng", "--output", output, "--survey", "own")
    assert "survey's codes" not in own.stderr
    assert "6 of 6 questions aligned" in succeed("align", output, "--output", tmp_path / "out")


def lime_survey(path, text="Well?"):
    """A survey of LimeSurvey in two languages: a list of three answers, of which one is don't know, and a text."""
    words = {"en": (text, "Yes", "No", "Don't know"), "de": ("Gut?", "Ja", "Nein", "Weiß nicht")}
    question = "<row><qid>{}</qid><gid>1</gid><type>{}</type><title>{}</title><question>{}</question>"
    rows, answers = "", ""
    for code, (label, *labels) in words.items():
        rows += (
            question.format(1, "L", "well", label) + f"<relevance>age > 17</relevance><language>{code}</language></row>"
        )
        rows += question.format(2, "T", "job", "Job") + f"<language>{code}</language></row>"
        answers += "".join(
            f"<row><qid>1</qid><code>{n}</code><answer>{each}</answer><language>{code}</language></row>"
            for n, each in zip("YND", labels, strict=True)
        )
    path.write_text(
        "<document><languages><language>en</language><language>de</language></languages>"
        f"<questions><rows>{rows}</rows></questions><answers><rows>{answers}</rows></answers></document>"
    )
    return path


def test_a_form_of_a_survey_program_is_read_in_the_language_of_the_questions(tmp_path):
    form, output, left_out = lime_survey(tmp_path / "form.lss"), tmp_path / "deu.json", tmp_path / "left.csv"
    printed = succeed("extract", form, "--language", "deu", "--output", output, "--left-out", left_out)
    assert f"left out: 1 entry of the form, in {left_out}" in printed
    assert left_out.read_text() == ('id,text,reason\njob,Job,"an open question, no closed question with one answer"\n')
    (question,) = read_json(output)
    assert [(each["value"], each["label"], each["source_code"]) for each in question["options"]] == [
        (1, "Ja", "Y"),
        (2, "Nein", "N"),
    ]
    assert (question["missing"], question["when"]) == ([{"value": 3, "label": "Weiß nicht"}], "age > 17")
    trials = tmp_path / "trials.txt"
    succeed("trials", "--questions", output, "--language", "deu", "--output", trials)
    assert "Gut?" in trials.read_text()


def test_another_language_of_a_form_is_named(tmp_path):
    form, output = lime_survey(tmp_path / "form.lss"), tmp_path / "eng.json"
    printed = succeed("extract", form, "--language", "eng", "--output", output, "--form-language", "en")
    assert "left out: 1 entry of the form (1 an open question" in printed
    assert read_json(output)[0]["text"] == "Well?"
    printed = refuse("extract", form, "--language", "eng", "--output", output, "--form-language", "fr")
    assert printed.endswith("form.lss: has no language fr; name one of en, de with --form-language")


def test_form_languages_are_for_forms_alone(tmp_path):
    table, output = tmp_path / "eng.csv", tmp_path / "eng.json"
    table.write_text(TABLE)
    printed = refuse("extract", table, "--language", "eng", "--output", output, "--form-language", "en")
    assert printed.endswith("eng.csv: is no form of several languages; leave --form-language out")
    printed = refuse("extract", tmp_path / "form.pdf", "--language", "eng", "--output", output, "--form-language", "en")
    assert printed.endswith("--form-language and --left-out are for forms that are no PDF; leave them out")


def test_a_question_that_quotes_an_answer_is_aligned_and_never_asked(tmp_path):
    form, output = lime_survey(tmp_path / "form.lss", "Well, {name.shown}?"), tmp_path / "in/eng.json"
    succeed("extract", form, "--language", "eng", "--output", output)
    trials = run("trials", "--questions", output, "--language", "eng", "--output", tmp_path / "trials.txt")
    assert "well is left out: its text quotes what each respondent answered" in trials.stderr
    assert "quotes what each respondent answered" in read_json(output)[0]["unfit"]
    succeed("align", output, "--output", tmp_path / "out")
    assert "quotes what each respondent answered" in read_json(tmp_path / "out/eng.json")[0]["unfit"]


def test_a_guessed_type_is_said_where_the_kind_of_file_can_say_it(tmp_path):
    answers = {str(n): {"Display": word} for n, word in enumerate(("red", "blue", "grey"), 1)}
    form, table = survey(tmp_path, question("vote", choices=answers)), tmp_path / "eng.csv"
    table.write_text("id,text,item,options\nvote,Which?,,red | blue | grey\n")
    in_column = "  ? guessed from the answers; say it in a column response_type where it is wrong\n"
    in_overrides = in_column.replace("a column response_type", "an overrides file (docs/review.md#corrections)")
    for file, line in ((form, in_overrides), (table, in_column)):
        done = run("extract", file, "--language", "eng", "--output", tmp_path / "eng.json")
        assert line in done.stdout
        assert "or categorical, in an overrides file (docs/review.md#corrections) or a table's column" in done.stderr


def test_a_text_is_refused_with_all_that_is_read(tmp_path):
    (tmp_path / "form.txt").write_text("1. Are you happy?")
    line = refuse("extract", tmp_path / "form.txt", "--language", "eng", "--output", tmp_path / "eng.json")
    assert line.startswith(
        f"{tmp_path / 'form.txt'}: not a PDF but another kind of file; name the questionnaire's PDF, a"
    )
    assert line.endswith(
        "(.csv, .tsv, .xlsx, .xls, .ods) or a form of a survey program (.qsf, .lss, .xlsx, .xml, .docx)"
    )


@pytest.mark.parametrize("name", ["mine.csv", "mine.txt", "mine.tsv", "mine.pdf"])
def test_an_export_of_qualtrics_with_another_ending_is_named(name, tmp_path):
    survey(tmp_path, question("vote")).rename(tmp_path / name)
    line = refuse("extract", tmp_path / name, "--language", "eng", "--output", tmp_path / "eng.json")
    assert line == f"{tmp_path / name}: this is a Qualtrics export; name it mine.qsf"


@pytest.mark.parametrize("name", ["mine.csv", "mine.qsf"])
@pytest.mark.parametrize("command", [("probe", "--model", "owner/none"), ("trials",)])
def test_a_table_where_a_question_file_belongs_is_to_be_extracted_first(name, command, tmp_path):
    written = survey(tmp_path, question("vote")) if name == "mine.qsf" else tmp_path / "table"
    if name == "mine.csv":
        written.write_text(TABLE)
    file, output = written.rename(tmp_path / name), tmp_path / "out.parquet"
    line = refuse(*command, "--questions", file, "--language", "eng", "--output", output)
    assert line == (
        f"{file}: is no question file (JSON); make one of it first: valuesassets extract {file} --language CODE "
        "--output questions.json"
    )
