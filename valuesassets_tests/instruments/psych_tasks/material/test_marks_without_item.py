"""Marks whose item stands elsewhere are found; tasks whose blocks are right, and tasks without items, have none."""

import pytest

from valuesassets.instruments.psych_tasks.material.marks import people_of
from valuesassets.instruments.psych_tasks.material.marks_without_item import marks_without_item
from valuesassets.instruments.psych_tasks.material.task_files import Task, load_task
from valuesassets.instruments.psych_tasks.material.transcripts import (
    TaskTranscript,
    derive_transcripts,
    task_transcripts,
)
from valuesassets.instruments.psych_tasks.plants.planted_people import transcript_lines
from valuesassets.instruments.psych_tasks.plants.planted_tasks import PLANTED
from valuesassets_tests.instruments.psych_tasks.made_people import (
    BALLOONS,
    balloon_text,
    person,
    survey_person,
    survey_task,
)
from valuesassets_tests.instruments.psych_tasks.made_situations import STYLES, situations
from valuesassets_tests.instruments.psych_tasks.test_real_transcripts import STATUSES, TASKS, transcripts_of


def situation_people(style, **changes):
    kinds = [{"name": "letter", "before": r"(press|answer) $", "candidates": {"options": r"\b([A-Z])[:)]"}}]
    task = Task.model_validate({"name": "situations", "kinds": kinds} | changes)
    transcripts = [
        TaskTranscript(each.experiment, each.participant, None, each.text) for each in situations(style, True)
    ]
    return people_of(transcripts, task), task


def test_a_first_item_of_several_lines_is_lost_to_the_instructions_where_blocks_are_lines():
    for style in STYLES[1:]:
        rows = marks_without_item(*situation_people(style))
        assert [row["mark"] for row in rows] == [1] * 8, style
        assert "no item stands before it in its block, it may stand in the instructions" in rows[0]["reason"]


def test_items_of_one_line_are_one_block_in_which_all_but_the_first_stand_behind_another():
    rows = marks_without_item(*situation_people("one line"))
    assert [row["mark"] for row in rows] == [2, 3, 4] * 8
    assert "all items are one block, in which it stands behind that of mark 1" in rows[0]["reason"]


@pytest.mark.parametrize(("style", "block"), [("headers", r"^Situation \d+"), ("one line", r"\d\. (?=[A-Z])")])
def test_blocks_that_begin_with_their_items_have_none(style, block):
    assert marks_without_item(*situation_people(style, block=block)) == []


def test_surveys_of_lines_and_balloons_have_none():
    people = [survey_person(name, "13524") for name in "ab"]
    assert marks_without_item(people, survey_task()) == []
    assert marks_without_item([person("a", balloon_text(), BALLOONS)], BALLOONS) == []


def test_what_an_answer_led_to_is_no_item():
    """The first mark of a bandit has no outcome before it, the others have; it lacks nothing."""
    kinds = [{"name": "press", "before": "press $", "candidates": {"list": ["A", "B"]}}]
    task = Task.model_validate({"name": "bandit", "kinds": kinds})
    text = "Choose.\nYou press <<A>>.\n" + "".join(f"You get {n} points.\nYou press <<B>>.\n" for n in range(9))
    assert marks_without_item([person("a", text, task)], task) == []


@pytest.mark.parametrize("name", PLANTED)
def test_the_bundled_people_have_none(name, tmp_path):
    path, task = tmp_path / "people.jsonl", load_task(name)
    path.write_text("\n".join(transcript_lines(name, 6, 1)), encoding="utf-8")
    assert marks_without_item(people_of(task_transcripts(derive_transcripts(path, task)), task), task) == []


@pytest.mark.published
@pytest.mark.parametrize("name", STATUSES)
def test_published_transcripts_have_none_by_the_tasks_written_for_them(name):
    task = load_task(TASKS / f"{name}.toml")
    people = people_of(task_transcripts(derive_transcripts(transcripts_of(name), task)), task)
    assert marks_without_item(people, task) == []
