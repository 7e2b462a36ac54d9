"""Answers as people write them: ends and points of scales, numbers in labels, codes, non-answers, and guessed types."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.answers.language_codes import known_languages
from valuesassets.cli.outputs import lines_of_changes, types_of
from valuesassets.instruments.survey.material.analysis_scale import analysis_places
from valuesassets.instruments.survey.material.extracted_questions import (
    SETTLED_BY_A_PERSON,
    _question,
    examine_questions,
)
from valuesassets.instruments.survey.material.forms.guessed_types import is_degree
from valuesassets.instruments.survey.material.forms.imported_questions import import_questions, read_imported
from valuesassets.instruments.survey.material.forms.layout.blocks import Reading
from valuesassets.instruments.survey.material.forms.layout.checks import Fault
from valuesassets.instruments.survey.material.forms.missing_answers import MissingWords
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.orchestration.checks import EXTRACTION
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import QuestionError
from valuesassets.records.lexicon import bundled_lexicons, load_lexicon
from valuesassets.records.questions import question_faults
from valuesassets_tests.needs import shared_file

FIELDS = ["id", "text", "item", "options", "response_type", "order"]


def read(tmp_path, options, **more):
    """The one question of a table, as `extract` has it, and what is said of it."""
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        writer.writeheader()
        writer.writerow({"id": "q", "text": "How is it?", "item": "", "options": options} | more)
    examined = examine_questions(read_imported(path)[0], None, "eng")
    (question,) = examined.questions
    return question, [fault.message for fault in examined.faults], [*lines_of_changes(examined.changes)]


def listed(question):
    return [(option.value, option.label) for option in question.options]


def prompts(question, language="eng"):
    trials = write_trials([question], language, load_lexicon(language), load_variables())
    return {
        trial.order: (trial.prompt.split("\n")[1:-1], trial.readout.labels, trial.readout.values) for trial in trials
    }


ENDS = {
    "0 = far left | 10 = far right": (range(11), "ordinal"),
    "1 = never | 5 = always": (range(1, 6), "ordinal"),
    "1 = bad | 7 = good": (range(1, 8), "ordinal"),
    "7 = good | 1 = bad": (range(1, 8), "ordinal"),
    "-5 = bad | 5 = good": (range(-5, 6), "ordinal"),
    "0 = cold | 100 = warm": (range(101), "ordinal"),
    "1 = bad | 10 = good": (range(1, 11), "likert10"),
    "0 = low | 10 = high | 88 = Don't know | 99 = Refused": (range(11), "ordinal"),
    "0 = low | ... | 5 = middle | … | 10 = high": (range(11), "ordinal"),
    "1 = low | 2 = | 3 = | 4 = | 5 = high": (range(1, 6), "ordinal"),
    "1 = low | 2 = 2 | 3 = 3 | 4 = high": (range(1, 5), "ordinal"),
    "low | 2 | 3 | 4 | 5 | 6 | high": (range(1, 8), "ordinal"),
    "far left | 1 | 2 | 3 | far right": (range(5), "ordinal"),
}


@pytest.mark.parametrize("options", ENDS)
def test_a_scale_has_all_its_points_and_shows_them_by_their_figures(options, tmp_path):
    values, kind = ENDS[options]
    question, faults, _ = read(tmp_path, options)
    assert (sorted(question.values), question.response_type, faults) == ([*values], kind, [])
    texts = prompts(question)
    assert [*texts] == ["forward", "reversed"]
    for lines, labels, codes in texts.values():
        assert [*labels] == [str(value) for value in values]
        assert [line.partition(".")[0] for line in lines] == [*labels]
        assert sorted(codes) == [*values]
    first, last = (next(o.label for o in question.options if o.value == end) for end in (values[0], values[-1]))
    assert (texts["forward"][0][0], texts["forward"][0][-1]) == (f"{values[0]}. {first}", f"{values[-1]}. {last}")
    assert (texts["reversed"][0][0], texts["reversed"][0][-1]) == (f"{values[0]}. {last}", f"{values[-1]}. {first}")
    assert texts["reversed"][2] == texts["forward"][2][::-1]


@given(low=st.integers(-9, 20), more=st.integers(3, 90))
def test_any_range_of_whole_numbers_is_completed(low, more):
    options = [{"value": low, "label": "least"}, {"value": low + more, "label": "most"}]
    questions, _ = import_questions([{"id": "q", "text": "How?", "response_type": None, "options": options}], "t")
    (question,) = examine_questions(questions, None, "eng").questions
    assert question.values == tuple(range(low, low + more + 1))
    assert question_faults(question) == []


FIGURES = {
    "0 | 1 | 2 | 3 or more": (["0.", "1.", "2.", "3. 3 or more"], ("0", "1", "2", "3")),
    "1 | 2 | 3 | 4 | 5": (["1.", "2.", "3.", "4.", "5."], ("1", "2", "3", "4", "5")),
    "1 = 0 | 2 = 1 | 3 = 2": (["0.", "1.", "2."], ("0", "1", "2")),
}


@pytest.mark.parametrize("options", FIGURES)
def test_labels_that_are_figures_are_what_is_shown_and_move_with_their_option(options, tmp_path):
    lines, labels = FIGURES[options]
    texts = prompts(read(tmp_path, options)[0])
    assert texts["forward"][:2] == (lines, labels)
    assert texts["reversed"][:2] == (lines[::-1], labels[::-1])


def test_figures_that_fit_no_codes_are_refused_by_what_to_write(tmp_path):
    _, (message, *_), _ = read(tmp_path, "1 = 10 | 2 = 30 | 3 = 40 | 4 = much", response_type="ordinal")
    assert "labels are figures other than their codes (1 = 10, 2 = 30, 3 = 40); write each point's figure" in message


NOT_COMPLETED = {
    "1 = Yes | 5 = No": (None, (1, 5)),
    "1 = worse | 3 = better": ("are they the ends of a scale? Then write 1 = worse | ... | 3 = better", (1, 3)),
    "0 = no interest | 1000 = all": ("1,001 points from 0 to 1000, at most 101 can be asked", (0, 1000)),
    "0 = left | 5 = middle | 10 = right": (
        "its codes 0, 5, 10 leave others out; write 0 = left | ... | 10",
        (0, 5, 10),
    ),
}


@pytest.mark.parametrize("options", NOT_COMPLETED)
def test_what_may_be_a_scale_is_asked(options, tmp_path):
    message, values = NOT_COMPLETED[options]
    question, faults, _ = read(tmp_path, options)
    assert question.values == values
    assert (faults == []) if message is None else any(message in fault for fault in faults)


ORDERED = {
    "not at all | hardly | slightly | somewhat | very | extremely": "ordinal",
    "Never | Once or twice a year | Every month | Every week | Every day | Several times a day | Always": "ordinal",
    "very good | good | neither | bad | very bad": "likert5",
    "0 to 5 hours | 6 to 10 hours | 11 hours or more": "likert3",
}


@pytest.mark.parametrize("options", ORDERED)
def test_an_order_that_is_seen_is_kept(options, tmp_path):
    question, faults, _ = read(tmp_path, options)
    assert (question.response_type, faults) == (ORDERED[options], [])


@pytest.mark.parametrize("options", ["red | blue | green | grey", " | ".join(f"dish {n}" for n in range(1, 31))])
def test_answers_without_an_order_are_no_scale_and_a_question(options, tmp_path):
    question, faults, _ = read(tmp_path, options)
    assert question.response_type == "categorical"
    assert "no order was seen" in faults[0]
    assert "say response_type = ordinal" in faults[0]
    assert read(tmp_path, options, response_type="categorical")[1] == []
    assert read(tmp_path, options, response_type="ordinal")[0].response_type.is_ordinal


WORDS = ("A great deal", "Rather", "Little", "Not at all")


@pytest.mark.parametrize(
    "count", [("1", "2", "3", "4"), ("a", "b", "c", "d"), ("I", "II", "III", "IV"), ("а", "б", "в", "г")]
)
@pytest.mark.parametrize("form", ["{}. {}", "({}) {}", "[{}] {}", "{}: {}", "{}) {}", "{}.{}"])
def test_numbers_and_letters_that_all_labels_carry_are_taken_out_and_told(form, count, tmp_path):
    written = " | ".join(form.format(mark, word) for mark, word in zip(count, WORDS, strict=True))
    question, faults, changes = read(tmp_path, written)
    assert (listed(question), faults) == ([*enumerate(WORDS, 1)], [])
    assert changes[0] == "changed in 1 place: numbers that the labels carried themselves"
    assert prompts(question)["reversed"][0][0] == "1. Not at all"


def test_numbers_at_the_ends_of_a_scale_whose_points_are_figures_are_taken_out(tmp_path):
    question, faults, _ = read(tmp_path, "1 = 1 - bad | 2 = 2 | 3 = 3 | 4 = 4 | 5 = 5 - good")
    assert (listed(question), faults) == ([(1, "bad"), (2, ""), (3, ""), (4, ""), (5, "good")], [])
    assert prompts(question)["reversed"][0] == ["1. good", "2.", "3.", "4.", "5. bad"]


@pytest.mark.parametrize(("labels", "kind"), [(("red", "blue", "green", "grey"), "categorical"), (WORDS, "likert4")])
def test_types_of_a_printed_form_that_nobody_knows_are_guessed_and_asked_too(labels, kind):
    reading = Reading("q1", "1", None, 1, (0, 0, 9, 9), "Which is it?", None, tuple(enumerate(labels, 1)))
    examined = examine_questions([_question(reading, "q1")], None, "eng")
    (question,) = examined.questions
    assert (question.response_type, question.model_extra, examined.guessed) == (kind, {}, {"q1"})
    assert any("no order was seen" in fault.message for fault in examined.faults) is (kind == "categorical")


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
def test_an_override_with_a_type_settles_the_doubt_even_where_it_is_the_guessed_one(kind, tmp_path):
    options = tuple(enumerate(("red", "blue", "green", "grey"), 1))
    reading = Reading("vote", "1", None, 1, (0, 0, 9, 9), "Which is it?", None, options)
    (tmp_path / "eng.toml").write_text(f'[vote]\nreason = "parties"\nresponse_type = "{kind}"\n')
    examined = examine_questions([_question(reading, "vote")], None, "eng", tmp_path / "eng.toml")
    assert (examined.faults, examined.guessed) == ((), frozenset())
    assert [str(question.response_type) for question in examined.questions] == [kind]
    assert [change.field for change in examined.changes][-1] == {"categorical": "confirmed"}.get(kind, "response_type")


def test_numbers_of_answers_without_a_code_are_their_codes(tmp_path):
    question, _, _ = read(tmp_path, "5 - very much | 4 - much | 3 - little | 1 - not at all | 9 - Refused")
    assert listed(question) == [(5, "very much"), (4, "much"), (3, "little"), (1, "not at all")]


@pytest.mark.parametrize(
    "options", ["1. Very | Rather | Hardly", "1. Very | 3. Rather | 2. Hardly", "a) Very | b) Rather | Hardly"]
)
def test_numbers_that_only_some_labels_carry_are_a_doubt(options, tmp_path):
    _, faults, _ = read(tmp_path, options)
    assert any("some labels carry a number of their own" in fault for fault in faults)


@pytest.mark.parametrize(
    "options", ["1.0 = very | 2.0 = rather | 99.0 = Refused", "1,0 = very | 2,0 = rather | 99. = (Refused)"]
)
def test_codes_with_a_decimal_point_are_whole_numbers(options, tmp_path):
    assert listed(read(tmp_path, options)[0]) == [(1, "very"), (2, "rather")]


def test_a_code_that_is_no_whole_number_is_refused(tmp_path):
    with pytest.raises(QuestionError, match=r"row 2: code 1.5: a whole number was expected"):
        read(tmp_path, "1.5 = very | 2.5 = rather")


SAID = [
    "DK/Refused",
    "Don't know/No answer",
    "Don\u2019t know or refused",
    "DK, NA",
    "(Don't know)",
    "Not sure",
    "DK (VOL)",
]
SAID += ["No opinion (VOL)", "[Refused]", "Prefer not to say", "REFUSED / NOT ASKED", "8. Don't know", "Can't say"]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("code", ["", "5 = ", "9 = "])
def test_what_says_no_answer_is_taken_out_by_its_words_and_told(said, code, tmp_path):
    codes = ["1 = ", "2 = ", "3 = ", "4 = "] if code else [""] * 4
    written = [
        f"{code}{word}"
        for code, word in zip(codes, ("Quite safe", "Fairly safe", "Little safe", "Not safe"), strict=True)
    ]
    question, faults, changes = read(tmp_path, " | ".join([*written, code + said]))
    assert (len(question.options), question.response_type, faults) == (4, "likert4", [])
    assert "changed in 1 place: its words say don't know or no answer, which are never offered" in changes


@pytest.mark.parametrize("language", bundled_lexicons())
def test_every_language_has_its_words_alone_and_together(language):
    lexicon = load_lexicon(language)
    words = MissingWords.of(lexicon, language)
    assert len(lexicon.missing_answers) > 10
    assert len(lexicon.unsure_answers) > 3
    one, other = lexicon.missing_answers[:2]
    together = (f"{one}/{other}", f"{one}, {other}", f"{one} ({other})", f"({one})", f"{one} – {other}", one.upper())
    assert all(words.says(each) for each in together)
    assert all(words.says(each) for each in lexicon.unsure_answers)
    assert not any(words.says(each) for each in (lexicon.yes, lexicon.no, lexicon.agree, lexicon.disagree))


@pytest.mark.parametrize("language", bundled_lexicons())
def test_every_language_has_words_of_degree(language):
    assert language in known_languages()
    assert is_degree(load_lexicon(language).agree, language) or is_degree(load_lexicon(language).disagree, language)


REAL = {
    "1 = red | 2 = blue | 66 = green | 77 = grey | 97 = pink": (5, True),
    "1 = red | 2 = blue | 7 = green": (3, True),
    " | ".join(f"{n} = dish {n}" for n in range(1, 31)): (30, False),
    "1 = Agree | 2 = Not sure | 3 = Disagree": (3, True),
    "1 = Very sure | 2 = Fairly sure | 3 = Not sure": (3, True),
    "1 = Know well | 2 = Know a little | 3 = Know the name | 4 = Don't know": (4, True),
}


@pytest.mark.parametrize("options", REAL)
def test_real_answers_are_kept_and_doubtful_ones_told(options, tmp_path):
    count, is_doubtful = REAL[options]
    question, faults, _ = read(tmp_path, options, response_type="categorical")
    assert len(question.options) == count
    assert any("kept as answers" in fault for fault in faults) is is_doubtful
    assert question_faults(question) == []


MIDDLE = "1 = safer | 3 = neither | 2 = more dangerous"


def test_codes_give_the_order_where_it_is_asked_for(tmp_path):
    with pytest.raises(QuestionError, match=r"no order; .* response_type = ordinal .* a column order, as 1, 3, 2"):
        read(tmp_path, MIDDLE)
    by_code, faults, _ = read(tmp_path, MIDDLE, response_type="ordinal")
    assert (by_code.values, by_code.response_type, faults) == ((1, 3, 2), "ordinal", [])
    assert [analysis_places([by_code])("q", value) for value in (1, 3, 2)] == [1, 3, 2]


@pytest.mark.parametrize("order", ["1, 3, 2", "[1, 3, 2]", "1 3 2", "1.0|3.0|2.0"])
def test_an_order_that_is_named_is_that_of_the_scale(order, tmp_path):
    question, faults, _ = read(tmp_path, MIDDLE, order=order)
    assert (question.values, question.response_type.is_ordinal, faults) == ((1, 3, 2), True, [])
    assert [analysis_places([question])("q", value) for value in (1, 3, 2)] == [1, 2, 3]
    assert [*types_of([question], set())] == ["  ordinal (ordered, in the order that it names): q"]


def test_an_order_of_other_codes_is_refused(tmp_path):
    with pytest.raises(QuestionError, match=r"order 1, 2: each of the codes 1, 3, 2 once was expected"):
        read(tmp_path, MIDDLE, order="1, 2")


def test_a_question_file_names_its_order_too():
    options = [{"value": code, "label": label} for code, label in ((1, "better"), (3, "worse"), (2, "the same"))]
    record = {"id": "q", "text": "Is it?", "response_type": "likert3", "order": ["1", 2.0, 3], "options": options}
    (question,), changes = import_questions([record], "t.json")
    assert [change.field for change in changes] == ["order"]
    assert question.places == {1: 1, 2: 2, 3: 3}
    (other,), _ = import_questions([record | {"order": [1, 2, 2]}], "t.json")
    assert question_faults(other) == ["order 1, 2, 2: each of the codes 1, 3, 2 once was expected"]


def test_a_file_that_offers_no_answer_is_refused_where_prompts_are_made():
    options = [{"value": code, "label": label} for code, label in ((1, "yes"), (2, "no"), (8, "don't know"))]
    questions, _ = import_questions([{"id": "q", "text": "?", "response_type": "categorical", "options": options}], "t")
    with pytest.raises(QuestionError, match=r"q: option 8 \(don't know\) says don't know or no answer"):
        prompts(questions[0])


@pytest.mark.parametrize("check", sorted(SETTLED_BY_A_PERSON))
def test_every_doubt_that_a_person_settles_fails_a_check_of_the_asset(check):
    fault = Fault("q", None, check, "q: doubtful")
    assert sum(holds(fault) for holds in EXTRACTION.values()) == 1


CASES = {
    "scale_ends": [("ordinal", 7), ("ordinal", 11), ("ordinal", 5), ("likert10", 10)],
    "scale_points_as_figures": [("ordinal", 7), ("ordinal", 11)],
    "numbered_labels": [("likert4", 4)] * 5,
    "float_codes_and_non_answers": [("likert4", 4), ("categorical", 3), *[("likert4", 4)] * 5],
    "six_points": [("ordinal", 6)] * 2,
    "codes_that_look_missing": [("categorical", 30), ("categorical", 11), ("categorical", 5), ("categorical", 3)],
}


@pytest.mark.published
@pytest.mark.parametrize("name", CASES)
def test_the_shared_cases_are_right(name):
    """Uses ../shared."""
    examined = examine_questions(read_imported(shared_file("data", "cases", f"{name}.csv"))[0], None, "eng")
    assert [(str(q.response_type), len(q.options)) for q in examined.questions] == CASES[name]
    write_trials(examined.questions, "eng", load_lexicon("eng"), load_variables())
