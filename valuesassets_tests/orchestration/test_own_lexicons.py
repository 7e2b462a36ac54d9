"""Norwegian and Serbian with lexicons of the study's own: from forms that the renderer prints to the map."""

import json

import dagster as dg
import pandas as pd
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import read_trials
from valuesassets.records.places import STUDIES
from valuesassets.records.study import load_study
from valuesassets.studies.questionnaires.render import render
from valuesassets_tests.studies.expected_questions import expected_questions

OWN_CUES = {"nor": '"Mitt valg", "Jeg svarer"', "srp": '"Moj izbor", "Odgovaram"'}
STUDY = """
name = "own"
title = "Two languages with lexicons of their own"
seed = 3

[questionnaires]
source = "folder"
pdf_dir = "forms"
master = "nor"

[phantom]
steps = 20
samples = 50

[inference]
resamples = 199
worlds = 2

[languages.nor]
name = "Norwegian"
country = "NO"
zone = "Protestant Europe"
lexicon = "words/nor.toml"
pdf = "nor.pdf"

[languages.srp]
name = "Serbian"
country = "RS"
zone = "Orthodox Europe"
lexicon = "words/srp.toml"
pdf = "srp.pdf"

[families.reference]
kind = "reference"
model_type = "multi"
dtype = "float32"

[human]
source = "planted"
respondents = 300
"""
STEPS = (
    *((("survey/questionnaire_pdf", "survey/extracted_questions"), language) for language in OWN_CUES),
    (("survey/master_questions", "survey/respondents", "survey/human_distributions", "survey/human_means"), None),
    *((("survey/aligned_questions", "survey/trials"), language) for language in OWN_CUES),
    (("survey/reference_models",), None),
    (("models/weights", "survey/preflight"), "reference"),
    *((("survey/readings", "survey/probe_distributions"), cell_key("reference", language)) for language in OWN_CUES),
    (("survey/quality_report", "survey/reliability", "survey/cultural_map"), None),
)
"""What the map rests on, in its order: assets, and the partition of each."""


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """The survey's folder of a study that was run up to its map."""
    folder = tmp_path_factory.mktemp("own")
    for name in ("forms", "words"):
        (folder / name).mkdir()
    for language, cues in OWN_CUES.items():
        render(language, folder / "forms" / f"{language}.pdf")
        bundled = (STUDIES / "lexicons" / f"{language}.toml").read_text(encoding="utf-8").splitlines()
        words = [f"answer_cues = [{cues}]" if line.startswith("answer_cues") else line for line in bundled]
        (folder / "words" / f"{language}.toml").write_text("\n".join(words), encoding="utf-8")
    (folder / "own.toml").write_text(STUDY, encoding="utf-8")
    graph = build_definitions(load_study(folder / "own.toml"), folder / "storage")
    job = graph.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        for assets, partition in STEPS:
            keys = [dg.AssetKey(asset.split("/")) for asset in assets]
            assert job.execute_in_process(instance=instance, partition_key=partition, asset_selection=keys).success
    return folder / "storage" / "own" / "survey"


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.parametrize("language", OWN_CUES)
def test_forms_are_aligned_whole_and_asked_in_the_words_of_the_own_lexicon(survey, language):
    aligned = json.loads((survey / "aligned_questions" / f"{language}.json").read_text(encoding="utf-8"))
    assert [row["text"] for row in aligned] == [question.text for question in expected_questions(language)]
    assert json.loads((survey / "extracted_questions" / f"{language}.faults.json").read_text(encoding="utf-8")) == []
    cue = OWN_CUES[language].split('"')[1]
    prompts = [trial.prompt for trial in read_trials(survey / "trials" / f"{language}.parquet")]
    assert len(prompts) == 68
    assert all(prompt.endswith(f"\n{cue}:") for prompt in prompts)
    assert cue not in load_lexicon(language).answer_cues


@pytest.mark.slow
@pytest.mark.group("graph")
def test_the_map_has_a_model_and_the_people_of_each(survey):
    points = pd.read_parquet(survey / "cultural_map" / "points.parquet")
    models = points[points.kind == "model"]
    assert sorted(models.language) == sorted(OWN_CUES)
    assert models[["x", "y"]].notna().all(axis=None)
    assert (survey / "cultural_map" / "cultural_map.png").stat().st_size > 10_000
