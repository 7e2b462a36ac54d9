"""A study of real models alone tries its prompts on a model of its own, which nothing else of the study has in."""

import pandas as pd
import pytest

from valuesassets.answers.calibration import summarise_recovery
from valuesassets.answers.negative_controls import wrong_language_pairs
from valuesassets.answers.reference_models import answer_texts, shown_plant
from valuesassets.instruments.survey.plants.self_calibration import (
    FAMILY,
    INSTEAD,
    MOST_LANGUAGES,
    calibrating_study,
    derive_self_calibration,
    plants_of,
)
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.records.study import load_study
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.comparing.planted_grid import questions, trials

STUDY = load_study("evs2017")
TRIED = calibrating_study(STUDY, ["fra", "deu", "eng"])
ASKED = {code: questions() for code in TRIED.languages}


def said_to(trial, plants, pull=0.0):
    """What a model that answers exactly as planted says; `pull` moves it to the first label."""
    texts = answer_texts(
        trial.prompt, shown_plant(trial.prompt, plants[trial.asked_id], trial.trial_id), trial.trial_id
    )
    probs = [sum(texts.get(f"{space}{label}\n", 0) for space in ("", " ")) for label in trial.labels]
    mass = sum(probs)
    probs = [prob * (1 - pull) + pull * mass * (place == 0) for place, prob in enumerate(probs)]
    reading = Reading(trial.trial_id, tuple(probs), mass, None, None, (), Status.OK, None, trial.trial_id)
    rows = [
        {"trial_id": trial.trial_id, "prompt": trial.prompt, "answer_text": text, "n": round(prob * 1_000_000)}
        for text, prob in texts.items()
    ]
    return reading, rows


def derived(pull=0.0, tried=None):
    planted, readings, written = plants_of(TRIED, ASKED), {}, {}
    for code in TRIED.languages:
        said = [said_to(trial, planted[code], pull) for trial in trials(code)]
        readings[code] = [reading for reading, _ in said]
        written[code] = pd.DataFrame([row for _, rows in said for row in rows])
    asked = {code: trials(code) for code in TRIED.languages}
    of_others = {pair: readings[pair[2]] for pair in tried or ()}
    return derive_self_calibration(TRIED, ASKED, asked, readings, written, of_others)


def test_the_masters_language_and_one_other_are_tried_on_a_family_of_its_own():
    assert next(iter(TRIED.languages)) == "eng"
    assert len(TRIED.languages) == MOST_LANGUAGES
    assert list(TRIED.families) == [FAMILY]
    assert TRIED.families[FAMILY].kind == "reference"
    assert not STUDY.is_planted  # so that no figure of the study says planted


def test_a_language_of_a_country_without_a_published_position_is_tried_all_the_same():
    far = {"eng": STUDY.languages["eng"].model_copy(update={"country": "TV"})}
    tried = calibrating_study(STUDY.model_copy(update={"languages": far}), ["eng"])
    assert tried.languages["eng"].country == INSTEAD[0]
    assert plants_of(tried, {"eng": questions()})


@pytest.mark.slow
def test_what_is_answered_as_planted_is_recovered_and_what_is_not_is_not():
    recovery = summarise_recovery(derived()["comparison"], TRIED.phantom)
    assert recovery["is_recovered"].all(), recovery[["response_type", "reason"]].to_string()
    assert set(recovery["model"]) == {FAMILY}
    off = summarise_recovery(derived(pull=0.3)["comparison"], TRIED.phantom)
    assert not off.query("response_type == 'all'")["is_recovered"].any()


@pytest.mark.slow
def test_another_languages_answers_fail():
    pairs = wrong_language_pairs(TRIED, SURVEY.parts_of(TRIED))
    controls = derived(tried=pairs)["controls"]
    assert len(controls) == 2
    assert controls["fails"].all()
    assert derived()["controls"].empty
