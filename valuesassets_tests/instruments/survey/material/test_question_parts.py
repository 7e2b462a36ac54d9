"""Stem, item and text in their places, whatever an extraction put where."""

import pytest

from valuesassets.instruments.survey.material.question_parts import printed_number, with_parts_in_place
from valuesassets.records.questions import Option, Question, ResponseType
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.studies.expected_questions import expected_questions

STEM = "How much confidence do you have in each of these?"
ITEMS = ["The church", "The armed forces", "The press"]
FOUR = tuple(
    Option(value=n, label=label) for n, label in enumerate(["a great deal", "quite a lot", "little", "none"], 1)
)


def question(text="", stem=None, item=None, kind="likert4", options=FOUR, **more):
    return Question(id="x", text=text, stem=stem, item=item, response_type=ResponseType(kind), options=options, **more)


def placed(*questions):
    return [(each.text, each.stem, each.item) for each in with_parts_in_place(questions)]


EXPECTED = [(f"{STEM} {item}", STEM, item) for item in ITEMS]


@pytest.mark.parametrize("language", LANGUAGES)
def test_sound_questions_stay_what_they_are(language):
    questions = expected_questions(language)
    assert list(with_parts_in_place(questions)) == questions


@pytest.mark.parametrize(
    "parts",
    [
        {"text": STEM, "stem": "{item}"},
        {"text": "{item}", "stem": STEM, "item": "{item}"},
        {"text": "Q38", "stem": "{item}", "item": STEM},
        {"text": f"Q38 {STEM}", "stem": STEM, "item": "{item}"},
        {"text": f"{STEM} {{item}}", "stem": STEM, "item": None},
        {"text": "SHOW CARD 38 - READ OUT", "stem": STEM, "item": "{item}"},
        {"text": f"{STEM} {{item}}"},
    ],
)
def test_what_neighbours_share_is_the_stem_and_the_rest_the_item(parts):
    questions = [question(**{key: value and value.format(item=item) for key, value in parts.items()}) for item in ITEMS]
    if parts == {"text": f"{STEM} {{item}}"}:  # nothing says where the item begins, and the text is whole
        assert [text for text, _, _ in placed(*questions)] == [text for text, _, _ in EXPECTED]
    else:
        assert placed(*questions) == EXPECTED


def test_the_number_before_a_question_is_kept_as_what_was_printed():
    (questions,) = with_parts_in_place([question("Q33a And which would be the next most important?")])
    assert (questions.text, questions.source_id) == ("And which would be the next most important?", "Q33a x")
    assert (printed_number("P9. Dokąd"), printed_number("v39"), printed_number("Why 9?")) == ("P9", None, None)


def test_an_item_that_is_one_of_the_answers_is_no_item():
    options = (Option(value=1, label="order in the nation"), Option(value=2, label="free speech"))
    given = question("Q34 Which is most important?", "order in the nation", "free speech", "binary", options)
    assert placed(given) == [("Which is most important?", None, None)]


def ends(question):
    return [option.label for option in question.options if option.label]


def test_opposite_views_without_options_are_the_ends_of_the_scale():
    card = "On this card you see opposite views. Where would you place yourself?"
    views = [
        ("People should provide for themselves", "The state should provide"),
        ("Competition is good", "It is harmful"),
    ]
    given = [question(card, one, other, "likert10", ()) for one, other in views]
    questions = list(with_parts_in_place(given))
    assert [ends(each) for each in questions] == [list(view) for view in views]
    assert [(each.text, each.item) for each in questions] == [(card, None)] * 2


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (["never justified ... always justified"] * 2, ["never justified", "always justified"]),
        (["Immigrants do not take jobs", "Immigrants do not commit crimes"], None),
        (["essential for a democracy"] * 2, []),
    ],
)
def test_ends_that_stand_in_place_of_a_cue_are_found_where_they_are_ends(cues, expected):
    stem = "Where would you place your views?"
    items = ["Immigrants take jobs", "Immigrants commit crimes"]
    given = [question(stem, item, None, "likert10", (), answer_cue=cue) for item, cue in zip(items, cues, strict=True)]
    questions = [ends(each) for each in with_parts_in_place(given)]
    assert questions == ([[*pair] for pair in zip(items, cues, strict=True)] if expected is None else [expected] * 2)
