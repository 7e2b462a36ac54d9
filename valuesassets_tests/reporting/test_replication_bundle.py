"""The zip of a study: what is in it and what is not, the same bytes again, and what other programs read of it."""

import hashlib
import io
import json
import shutil
import tomllib
import zipfile

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from valuesassets.figures.cultural_map import draw_cultural_map
from valuesassets.figures.saving import svg_text
from valuesassets.records.errors import StorageError
from valuesassets.records.study import load_study, parse_study
from valuesassets.reporting.replication_bundle import study_text, write_bundle
from valuesassets_tests.bad_inputs.test_stopped_writing import disk_full_after
from valuesassets_tests.cli.commands import refuse, run
from valuesassets_tests.comparing.planted_grid import questions
from valuesassets_tests.reporting.made_storage import add_the_rest, small_study, write_storage


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = write_storage(tmp_path_factory.mktemp("storage"))
    add_the_rest(folder)
    return folder


@pytest.fixture(scope="module")
def study_file(stored):
    path = stored.parent / "small.toml"
    path.write_text(study_text(small_study()))
    return path


@pytest.fixture(scope="module")
def bundle(stored, study_file):
    path = stored.parent / "small.zip"
    write_bundle(path, load_study(str(study_file)), stored, {"survey": ()})
    return path


@pytest.fixture(scope="module")
def opened(bundle, tmp_path_factory):
    folder = tmp_path_factory.mktemp("opened")
    zipfile.ZipFile(bundle).extractall(folder)
    return folder


