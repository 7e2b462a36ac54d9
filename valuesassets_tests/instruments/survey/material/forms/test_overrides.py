"""Overrides: what a person corrected is applied, shown and kept, and what fits no more is named."""

from pathlib import Path

import pytest

from valuesassets.instruments.survey.material.extracted_questions import examine_questions, extract_questions
from valuesassets.instruments.survey.material.forms.overrides import (
    apply_overrides,
    fingerprint,
    override_text,
    read_overrides,
)
from valuesassets.records.errors import StudyError
from valuesassets.studies import questionnaires
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm

ENGLISH = Path(questionnaires.__file__).parent / "eng.pdf"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "eng.toml"


def overridden(questions, file, content, doubts=()):
    file.write_text(content, encoding="utf-8")
    return apply_overrides(questions, read_overrides(file), file, doubts)


def asked(*codes, twice=False):
    questions = [q for q in extract_questions(ENGLISH, "eng") if q.id in codes]
    return [*questions, questions[0].replace(text="Otherwise put?")] if twice else questions


def test_without_a_file_nothing_changes(file):
    questions = asked("v1", "v39")
    result = apply_overrides(questions, read_overrides(file), file)
    assert (list(result.questions), result.changes, result.faults) == (questions, (), ())


def test_a_correction_is_applied_and_says_what_it_changed_and_why(file):
    questions = asked("v1", "v39")
    result = overridden(questions, file, '[v39]\nreason = "cut off"\nlabels = { 10 = "very satisfied" }\n')
    first, second = result.questions
    assert first == questions[0]
    assert second.options[-1].label == "very satisfied"
    assert second.options[:-1] == questions[1].options[:-1]
    (change,) = result.changes
    assert (change.question_id, change.field, change.why) == ("v39", "options", "override: cut off")
    assert change.before != change.after
    assert result.settled == {"v39"}


def test_a_new_item_goes_into_the_whole_text(file):
    questions = asked("v1")
    (question,) = overridden(questions, file, '[v1]\nreason = "misread"\nitem = "Toil"\n').questions
    assert (question.item, question.stem) == ("Toil", questions[0].stem)
    assert question.text.endswith("Toil")
    assert question.text.startswith(questions[0].stem[:20])


def test_a_question_is_left_out_or_brought_in_at_its_place(file):
    content = """
    [v1]
    reason = "not asked here"
    drop = true
    [v7]
    reason = "stands on a page of its own"
    add = true
    text = "How happy?"
    response_type = "binary"
    options = [{ value = 1, label = "very" }, { value = 2, label = "not" }]
    """
    result = overridden(asked("v1", "v31", "v39"), file, content)
    assert [question.id for question in result.questions] == ["v7", "v31", "v39"]
    assert [(change.question_id, change.after) for change in result.changes] == [("v1", None), ("v7", "How happy?")]


def test_an_id_is_given_by_a_person_and_marked_as_theirs(file):
    questions = asked("v1", "v39")
    result = overridden(questions, file, '[v39]\nreason = "misprinted"\nid = "v38"\n')
    assert [question.id for question in result.questions] == ["v1", "v38"]
    assert result.questions[1].model_extra["is_id_settled"] is True
    assert [(change.field, change.before, change.after) for change in result.changes] == [("id", "v39", "v38")]
    assert result.settled == {"v38", "v39"}


def test_records_that_share_an_id_are_named_by_their_marks(file):
    first, second = (question.replace(id="Q1") for question in asked("v1", "v5"))
    content = "".join(
        f'["{fingerprint(question)}"]\nreason = "by its words"\nid = "{code}"\n'
        for question, code in [(first, "v1"), (second, "v5")]
    )
    result = overridden([first, second], file, content)
    assert [question.id for question in result.questions] == ["v1", "v5"]
    assert result.faults == ()
    dropped = overridden([first, second], file, f'["{fingerprint(second)}"]\nreason = "twice"\ndrop = true\n')
    assert dropped.questions == (first,)


def test_an_override_lapses_when_the_record_it_was_written_for_has_changed(file):
    (question,) = asked("v39")
    content = f'[v39]\nreason = "as printed"\nof = "{fingerprint(question)}"\n'
    confirmed = overridden([question], file, content)
    assert (confirmed.questions, confirmed.faults, confirmed.settled) == ((question,), (), {"v39"})
    assert [change.field for change in confirmed.changes] == ["confirmed"]
    other = question.replace(text="Something else?")
    lapsed = overridden([other], file, content)
    assert (lapsed.questions, lapsed.settled) == ((other,), frozenset())
    assert f"say of = '{fingerprint(other)}' if it still holds" in lapsed.faults[0].message


