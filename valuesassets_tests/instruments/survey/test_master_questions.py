import pytest

from valuesassets.instruments.survey.master_questions import list_master_questions
from valuesassets.instruments.survey.variables import load_variables
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.survey.asked import ask

ENGLISH = [ask("v7"), ask("v86", 2, item="Independence"), ask("v170", text="How proud?"), ask("v1", options=[])]


def test_the_master_lists_sound_questions_and_the_languages_that_have_them():
    masters = list_master_questions({"eng": ENGLISH, "deu": [ask("v7"), ask("v86", 3)]}, "eng", load_variables())
    assert [q.id for q in masters] == ["v7", "v86", "v170"]
    assert [q.model_extra["coverage"] for q in masters] == [["eng", "deu"], ["eng"], ["eng"]]


def test_facts_about_a_variable_ride_along():
    v7, v86, v170 = list_master_questions({"eng": ENGLISH}, "eng", load_variables())
    assert v7.model_extra["wvs_id"] == "Q46"
    assert v86.model_extra["is_converted"] is True
    assert v170.model_extra["names_country"] is True


@pytest.mark.parametrize(
    ("extracted", "word"),
    [({"deu": ENGLISH}, "no extracted"), ({"eng": [ask("Q1")]}, "none of its 1 questions can be used")],
)
def test_no_master_is_an_error_that_says_what_to_do(extracted, word):
    with pytest.raises(QuestionError, match=word):
        list_master_questions(extracted, "eng", load_variables())
