"""What stands before a mark in each history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.psych_tasks.material.histories import (
    NotAsked,
    alone_passages,
    answer_passages,
    blank_passages,
    find_donors,
    human_passages,
    other_passages,
    own_passages,
    permuted_passages,
)
from valuesassets.instruments.psych_tasks.material.layouts import Slot, lay_out_marked
from valuesassets_tests.instruments.psych_tasks.made_people import (
    BALLOONS,
    INSTRUCTIONS,
    balloon_text,
    person,
    survey_person,
    survey_task,
)

TASK = survey_task()


def before(passage, mark):
    """What stands before a mark of a passage, as it is marked, and the answers in it."""
    laid = lay_out_marked(passage.pieces, TASK)
    place = next(n for n, group in enumerate(passage.marks) if any(key.mark == mark for key in group))
    return laid.prompt[: laid.spans[place].start]


def asked_in(passages):
    return [(key.participant, key.mark) for passage in passages for group in passage.marks for key in group]


def test_alone_is_the_instructions_and_the_block():
    people = [survey_person("a", [3, 1]), survey_person("b", [5, 1])]
    passages = list(alone_passages(people, TASK))
    assert [before(passage, number) for number, passage in enumerate(passages, 1)] == [
        f"{INSTRUCTIONS}1. Statement 1. <<",
        f"{INSTRUCTIONS}2. Statement 2. <<",
    ]


def test_people_who_were_shown_the_same_block_share_its_passage():
    people = [survey_person("a", [3, 1]), survey_person("b", [5, 1])]
    passages = list(alone_passages(people, TASK))
    assert [[(key.participant, key.mark) for key in passage.marks[0]] for passage in passages] == [
        [("a", 1), ("b", 1)],
        [("a", 2), ("b", 2)],
    ]


def test_within_a_block_alone_keeps_the_persons_earlier_answers():
    who = person("a", balloon_text(), BALLOONS)
    first = next(iter(alone_passages([who], BALLOONS)))
    answers = [piece.answer for piece in first.pieces if isinstance(piece, Slot)]
    assert answers[:2] == ["P", "P"]
    assert len(first.marks) == 3


def test_human_is_the_transcript_word_for_word():
    who = survey_person("a", [3, 1, 4])
    (passage,) = human_passages([who], TASK)
    assert lay_out_marked(passage.pieces, TASK).prompt == who.transcript.text


def test_permuted_exchanges_neighbours_that_stand_before():
    who = survey_person("a", [1, 2, 3, 4, 5])
    passages = list(permuted_passages([who], TASK))
    texts = {mark: before(p, mark) for p in passages for group in p.marks for _, _, mark in group}
    answers = {mark: [part[0] for part in text.split("<<")[1:-1]] for mark, text in texts.items()}
    assert answers == {1: [], 2: ["1"], 3: ["2", "1"], 4: ["1", "3", "2"], 5: ["2", "1", "4", "3"]}


@given(st.lists(st.integers(1, 5), min_size=1, max_size=9), st.data())
def test_no_own_or_later_answer_stands_before_a_permuted_mark(answers, data):
    who = survey_person("a", answers)
    other_answers = list(answers)
    mark = data.draw(st.integers(1, len(answers)))
    for later in range(mark - 1, len(answers)):
        other_answers[later] = data.draw(st.integers(1, 5))
    twin = survey_person("a", other_answers)

    def text(whose):
        return next(before(p, mark) for p in permuted_passages([whose], TASK) if (("a", mark) in asked_in([p])))

    assert text(who) == text(twin)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=9))
def test_permuted_shows_the_same_answers_as_human_on_other_places(answers):
    who = survey_person("a", answers)
    for passage in permuted_passages([who], TASK):
        for group in passage.marks:
            text = before(passage, group[0].mark)
            answers = sorted(part[0] for part in text.split("<<")[1:-1])
            assert answers == sorted(map(str, answers[: group[0].mark - 1]))


def test_a_block_of_several_marks_keeps_its_own_answers_when_permuted():
    task = survey_task(block=r"^Item", kinds=[{"name": "k", "before": ": $", "candidates": {"range": [1, 9]}}])
    text = "Go.\n" + "".join(
        f"Item {n}\nFirst: <<{a}>>\nSecond: <<{b}>>\n" for n, (a, b) in enumerate([(1, 2), (3, 4)])
    )
    who = person("a", text, task)
    passages = [p for p in permuted_passages([who], task) if any(key.mark == 4 for group in p.marks for key in group)]
    (passage,) = passages
    answers = [piece.answer for piece in passage.pieces if isinstance(piece, Slot)]
    assert answers == ["2", "1", "3", "4"]


@pytest.mark.parametrize("maker", [permuted_passages, lambda people, task: own_passages(people, task, 1)])
def test_where_later_text_shows_what_answers_led_to_no_answer_is_changed(maker):
    (passages,) = maker([person("a", balloon_text(), BALLOONS)], BALLOONS)
    assert isinstance(passages, NotAsked)
    assert "shows what answers led to" in passages.reason
    assert len(passages.marks) == 4


def test_another_persons_blocks_cost_nothing_where_the_texts_are_the_same():
    people = [survey_person("a", [3, 1]), survey_person("b", [5, 2])]
    assert list(other_passages(people, TASK, find_donors(people))) == []


def test_another_persons_blocks_stand_before_ones_own_where_texts_differ():
    one = survey_person("a", [3, 1])
    other = person("b", one.transcript.text.replace("Statement", "Sentence").replace("<<3>>", "<<5>>"), TASK)
    passages = list(other_passages([one, other], TASK, find_donors([one, other])))
    assert before(passages[1], 2) == f"{INSTRUCTIONS}1. Sentence 1. <<5>>\n2. Statement 2. <<"


def test_nobody_lends_blocks_to_a_person_with_other_keys_or_presentation():
    balloons = [person("a", balloon_text("PS"), BALLOONS), person("b", balloon_text("XY"), BALLOONS)]
    assert find_donors(balloons) == {}
    (first, _) = other_passages(balloons, BALLOONS, {})
    assert isinstance(first, NotAsked)
    text = survey_person("a", [3, 1]).transcript.text
    surveys = [person("a", text, TASK, "forward"), person("b", text, TASK, "reversed")]
    assert find_donors(surveys) == {}


def test_own_answers_are_asked_once_of_all_who_were_shown_the_same():
    people = [survey_person("a", [3, 1]), survey_person("b", [5, 2])]
    passages = list(own_passages(people, TASK, 2))
    assert [(passage.draw, len(passage.marks[0])) for passage in passages] == [(0, 2), (1, 2)]


def test_answers_alone_show_no_task():
    (passage,) = answer_passages([survey_person("a", [3, 1])], TASK)
    assert lay_out_marked(passage.pieces, TASK).prompt == "Answer: <<3>>\nAnswer: <<1>>\n"


def test_blank_asks_each_set_of_candidates_once():
    (passage,) = blank_passages([survey_person("a", [3, 1]), survey_person("b", [2, 2])], TASK)
    assert before(passage, 1) == f"{INSTRUCTIONS}N/A <<"
    assert len(passage.marks[0]) == 4


def test_marks_that_cannot_be_asked_are_asked_in_no_history():
    who = person("a", "Go.\n1. One. <<3>>\n2. Two. <<>>\n3. Three. <<9>>\n4. Four. <<2\n", TASK)
    for maker in (alone_passages, human_passages, permuted_passages, answer_passages):
        assert sorted({mark for _, mark in asked_in(maker([who], TASK))}) == [1, 3]
