"""Transcripts and their marks: every opening delimiter is a mark, every fault one line: where, what, what to do."""

import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.records.errors import QuestionError
from valuesassets.records.marks import Transcript, find_marks, read_transcripts
from valuesassets.records.readouts import Span
from valuesassets.records.zips import write_zip
from valuesassets_tests.models.asked_marks import ask_marks
from valuesassets_tests.needs import shared_file

LINE = {"text": "1. Sure? <<3>>\n", "experiment": "CARE scale", "participant": "1"}


def transcript(text):
    return Transcript(text=text, experiment="CARE scale", participant="1")


@pytest.mark.parametrize(
    ("text", "delimiters", "answers"),
    [
        ("a <<3>> b <<\nnot at all\n>>", ("<<", ">>"), ["3", "\nnot at all\n"]),
        ("You press {P} {P} {S}.", ("{", "}"), ["P", "P", "S"]),
        ("<<<3>>>", ("<<", ">>"), ["<3"]),
        ("say |yes| or |no|", ("|", "|"), ["yes", "no"]),
        ("[ans]x[/ans]", ("[ans]", "[/ans]"), ["x"]),
        ("nothing", ("<<", ">>"), []),
        ("", ("<<", ">>"), []),
        ("\x00<<\x07>>" + "x" * 200_000 + "<<9>>", ("<<", ">>"), ["\x07", "9"]),
    ],
)
def test_answers_are_found_between_any_two_delimiters(text, delimiters, answers):
    marks, strays = find_marks(text, delimiters)
    assert [text[mark.start : mark.end] for mark in marks] == answers
    assert [mark.number for mark in marks] == list(range(1, len(answers) + 1))
    assert not strays
    assert not any(mark.fault for mark in marks)


@pytest.mark.parametrize(
    ("text", "faults", "strays"),
    [
        ("a\n<<3", ["mark 1 in line 2: '<<' is never closed; write '>>' behind the answer"], []),
        (
            "<<3 b\n<<4>>",
            ["mark 1 in line 1: '<<' is not closed before the next one opens; write '>>' behind the answer", None],
            [],
        ),
        ("<<3>>\n<< >>", [None, "mark 2 in line 2: it is empty; write the answer between '<<' and '>>'"], []),
        (
            "<<3>>\nMore >> <<4>>",
            [None, None],
            ["line 2: '>>' closes no mark; write '<<' before the answer, or leave it where it belongs to the text"],
        ),
    ],
)
def test_a_mark_without_an_answer_keeps_its_number_and_says_where_and_what_to_do(text, faults, strays):
    marks, found = find_marks(text)
    assert [mark.fault for mark in marks] == faults
    assert found == strays


@given(st.text(alphabet="<>3 \n", max_size=40))
def test_every_delimiter_is_part_of_one_mark_or_named(text):
    marks, strays = find_marks(text)
    closed = [mark for mark in marks if not (mark.fault and "closed" in mark.fault)]
    found = re.findall("<<|>>", text)
    assert len(marks) == found.count("<<")
    assert len(closed) + len(strays) == found.count(">>")
    assert all(text[mark.start - 2 : mark.start] == "<<" for mark in marks)
    assert all(text[mark.end : mark.end + 2] == ">>" for mark in closed)


def test_a_readout_asks_at_every_answer_and_names_each_set_of_candidates_once():
    marks = [mark for mark in find_marks("Ever? <<1>> How often? <<>> Sure? <<120>> Then? <<2>>")[0] if not mark.fault]
    readout = ask_marks(marks, [("1", "2"), ("10", "1"), ("1", "2")], as_published=True)
    assert readout.spans == (Span(8, 9, 0), Span(36, 39, 1), Span(50, 51, 0))
    assert readout.sets == (("1", "2"), ("10", "1"))
    assert (readout.close, readout.as_published) == ((">>",), True)
    with pytest.raises(QuestionError, match="one is empty; give two texts"):
        find_marks("text", ("<<", ""))