def test_of_two_records_the_one_that_is_named_stays(file):
    first, second = asked("v39", twice=True)
    named = overridden([first, second], file, f'[v39]\nreason = "the form asks it so"\nof = "{fingerprint(second)}"\n')
    assert (named.questions, named.faults) == ((second,), ())
    dropped = overridden(
        [first, second], file, f'[v39]\nreason = "a misprint"\nof = "{fingerprint(second)}"\ndrop = true\n'
    )
    assert (dropped.questions, dropped.settled) == ((first,), {"v39"})
    misfit = overridden(
        [first, second], file, f'[v39]\nreason = "x"\nof = "{fingerprint(second)}"\nlabels = {{ 11 = "y" }}\n'
    )
    assert (misfit.questions, misfit.changes, misfit.settled) == ((first, second), (), frozenset())
    unnamed = overridden([first, second], file, '[v39]\nreason = "which?"\ntext = "How?"\n')
    assert unnamed.questions == (first, second)
    assert f"say which is to stay: of = '{fingerprint(first)}' or '{fingerprint(second)}'" in unnamed.faults[0].message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[v93]\nreason = "x"\ntext = "y"\n', "no question of this id was extracted (did you mean v39?)"),
        ('[v39]\nreason = "x"\nlabels = { 11 = "y" }\n', "the question has no option 11"),
        ('[v1]\nreason = "x"\nitem = "{item}"\n', "the extraction says the same by now; take it away"),
        (
            '[v1]\nreason = "x"\nadd = true\ntext = "y"\nresponse_type = "binary"\noptions = [{ value = 1 }]\n',
            "the question was extracted after all",
        ),
    ],
)
def test_what_fits_no_record_changes_nothing_and_is_named(file, content, message):
    questions = asked("v1", "v39")
    result = overridden(questions, file, content.replace("{item}", questions[0].item))
    assert list(result.questions) == questions
    (fault,) = result.faults
    assert fault.check == "overrides"
    assert fault.message.startswith("eng.toml: override of ")
    assert message in fault.message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[v39\n", "not TOML"),
        ('[v39]\ntext = "x"\n', "override of v39: key 'reason' is missing; add it"),
        ('[v39]\nreason = " "\ntext = "x"\n', "override of v39: key 'reason'"),
        ('[v39]\nreason = "x"\n', "override of v39: it changes nothing"),
        ('[v39]\nreason = "x"\ntxt = "y"\n', "unknown key 'txt' (did you mean 'text'?)"),
        ('[v39]\nreason = "x"\ndrop = true\ntext = "y"\n', "drop = true leaves the question out"),
        ('[v39]\nreason = "x"\nadd = true\ntext = "y"\n', "a question that is added needs response_type, options"),
        ('[v39]\nreason = "x"\nresponse_type = "likert"\n', "override of v39: key 'response_type'"),
        ('[v39]\nreason = "x"\nlabels = { one = "y" }\n', "override of v39: key 'labels"),
        ('v39 = "x"\n', "override of v39"),
        ("\ufeff[v39]\nreason = 3\n", "key 'reason'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(file, content, message):
    file.write_text(content, encoding="utf-8")
    with pytest.raises(StudyError) as refused:
        read_overrides(file)
    assert message in str(refused.value)
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_lines_that_the_review_page_offers_confirm_a_record_once_a_reason_is_given(file):
    (question,) = asked("v39")
    offered = override_text(question)
    file.write_text(offered, encoding="utf-8")
    with pytest.raises(StudyError, match="reason"):
        read_overrides(file)
    result = overridden([question], file, offered.replace('reason = ""', 'reason = "looked up"'))
    assert (result.settled, result.faults) == ({"v39"}, ())


def damaged(tmp_path):
    """A form that lacks a label and prints a code that has no question."""
    form = PaperForm(tmp_path / "form.pdf")
    form.question("Q1", "How important is it in your life?")
    form.grid(("very|important", "not|important", "DK"), [("v31", "Work", "1", "2", "8")])
    form.question("Q2", "Are you happy these days?")
    form.options("v7", "1 – very happy", "2 – quite happy", "3 – not very happy")
    return form.save()


def test_a_correction_ends_the_doubt_and_one_that_brings_in_a_new_fault_does_not(tmp_path, file):
    pdf = damaged(tmp_path)
    extracted = extract_questions(pdf, "eng")
    before = examine_questions(extracted, pdf, "eng", file)
    assert [(fault.question_id, fault.check) for fault in before.faults] == [("v7", "complete")]
    labels = [*(option.label for option in extracted[-1].options), "not at all happy"]
    rows = ", ".join(f'{{ value = {n}, label = "{label}" }}' for n, label in enumerate(labels, 1))
    file.write_text(f'[v7]\nreason = "on the card"\noptions = [{rows}]\n', encoding="utf-8")
    after = examine_questions(extracted, pdf, "eng", file)
    assert after.faults == ()
    assert len(after.questions[-1].options) == 4
    file.write_text('[v7]\nreason = "on the card"\noptions = [{ value = 1, label = "happy" }]\n', encoding="utf-8")
    assert [fault.check for fault in examine_questions(extracted, pdf, "eng", file).faults] == ["complete"]


@pytest.mark.parametrize(
    ("line", "unfit"), [('text = "Are you well?"', None), ('section = "Health"', "quotes an answer")]
)
def test_a_question_that_a_person_words_anew_is_fit_to_be_asked(file, line, unfit):
    questions = [asked("v1")[0].replace(unfit="quotes an answer")]
    (question,) = overridden(questions, file, f'[v1]\nreason = "the name is not needed"\n{line}\n').questions
    assert (question.model_extra or {})["unfit"] == unfit
