"""Alignment: one language against the master, all of its questions at once."""

import csv

import pytest

from valuesassets.instruments.survey.material.aligned_questions import align_questions
from valuesassets.instruments.survey.material.alignment.match import write_matches
from valuesassets.instruments.survey.material.normalisation import Normalised
from valuesassets.people.variables import canonical_id, load_variables
from valuesassets.records.questions import askable
from valuesassets_tests.instruments.survey.asked import ask

MASTER = [ask("v1"), ask("v2", 2), ask("v3", 10)]


def align(questions, master=MASTER, language="eng", foreign=(), **more):
    extracted = Normalised.of(questions)
    extracted.foreign, extracted.foreign_positions = list(foreign), [(100 + n,) for n in range(len(foreign))]
    return align_questions(extracted, language, master, load_variables(), **more)


def status(alignment):
    return {(match.question_id, match.status) for match in alignment.matches}


@pytest.mark.parametrize(
    ("printed", "code"),
    [("v39", "v39"), ("V 39", "v39"), ("(v039)", "v39"), ("v45_a", "v45a"), ("Q12", None), ("v", None)],
)
def test_a_variable_code_is_recognised_however_it_is_printed(printed, code):
    assert canonical_id(printed) == code


def test_questions_come_in_the_masters_order_under_canonical_ids():
    alignment = align([ask("V3", 10), ask("v 1")])
    assert [(q.id, q.source_id) for q in alignment.questions] == [("v1", "v 1"), ("v3", "V3")]
    assert status(alignment) == {("v1", "aligned"), ("v3", "aligned"), ("v2", "missing")}
    assert alignment.coverage == pytest.approx(2 / 3)


def test_a_faulty_question_and_one_with_other_codes_are_aligned_but_not_asked():
    lost = ask("v1", options=[{"value": 1, "label": "very"}])
    alignment = align([lost, ask("v2", 3), ask("v99")])
    assert status(alignment) == {("v1", "unfit"), ("v2", "unfit"), ("v3", "missing"), ("v99", "beyond")}
    assert [q.model_extra["unfit"] for q in alignment.questions] == [
        "1 option, at least two were expected",
        "binary has 3 options, 2 were expected",
    ]
    other = [{"value": 2, "label": "yes"}, {"value": 3, "label": "no"}]
    assert [q.model_extra["unfit"] for q in align([ask("v2", 2, options=other)]).questions] == [
        "option codes [2, 3], the master has [1, 2]"
    ]
    assert askable(alignment.questions) == []
    assert alignment.coverage == 0
    assert str(alignment).startswith("0 of 3 questions aligned, 2 more cannot be asked")


def test_an_own_id_that_looks_like_a_variable_that_no_model_is_asked_is_asked_all_the_same():
    own = [ask("happy"), ask("v9x"), ask("v45a", 2)]
    alignment = align(own, master=own)
    assert [question.id for question in askable(alignment.questions)] == ["happy", "v9x", "v45a"]


def test_the_same_question_twice_is_merged_and_says_from_where():
    alignment = align([ask("v1"), ask("v2", 2), ask("v1")])
    assert alignment.questions[0].model_extra["merged_from"] == [0, 2]
    assert ("v1", "merged") in status(alignment)


def test_two_questions_with_one_code_are_not_merged_in_silence():
    alignment = align([ask("v1"), ask("v1", text="How often do they quarrel about money?", item="Money")])
    assert ("v1", "contradicts") in status(alignment)
    assert "merged_from" not in alignment.questions[0].model_extra


def test_keys_that_are_not_ours_ride_along_and_the_masters_facts_are_carried():
    master = [ask("v1", wvs_id="Q1", asked_of="v51 != 1")]
    (question,) = align([ask("v1", note="kept")], master).questions
    assert question.model_extra["note"] == "kept"
    assert question.model_extra["wvs_id"] == "Q1"
    assert question.model_extra["asked_of"] == "v51 != 1"


def test_what_a_person_says_is_not_asked_is_not_missing():
    alignment = align([ask("v1"), ask("v3", 10)], not_asked=["v2"])
    assert ("v2", "not_asked") in status(alignment)
    assert alignment.coverage == 1


def test_variables_that_are_left_out_by_the_facts_are_named_with_the_reason():
    alignment = align([ask("v1"), ask("v2", 2), ask("v3", 10), ask("v226", 2)])
    (row,) = [match for match in alignment.matches if match.source_id == "v226"]
    assert row.is_sound


# What is matched without codes


