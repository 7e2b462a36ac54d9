"""Two extractions of one form: matched, named by each other's codes, compared field by field."""

from valuesassets.instruments.survey.material.extracted_questions import examine_questions
from valuesassets.instruments.survey.material.forms.agreement import compare_extractions, find_twins, with_codes_of
from valuesassets.instruments.survey.material.forms.overrides import fingerprint
from valuesassets.people.variables import load_variables
from valuesassets_tests.studies.expected_questions import expected_questions

FORM = expected_questions("eng")


def twins(questions):
    return find_twins(questions, FORM, load_variables())


def test_questions_without_codes_find_their_twins_and_take_their_codes():
    bare = [question.replace(id=f"Q{n}", source_id=None) for n, question in enumerate(FORM)]
    matches = twins(bare)
    assert [each.id for each in matches] == [question.id for question in FORM]
    named, changes = with_codes_of(bare, matches)
    assert [question.id for question in named] == [question.id for question in FORM]
    assert {change.why for change in changes} == {"the code that the form prints there"}


def test_two_extractions_that_say_the_same_agree_in_everything():
    agreement = compare_extractions(FORM, twins(FORM))
    assert agreement.disagreements == ()
    assert str(agreement) == f"{len(FORM)} questions in common; the same: text 100%, item 100%, codes 100%, labels 100%"


def test_each_field_that_differs_is_named_with_both_readings():
    first, *rest = FORM
    other_text = first.replace(text="How unimportant is it?", item=None)
    agreement = compare_extractions([other_text, *rest], twins([other_text, *rest]))
    assert {fault.message.split(": ")[1] for fault in agreement.disagreements} == {"text", "item"}
    fault = agreement.disagreements[0]
    assert (fault.question_id, fault.check) == (first.id, "agreement")
    assert "How unimportant is it?" in fault.message
    assert "by the other extractor" in fault.message


def test_case_marks_and_blanks_are_no_difference():
    shouting = [question.replace(text=f"  {question.text.upper()} !") for question in FORM]
    assert compare_extractions(shouting, FORM).disagreements == ()


def test_a_question_that_the_other_lacks_is_not_compared():
    agreement = compare_extractions(FORM, [None] * len(FORM))
    assert (agreement.compared, str(agreement)) == (0, "no question in common")


def test_corrections_leave_every_question_beside_its_own_twin(tmp_path):
    """The second record prints the first one's code, the third is left out, and the fourth was not read."""
    first, second, third, fourth, *rest = FORM
    misprinted = second.replace(id=first.id)
    options = ", ".join(f'{{ value = {option.value}, label = "{option.label}" }}' for option in fourth.options)
    overrides = tmp_path / "eng.toml"
    overrides.write_text(
        f'["{fingerprint(misprinted)}"]\nreason = "misprinted"\nid = "{second.id}"\n'
        f'[{third.id}]\nreason = "not asked"\ndrop = true\n'
        f'[{fourth.id}]\nreason = "on the card"\nadd = true\ntext = "{fourth.text}"\n'
        f'response_type = "{fourth.response_type}"\noptions = [{options}]\n',
        encoding="utf-8",
    )
    examined = examine_questions([first, misprinted, third, *rest], None, "eng", overrides, FORM)
    assert [fault for fault in examined.faults if fault.check == "overrides"] == []
    assert {q.id: twin and twin.id for q, twin in zip(examined.questions, examined.agreement.twins, strict=True)} == {
        question.id: question.id for question in FORM if question != third
    }
    assert examined.agreement.disagreements == ()
