"""Norwegian and Serbian with lexicons of the study's own: from forms that the renderer prints to the map."""

import json

import pandas as pd
import pytest

from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import read_trials
from valuesassets.records.places import STUDIES
from valuesassets.studies.questionnaires.render import render
from valuesassets_tests.orchestration.small_study import run_study_file
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
steps = 40
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
UP_TO_THE_MAP = (
    *("questionnaire_pdf", "extracted_questions", "master_questions", "aligned_questions", "trials"),
    *("reference_models", "weights", "preflight", "readings", "probe_distributions", "quality_report", "reliability"),
    *("respondents", "human_distributions", "human_means", "cultural_map"),
)


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
    run_study_file(folder, folder / "own.toml", UP_TO_THE_MAP)
    return folder / "storage" / "own" / "survey"


@pytest.mark.slow
@pytest.mark.xdist_group("graph")
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
@pytest.mark.xdist_group("graph")
def test_the_map_has_a_model_and_the_people_of_each(survey):
    points = pd.read_parquet(survey / "cultural_map" / "points.parquet")
    models = points[points.kind == "model"]
    assert sorted(models.language) == sorted(OWN_CUES)
    assert models[["x", "y"]].notna().all(axis=None)
    assert (survey / "cultural_map" / "cultural_map.png").stat().st_size > 10_000