TRUST = [
    ("v32", "your family"),
    ("v33", "people in your neighbourhood"),
    ("v34", "people you know personally"),
    ("v35", "people you meet for the first time"),
    ("v36", "people of another religion"),
    ("v37", "people of another nationality"),
]
STEM = "How much do you trust the people of each of these groups?"
ENGLISH = [
    ask("v31", 2, text="Can most people be trusted, or can one not be too careful?"),
    *(ask(code, text=f"{STEM} {item}", stem=STEM, item=item) for code, item in TRUST),
    ask("v38", 10, text="How much freedom and control do you feel you have over your life?"),
    ask("v39", 10, text="How satisfied are you with your life as a whole these days?"),
    ask("v54", 7, text="How often do you go to religious services these days?"),
]
GERMAN = {
    "v31": "Kann man den meisten Menschen trauen, oder kann man nicht vorsichtig genug sein?",
    "v32": "Ihre Familie",
    "v33": "Menschen in Ihrer Nachbarschaft",
    "v34": "Menschen, die Sie persönlich kennen",
    "v35": "Menschen, die Sie zum ersten Mal treffen",
    "v36": "Menschen mit einer anderen Religion",
    "v37": "Menschen einer anderen Nationalität",
    "v38": "Wie viel Freiheit und Kontrolle haben Sie Ihrem Gefühl nach über Ihr Leben?",
    "v39": "Wie zufrieden sind Sie zurzeit alles in allem mit Ihrem Leben?",
    "v54": "Wie oft gehen Sie zurzeit in einen Gottesdienst?",
}


def german(code, printed, **more):
    model = next(question for question in ENGLISH if question.id == code)
    text, item = GERMAN[code], None
    if model.item:
        stem = "Wie sehr vertrauen Sie Menschen aus diesen Gruppen?"
        text, item = f"{stem} {GERMAN[code]}", GERMAN[code]
        more = {"stem": stem} | more
    return ask(printed, len(model.options), text=text, item=item, **more)


def aligned_ids(alignment):
    return [(question.id, question.source_id) for question in alignment.questions]


def test_questions_without_codes_are_found_by_order_shape_and_words():
    questions = [german(code, f"x{n}") for n, code in enumerate(GERMAN)]
    alignment = align(questions, ENGLISH, "deu")
    assert aligned_ids(alignment) == [(code, f"x{n}") for n, code in enumerate(GERMAN)]
    assert alignment.masked_accuracy is None


def test_a_question_that_is_left_out_does_not_shift_those_behind_it():
    questions = [german(code, f"x{n}") for n, code in enumerate(GERMAN) if code != "v34"]
    alignment = align(questions, ENGLISH, "deu")
    assert [code for code, _ in aligned_ids(alignment)] == [code for code in GERMAN if code != "v34"]


def test_a_question_that_the_form_has_elsewhere_is_named():
    codes = [code for code in GERMAN if code != "v54"]
    questions = [german("v54", "v54"), *(german(code, code) for code in codes)]
    alignment = align(questions, ENGLISH, "deu")
    assert [match.question_id for match in alignment.matches if match.is_out_of_order] == ["v54"]
    assert len(alignment.questions) == len(GERMAN)
    assert not any(match.is_out_of_order for match in align(questions[1:], ENGLISH, "deu").matches)


def test_a_code_that_contradicts_the_rest_is_reported_and_not_trusted():
    questions = [german(code, {"v33": "v39", "v39": "v33"}.get(code, code)) for code in GERMAN]
    alignment = align(questions, ENGLISH, "deu")
    swapped = {question.id: question.text for question in alignment.questions}
    assert GERMAN["v39"] in swapped["v39"]
    contradicting = [match for match in alignment.matches if match.contradiction]
    assert {match.question_id for match in contradicting} == {"v33", "v39"}
    assert contradicting[0].contradiction == "the code printed is v39, order, shape and wording say v33"
    assert not contradicting[0].is_sound


def test_a_doubtful_match_is_named_and_not_asked_until_a_person_says_what_it_is():
    same = [ask(f"x{n}", text=f"{STEM} ???", stem=STEM, item="???") for n in range(3)]
    alignment = align([german("v31", "v31"), *same, german("v39", "v39")], ENGLISH, "deu")
    doubtful = [q for q in alignment.questions if "the match is doubtful" in q.model_extra.get("unfit", "")]
    assert doubtful
    assert {q.id for q in doubtful} <= {code for code, _ in TRUST}
    settled = [same[0].replace(id="v34", is_id_settled=True)]
    (question,) = [q for q in align(settled, ENGLISH, "deu").questions if q.id == "v34"]
    assert "unfit" not in question.model_extra


