"""The bundled task files: every mark of the published formats has its kind and its candidates, and keys are whole."""

import json
from collections import Counter

import pytest

from valuesassets.instruments.psych_tasks.material.marks import mark_person
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import task_transcript
from valuesassets.records.marks import Transcript, read_transcripts
from valuesassets.records.places import STUDIES
from valuesassets_tests.needs import shared_file

SURVEYS = ("audit", "barrat", "care", "dast", "dm", "dospert", "ftnd", "gabs", "pg", "pri", "soep", "sssv")
BEHAVIOURAL = ("bart", "cct", "dfd", "dfe", "lot", "mpl")
N_ITEMS = {"barratt": 30, "care": 19, "dast": 20, "dospert": 40, "soep": 7, "sssv": 40}
"""Items of which each stands in one scale, by the name of their file."""
COUNT = tuple(map(str, range(100)))
TWO, FOUR, FIVE, SEVEN = (tuple(map(str, range(1, n + 1))) for n in (2, 4, 5, 7))
BALLOONS = (
    "Inflate by pressing P and you will accumulate points. Stop by pressing S and you will collect them.\n\n"
    "Balloon 1:\nYou press {P} {P} {S}. You stop.\n\nBalloon 2:\nYou press {P}. It explodes."
)
CARDS = (
    "Press F to turn a card over, or S to stop the round.\n\nRound 1:\nThere are 1 loss cards.\n"
    "You press <<F>> and turn over a gain card.\nYou press <<S>> and claim your payout.\n\n"
    "Round 2:\nYou press <<F>> and turn over a loss card."
)
BOXES = "In each round, you will be presented with two boxes: Box X and Box M. Choose one.\n\nProblem 1:\n"
PAIR = "Lottery A: gain 5 points.\nLottery B: gain 2 points with a 30% chance.\n"
MADE = {
    "audit": [
        ("Statements:\n0. Ever? 1 = yes, 2 = no <<1>>\n1. Often? 1 = a, 2 = b, 3 = c, 4 = d, 5 = e <<4>>\n", "no"),
        [("answer", TWO, 1), ("answer", FIVE, 2)],
    ],
    "barrat": [("Act.\nStatements:\n1. I plan. <<1>>\n2. I wait <<4>>\n", True), [("answer", FOUR, n) for n in (1, 2)]],
    "care": [("How often?\n1. Shout? <<0>>\n2. Push?<<99>>\n", None), [("count", COUNT, n) for n in (1, 2)]],
    "dast": [("1 = yes, 2 = no.\n1. Ever? <<2>>\n2. Often? <<1>>\n", False), [("answer", TWO, n) for n in (1, 2)]],
    "dm": [("1 = never.\n1. ...slept? <<4>>\n", False), [("answer", FOUR, 1)]],
    "dospert": [("1 to 5.\n1. Swimming. <<5>>\n", "yes"), [("answer", FIVE, 1)]],
    "ftnd": [
        ("Smoking.\n0. Now? 1 = a, 2 = b, 3 = c <<2>>\n1. When? 1 = a, 2 = b, 3 = c, 4 = d <<4>>\n", False),
        [("answer", ("1", "2", "3"), 1), ("answer", FOUR, 2)],
    ],
    "gabs": [
        ("Ever? 1 = yes, 2 = no <<1>>\nNow: 1 = fully, 2 = a, 3 = b, 4 = c.\nI win. <<3>>\nI know. <<4>>\n", False),
        [("gambled", TWO, 1), ("agreement", FOUR, 2), ("agreement", FOUR, 3)],
    ],
    "pg": [
        (
            "Statements:\nEver? 1 = yes, 2 = no <<1>>\nNow: 1 = a, 2 = b, 3 = c, 4 = d, 5 = e.\n1. Debts? <<5>>\n"
            "2. Lies? <<1>>\nNow: 0 = no, 1 = yes.\n3. Loans? <<0>>\n4. Theft? <<1>>\n5. Who? 1 = a, 2 = b <<2>>\n",
            False,
        ),
        [("answer", each, n) for n, each in enumerate((TWO, FIVE, FIVE, ("0", "1"), ("0", "1"), TWO), 1)],
    ],
    "pri": [
        (
            "Statements:\n1. A door. 1 = go, 2 = stay. Choice: <<2>>, How sure are you? <<5>>\n2. Rain. Choice:<<1>>\n",
            True,
        ),
        [("choice", TWO, 1), ("sureness", SEVEN, 1), ("choice", TWO, 2)],
    ],
    "soep": [("0 to 10.\n1. In general? <<11>>\n", "no"), [("answer", tuple(map(str, range(1, 12))), 1)]],
    "sssv": [("Choose.\nStatements:\n1 = I run, 2 = I sit <<2>>\n", True), [("answer", TWO, 1)]],
    "bart": [(BALLOONS, None), [("press", ("P", "S"), n) for n in (1, 1, 1, 2)]],
    "cct": [(CARDS, None), [("press", ("F", "S"), n) for n in (1, 1, 2)]],
    "dfd": [(f"{BOXES}Box X: 4\nBox M: 3\nYou choose Box <<M>>.\n", None), [("choice", ("X", "M"), 1)]],
    "dfe": [
        (f"{BOXES}You decided to <<sample>> Box <<X>>. You saw 4.\nYou decided to <<choose>> Box <<M>>.", None),
        [("action", ("sample", "choose"), 1), ("box", ("X", "M"), 1)] * 2,
    ],
    "lot": [
        (f"You decide.\n\nProblem 1:\n{PAIR}You chose <<B>>.\n\n\nProblem 1.1:\n{PAIR}You chose <<A>>.\n", None),
        [("choice", ("A", "B"), n) for n in (1, 2)],
    ],
    "mpl": [
        (f"Pairs.\n\nProblem 1:\n{PAIR}You chose lottery <<B>>.\n\n{PAIR}You chose lottery <<A>>.\n", None),
        [("choice", ("A", "B"), n) for n in (1, 2)],
    ],
}
"""By task: a transcript of its format, what it says of the presentation; kind, candidates and block of its marks."""
PUBLISHED = {
    ("BARRAT scale", "1"): "4" * 6,
    ("BARRAT scale", "2"): "4" * 6,
    ("BARRAT scale", "3"): "4" * 6,
    ("CARE scale", "1"): "C" * 5,
    ("CARE scale", "2"): "C" * 5,
    ("CARE scale", "3"): "CCCuC",
    ("AUDIT scale", "1"): "253",
    ("AUDIT scale", "2"): "253",
    ("GABS scale", "1"): "244",
    ("PRI scale", "1"): "2727",
}
"""Of surveys: how many candidates each mark has; C the hundred of CARE, u these, and none of them was answered."""
KEYS = {"1": "ABPSFS", "2": "XMQJKD"}
"""By participant: the boxes and lotteries, the balloons' keys, the cards' keys."""


