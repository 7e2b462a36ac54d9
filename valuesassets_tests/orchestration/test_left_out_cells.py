"""A study of which one language has a damaged form and one cannot be read: what is asked, and what is said."""

import dagster as dg
import pandas as pd
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import LeftOut, Wanted, run_study
from valuesassets.orchestration.instruments import MODELS, SURVEY
from valuesassets.records.files import read_json
from valuesassets.records.parquet import read_trials
from valuesassets.records.questions import write_questions
from valuesassets.records.study import load_study
from valuesassets.records.trials import NoTrials
from valuesassets_tests.instruments.survey.material.forms.test_damaged_words import questions_without
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

pytestmark = pytest.mark.slow
STUDY = """
name = "torn"
title = "A damaged form"
seed = 3

[questionnaires]
source = "folder"
extractor = "imported"
pdf_dir = "."
extractions = "."
master = "eng"

[preflight.overrides]
"tiny/eng" = "a model that was never trained"

[families.tiny]
kind = "huggingface"
model_type = "multi"
model_id = "%s"
dtype = "float32"
"""
LANGUAGES = (("eng", "English", "IE"), ("fra", "French", "FR"), ("pol", "Polish", "PL"))
NOUNS = ("questionnaire_pdf", "extracted_questions", "master_questions", "aligned_questions", "trials", "preflight")
WANTED = Wanted(
    {MODELS.key("weights"), *map(SURVEY.key, (*NOUNS, "readings", "probe_distributions", "quality_report"))}
)


@pytest.fixture
def folder(tmp_path):
    """A study whose Polish form has lost letters, asked of a model that says nothing that counts."""
    write_model(tmp_path / "tiny", sentencepiece_like())
    for code, letters in (("eng", ""), ("fra", ""), ("pol", "śźż")):
        write_questions(tmp_path / f"{code}.json", questions_without(letters, code)[:16])
    tables = (f'[languages.{c}]\nname = "{n}"\ncountry = "{k}"\nzone = "Catholic Europe"\n' for c, n, k in LANGUAGES)
    (tmp_path / "torn.toml").write_text(STUDY % (tmp_path / "tiny") + "\n".join(tables), encoding="utf-8")
    return tmp_path


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def run(folder, instance):
    """What a command would say of the study: what is left out, and what has failed."""
    study = load_study(str(folder / "torn.toml"))
    definitions = build_definitions(study, folder / "storage")
    lines = list(run_study(definitions, instance, study=study, wanted=WANTED))
    return [line for line in lines if isinstance(line, LeftOut)], [x for x in lines if not isinstance(x, LeftOut)]


def test_what_cannot_be_asked_is_left_out_and_said_and_the_rest_is_read(folder, instance):
    left_out, failed = run(folder, instance)
    assert failed == []
    assert [line.partition(": ")[0] for line in left_out] == ["survey pol", "survey tiny/fra"]
    assert "words are damaged (lost letters: ż)" in left_out[0]
    assert "median P_valid" in left_out[1]
    stored = folder / "storage" / "torn" / "survey"
    assert [path.stem for path in stored.glob("readings/*/*.parquet")] == ["eng"]
    cells = pd.read_parquet(stored / "quality_report" / "cells.parquet").set_index("language")
    assert cells["is_missing"].to_dict() == {"eng": False, "fra": True, "pol": True}
    assert cells.loc[["fra", "pol"], "rule"].tolist() == ["preflight", "preflight"]
    assert cells.at["pol", "reason"].startswith("no model is asked in pol: ")
    parts = read_json(stored / "preflight" / "tiny.json")["parts"]
    assert parts["eng"]["override"] == "a model that was never trained"

    mark = next((stored / "extracted_questions").glob("pol.review.html")).read_text(encoding="utf-8")
    mark = mark.partition("[whole_form]\nreason = ")[2].partition("of = ")[2].splitlines()[0].strip('&#34;"')[:8]
    overrides = folder / "torn.overrides" / "pol.toml"
    overrides.parent.mkdir()
    overrides.write_text(f'[whole_form]\nreason = "read against the paper"\nof = "{mark}"\n', encoding="utf-8")
    left_out, failed = run(folder, instance)  # once it is settled, Polish is judged like the others
    assert failed == []
    assert [line.partition(": ")[0] for line in left_out] == ["survey tiny/fra", "survey tiny/pol"]
    assert "median P_valid" in left_out[1]


def test_a_damaged_form_stops_no_other_language_in_the_run_that_reads_it(folder, instance):
    """A click on a language's assets and on what all languages wait for; decision 066 says why no check is blocking."""
    definitions = build_definitions(load_study(str(folder / "torn.toml")), folder / "storage")
    job = dg.define_asset_job("of_a_language", selection=[SURVEY.key(noun) for noun in NOUNS if noun != "preflight"])
    made = dg.Definitions.merge(definitions, dg.Definitions(jobs=[job])).resolve_job_def("of_a_language")
    runs = [made.execute_in_process(instance=instance, partition_key=language) for language in ("eng", "pol")]
    (check,) = (each for each in runs[1].get_asset_check_evaluations() if each.check_name == "form_can_be_asked")
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert {event.asset_key.path[-1] for event in runs[1].get_asset_materialization_events()} == {*NOUNS} - {
        "preflight"
    }
    stored = folder / "storage" / "torn" / "survey" / "trials"
    assert len(read_trials(stored / "eng.parquet")) > 0
    asked = read_trials(stored / "pol.parquet")
    assert (len(asked), isinstance(asked, NoTrials)) == (0, True)


def test_a_family_of_which_every_cell_is_left_out_is_a_failure(folder, instance):
    path = folder / "torn.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"tiny/eng" = "a model that was never trained"', ""), encoding="utf-8")
    left_out, failed = run(folder, instance)
    assert len(left_out) == 3
    assert failed == [
        "survey tiny: no cell of it passed its preflight; mend what the lines above say, or override it; a model that "
        "was made for chats answers in one: style = 'chat' in [families.tiny.prompting]"
    ]
    cells = pd.read_parquet(folder / "storage" / "torn" / "survey" / "quality_report" / "cells.parquet")
    assert cells["is_missing"].all()
