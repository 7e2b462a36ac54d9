"""The way from an own table of questions to a report, with ids of every shape that a person may give them."""

import re
import zipfile

import pandas as pd
import pytest

from valuesassets_tests.orchestration.small_study import run_study_file
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

IDS = (
    *("happy", "TRUST", "q.1", "life-sat", "Größe", "Щастя"),
    *("7", "v9x", "country", "two words", "x/y", "model"),
)
STUDY = """
name = "own"
title = "An own questionnaire"
seed = 1

[questionnaires]
source = "none"
extractor = "imported"
extractions = "tables"
master = "eng"

[languages.eng]
name = "English"
country = "GB"
zone = "English-Speaking"

[families.first]
kind = "reference"
model_type = "multi"
plants = "always-first"
dtype = "float32"

[phantom]
steps = 60
samples = 50

[inference]
resamples = 199
worlds = 2
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The folder of the survey's files."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "tables").mkdir()
    options = "a lot | some | little | nothing"
    rows = [f'"{name}",How much does matter {n} count for you?,,{options}' for n, name in enumerate(IDS)]
    (folder / "tables" / "eng.csv").write_text("\n".join(["id,text,item,options", *rows, ""]), encoding="utf-8")
    (folder / "own.toml").write_text(STUDY, encoding="utf-8")
    run_study_file(folder, folder / "own.toml")
    return folder / "storage" / "own" / "survey"


@pytest.mark.slow
@pytest.mark.group("graph")
def test_ids_of_twelve_shapes_go_through_to_the_report_and_what_is_taken_along(own):
    answers = pd.read_parquet(own / "question_answers" / "answers.parquet")
    assert answers["question_id"].tolist() == list(IDS)
    assert {path.suffix for path in (own / "question_answers").glob("question_answers*")} >= {".pdf", ".svg", ".json"}
    page = (own / "report" / "report.html").read_text(encoding="utf-8")
    assert all(name in page for name in IDS)
    with zipfile.ZipFile(own / "replication_bundle" / "replication_bundle.zip") as bundle:
        assert {"survey/items/items.dta", "survey/csv/question_answers/answers.csv"} <= {*bundle.namelist()}


@pytest.mark.slow
@pytest.mark.group("graph")
def test_a_study_of_a_real_model_calibrates_itself_and_no_figure_of_it_says_planted(tmp_path):
    (tmp_path / "tables").mkdir()
    rows = [f"{name},How much does matter {name} count?,,a lot | some | little | nothing" for name in ("one", "two")]
    (tmp_path / "tables" / "eng.csv").write_text("\n".join(["id,text,item,options", *rows, ""]), encoding="utf-8")
    write_model(tmp_path / "tiny", sentencepiece_like())
    head, _, rest = STUDY.partition("[families.first]")
    real = '[families.tiny]\nkind = "huggingface"\nmodel_type = "multi"\nmodel_id = "tiny"\ndtype = "float32"\n'
    override = '[preflight]\noverride = "a model that was never trained"\n'
    phantom = rest[rest.index("[phantom]") :].replace("steps = 60", "steps = 200")
    (tmp_path / "own.toml").write_text(f"{head}{real}{override}{phantom}", encoding="utf-8")
    run_study_file(tmp_path, tmp_path / "own.toml")
    survey = tmp_path / "storage" / "own" / "survey"
    found = pd.read_parquet(survey / "self_calibration" / "comparison.parquet")
    assert found["question_id"].tolist() == ["one", "two"]
    page = (survey / "report" / "report.html").read_text(encoding="utf-8")
    assert "1 of 1 calibrated cell within the bounds" in page
    assert "Planted.</strong>" not in page
    answers = pd.read_parquet(survey / "question_answers" / "answers.parquet")
    assert set(answers["model"]) == {"tiny"}


@pytest.mark.slow
@pytest.mark.group("graph")
def test_the_report_speaks_of_what_was_in_the_study_and_of_nothing_else(own):
    page = (own / "report" / "report.html").read_text(encoding="utf-8")
    words = re.sub(r"<style.*?</style>|<script.*?</script>|data:[^\"]*|<[^>]+>", " ", page, flags=re.DOTALL)
    for never in ("EVS", "WVS", "Inglehart", "Cultural map", "human.source", "indicators", "points lie"):
        assert never not in words, never
    first = page[page.index('<section id="answer"') : page.index('<section id="claims"')]
    assert "Questions and answers" in first
    assert "Do answers follow the options?" in first
    assert "Not shown" not in first
    assert "follows the position of the options" in first