def marked(name, text, presentation):
    task = load_task(name)
    extra = {} if presentation is None else {"flipped": presentation}
    return mark_person(
        task_transcript(Transcript(text=text, experiment=name, participant="1", **extra), task, "here"), task
    )


@pytest.mark.parametrize("name", [*SURVEYS, *BEHAVIOURAL])
def test_every_mark_of_a_tasks_format_has_its_kind_candidates_and_block(name):
    (text, presentation), expected = MADE[name]
    person = marked(name, text, presentation)
    assert [(mark.kind, mark.candidates, mark.block) for mark in person.marks] == expected
    assert {mark.status for mark in person.marks} == {"read"}
    reversed_or_not = {None: None, True: "reversed", "yes": "reversed", False: "forward", "no": "forward"}
    assert person.transcript.presentation == reversed_or_not[presentation]


@pytest.mark.parametrize("name", [*SURVEYS, *BEHAVIOURAL])
def test_what_follows_shows_what_answers_led_to_in_three_tasks_only(name):
    task = load_task(name)
    assert task.name == name
    assert task.feedback is (name in ("bart", "cct", "dfe"))
    assert (task.reversed is not None) is (name in SURVEYS and name != "care")


def test_the_first_box_or_key_is_the_one_that_is_named_first():
    person = marked("dfd", MADE["dfd"][0][0].replace("Box X and Box M", "Box M and Box X"), None)
    assert person.marks[0].candidates == ("M", "X")


def test_an_answer_of_three_digits_is_read_and_is_no_candidate():
    (mark,) = marked("care", "1. Shout? <<120>>", None).marks
    assert (mark.status, mark.answer, mark.candidates) == ("unlisted", "120", COUNT)


