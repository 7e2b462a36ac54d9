import pytest

from valuesassets.instruments.survey.aligned_questions import align_questions, canonical_id
from valuesassets_tests.instruments.survey.asked import ask

MASTER = [ask("v1"), ask("v2", 2), ask("v3", 10)]


def status(alignment):
    return {(match.question_id, match.status) for match in alignment.matches}


@pytest.mark.parametrize(
    ("printed", "code"),
    [("v39", "v39"), ("V 39", "v39"), ("(v039)", "v39"), ("v45_a", "v45a"), ("Q12", None), ("v", None)],
)
def test_a_variable_code_is_recognised_however_it_is_printed(printed, code):
    assert canonical_id(printed) == code


def test_questions_come_in_the_masters_order_under_canonical_ids():
    alignment = align_questions([ask("V3", 10), ask("v 1")], MASTER)
    assert [(q.id, q.source_id) for q in alignment.questions] == [("v1", "v 1"), ("v3", "V3")]
    assert status(alignment) == {("v1", "aligned"), ("v3", "aligned"), ("v2", "missing")}
    assert alignment.coverage == pytest.approx(2 / 3)


def test_a_faulty_question_and_one_that_contradicts_the_master_are_reported_and_left_out():
    lost = ask("v1", options=[{"value": 1, "label": "very"}])
    alignment = align_questions([lost, ask("v2", 3), ask("v99")], MASTER)
    assert alignment.questions == ()
    assert status(alignment) == {("v1", "faulty"), ("v2", "contradicts"), ("v3", "missing"), ("v99", "unknown")}
    assert alignment.coverage == 0
    assert any("option codes [1, 2, 3], the master has [1, 2]" in match.evidence for match in alignment.matches)


def test_the_same_question_twice_is_merged_and_says_from_where():
    alignment = align_questions([ask("v1"), ask("v2", 2), ask("v1")], MASTER)
    assert alignment.questions[0].model_extra["merged_from"] == [0, 2]
    assert ("v1", "merged") in status(alignment)


def test_two_questions_with_one_code_are_not_merged_in_silence():
    alignment = align_questions([ask("v1"), ask("v1", text="Another?")], MASTER)
    assert ("v1", "contradicts") in status(alignment)


def test_keys_that_are_not_ours_ride_along_and_the_masters_facts_are_carried():
    master = [ask("v1", wvs_id="Q1", asked_of="v51 != 1")]
    (question,) = align_questions([ask("v1", note="kept")], master).questions
    assert question.model_extra["note"] == "kept"
    assert question.model_extra["wvs_id"] == "Q1"
    assert question.model_extra["asked_of"] == "v51 != 1"
