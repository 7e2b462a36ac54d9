"""Normalisation: extractions as they come, each change with its reason, nothing guessed."""

import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import read_imported
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.normalisation import normalise_questions
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.questions import Option, Question, ResponseType, question_faults
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.needs import shared_file
from valuesassets_tests.studies.expected_questions import expected_questions


def question(code="v1", kind="likert4", codes=(1, 2, 3, 4), text="How important is work in your life?", **more):
    labels = more.pop("labels", {})
    options = tuple(Option(value=value, label=labels.get(value, f"answer {value}")) for value in codes)
    return Question(id=code, text=text, response_type=ResponseType(kind), options=options, **more)


def normalised(*questions, language="eng", **more):
    return normalise_questions(questions, language, load_variables(), **more)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sound_questions_stay_what_they_are(language):
    questions = expected_questions(language)
    result = normalise_questions(questions, language, load_variables())
    assert (result.questions, result.changes) == (questions, [])


@pytest.mark.parametrize(
    ("printed", "item", "expected"),
    [
        ("V 39", None, "v39"),
        ("в39", None, "v39"),
        ("Q38-v130", None, "v130"),
        ("Q15", "v54", "v54"),
        ("Q12", "A", "Q12"),
    ],
)
def test_an_id_becomes_the_variable_s_where_it_names_one(printed, item, expected):
    (result,) = normalised(question(printed, item=item)).questions
    assert result.id == expected
    assert result.source_id == (printed if printed != expected else None)


@pytest.mark.parametrize(
    ("kind", "codes", "kept"),
    [
        ("likert4", (1, 2, 3, 4, 8, 9), (1, 2, 3, 4)),
        ("binary", (1, 2, 7, 88, 99), (1, 2)),
        ("likert10", (*range(1, 11), 88, 99), tuple(range(1, 11))),
    ],
)
def test_codes_for_no_answer_go_by_the_length_of_the_scale(kind, codes, kept):
    result = normalised(question("x", kind, codes))
    assert result.questions[0].values == kept
    assert "never offered" in result.changes[0].why


def test_an_empty_scale_takes_its_points_and_its_anchors_from_the_form():
    empty = question("v39", "categorical", ())
    (bare,) = normalised(empty).questions
    assert (bare.values, bare.response_type) == (tuple(range(1, 11)), ResponseType.LIKERT10)
    assert question_faults(bare) == ["a ten-point scale needs a label on 1 and on 10"]
    printed = question("v39", "likert10", range(1, 11), labels=dict.fromkeys(range(2, 10), "") | {1: "not", 10: "very"})
    result = normalised(empty, printed={"v39": printed})
    assert result.questions[0].options == printed.options
    assert [change.why for change in result.changes][-1] == "the variable's own"
    assert "the anchors as the form has them" in [change.why for change in result.changes]


def test_a_type_is_the_variable_s_own_or_follows_from_the_options():
    coded, unknown = normalised(question("v1", "categorical"), question("x9", "likert5", (1, 2, 3))).questions
    assert (coded.response_type, unknown.response_type) == (ResponseType.LIKERT4, ResponseType.LIKERT3)


def test_a_question_that_comes_twice_is_merged_and_one_with_other_words_is_kept():
    first, other = question("v1"), question("v1", text="Otherwise put?")
    result = normalised(first, other, first)
    assert [each.text for each in result.questions] == [first.text, other.text]
    assert result.questions[0].model_extra == {"merged_from": [0, 2]}
    assert [change.why for change in result.changes] == ["the same question twice: merged"]


def test_the_other_language_of_a_bilingual_form_is_left_out_and_a_wrong_form_is_not():
    latin = [question(f"v{n}", text=f"How important is it {n}?") for n in (1, 2, 3)]
    cyrillic = question("v4", text="Насколько важна работа?", labels=dict.fromkeys((1, 2, 3, 4), "очень важно"))
    result = normalised(*latin, cyrillic)
    assert [each.id for each in result.questions] == ["v1", "v2", "v3"]
    assert "the form's other language" in result.changes[0].why
    wrong = [cyrillic.replace(id=f"v{n}") for n in (4, 5, 6, 7)]
    assert len(normalised(*wrong, latin[0]).questions) == 5
    assert [each.id for each in normalised(*wrong[:2], *latin[:2]).questions] == ["v1", "v2"]


@pytest.mark.parametrize("label", ["Nevie", "bez odpovede", "odmietol/odmietla", "nevie (nečítať)"])
def test_an_answer_that_says_don_t_know_is_not_offered_whatever_its_code(label):
    labels = {1: "áno", 2: "skôr áno", 3: "skôr nie", 4: "nie", 5: label}
    result = normalised(question("v32", codes=tuple(labels), labels=labels), language="slk")
    assert result.questions[0].values == (1, 2, 3, 4)
    assert "its words say don't know" in result.changes[0].why


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.parametrize("language", ["slk", "spa", "fra", "ell"])
def test_no_real_extraction_offers_don_t_know_in_words(language):
    """Those of the twelve that offer it."""
    questions, _ = read_imported(shared_file("data", "evs_extractions", f"{language}.json"))
    phrases = {tuple(words_of(phrase)) for phrase in load_lexicon(language).missing_answers}

    def offered(asked):
        return [q.id for q in asked for option in q.options if tuple(words_of(option.label)) in phrases]

    assert offered(questions)
    assert offered(normalised(*questions, language=language).questions) == []