@pytest.mark.published
@pytest.mark.parametrize("file", N_ITEMS)
def test_each_item_stands_in_one_scale_of_its_task(file):
    task = load_task({"barratt": "barrat"}.get(file, file))
    items = Counter(item for scale in task.scales.values() for item in scale.items)
    assert items == dict.fromkeys(range(1, N_ITEMS[file] + 1), 1)
    lines = shared_file("data", "psych", "items", f"{file}_prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) == N_ITEMS[file]


def test_the_keys_of_two_published_scales():
    """As their authors print them: BIS-11 (Patton et al. 1995), and boredom of the SSS-V (Zuckerman 1994)."""
    turned = [item for scale in load_task("barrat").scales.values() for item in scale.reversed]
    assert sorted(turned) == [1, 7, 8, 9, 10, 12, 13, 15, 20, 29, 30]
    assert set(load_task("sssv").scales["SSbor"].reversed) == {5, 8, 24, 34, 39}


@pytest.mark.published
def test_no_task_file_holds_the_text_of_an_item():
    held = " ".join(path.read_text(encoding="utf-8") for path in (STUDIES / "psych_tasks").glob("*.toml")).lower()
    for file in ("barratt", "care", "dast", "dm", "dospert", "gabs", "pri", "sssv"):
        path = shared_file("data", "psych", "items", f"{file}_prompts.jsonl")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        texts = [str(row[key]).strip().lower() for row in rows for key in ("item", "s1", "s2") if key in row]
        assert len(texts) >= 8
        assert not [text for text in texts if len(text) > 15 and text in held]


@pytest.mark.published
def test_every_mark_of_invented_participants_in_the_published_formats_is_as_the_format_says():
    sizes = {len(each): each for each in (TWO, FOUR, FIVE, SEVEN, ("1", "2", "3"))} | {"C": COUNT, "u": COUNT}
    n_marks = 0
    for transcript in read_transcripts(shared_file("data", "psych", "formats", "invented_participants.jsonl")):
        name, who = transcript.experiment.split()[0].lower(), transcript.participant
        task = load_task(name)
        person = mark_person(task_transcript(transcript, task, "here"), task)
        candidates = [mark.candidates for mark in person.marks]
        statuses = "".join("u" if mark.status == "unlisted" else "." for mark in person.marks)
        assert {mark.status for mark in person.marks} <= {"read", "unlisted"}
        assert len(candidates) == transcript.text.count(task.delimiters[0])
        if (transcript.experiment, who) in PUBLISHED:
            code = PUBLISHED[transcript.experiment, who]
            assert candidates == [sizes.get(each) or sizes[int(each)] for each in code]
            assert statuses == "".join("u" if each == "u" else "." for each in code)
        else:
            at = {"bart": 2, "cct": 4}.get(name, 0)
            keys = tuple(KEYS[who][at : at + 2])
            kinds = [mark.kind for mark in person.marks]
            assert {pair for pair in zip(kinds, candidates, strict=True) if pair[0] != "action"} == {(kinds[-1], keys)}
            assert kinds.count("action") == (len(kinds) / 2 if name == "dfe" else 0)
            assert "u" not in statuses
        n_marks += len(candidates)
    assert n_marks == 170


@pytest.mark.published
def test_balloons_rounds_problems_and_pairs_are_blocks():
    blocks = {}
    for transcript in read_transcripts(shared_file("data", "psych", "formats", "invented_participants.jsonl")):
        task = load_task(name := transcript.experiment.split()[0].lower())
        person = mark_person(task_transcript(transcript, task, "here"), task)
        blocks[name, transcript.participant] = [mark.block for mark in person.marks]
    assert blocks["bart", "1"] == [1] * 5 + [2] * 2 + [3] * 2 + [4] * 5 + [5] * 4
    assert blocks["cct", "2"] == [1] * 5 + [2] * 4 + [3] * 2
    assert blocks["dfe", "1"] == [1] * 4 + [2] * 8 + [3] * 10
    assert blocks["mpl", "1"] == blocks["mpl", "2"] == [1, 2, 3, 4, 5, 6]
    assert blocks["gabs", "1"] == [1, 2, 3]
