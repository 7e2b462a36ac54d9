"""Bad transcripts and task files: one line that names the place, or one status; and no other mark's row changes."""

import json

import pytest

from valuesassets.instruments.psych_tasks.material.marks import derive_ledger, mark_person, mark_rows, people_of
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import (
    derive_transcripts,
    task_transcript,
    task_transcripts,
)
from valuesassets.instruments.psych_tasks.tables import TASK_MARKS
from valuesassets.records.errors import QuestionError
from valuesassets.records.marks import Transcript

TEXT = (
    "Rate each from 1 to 4.\nStatements:\n"
    "1. I plan. <<1>>\n2. I act. <<2>>\n3. I wait. <<3>>\n4. I go. <<4>>\n5. I stay. <<4>>"
)
LINE = {"text": TEXT, "experiment": "BARRAT scale", "participant": "1", "flipped": False}
TOML = """
name = "made"
{task}
[[kinds]]
name = "answer"
before = '{before}'
candidates = {candidates}
"""


def rows_of(text, task="barrat"):
    """The rows of a transcript, without what moves when the text before it does."""
    loaded = load_task(task)
    transcript = task_transcript(Transcript(**{**LINE, "text": text}), loaded, "here")
    return [
        {key: value for key, value in row.items() if key not in ("start", "end")}
        for row in mark_rows([mark_person(transcript, loaded)], loaded)
    ]


def task_file(tmp_path, before=r"\. $", candidates="{ range = [1, 4] }", task=""):
    path = tmp_path / "made.toml"
    path.write_text(TOML.format(before=before, candidates=candidates, task=task), encoding="utf-8")
    return path


def file_of(tmp_path, *lines, encoding="utf-8", ends="\n"):
    path = tmp_path / "people.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_bytes((ends.join(texts) + ends).encode(encoding))
    return path


def refused(path, task="barrat"):
    """The one line that reading a file of transcripts ends with."""
    with pytest.raises(QuestionError) as caught:
        derive_transcripts(path, load_task(task))
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("written", "number", "status", "reason"),
    [
        ("3. I wait. <<>>", 3, "empty", "mark 3 in line 5: it is empty; write the answer between '<<' and '>>'"),
        ("3. I wait. << >>", 3, "empty", "mark 3 in line 5: it is empty; write the answer between '<<' and '>>'"),
        ("3. I wait. <<3", 3, "broken", "mark 3 in line 5: '<<' is not closed before the next one opens; write '>>' "),
        ("3. I wait. <<3\n>>", 3, "broken", "mark 3: the answer '3\\n' goes over a line; close it on its own line"),
        ("3. I wait. <<3&gt;&gt;", 3, "broken", "mark 3 in line 5: '<<' is not closed before the next one opens"),
        ("3. I wait. <<9>>", 3, "unlisted", "mark 3: the answer '9' is none of the 4 candidates"),
        ("3. I wait. <<100>>", 3, "unlisted", "mark 3: the answer '100' is none of the 4 candidates"),
        ("3. I wait. <<-3>>", 3, "unlisted", "mark 3: the answer '-3' is none of the 4 candidates"),
        ("3. I wait. <<I do not know>>", 3, "unlisted", "mark 3: the answer 'I do not know' is none of the 4"),
        ("\n<<3>>", 3, "no_candidates", "mark 3: no kind of the task barrat is found before it; mend `before` in the"),
    ],
)
def test_a_bad_mark_has_a_status_and_a_reason_and_no_other_row_changes(written, number, status, reason):
    before, after = rows_of(TEXT), rows_of(TEXT.replace("3. I wait. <<3>>", written))
    assert [row["mark"] for row in after] == [1, 2, 3, 4, 5]
    changed = [row for row, other in zip(after, before, strict=True) if row != other]
    assert [(row["mark"], row["status"]) for row in changed] == [(number, status)]
    assert changed[0]["reason"].startswith(reason)


def test_white_space_around_an_answer_is_none_of_it():
    assert [row["status"] for row in rows_of(TEXT.replace("<<3>>", "<< 3 >>"))] == ["read"] * 5


def test_the_last_mark_is_broken_where_it_is_never_closed():
    *before, last = rows_of(TEXT.removesuffix(">>"))
    assert before == rows_of(TEXT)[:-1]
    assert (last["mark"], last["status"], last["human_answer"]) == (5, "broken", None)
    assert last["reason"] == "mark 5 in line 7: '<<' is never closed; write '>>' behind the answer"


