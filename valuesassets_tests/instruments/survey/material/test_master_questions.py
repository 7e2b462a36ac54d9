import pytest

from valuesassets.instruments.survey.material.aligned_questions import align_questions
from valuesassets.instruments.survey.material.extracted_questions import examine_questions
from valuesassets.instruments.survey.material.master_questions import coverage_rows, list_master_questions
from valuesassets.instruments.survey.material.normalisation import Normalised
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import QuestionError
from valuesassets.records.lexicon import load_lexicon
from valuesassets_tests.instruments.survey.asked import ask

ENGLISH = [ask("v7"), ask("v86", 2, item="Independence"), ask("v170", text="How proud?"), ask("v1", options=[])]


def test_the_master_lists_sound_questions_and_the_languages_that_have_them():
    masters = list_master_questions({"eng": ENGLISH, "deu": [ask("v7"), ask("v86", 3)]}, "eng", load_variables())
    assert [q.id for q in masters] == ["v1", "v7", "v86", "v170"]
    assert [q.model_extra["coverage"] for q in masters] == [["eng"], ["eng", "deu"], ["eng", "deu"], ["eng"]]
    assert [q.model_extra["unfit"] for q in masters][:2] == ["no options, at least two were expected", None]


def test_a_master_without_codes_is_known_by_its_question_numbers_and_topics():
    messages = {
        "Q1": ["Politics", "Religion"],
        "Q2": ["In general, how happy are you?"],
        "Q3": ["How is your health?"],
        "Q8": ["Your family", "People in the neighbourhood"],
        "Q25": ["Men make better business executives", "I want my parents to be proud"],
    }
    english = [ask(number, text=text) for number, texts in messages.items() for text in texts]
    listed = list_master_questions({"eng": english}, "eng", load_variables())
    assert [q.id for q in listed] == ["v5", "v6", "v7", "v8", "v32", "v33", "v78", "v79"]


def test_a_survey_that_nobody_knows_keeps_its_own_ids():
    listed = list_master_questions({"eng": [ask("a1"), ask("b2", 2)]}, "eng", load_variables())
    assert [q.id for q in listed] == ["a1", "b2"]


def test_a_few_ids_that_look_like_numbers_of_a_survey_do_not_make_a_questionnaire_its_own():
    own = [ask("Q1"), ask("Q2"), ask("Q3"), *(ask(name) for name in ("felicidade", "n-12", "щастя", "a.b"))]
    listed = list_master_questions({"eng": own}, "eng", load_variables())
    assert [question.id for question in listed] == [question.id for question in own]


def test_which_languages_lack_a_question_is_a_row():
    masters = list_master_questions({"eng": ENGLISH, "deu": [ask("v7")]}, "eng", load_variables())
    rows = {row["question"]: row for row in coverage_rows(masters, ["eng", "deu"])}
    assert (rows["v7"]["languages"], rows["v7"]["lacking"], rows["v7"]["wvs_id"]) == ("2", "", "Q46")
    assert (rows["v170"]["languages"], rows["v170"]["lacking"]) == ("1", "deu")


def test_facts_about_a_variable_ride_along():
    _, v7, v86, v170 = list_master_questions({"eng": ENGLISH}, "eng", load_variables())
    assert v7.model_extra["wvs_id"] == "Q46"
    assert v86.model_extra["is_converted"] is True
    assert v170.model_extra["names_country"] is True


@pytest.mark.parametrize(
    ("extracted", "word"),
    [({"deu": ENGLISH}, "no extracted"), ({"eng": [ask("v1", options=[])]}, "none of its 1 questions can be used")],
)
def test_no_master_is_an_error_that_says_what_to_do(extracted, word):
    with pytest.raises(QuestionError, match=word):
        list_master_questions(extracted, "eng", load_variables())


def test_ids_that_are_declared_own_stay_whatever_survey_has_such_codes():
    variables = load_variables()
    own = [ask(f"Q{n}", 2, item=f"thing {n}").replace(own_ids=True) for n in (7, 8, 9, 18, 153)]
    own.append(ask("Q152", 2).replace(own_ids=True))
    extracted = {"eng": own, "deu": own}
    listed = list_master_questions(extracted, "eng", variables)
    assert [question.id for question in listed] == [question.id for question in own]
    assert not any(question.model_extra.get("is_converted") for question in listed)
    aligned = align_questions(Normalised.of(own), "deu", listed, variables)
    assert [question.id for question in aligned.questions] == [question.id for question in own]
    trials = write_trials(aligned.questions, "eng", load_lexicon("eng"), variables)
    assert {trial.asked_id for trial in trials} == {question.id for question in own}  # no second choice, no statement


def test_ids_that_are_no_codes_beside_codes_are_told_in_one_line(tmp_path):
    named = [ask(f"Q{n}") for n in range(1, 6)]
    (fault,) = [
        fault for fault in examine_questions([*named, ask("idade")], None, "eng").faults if fault.check == "no_code"
    ]
    assert fault.message.startswith(
        "idade: 5 of 6 ids, such as Q1, are taken for a survey's codes; the others (idade) are none, and are matched"
    )
    assert not any(fault.check == "no_code" for fault in examine_questions(named, None, "eng").faults)