def test_transcripts_are_read_line_by_line_with_all_that_they_say(tmp_path):
    lines = [LINE | {"flipped": True}, LINE | {"participant": 2, "text": "a\u2028b <<1>>"}]
    text = "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (tmp_path / "t.jsonl").write_text("\ufeff" + text, encoding="utf-8")
    first, second = read_transcripts(tmp_path / "t.jsonl")
    assert (first.text, first.model_extra) == (LINE["text"], {"flipped": True})
    assert (second.participant, second.text) == ("2", "a\u2028b <<1>>")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([json.dumps(LINE), "{'text'}"], "line 2, column 2: not JSON (Expecting property name"),
        ([json.dumps(LINE), json.dumps(LINE)], "line 2: participant 1 of CARE scale stands in line 1 already; number"),
        ([json.dumps(LINE | {"text": ""})], "line 1: key 'text': text that is not empty was expected (found \"\")"),
        ([json.dumps(LINE | {"text": 3.5})], "line 1: key 'text': text in quotes was expected (found 3.5)"),
        (["", json.dumps({"experiment": "a", "participant": "1"})], "line 2: key 'text' is missing; add it"),
        (["[1]"], "line 1: a table of keys and values was expected (found [1])"),
        (['{"text": "\\ud800"}'], "line 1: holds half a character ('\\ud800'); mend the text"),
        (["[" * 100_000], "line 1: cannot be read: "),
        ([""], "is an empty file, a file of JSON lines was expected; name another file"),
        ([b"\xff\xfea\x00"], "is text in UTF-16, a file of JSON lines was expected; save the file as UTF-8"),
        ([b'{"text": "\xe4"}'], "byte 10 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_faulty_line_is_named(lines, said, tmp_path):
    content = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    (tmp_path / "t.jsonl").write_bytes(content)
    with pytest.raises(QuestionError, match=re.escape(f"t.jsonl: {said}")) as error:
        read_transcripts(tmp_path / "t.jsonl")
    assert "\n" not in str(error.value)


@pytest.mark.published
def test_every_delimiter_of_published_transcripts_is_a_mark_with_an_answer():
    marks = 0
    for path in sorted(shared_file("data", "psych", "transcripts").glob("*.jsonl")):
        for each in read_transcripts(path):
            found, strays = find_marks(each.text)
            assert not strays, each.participant
            assert [mark.fault for mark in found if mark.fault] == [], each.participant
            assert len(found) == each.text.count("<<")
            marks += len(found)
    assert marks == 11_770


@pytest.mark.parametrize(
    "names",
    [
        {"participant": "participant_id"},
        {"participant": "Participant ID"},
        {"participant": "subject"},
        {"experiment": "task", "participant": "subjectId"},
        {"text": "transcript", "experiment": "study_id", "participant": "pid"},
    ],
)
@pytest.mark.parametrize("pack", ["not", "zip", "gz"])
def test_keys_may_have_their_usual_other_names_and_the_file_may_be_packed(names, pack, tmp_path):
    line = json.dumps({names.get(key, key): value for key, value in LINE.items()}).encode()
    path = tmp_path / f"people.jsonl.{pack}"
    if pack == "zip":
        write_zip(path, {"people.jsonl": line, "__MACOSX/._people.jsonl": b"\0"})
    else:
        path.write_bytes(gzip.compress(line) if pack == "gz" else line)
    (found,) = read_transcripts(path)
    assert (found.text, found.experiment, found.participant) == tuple(LINE.values())


def test_two_other_names_of_one_key_are_not_chosen_between(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_text(json.dumps(LINE | {"subject": "a", "user_id": "b"}).replace('"participant"', '"who"'))
    with pytest.raises(QuestionError, match="line 1: key 'participant' is missing; add it"):
        read_transcripts(path)


def test_an_archive_of_several_files_says_what_it_holds(tmp_path):
    write_zip(tmp_path / "two.zip", {"a.jsonl": b"{}", "b.jsonl": b"{}"})
    with pytest.raises(
        QuestionError, match=r"two.zip: is an archive that holds 2 files \(a.jsonl, b.jsonl\), one file was"
    ):
        read_transcripts(tmp_path / "two.zip")
