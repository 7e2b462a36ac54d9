"""Drafted task files: they load, and with them nearly every mark of the transcripts they are of can be asked."""

import json
from collections import Counter
from itertools import groupby

import pytest

from valuesassets.instruments.psych_tasks.material.marks import people_of
from valuesassets.instruments.psych_tasks.material.marks_without_item import marks_without_item
from valuesassets.instruments.psych_tasks.material.task_drafts import draft_task
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import derive_transcripts, task_transcripts
from valuesassets.records.errors import QuestionError
from valuesassets.records.marks import Transcript, read_transcripts
from valuesassets_tests.instruments.psych_tasks.made_people import balloon_text, survey_text
from valuesassets_tests.instruments.psych_tasks.made_situations import SITUATIONS, STYLES, situations
from valuesassets_tests.instruments.psych_tasks.test_real_transcripts import STATUSES, transcripts_of
from valuesassets_tests.needs import shared_file


def drafted(tmp_path, transcripts):
    """The task that is drafted of transcripts, its people, and its text."""
    text = draft_task(transcripts, "people.jsonl")
    path, file = tmp_path / "task.toml", tmp_path / "people.jsonl"
    path.write_text(text, encoding="utf-8")
    file.write_text("".join(json.dumps(each.model_dump()) + "\n" for each in transcripts), encoding="utf-8")
    task = load_task(path)
    return task, people_of(task_transcripts(derive_transcripts(file, task)), task), text


def from_texts(*texts, **more):
    return [Transcript(text=text, experiment="Made up", participant=str(n), **more) for n, text in enumerate(texts)]


def share_unasked(people):
    marks = [mark for person in people for mark in person.marks]
    return sum(not mark.is_asked for mark in marks) / len(marks)


def kinds_of(people):
    return Counter(mark.kind for person in people for mark in person.marks)


def test_a_survey_is_lines_of_numbers_from_the_lowest_to_the_highest_answer(tmp_path):
    task, people, text = drafted(tmp_path, from_texts(survey_text("13524"), survey_text("22222")))
    assert (task.name, task.delimiters, task.block, task.reversed) == ("made_up", ("<<", ">>"), "line", None)
    assert [kind.candidates.range for kind in task.kinds] == [(1, 5)]
    assert {mark.status for person in people for mark in person.marks} == {"read"}
    assert "# 10 of 10 marks can be asked so; at 0 the answer is no candidate." in text
    assert "# 10 marks in 2 transcripts: 2 6, 1 1, 3 1, 5 1, 4 1" in text


def test_braces_balloons_and_keys_of_ones_own_are_found(tmp_path):
    task, people, text = drafted(tmp_path, from_texts(balloon_text("PS"), balloon_text("QJ"), balloon_text("XM")))
    assert (task.delimiters, task.block) == (("{", "}"), r"^Balloon\s+\d+:")
    (kind,) = task.kinds
    assert kind.candidates.where == "instructions"
    assert [person.marks[0].candidates for person in people] == [("P", "S"), ("Q", "J"), ("X", "M")]
    assert [mark.block for mark in people[0].marks] == [1, 1, 1, 2]
    assert "say what each is for" in text


def test_two_marks_in_a_sentence_are_two_kinds(tmp_path):
    line = "You decided to <<sample>> Box <<{}>>. You decided to <<choose>> Box <<{}>>.\n"
    texts = [f"Boxes {a} and {b}.\n" + line.format(a, b) + line.format(b, b) for a, b in ("XM", "AB", "KL")]
    task, people, _ = drafted(tmp_path, from_texts(*texts))
    assert {kind.name: kind.before for kind in task.kinds} == {"decided": r"You\s+decided\s+to\s*$", "box": r"Box\s*$"}
    assert kinds_of(people) == {"decided": 12, "box": 12}
    assert share_unasked(people) == 0
    assert people[1].marks[1].candidates == ("A", "B")


def test_what_stands_before_few_marks_is_a_kind_of_its_own_at_the_end(tmp_path):
    trials = [f"Trial {n}. You press <<{'left' if n % 2 else 'right'}>>.\n" for n in range(19)]
    text = "".join(trials) + "How old are you? <<31>>"
    task, people, _ = drafted(tmp_path, from_texts(text, text))
    assert share_unasked(people) == 0
    assert {mark.status for person in people for mark in person.marks} <= {"read", "unlisted"}
    assert task.kinds[0].candidates.listed == ("left", "right")


def test_letters_that_the_blocks_name_are_options(tmp_path):
    def text(keys):
        pair = f"Lottery {keys[0]}: gain 3.\nLottery {keys[1]}: lose.\n"
        return "Decide.\n\n" + "".join(f"Problem {n}:\n{pair}You chose <<{keys[n - 1]}>>.\n\n" for n in (1, 2))

    task, people, _ = drafted(tmp_path, from_texts(text("AB"), text("XM")))
    assert task.block == r"^Problem\s+\d+:"
    assert task.kinds[0].candidates.options == r"Lottery\s+(\w):"
    assert people[1].marks[0].candidates == ("X", "M")


