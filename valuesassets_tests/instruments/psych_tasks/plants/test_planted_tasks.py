"""The response model by which made-up people answer."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.psych_tasks.material.marks import mark_person
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import task_transcript
from valuesassets.instruments.psych_tasks.plants.planted_people import FAULTS, PEOPLE, planted_people, transcript_lines
from valuesassets.instruments.psych_tasks.plants.planted_tasks import PLANTED, Earlier, Way, planted_probs
from valuesassets.records.errors import QuestionError
from valuesassets.records.marks import Transcript
from valuesassets.records.settings.psych_tasks import PlantedModel

TRAITS = PLANTED["ipip_traits"]


def test_a_law_worked_by_hand():
    response = PlantedModel(style=0.3, content=0.5)
    earlier = [Earlier(1, 1, 4), Earlier(2, 2, 0)]
    own = TRAITS.own(Way(), 3, 3, earlier)
    style = np.array([1 + 1 / 5, 1 / 5, 1 / 5, 1 / 5, 1 + 1 / 5]) / 3
    content = np.array([1 / 5, 1 / 5, 1 / 5, 1 / 5, 2 + 1 / 5]) / 3  # item 2 is keyed the other way: its 1 is a 5
    np.testing.assert_allclose(
        planted_probs(TRAITS, response, Way(), 3, 3, earlier), 0.2 * own + 0.3 * style + 0.5 * content
    )


@given(
    st.sampled_from(sorted(PLANTED)),
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(0, 1)), max_size=8),
    st.floats(0, 0.5),
    st.floats(0, 0.49),
)
def test_a_law_sums_to_one_whatever_stands_before(name, earlier, style, content):
    task = PLANTED[name]
    response, way = PlantedModel(style=style, content=content), Way(keys=("P", "S"))
    probs = planted_probs(task, response, way, 5, 5, [Earlier(*mark) for mark in earlier])
    assert probs.sum() == pytest.approx(1)
    assert (probs > 0).all()


def test_nothing_of_the_history_shows_without_style_and_content():
    response = PlantedModel(style=0, content=0)
    one, other = (planted_probs(TRAITS, response, Way(), 3, 3, [Earlier(1, 1, place)]) for place in (0, 4))
    assert (one == other).all()


def test_a_reversed_presentation_turns_the_items_own_answers_round():
    own = TRAITS.own(Way(), 3, 3, [])
    assert (TRAITS.own(Way(is_reversed=True), 3, 3, []) == own[::-1]).all()


@pytest.mark.parametrize("name", PLANTED)
def test_the_noted_law_is_that_of_what_stands_before_each_answer(name):
    response = PlantedModel(style=0.4, content=0.1)
    task = PLANTED[name]
    for person in planted_people(name, 6, "test", noted=response):
        earlier: list[Earlier] = []
        blocks = [person.text.count("Balloon ", 0, start) for start in person.starts]
        for number, (answer, probs) in enumerate(zip(person.answers, person.probs, strict=True), 1):
            block = blocks[number - 1] if name == "balloons" else number
            np.testing.assert_allclose(probs, planted_probs(task, response, person.way, number, block, earlier))
            earlier.append(Earlier(number, block, person.candidates.index(answer)))


@pytest.mark.parametrize("name", PLANTED)
def test_the_task_file_finds_every_mark_of_made_up_people_and_every_spoilt_one(name):
    task = load_task(name)
    lines = [json.loads(line) for line in transcript_lines(name, 8, "test")]
    for place, line in enumerate(lines):
        transcript = Transcript.model_validate(line)
        person = mark_person(task_transcript(transcript, task, "made up"), task)
        statuses = [str(mark.status) for mark in person.marks]
        last = FAULTS[place] if place < len(FAULTS) else "read"
        assert statuses == ["read"] * (len(statuses) - 1) + [last], person.marks
        assert len(statuses) == transcript.text.count(task.delimiters[0])


def test_the_same_seed_gives_the_same_people():
    assert transcript_lines("balloons", 4, 1) == transcript_lines("balloons", 4, 1)
    assert transcript_lines("balloons", 4, 1) != transcript_lines("balloons", 4, 2)


def test_nobody_is_made_up_for_a_task_without_a_law():
    with pytest.raises(QuestionError, match="task care: nobody is made up who answers it; name a file"):
        list(planted_people("care", 1))


def test_people_have_a_trait_that_content_shows():
    """With keying, earlier answers predict an answer; without, they do so less."""
    right, wrong = [], []
    for person in planted_people("ipip_traits", 60, "traits"):
        places = [person.candidates.index(answer) for answer in person.answers]
        earlier = [Earlier(number, number, place) for number, place in enumerate(places, 1)]
        for response, log_probs in (
            (PlantedModel(style=0, content=0.5), right),
            (PlantedModel(style=0.5, content=0), wrong),
        ):
            log_probs += [
                np.log(planted_probs(TRAITS, response, person.way, n, n, earlier[: n - 1])[places[n - 1]])
                for n in range(2, 11)
            ]
    assert PEOPLE.content > PEOPLE.style
    assert np.mean(right) > np.mean(wrong) + 0.05


def test_keys_are_listed_by_their_roles():
    task = load_task("balloons")
    for line in transcript_lines("balloons", 6, "keys"):
        transcript = Transcript.model_validate(json.loads(line))
        person = mark_person(task_transcript(transcript, task, "made up"), task)
        pump, stop = transcript.text.split("Press ")[1][0], transcript.text.split(", or ")[1][0]
        assert {mark.candidates for mark in person.marks if mark.is_asked} == {(pump, stop)}