def test_of_nested_marks_the_outer_one_is_broken_and_both_count():
    before, after = rows_of(TEXT), rows_of(TEXT.replace("<<3>>", "<<3. <<3>> >>"))
    assert [row["mark"] for row in after] == [1, 2, 3, 4, 5, 6]
    assert [row["status"] for row in after] == ["read", "read", "broken", "read", "read", "read"]
    assert after[:2] == before[:2]
    assert [row | {"mark": row["mark"] - 1} for row in after[4:]] == before[3:]


def test_a_closing_delimiter_alone_is_no_mark():
    text = TEXT.replace("I act.", "I act (More Details >>).")
    assert [row | {"block": 0} for row in rows_of(text)] == [row | {"block": 0} for row in rows_of(TEXT)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Nothing here.",
            "no << stands in it; name the delimiters that it has in the task file, or leave the transcript",
        ),
        ("1. I plan. 3>>", "no << stands in it, though >> does; name the delimiters that it has in the task file, or"),
        (
            "1. I plan. &lt;&lt;3&gt;&gt;",
            "&lt;&lt; stands there for <<: the text was escaped for HTML; unescape it",
        ),
    ],
)
def test_a_transcript_without_marks_is_counted_and_says_why(tmp_path, text, reason):
    path = file_of(tmp_path, LINE, LINE | {"participant": "2", "text": text})
    task = load_task("barrat")
    rows = TASK_MARKS.frame(mark_rows(people_of(task_transcripts(derive_transcripts(path, task)), task), task))
    ledger = derive_ledger(rows).set_index("status")
    assert ledger[["marks", "transcripts"]].to_dict("index") == {
        "read": {"marks": 5, "transcripts": 1},
        "no_marks": {"marks": 0, "transcripts": 1},
    }
    assert rows.set_index("status").loc["no_marks", "reason"].startswith(reason)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([LINE, '{"text": "1. I plan. <<1>>", '], "FILE: line 2, column 30: not JSON (Expecting property name"),
        ([LINE, "[]"], "FILE: line 2: "),
        ([LINE, {"experiment": "BARRAT scale", "participant": "2"}], "FILE: line 2: key 'text' is missing; add it"),
        ([LINE, LINE | {"text": ""}], "FILE: line 2: key 'text': text that is not empty was expected"),
        ([LINE, "", LINE], "FILE: line 3: participant 1 of BARRAT scale stands in line 1 already; number them apart"),
        (
            [LINE | {"flipped": "yes"}, "", LINE | {"participant": "2", "flipped": "TRUE"}],
            "FILE: line 3: participant 2 of BARRAT scale: flipped is 'TRUE', the task barrat knows 'yes', True and "
            "'no', False; mend the line, or list it in the task file",
        ),
        (
            [{key: value for key, value in LINE.items() if key != "flipped"}],
            "FILE: line 1: participant 1 of BARRAT scale: flipped is None",
        ),
        ([LINE | {"flipped": 1}], "FILE: line 1: participant 1 of BARRAT scale: flipped is 1, the task"),
        ([""], "FILE: no transcript in it; name a file of JSON lines with text, experiment, participant"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place(tmp_path, lines, message):
    assert refused(file_of(tmp_path, *lines)).startswith(message)


def test_yes_and_true_in_one_file_are_the_same_presentation(tmp_path):
    values = ["yes", True, "no", False]
    path = file_of(tmp_path, *(LINE | {"participant": str(n), "flipped": each} for n, each in enumerate(values)))
    presentations = derive_transcripts(path, load_task("barrat"))["presentation"]
    assert list(presentations) == ["reversed", "reversed", "forward", "forward"]


def test_a_file_in_another_encoding_is_one_line(tmp_path):
    path = file_of(tmp_path, LINE | {"text": f"Wählen Sie.\n{TEXT}"}, encoding="latin-1")
    assert refused(path) == "FILE: byte 11 is not UTF-8; save the file as UTF-8"
    assert "UTF-16" in refused(file_of(tmp_path, LINE, encoding="utf-16"))


@pytest.mark.parametrize(("encoding", "ends"), [("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("utf-8", "\n\n\n")])
def test_a_byte_order_mark_other_line_ends_and_empty_lines_change_nothing(tmp_path, encoding, ends):
    lines = [LINE, LINE | {"participant": "2"}]
    task = load_task("barrat")
    plain = derive_transcripts(file_of(tmp_path, *lines), task)
    assert derive_transcripts(file_of(tmp_path, *lines, encoding=encoding, ends=ends), task).equals(plain)


def test_line_ends_of_windows_within_a_transcript_change_no_row():
    assert rows_of(TEXT.replace("\n", "\r\n")) == rows_of(TEXT)


def test_keys_that_the_regex_does_not_find_leave_their_own_marks_without_candidates(tmp_path):
    blocks = [
        f"Draw.\nSeven {things} are marked '{seven}', three '{three}'. You predict <<{seven}>>.\n"
        for things, seven, three in (("cards", "O", "Q"), ("balls", "Z", "X"), ("cards", "Q", "O"))
    ]
    keys = "{{ keys = \"{} are marked '(\\\\w)', three '(\\\\w)'\", roles = ['seven', 'three'] }}"
    task = "block = '^Draw'"
    cards = task_file(tmp_path, "You predict $", keys.format("cards"), task)
    narrow = rows_of("".join(blocks), cards)
    wide = rows_of("".join(blocks), task_file(tmp_path, "You predict $", keys.format("\\\\w+"), task))
    assert [row["candidates"] for row in wide] == [["O", "Q"], ["Z", "X"], ["Q", "O"]]
    assert [row["status"] for row in narrow] == ["read", "no_candidates", "read"]
    assert [narrow[0], narrow[2]] == [wide[0], wide[2]]
    assert narrow[1]["reason"] == (
        "mark 2: 0 candidates of kind answer in its block, at least 2 were expected; mend the regular expression in "
        "the task file"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"before": "(oops"},
            "key 'before' in entry 1 of 'kinds': '(oops' is no regular expression (missing ), unterminated",
        ),
        (
            {"before": "x*"},
            "key 'before' in entry 1 of 'kinds': 'x*' matches everywhere, the empty text too; name what has",
        ),
        (
            {"task": "block = '$'"},
            "key 'block': '$' matches everywhere, the empty text too; name what has to stand there",
        ),
        ({"task": "blocks = 'line'"}, "unknown key 'blocks' (did you mean 'block'?)"),
        ({"candidates": "{ options = '[A-Z]' }"}, "options has no group: put the text of an option in ( )"),
        (
            {"candidates": "{ keys = '(a)(b)' }"},
            "keys and roles belong together: a role for each group; add or leave out",
        ),
        ({"candidates": "{ keys = '(a)(b)', roles = ['x'] }"}, "keys has 2 groups, roles 1 names; give one for each"),
        ({"candidates": "{ range = [4, 1] }"}, "range [4, 1]: from the smaller to the larger number was expected"),
        ({"candidates": "{ list = ['a', 'a'] }"}, "list: 'a' stands there twice"),
        ({"candidates": "{ range = [1, 4], list = ['a', 'b'] }"}, "one of list, range, options, keys, fill is needed"),
        ({"candidates": "{ fill = ['{1} HAS {2}', '{2} HAS {1}'] }"}, "fill and words belong together"),
        (
            {"candidates": "{ fill = ['{1} A', '{3} B'], words = '(a) (b)' }"},
            "fill: '{3} B' names group 3, words has 2",
        ),
        ({"candidates": "{ ranges = [1, 4] }"}, "ranges"),
        (
            {"task": "reversed = { field = 'flipped', yes = [], no = [false] }"},
            "key 'reversed.yes': at least one entry",
        ),
    ],
)
def test_a_bad_task_file_is_one_line_that_names_the_key(tmp_path, changes, message):
    path = task_file(tmp_path, **changes)
    with pytest.raises(QuestionError) as caught:
        load_task(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_task_that_is_not_there_is_asked_back():
    with pytest.raises(QuestionError, match=r"^barratt: no such task file; did you mean barrat\?$"):
        load_task("barratt")
    with pytest.raises(QuestionError, match=r"name one of audit, "):
        load_task("zzz")


def test_the_last_kind_fits_any_mark_where_it_has_no_before(tmp_path):
    path = tmp_path / "made.toml"
    one = """[[kinds]]\nname = "{name}"\n{before}candidates = {{ range = [1, 4] }}\n"""
    first = one.format(name="plan", before="before = 'plan\\. $'\n")
    path.write_text('name = "made"\n' + first + one.format(name="any", before=""), encoding="utf-8")
    assert [row["kind"] for row in rows_of(TEXT, path)] == ["plan", *["any"] * 4]
    path.write_text('name = "made"\n' + one.format(name="any", before="") + first, encoding="utf-8")
    with pytest.raises(QuestionError, match="any has no before, so that no kind behind it is ever taken"):
        load_task(path)