@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize("style", STYLES)
def test_every_item_is_a_block_with_its_own_list_however_items_begin(tmp_path, style, is_shuffled):
    """Once one block and all letters that anybody answered were drafted of such transcripts."""
    task, people, _ = drafted(tmp_path, situations(style, is_shuffled))
    lists = {frozenset(options) for _, options in SITUATIONS}
    for each in people:
        assert [mark.block for mark in each.marks] == [1, 2, 3, 4]
        assert {frozenset(mark.candidates) for mark in each.marks} == lists
        assert each.instructions == "You will read four situations. Choose one letter each time.\n"
    assert marks_without_item(people, task) == []


@pytest.mark.parametrize("listed", ["- {}\n- {}\n", "[{}] or [{}].\n", '"{}" or "{}".\n'])
def test_texts_that_the_blocks_list_are_options(tmp_path, listed):
    def text(first):
        cases = ""
        for n in range(1, 6):
            answer = f"{'do' if n % 2 == first else 'leave'} {n}"
            cases += f"Case {n}:\n{listed.format(f'do {n}', f'leave {n}')}You chose <<{answer}>>.\n"
        return "Decide.\n" + cases

    _, people, _ = drafted(tmp_path, from_texts(text(0), text(1)))
    assert [mark.candidates for mark in people[0].marks] == [(f"do {n}", f"leave {n}") for n in range(1, 6)]


def test_texts_of_ones_own_are_open_and_far_numbers_too(tmp_path):
    lines = [f"Why? <<because of {n}>>\n" for n in range(30)]
    assert drafted(tmp_path, from_texts("".join(lines)))[0].kinds[0].candidates == "open"
    took = [f"How long? <<{n * 997}>>\n" for n in range(30)]
    assert drafted(tmp_path, from_texts("".join(took)))[0].kinds[0].candidates == "open"


def test_one_number_alone_still_makes_a_scale(tmp_path):
    task, people, text = drafted(tmp_path, from_texts("A. <<3>>\nB. <<3>>\n"))
    assert task.kinds[0].candidates.range == (3, 4)
    assert "only 3 was answered: put the ends of the scale" in text
    assert share_unasked(people) == 0


@pytest.mark.parametrize(
    ("values", "yes", "no"),
    [((True, False), (True,), (False,)), (("yes", "no"), ("yes",), ("no",)), (("no", "no"), (True,), ("no",))],
)
def test_the_way_round_is_in_the_draft_where_transcripts_say_it(tmp_path, values, yes, no):
    people = [each for n, flipped in enumerate(values) for each in from_texts(survey_text("123"), flipped=flipped)]
    people = [each.model_copy(update={"participant": str(n)}) for n, each in enumerate(people)]
    task, _, _ = drafted(tmp_path, people)
    assert (task.reversed.field, task.reversed.yes, task.reversed.no) == ("flipped", yes, no)


def test_where_only_some_say_the_way_round_the_line_is_a_comment(tmp_path):
    says_nothing = Transcript(text=survey_text("123"), experiment="E", participant="9")
    task, _, text = drafted(tmp_path, [*from_texts(survey_text("123"), flipped="yes"), says_nothing])
    assert task.reversed is None
    assert "# reversed = { field = 'flipped', yes = ['yes'], no = [false] }  # 1 transcripts lack it" in text


def test_answers_that_would_break_toml_are_quoted(tmp_path):
    answers = ['it\'s "mine"', "a\\b", "tab\there", "bell\x07", "délé\x7f"]
    text = "".join(f"Say: <<{answer}>>\n" for answer in answers * 2)
    task, people, _ = drafted(tmp_path, from_texts(text))
    assert set(task.kinds[0].candidates.listed) == set(answers)
    assert share_unasked(people) == 0


@pytest.mark.parametrize("text", ["no marks at all", "1. I plan. &lt;&lt;3&gt;&gt;", "<<>> {} [[]]"])
def test_transcripts_without_answers_are_refused_in_one_line(text):
    with pytest.raises(QuestionError) as caught:
        draft_task(from_texts(text), "people.jsonl")
    assert str(caught.value) == (
        "people.jsonl: no answers between << >>, { }, [[ ]]; write a task file that names the delimiters (`delimiters`)"
    )


@pytest.mark.published
@pytest.mark.parametrize("name", STATUSES)
def test_a_draft_of_a_published_experiment_leaves_at_most_two_marks_of_a_hundred(tmp_path, name):
    _, people, _ = drafted(tmp_path, read_transcripts(transcripts_of(name)))
    assert share_unasked(people) <= 0.02
    assert kinds_of(people).total() == sum(STATUSES[name].values())


@pytest.mark.published
def test_drafts_of_the_published_formats_leave_at_most_two_marks_of_a_hundred(tmp_path):
    transcripts = read_transcripts(shared_file("data", "psych", "formats", "invented_participants.jsonl"))
    transcripts.sort(key=lambda each: each.experiment)
    for experiment, group in groupby(transcripts, key=lambda each: each.experiment):
        _, people, _ = drafted(tmp_path, list(group))
        assert share_unasked(people) <= 0.02, experiment
