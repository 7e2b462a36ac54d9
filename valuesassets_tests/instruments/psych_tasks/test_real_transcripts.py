"""Eight published experiments (Psych-201): every opening delimiter is a mark with a status, and keeps its number."""

from collections import Counter
from pathlib import Path

import pytest

from valuesassets.instruments.psych_tasks.material.marks import derive_ledger, mark_person, mark_rows, people_of
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import derive_transcripts, task_transcripts
from valuesassets.instruments.psych_tasks.tables import TASK_MARKS
from valuesassets_tests.needs import shared_file

pytestmark = pytest.mark.published
TASKS = Path(__file__).parent / "tasks"
STATUSES = {
    "busch2024_stroop": {"read": 1680},
    "guenther2022relational": {"read": 1100},
    "guenther2024comprehension": {"read": 1661, "unlisted": 319},
    "sandbrink2024metacontrol": {"read": 1800},
    "schiekiera2025metascience": {"read": 1020},
    "spektor2024lossaversion": {"read": 2940},
    "thoma2025riskychoice": {"read": 450},
    "zhu2024games": {"read": 800},
}
KINDS = {"schiekiera2025metascience": {"likelihood": 510, "certainty": 255, "step": 255}}


def transcripts_of(name):
    return shared_file("data", "psych", "transcripts", f"{name}.jsonl")


@pytest.fixture(scope="module")
def people():
    """By experiment: its task and its people."""
    by_experiment = {}
    for name in STATUSES:
        task = load_task(TASKS / f"{name}.toml")
        by_experiment[name] = task, people_of(task_transcripts(derive_transcripts(transcripts_of(name), task)), task)
    return by_experiment


def test_11770_marks_have_a_status_each(people):
    for name, (task, marked) in people.items():
        statuses = Counter(str(mark.status) for person in marked for mark in person.marks)
        assert statuses == STATUSES[name], name
        n_opened = sum(person.transcript.text.count(task.delimiters[0]) for person in marked)
        assert statuses.total() == n_opened
        ledger = derive_ledger(TASK_MARKS.frame(mark_rows(marked, task)))
        assert ledger["marks"].sum() == n_opened
    assert sum(sum(statuses.values()) for statuses in STATUSES.values()) == 11_770


def test_kinds_are_told_apart_by_what_stands_before_them(people):
    for name, expected in KINDS.items():
        assert Counter(mark.kind for person in people[name][1] for mark in person.marks) == expected


def test_roles_are_the_keys_of_the_person(people):
    task, marked = people["sandbrink2024metacontrol"]
    assert task.kinds[0].candidates.roles == ("observe", "blue", "red")
    assert {mark.candidates for mark in marked[0].marks} == {("M", "K", "V")}
    assert len({person.marks[0].candidates for person in marked}) == 4


def test_seven_of_ten_is_the_first_key_whatever_is_drawn(people):
    words = {"card": 0, "ball": 0, "stick": 0, "coin": 0, "section": 0}
    for person in people["thoma2025riskychoice"][1]:
        for mark in person.marks:
            block = person.transcript.text[slice(*person.bounds(mark.block))]
            seven, three = mark.candidates
            thing = next(word for word in words if f"{word}s are" in block)
            assert f"even {thing}s are marked '{seven}'" in block
            assert f"hree {thing}s are marked '{three}'" in block
            words[thing] += 1
    assert min(words.values()) > 50


def test_relations_are_filled_with_the_items_own_words(people):
    mark = people["guenther2022relational"][1][0].marks[0]
    assert len(mark.candidates) == 16
    assert mark.answer == "crest CAUSES take"
    assert {"crest FOR take", "take HAS crest", "crest MADE OF take"} < set(mark.candidates)


@pytest.mark.parametrize("name", STATUSES)
@pytest.mark.parametrize("number", [1, 3])
def test_a_mark_that_is_broken_on_purpose_is_told_and_changes_no_other_row(people, name, number):
    task, marked = people[name]
    person = marked[0]
    broken = person.marks[number - 1]
    text = person.transcript.text
    closing = task.delimiters[1]
    assert text.startswith(closing, broken.end)
    cut = mark_person(person.transcript._replace(text=text[: broken.end] + text[broken.end + len(closing) :]), task)
    before, after = (mark_rows([each], task) for each in (person, cut))
    assert [row["mark"] for row in after] == [row["mark"] for row in before]
    changed = [row["mark"] for row, other in zip(before, after, strict=True) if bare(row) != bare(other)]
    assert changed == [number]
    assert after[number - 1]["status"] == "broken"
    assert "not closed" in after[number - 1]["reason"]


def bare(row):
    """A row without its places in the text."""
    return {key: value for key, value in row.items() if key not in ("start", "end")}
