"""What was planted against what was read: the response model itself is recovered, and another is refused."""

import json

import numpy as np
import pytest

from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
from valuesassets.instruments.psych_tasks.material.marks import mark_person
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import REVERSED, task_transcript
from valuesassets.instruments.psych_tasks.measures.prediction import derive_prediction
from valuesassets.instruments.psych_tasks.plants.calibration import derive_calibration
from valuesassets.instruments.psych_tasks.plants.planted_people import transcript_lines
from valuesassets.instruments.psych_tasks.plants.planted_tasks import PLANTED, Earlier, Way, planted_probs
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets.records.marks import Transcript, find_marks
from valuesassets.records.settings.measuring import Inference
from valuesassets.records.settings.psych_tasks import PlantedModel
from valuesassets_tests.instruments.psych_tasks.made_readings import read_by

FOLLOWER, PARROT = PlantedModel(style=0.2, content=0.4), PlantedModel(style=0.6)


def people_of(name, n=24):
    task = load_task(name)
    lines = (Transcript.model_validate(json.loads(line)) for line in transcript_lines(name, n, "calibration"))
    return [mark_person(task_transcript(line, task, "made up"), task) for line in lines], task


def by_response(people, response):
    """A model that follows the response model of the survey, as the text of each trial has it: another oracle."""
    reversed_people = {who.participant for who in people if who.transcript.presentation == REVERSED}

    def probs_of(trial, span):
        own = trial.readout.history == "own"
        text = trial.prompt
        texts = trial.readout.sets[0]
        way = Way("1 = very accurate" in text, texts)
        start = trial.readout.spans[span].start
        number = int(text[: start - 2].rpartition("\n")[2].partition(".")[0])
        earlier = []
        for place, mark in enumerate(find_marks(text[: start - 2])[0]):
            asked_number = int(text[: mark.start - 2].rpartition("\n")[2].partition(".")[0])
            said = drawn[trial.trial_id, place] if own else texts.index(text[mark.start : mark.end])
            earlier.append(Earlier(asked_number, asked_number, said))
        probs = planted_probs(PLANTED["ipip_traits"], response, way, number, number, earlier)
        drawn[trial.trial_id, span] = int(np.argmax(probs))
        return probs

    drawn = {}
    assert reversed_people
    return probs_of


@pytest.fixture(scope="module")
def survey():
    people, task = people_of("ipip_traits")
    return people, task, ask_task(people, task, ("alone", "own", "human", "other", "permuted"))


@pytest.mark.parametrize("response", [FOLLOWER, PARROT])
def test_a_model_that_is_the_law_is_recovered_after_every_history(survey, response):
    people, task, asking = survey
    tables = derive_calibration(asking, people, task, response, read_by(asking.trials, by_response(people, response)))
    assert tables["recovery"]["is_recovered"].all()
    assert tables["recovery"]["tvd_mean"].max() < 1e-12
    assert tables["recovery"]["history"].tolist() == ["alone", "own", "human", "other", "permuted"]
    assert (tables["gains"]["estimate"] - tables["gains"]["planted"]).abs().max() < 1e-12


def test_another_law_is_refused(survey):
    people, task, asking = survey
    tables = derive_calibration(asking, people, task, FOLLOWER, read_by(asking.trials, by_response(people, PARROT)))
    by_history = tables["recovery"].set_index("history")["is_recovered"]
    assert not by_history["human"]
    assert by_history["alone"]  # nothing stands before it there


@pytest.mark.slow
def test_a_parrot_has_no_content_and_a_follower_has(survey):
    people, task, asking = survey
    content = {}
    for name, response in (("follower", FOLLOWER), ("parrot", PARROT)):
        readings = read_by(asking.trials, by_response(people, response))
        answers = derive_answer_distributions(asking.rows, people, task, asking.trials, readings, False)
        marks, donors = (answers[table].assign(model=name, task="t") for table in ("marks", "donors"))
        tables = derive_prediction(marks, donors, Inference())
        rows = tables["gains"].set_index("gain")
        content[name] = rows.loc["content"]
        share = tables["identification"]["share"].iloc[0]
        assert share > 0.55
    assert content["parrot"]["estimate"] == pytest.approx(0, abs=1e-12)
    assert content["follower"]["low"] > 0
    assert content["follower"]["reason"].startswith("24 participants, 30 or more")


def test_a_mark_that_was_not_read_is_not_recovered(survey):
    people, task, asking = survey
    readings = read_by(asking.trials, by_response(people, FOLLOWER))
    tables = derive_calibration(asking, people, task, FOLLOWER, readings[1:])
    assert not tables["recovery"].set_index("history")["is_recovered"]["alone"]


def test_swapped_keys_are_not_recovered():
    people, task = people_of("balloons", 8)
    asking = ask_task(people, task, ("human",))

    def said(trial, span, places):
        who = next(each for each in people if f"{each.experiment}/{each.participant}/human" == trial.trial_id)
        mark = [each for each in who.marks if each.is_asked][span]
        earlier = [
            Earlier(each.number, each.block, each.candidates.index(each.answer))
            for each in who.marks[: mark.number - 1]
        ]
        probs = planted_probs(
            PLANTED["balloons"], FOLLOWER, Way(keys=mark.candidates), mark.number, mark.block, earlier
        )
        return probs[places]

    right, swapped = (
        derive_calibration(
            asking, people, task, FOLLOWER, read_by(asking.trials, lambda t, s, p=places: said(t, s, p))
        )["recovery"]
        for places in ([0, 1], [1, 0])
    )
    assert right["tvd_mean"].max() < 1e-12
    assert not swapped["is_recovered"].any()