def test_a_person_s_word_on_an_id_is_believed_against_everything():
    questions = [german(code, code) for code in GERMAN]
    questions[2] = questions[2].replace(id="v39", is_id_settled=True)
    questions[8] = questions[8].replace(id="v33", is_id_settled=True)
    alignment = align(questions, ENGLISH, "deu")
    assert {q.id: q.text for q in alignment.questions}["v33"] == GERMAN["v39"]
    assert all(match.contradiction is None for match in alignment.matches)


def test_an_extraction_that_begins_again_is_merged_record_by_record():
    questions = [german(code, code) for code in GERMAN] + [german(code, f"again {code}") for code in list(GERMAN)[1:8]]
    alignment = align(questions, ENGLISH, "deu")
    merged = {q.id: q.model_extra.get("merged_from") for q in alignment.questions}
    assert merged["v32"] == [1, 10]
    assert merged["v38"] == [7, 16]
    assert merged["v39"] is None


def test_a_twin_in_the_form_s_other_language_is_merged_and_one_alone_is_not_asked():
    own = [german(code, code) for code in GERMAN if code != "v39"]
    russian = ask("v39", 10, text="Насколько вы довольны своей жизнью в целом?")
    slovene = ask("v39", 10, text="Kako zadovoljni ste s svojim življenjem na splošno?")
    twin = ask("v38", 10, text="Koliko svobode in nadzora imate nad svojim življenjem?")
    alone = align(own, ENGLISH, "deu", foreign=[slovene])
    assert [q.model_extra.get("unfit") for q in alone.questions if q.id == "v39"] == [
        "only in the form's other language"
    ]
    assert "v39" not in {q.id for q in align(own, ENGLISH, "deu", foreign=[russian]).questions}
    with_twin = align([*own, german("v39", "v39")], ENGLISH, "deu", foreign=[twin, slovene])
    assert {q.id: q.model_extra.get("merged_from") for q in with_twin.questions}["v38"] == [7, 100]


def test_masking_the_codes_measures_the_rest_of_the_evidence():
    alignment = align([german(code, code) for code in GERMAN], ENGLISH, "deu")
    assert (alignment.masked, alignment.masked_accuracy) == ((10, 10), 1.0)
    unlike = [german(code, code) for code in GERMAN if code != "v38"]
    unlike[7] = unlike[7].replace(text="???")  # only its code tells v39 from v38
    alignment = align(unlike, ENGLISH, "deu")
    assert [question.id for question in alignment.questions] == [code for code in GERMAN if code != "v38"]
    assert alignment.masked[0] < alignment.masked[1] == 9
    strangers = [ask(code, 2, text="???") for code in reversed(GERMAN)]
    assert align(strangers, ENGLISH, "deu").masked_accuracy < 0.5


# What a list shares


def test_answers_given_once_for_a_list_are_given_to_all_of_it():
    options = [{"value": n, "label": label} for n, label in enumerate(["ganz", "etwas", "kaum", "gar nicht"], 1)]
    first = german("v32", "v32", options=options)
    rest = [german(code, code, options=[]) for code, _ in TRUST[1:]]
    alignment = align([first, *rest], ENGLISH, "deu")
    assert all(question.options == first.options for question in alignment.questions)
    assert {match.evidence for match in alignment.matches if match.question_id == "v37"} == {
        "printed code, order, shape and wording; answers as in v32, of the same list"
    }


def test_ends_of_a_scale_are_not_lent_to_a_question_with_others():
    master = [ask("v103", 10, text="Providing?"), ask("v104", 10, text="Unemployed?")]
    master[1] = master[1].replace(options=[*master[1].options[:-1], {"value": 10, "label": "another end"}])
    alignment = align([master[0], ask("v104", 10, text="Unemployed?", options=[])], master)
    assert "unfit" in alignment.questions[1].model_extra


def test_a_list_of_things_mentioned_needs_no_labels():
    stem = "Which of these should children learn?"
    master = [
        ask(code, 2, text=f"{stem} {item}", stem=stem, item=item) for code, item in [("v85", "manners"), ("v86", "x")]
    ]
    bare = [question.replace(options=[]) for question in master]
    for options in ([], [{"value": 1, "label": "yes"}], [{"value": 1, "label": "yes"}, {"value": 0, "label": "no"}]):
        alignment = align([question.replace(options=options) for question in bare], master)
        assert [question.values for question in alignment.questions] == [(1, 2), (1, 2)]
        assert askable(alignment.questions) == list(alignment.questions)


def test_every_match_is_a_row_of_the_table(tmp_path):
    alignment = align([ask("v1"), ask("v2", 3)])
    write_matches(tmp_path / "alignment.csv", {"eng": alignment})
    rows = list(csv.DictReader((tmp_path / "alignment.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["language"], row["question_id"], row["status"]) for row in rows] == [
        ("eng", match.question_id, match.status) for match in alignment.matches
    ]