@pytest.mark.slow
def test_no_respondent_and_no_form_is_in_it_and_every_file_is_as_its_hash_says(opened, stored):
    files = {path.relative_to(opened).as_posix(): path for path in opened.rglob("*") if path.is_file()}
    assert [name for name in files if name.endswith(".pdf")] == ["survey/figures/cultural_map/cultural_map.pdf"]
    assert not [name for name in files if "respondent" in name or "questionnaire" in name]
    people = pd.read_parquet(stored / "survey" / "respondents" / "respondents.parquet")
    ids = {str(each).encode() for each in people["respondent_id"]}
    form = (stored / "survey" / "questionnaire_pdf" / "eng.pdf").read_bytes()
    for path in files.values():
        content = path.read_bytes()
        assert form not in content
        assert not [each for each in list(ids)[:50] if each in content]
    for line in files.pop("SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(files.pop(name).read_bytes()).hexdigest() == digest
    assert not files
    left_out = pd.read_csv(opened / "left_out.csv", index_col="file")
    assert left_out.loc["survey/questionnaire_pdf/eng.pdf", "sha256"] == hashlib.sha256(form).hexdigest()
    assert left_out.loc["survey/respondents/respondents.parquet", "why"] == "answers of single respondents"


@pytest.mark.slow
def test_the_same_study_gives_the_same_bytes_at_another_time_by_the_command_too(bundle, stored, study_file, tmp_path):
    out = tmp_path / "out.zip"
    done = run("bundle", study_file, "--output", out, VALUESASSETS_STORAGE=str(stored.parent))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{out}: ")
    assert out.read_bytes() == bundle.read_bytes()


@pytest.mark.slow
def test_the_study_file_gives_the_study_back(opened):
    told = tomllib.loads((opened / "study.toml").read_text())
    assert told["questionnaires"].pop("overrides") == "small.overrides"
    assert parse_study(told, "study.toml") == small_study()


def test_the_study_file_keeps_no_path_of_the_machine(tmp_path):
    (tmp_path / "models").mkdir()
    written = """
name = "small"
title = "Small"
seed = 1
[questionnaires]
source = "bundled"
[languages.eng]
name = "English"
country = "GB"
zone = "English-Speaking"
[families.own]
kind = "huggingface"
model_type = "multi"
model_id = "models"
[families.server]
kind = "openai"
model_type = "multi"
model_id = "m"
[families.server.endpoint]
provider = "openai"
api = "completions"
base_url = "http://127.0.0.1:9/v1"
tokenizer = "models"
"""
    (tmp_path / "small.toml").write_text(written)
    study = load_study(str(tmp_path / "small.toml"))
    assert study.families["own"].model_id == str(tmp_path / "models")
    told = tomllib.loads(study_text(study))
    assert told["families"]["own"]["model_id"] == "models"
    assert told["families"]["server"]["endpoint"]["tokenizer"] == "models"
    assert str(tmp_path) not in study_text(study)


@pytest.mark.slow
def test_frictionless_finds_the_data_package_valid(opened):
    frictionless = pytest.importorskip("frictionless")
    found = frictionless.validate(str(opened / "datapackage.json"))
    assert found.valid, found.flatten()
    assert found.stats["tasks"] == len(json.loads((opened / "datapackage.json").read_text())["resources"]) >= 6
    rows = (opened / "survey" / "csv" / "signal" / "notes.csv").read_bytes()
    (opened / "survey" / "csv" / "signal" / "notes.csv").write_bytes(rows + b"x")
    assert not frictionless.validate(str(opened / "datapackage.json")).valid
    (opened / "survey" / "csv" / "signal" / "notes.csv").write_bytes(rows)


@pytest.mark.slow
def test_a_text_that_a_spreadsheet_would_compute_has_an_apostrophe_in_csv_and_none_in_parquet(opened):
    shown = pd.read_csv(opened / "survey" / "csv" / "signal" / "notes.csv")["note"].tolist()
    stored = pd.read_parquet(opened / "survey" / "tables" / "signal" / "notes.parquet")["note"].tolist()
    assert (shown[-1], stored[-1], shown[:-1]) == ("'=1+1", "=1+1", stored[:-1])


@pytest.mark.slow
def test_the_codebook_has_every_column_of_every_table(opened):
    codebook = pd.read_csv(opened / "codebook.csv", keep_default_na=False)
    known = set(zip(codebook["table"], codebook["column"], strict=True))
    for path in (opened / "survey" / "csv").rglob("*.csv"):
        table = path.relative_to(opened / "survey" / "csv").with_suffix("").as_posix()
        columns = set(pd.read_csv(path, nrows=0)) - {"partition"}
        assert {(f"survey/{table}", each) for each in columns} <= known, table
    row = codebook[(codebook["table"] == "survey/probe_distributions") & (codebook["column"] == "p_valid")].iloc[0]
    assert (row["type"], row["unit"], row["range"]) == ("number", "probability", "0 to 1")


@pytest.mark.slow
def test_stata_and_spss_read_the_answers_with_their_labels(opened, stored):
    of_programs = {"dta": pyreadstat.read_dta, "sav": pyreadstat.read_sav}
    files = sorted((stored / "survey" / "probe_distributions").rglob("*.parquet"))
    answers = pd.concat(map(pd.read_parquet, files), ignore_index=True)
    of_one = answers[(answers["question_id"] == "v39") & (answers["model_id"] == "reference-multi/eng")]
    mean = (of_one["prob_averaged"] * of_one["response_value"]).sum()
    asked = {question.id: question for question in questions()}
    for kind, opening in of_programs.items():
        wide, about = opening(str(opened / "survey" / "items" / f"items.{kind}"))
        cell = wide[(wide["model"] == "reference-multi") & (wide["language"] == "eng")]
        assert cell["v39"].item() == pytest.approx(mean)
        assert cell["v110"].item() in asked["v110"].values  # categorical: the likeliest answer
        assert about.column_names_to_labels["v39"].startswith(asked["v39"].item or asked["v39"].text[:70])
        assert {name.partition("_")[0] for name in about.variable_value_labels} == {*asked}
        for name, found in about.variable_value_labels.items():
            options = asked[name.partition("_")[0]].options
            labels = {option.value: option.label for option in options if option.label}
            taken = name.partition("_v110_")[2]  # v111_v110_1: what else, after v110 was answered 1
            assert found == {value: label for value, label in labels.items() if str(value) != taken}, name
        long, about = opening(str(opened / "survey" / "items" / f"answers.{kind}"))
        assert np.allclose(long["prob_averaged"], answers["prob_averaged"])
        assert about.column_names_to_labels["language"] == "ISO 639-3"


@pytest.mark.slow
def test_a_figure_is_drawn_again_from_the_tables_alone(opened):
    points = pd.read_csv(
        opened / "survey" / "csv" / "cultural_map" / "points.csv", keep_default_na=False, na_values=[""]
    )
    figure = draw_cultural_map(points)
    assert (
        svg_text(figure, has_fonts=True)
        == (opened / "survey" / "figures" / "cultural_map" / "cultural_map.svg").read_text()
    )


@pytest.mark.slow
def test_prompts_stand_in_it_word_for_word(opened, stored):
    trials = pd.read_parquet(stored / "survey" / "trials" / "eng.parquet")
    shown = (opened / "survey" / "prompts" / "trials" / "eng.txt").read_text()
    assert all(prompt in shown for prompt in trials["prompt"])


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_nothing_is_left(stored, tmp_path):
    with disk_full_after(200_000), pytest.raises(StorageError) as caught:
        write_bundle(tmp_path / "small.zip", small_study(), stored, {"survey": ()})
    assert "small.zip: cannot be written: File too large; nothing was changed" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_study_of_which_nothing_is_stored_and_one_about_single_people_are_each_one_line(tmp_path):
    said = refuse("bundle", "demo_survey", "--output", tmp_path / "x.zip", VALUESASSETS_STORAGE=str(tmp_path))
    stored = f"no table of it is stored in {tmp_path}/demo_survey"
    assert said == f"study demo_survey: {stored}; run it first: valuesassets run demo_survey"
    (tmp_path / "demo_psych_tasks" / "psych_tasks").mkdir(parents=True)
    said = refuse("bundle", "demo_psych_tasks", "--output", tmp_path / "x.zip", VALUESASSETS_STORAGE=str(tmp_path))
    assert said.startswith(
        "study demo_psych_tasks: there is nothing to bundle; nothing of psych_tasks is in it: its prompts"
    )
    assert not (tmp_path / "x.zip").exists()


@pytest.mark.slow
def test_a_table_that_is_cut_off_is_named(stored, tmp_path):
    study = small_study()
    whole = (stored / "survey" / "signal" / "notes.parquet").read_bytes()
    (tmp_path / "survey" / "signal").mkdir(parents=True)
    (tmp_path / "survey" / "signal" / "notes.parquet").write_bytes(whole[:200])
    with pytest.raises(StorageError, match=r"notes\.parquet: not a readable parquet file but truncated or damaged"):
        write_bundle(tmp_path / "x.zip", study, tmp_path, {"survey": ()})
    assert not (tmp_path / "x.zip").exists()


@pytest.mark.slow
def test_infinite_numbers_and_lists_are_written_as_data_packages_have_them(opened):
    table = pd.read_csv(io.StringIO((opened / "survey" / "csv" / "readings.csv").read_text()))
    assert json.loads(table["outside_text"].iloc[0]) == [" hm"]
    assert set(table["partition"]) == {
        f"reference-{kind}/{code}" for kind in ("mono", "multi") for code in ("deu", "eng")
    }


def test_what_the_study_does_not_name_any_more_is_not_in_it(stored, study_file, tmp_path):
    folder = tmp_path / "stored"
    shutil.copytree(stored, folder)
    of_a_language = [path for path in folder.rglob("*.parquet") if path.stem in small_study().languages]
    assert of_a_language
    for path in of_a_language:
        shutil.copy(path, path.with_name("xyz.parquet"))
    study = load_study(str(study_file))
    write_bundle(tmp_path / "with.zip", study, folder, {"survey": ()})
    write_bundle(tmp_path / "without.zip", study, stored, {"survey": ()})
    assert (tmp_path / "with.zip").read_bytes() == (tmp_path / "without.zip").read_bytes()
