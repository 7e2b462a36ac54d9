import json
import re
from dataclasses import replace

import pytest

from valuesassets.records.errors import QuestionError, ScoringError, StorageError
from valuesassets.records.parquet import (
    read_answers,
    read_frame,
    read_readings,
    read_table,
    read_trials,
    reading_rows,
    table_metadata,
    trial_rows,
    write_table,
    write_trials,
    written_rows,
)
from valuesassets.records.readouts import Generate, ScoreLabels, ScoreSpans, Span
from valuesassets.records.table import Table
from valuesassets.records.tables import ANSWERS, READINGS, TRIALS
from valuesassets.records.trials import Answer, NoTrials, Reading, Status, Trial, Turn, fields_of, places_in_chat

TRIAL = Trial(
    "v1/0/reversed",
    "v1",
    "ell",
    "Ερώτηση\n1. όχι\n2. ναι\nΑπάντηση:",
    "reversed",
    0,
    None,
    ScoreLabels(("1", "2"), (2, 1)),
)
READ = Reading("v1/0/reversed", (0.25, 0.5), 0.75, None, None, ((" hm", 0.1),), Status.OK, None, "key")
UNREAD = Reading("v1/0/forward", None, None, None, None, (), Status.FAILED, "why", "key")


TALK = (Turn("system", "Be kurz."), Turn("user", "Wie viele?\n"), Turn("assistant", "12"), Turn("user", "Und?"))
SPANS = Trial(
    "care/p1", "care", "deu", "1. Wie viele? <<12>>\n", "given", 0, None,
    ScoreSpans((Span(15, 17, 0),), (("0", "12", "ä\x00"),), (">>",), "own", 7),
)  # fmt: skip
WRITTEN = replace(SPANS, chat=TALK, readout=Generate(40, 0.7, 0.9, 4, 3, ("\n", "Ende")))


def without(*names):
    """`TRIALS` before columns were added."""
    kept = (column for column in TRIALS.columns if column.name not in names)
    return Table("trials", TRIALS.row, *kept, is_exact=True)


def test_trials_and_readings_come_back_as_they_went(tmp_path):
    beside = replace(TRIAL, trial_id="v1/0/reversed/content_free", estimator="content_free")
    write_table(tmp_path / "t.parquet", trial_rows([TRIAL, beside]), TRIALS, {"language": "ell"})
    write_table(tmp_path / "r.parquet", reading_rows([READ, UNREAD]), READINGS)
    assert read_trials(tmp_path / "t.parquet") == [TRIAL, beside]
    assert read_readings(tmp_path / "r.parquet") == [READ, UNREAD]
    assert table_metadata(tmp_path / "t.parquet") == {"language": "ell"}


def test_a_file_written_before_a_column_was_added_reads_with_nulls_there_and_only_there(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(path, trial_rows([TRIAL]), without("estimator"))
    assert read_trials(path) == [TRIAL]
    assert read_frame(path, TRIALS)["estimator"].tolist() == [None]
    write_table(path, trial_rows([TRIAL]), without("estimator", "settings", "chat"))
    assert read_trials(path) == [TRIAL]
    write_table(path, [], without("condition"))
    with pytest.raises(StorageError, match="column condition is missing"):
        read_table(path, TRIALS)


@pytest.mark.parametrize(
    "asked",
    [
        SPANS,
        WRITTEN,
        replace(SPANS, chat=TALK[:3], readout=ScoreSpans(((0, 2, 0),), (("1",),))),
        replace(SPANS, chat=TALK[:3], readout=ScoreSpans(((16, 18, 0, 0, 0),), (("1",),), (), "own", None)),
    ],
)
def test_every_readout_comes_back_with_its_settings_and_turns(asked, tmp_path):
    write_table(tmp_path / "t.parquet", trial_rows([asked, replace(asked, trial_id="t2")]), TRIALS)
    assert read_trials(tmp_path / "t.parquet") == [asked, replace(asked, trial_id="t2")]


def test_answers_and_readings_of_spans_come_back_as_they_went(tmp_path):
    answers = [
        Answer("t", 0, "Ja.\x00", "stop", 2, Status.OK, None, "key", "hm", 1, "m/1"),
        Answer("t", 1, None, None, None, Status.REFUSED, "content_filter", "key"),
    ]
    write_table(tmp_path / "a.parquet", written_rows(answers), ANSWERS)
    assert read_answers(tmp_path / "a.parquet") == answers
    span = replace(READ, span=3, label_probs_published=(0.5, 0.7), label_probs_high=(0.3, 0.6), p_valid_high=0.9)
    write_table(tmp_path / "r.parquet", reading_rows([span, replace(UNREAD, span=4)]), READINGS)
    assert read_readings(tmp_path / "r.parquet") == [span, replace(UNREAD, span=4)]
    later = READINGS.added_later | READINGS.where_used
    older = Table("readings", "", *(c for c in READINGS.columns if c.name not in later), is_exact=True)
    rows = [{name: row[name] for name in older.names} for row in reading_rows([READ])]
    write_table(tmp_path / "r.parquet", rows, older)
    assert read_readings(tmp_path / "r.parquet") == [READ]


def test_a_reading_of_drawn_answers_comes_back_and_only_its_file_has_their_columns(tmp_path):
    drawn = replace(READ, label_counts=(10, 20), n_drawn=40)
    write_table(tmp_path / "drawn.parquet", reading_rows([drawn, UNREAD]), READINGS)
    write_table(tmp_path / "exact.parquet", reading_rows([READ, UNREAD]), READINGS)
    assert read_readings(tmp_path / "drawn.parquet") == [drawn, UNREAD]
    assert read_readings(tmp_path / "exact.parquet") == [READ, UNREAD]
    more = {*read_frame(tmp_path / "drawn.parquet", READINGS)} - {*read_frame(tmp_path / "exact.parquet", READINGS)}
    assert more == set(READINGS.where_used) == {"label_counts", "n_drawn"}
    assert not more & set(reading_rows([READ])[0]) | more & set(fields_of(READ))
    assert fields_of(drawn)["n_drawn"] == 40


@pytest.mark.parametrize("more", [{"label_counts": (10, 21), "n_drawn": 40}, {"n_drawn": 40}, {"label_counts": (1,)}])
def test_counts_that_are_not_the_probabilities_are_refused(more):
    with pytest.raises(ScoringError, match=r"trial v1/0/reversed: .* draws"):
        replace(READ, **more)


GOOD = {"spans": [[15, 17, 0]], "sets": [["0", "12"]]}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (GOOD | {"spans": [[15, 30, 0]]}, "span 0 (15 to 30) lies outside the prompt, which has 21 characters; mend"),
        (GOOD | {"spans": [[15, 17, 0], [16, 18, 0]]}, "span 1 (16 to 18) reaches into the span before it; give spans"),
        (GOOD | {"spans": [[15, 17, 1]]}, "spans.0: set 1 is asked for, there are 1 (from 0)"),
        (GOOD | {"spans": []}, "spans: none is given"),
        (GOOD | {"sets": [[]]}, "sets.0: no candidate; give texts"),
        (GOOD | {"sets": [["1", ""]]}, "sets.0: an empty candidate"),
        (GOOD | {"sets": [["1", "2", "1"]]}, "sets.0: candidate '1' stands there twice; name it once"),
        (GOOD | {"close": [""]}, "close: an empty text"),
        (GOOD | {"history": "own", "as_published": True}, "as_published reads behind given answers"),
        (GOOD | {"history": "human"}, "key 'history': 'given' or 'own' was expected (found \"human\")"),
        (GOOD | {"clos": [">>"]}, "unknown key 'clos' (did you mean 'close'?)"),
        (GOOD | {"spans": [[15.5, 17, 0]]}, "entry 1 of 'spans.0': a whole number was expected (found 15.5)"),
        ([GOOD], "settings: an object was expected"),
        ({"spans": [[15, 17, 0]]}, "key 'sets' is missing; add it"),
        (
            GOOD | {"spans": [[1, 2, 3, 4, 5, 6]]},
            "entry 1 of 'spans': an array of 3 to 5 numbers was expected (found [",
        ),
        (GOOD | {"spans": [[15, 17]]}, "entry 1 of 'spans': an array of 3 to 5 numbers was expected (found [15, 17])"),
        (GOOD | {"spans": [5]}, "entry 1 of 'spans': an array of 3 to 5 numbers was expected (found 5)"),
        (None, "key 'spans' is missing; add it; key 'sets' is missing; add it"),
    ],
)
def test_settings_that_are_none_are_refused_by_file_row_and_key(settings, said, tmp_path):
    row = trial_rows([SPANS])[0] | {"settings": settings and json.dumps(settings)}
    write_table(tmp_path / "t.parquet", [trial_rows([SPANS])[0], row | {"trial_id": "t2"}], TRIALS)
    with pytest.raises(StorageError, match=re.escape(f"t.parquet: row 2 (trial t2): {said}")):
        read_trials(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_tokens": 0}, "key 'max_tokens': at least 1 was expected (found 0)"),
        ({"max_tokens": 5, "temperature": -1}, "key 'temperature': at least 0.0 was expected (found -1)"),
        ({"max_tokens": 5, "top_p": 0}, "key 'top_p': more than 0.0 was expected (found 0)"),
        ({"max_tokens": 5, "top_p": 1.5}, "key 'top_p': at most 1.0 was expected (found 1.5)"),
        ({"max_tokens": 5, "stop": [""]}, "entry 1 of 'stop': text that is not empty was expected (found \"\")"),
    ],
)
def test_settings_that_nothing_can_be_written_with_are_refused(settings, said, tmp_path):
    row = trial_rows([WRITTEN])[0] | {"settings": json.dumps(settings)}
    write_table(tmp_path / "t.parquet", [row], TRIALS)
    with pytest.raises(StorageError, match=re.escape(f"t.parquet: row 1 (trial care/p1): {said}")):
        read_trials(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ([], "chat: no turns in it"),
        (["system"], "chat: ends in a system turn; add what the user says"),
        (["user", "system"], "chat: turn 2 of 2 is the system's; only the first may be"),
        (["assistant", "user"], "chat: assistant, user: user and assistant were expected in turn, the user first"),
        (["user", "user"], "chat: user, user: user and assistant were expected in turn"),
        (
            ["user", "assistant"],
            "chat: ends in a turn of the assistant, whose answer is asked for; leave",
        ),
        (["user", "tool"], "key 'role' in entry 2 of 'chat': 'system', 'user' or 'assistant' was expected"),
    ],
)
def test_a_chat_in_no_order_is_refused(roles, said, tmp_path):
    turns = json.dumps([{"role": role, "text": "t"} for role in roles])
    write_table(tmp_path / "t.parquet", [trial_rows([WRITTEN])[0] | {"chat": turns}], TRIALS)
    with pytest.raises(StorageError, match=r"t.parquet: row 1 \(trial care/p1\): .*" + re.escape(said)):
        read_trials(tmp_path / "t.parquet")


def test_a_span_in_a_chat_is_a_turn_of_the_assistant_or_an_answer_in_one_that_several_share():
    both = replace(SPANS, prompt="Wie viele? <<1>> <<2>>", chat=TALK[:3])
    spans = ScoreSpans((Span(13, 14, 0), Span(19, 20, 0)), (("1",),))
    with pytest.raises(QuestionError, match="span 1 is in turn 1 of the assistant, who has 1; give each span its turn"):
        replace(both, readout=spans)
    shared = ScoreSpans((Span(13, 14, 0, 0), Span(19, 20, 0, 0)), (("1",),))
    assert places_in_chat(replace(both, readout=shared), shared) == [(0, 0, 1), (0, 1, 2)]
    alone = ScoreSpans((Span(13, 14, 0),), (("1",),))
    assert places_in_chat(replace(both, readout=alone), alone) == [(0, 0, 2)]
    with pytest.raises(QuestionError, match="span 1: its answer '2' is not in the assistant's turn 0; mend the turn"):
        replace(both, readout=shared, chat=(*TALK[:2], Turn("assistant", "1 1")))


def test_spans_of_three_or_four_numbers_are_read_as_they_were_before_there_was_a_fifth(tmp_path):
    row = trial_rows([replace(SPANS, chat=TALK[:3])])[0]
    for span in ([15, 17, 0], [15, 17, 0, 0]):
        settings = json.dumps({"spans": [span], "sets": [["0", "12"]]})
        write_table(tmp_path / "t.parquet", [row | {"settings": settings}], TRIALS)
        (read,) = read_trials(tmp_path / "t.parquet")
        assert read.readout.spans == (Span(*span),)
        assert places_in_chat(read, read.readout) == [(0, 0, 2)]


def at_places(turn, *ats, prompt="<<2>> <<2>>"):
    """Where two answers stand in a turn of the assistant, by what their spans say."""
    spans = ScoreSpans((Span(2, 3, 0, 0, ats[0]), Span(8, 9, 0, 0, ats[1])), (("2", "7"),))
    shown = replace(SPANS, prompt=prompt, readout=spans, chat=(*TALK[:2], Turn("assistant", turn)))
    return [(start, end) for _, start, end in places_in_chat(shown, spans)]


@pytest.mark.parametrize(
    ("turn", "ats", "found"),
    [
        ("2 2 2", (0, 2), [(0, 1), (2, 3)]),
        ("2 2 2", (1, 3), [(1, 3), (3, 5)]),  # from the space before it
        ("plan 2, late 2, or 2", (None, 13), [(5, 6), (13, 14)]),
        ("plan 2, late 2", (5, None), [(5, 6), (13, 14)]),
        ("2, 2", (-1, 3), "span 0: at = -1 is no place in the assistant's turn of 4 characters behind its first 0"),
        ("2, 2", (0, 5), "span 1: at = 5 is no place in the assistant's turn of 4 characters behind its first 1"),
        ("2, 2", (3, 0), "span 1: at = 0 is no place in the assistant's turn of 4 characters behind its first 4"),
        ("2, 2", (0, 1), "span 1: at = 1: its answer '2' does not stand there in the assistant's turn; mend it"),
    ],
)
def test_an_answer_stands_in_its_turn_where_its_span_says(turn, ats, found):
    if isinstance(found, list):
        assert at_places(turn, *ats) == found
        return
    with pytest.raises(QuestionError, match=re.escape(f"trial care/p1: {found}")) as error:
        at_places(turn, *ats)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("column", "said"), [("settings", "settings are"), ("chat", "chat is")])
def test_settings_and_turns_that_are_no_json_are_named_by_their_column(column, said, tmp_path):
    write_table(tmp_path / "t.parquet", [trial_rows([SPANS])[0] | {column: "{"}], TRIALS)
    with pytest.raises(StorageError, match=re.escape(f"t.parquet: row 1 (trial care/p1): {said} not JSON (found")):
        read_trials(tmp_path / "t.parquet")


def test_two_trials_of_one_name_are_refused(tmp_path):
    """What comes back of a file is told apart by this name alone."""
    write_table(tmp_path / "t.parquet", trial_rows([SPANS, replace(SPANS, prompt=SPANS.prompt + "?")]), TRIALS)
    with pytest.raises(StorageError, match=r"t.parquet: row 2 \(trial care/p1\): row 1 has this trial_id too; give"):
        read_trials(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("answers", "turn", "found"),
    [
        (("2", "1"), "Items 1 to 2: plan 2, late 1", "span 0: its answer '2' may be that at character 11 or at 19 of"),
        (("2", "1"), "plan 2, late 1, or 1", "span 1: its answer '1' may be that at character 13 or at 19 of"),
        (
            ("1", "1"),
            "11, 1",
            "span 1: its answer '1' may be that at character 1 or at 4 of the assistant's turn 0; give",
        ),
        (("2", "1"), "plan 2, late 1", [5, 13]),
        (("2", "2"), "plan 2, late 2", [5, 13]),
        (("10", "1"), "plan 10, late 1", [5, 14]),  # there is no other way to find both, in this order
    ],
)
def test_an_answer_that_stands_twice_in_a_turn_is_no_place(answers, turn, found):
    prompt = " ".join(f"<<{answer}>>" for answer in answers)
    starts = [2, prompt.rindex("<<") + 2]
    spans = ScoreSpans(
        tuple(Span(start, start + len(text), 0, 0) for start, text in zip(starts, answers, strict=True)),
        (("1", "2", "10"),),
    )
    if isinstance(found, str):
        with pytest.raises(QuestionError, match=re.escape(found)) as error:
            replace(SPANS, prompt=prompt, readout=spans, chat=(*TALK[:2], Turn("assistant", turn)))
        assert "\n" not in str(error.value)
        return
    shown = replace(SPANS, prompt=prompt, readout=spans, chat=(*TALK[:2], Turn("assistant", turn)))
    assert [start for _, start, _ in places_in_chat(shown, spans)] == found


def test_a_file_has_one_readout(tmp_path):
    write_table(tmp_path / "t.parquet", trial_rows([SPANS, WRITTEN]), TRIALS)
    with pytest.raises(StorageError, match=r"row 2 .*: readout Generate, ScoreSpans before it; write a file for each"):
        read_trials(tmp_path / "t.parquet")
    write_table(tmp_path / "t.parquet", [trial_rows([SPANS])[0] | {"readout": "Embed"}], TRIALS)
    with pytest.raises(StorageError, match="readout Embed is unknown; one of ScoreLabels, ScoreSpans, Generate was"):
        read_trials(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"settings": "{"}, "settings are not JSON (found '{'); mend it"),
        ({"chat": "[{"}, "chat is not JSON (found '[{'); mend it"),
        ({"chat": '[["user", "How?", "now"]]'}, "entry 1 of 'chat': at most 2 entries was expected"),
        ({"chat": "[{", "readout": "Embed"}, "readout Embed is unknown; one of ScoreLabels, ScoreSpans, Generate was"),
        ({"readout": "Embed"}, "readout Embed is unknown; one of ScoreLabels, ScoreSpans, Generate was expected"),
    ],
)
def test_what_is_no_json_or_no_readout_is_said_in_plain_words(change, said, tmp_path):
    rows = [trial_rows([WRITTEN])[0] | {"trial_id": "t1"}, trial_rows([WRITTEN])[0] | change]
    write_table(tmp_path / "t.parquet", rows, TRIALS)
    with pytest.raises(StorageError, match=re.escape(f"t.parquet: row 2 (trial care/p1): {said}")):
        read_trials(tmp_path / "t.parquet")


def test_rows_that_do_not_fit_are_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "t.parquet"
    with pytest.raises(StorageError, match=r"t.parquet: table trials, column wording, row 1: 'first' found, a whole"):
        write_table(path, [trial_rows([TRIAL])[0] | {"wording": "first"}], TRIALS)
    with pytest.raises(StorageError, match=r"trials, column prompt, row 1 \(.*\): empty, a text"):
        write_table(path, [trial_rows([TRIAL])[0] | {"prompt": None}], TRIALS)
    assert not path.exists()


def test_a_file_of_another_kind_is_named(tmp_path):
    path = tmp_path / "t.parquet"
    with pytest.raises(StorageError, match="no such file"):
        read_table(path, TRIALS)
    path.write_bytes(b"half a file")
    with pytest.raises(StorageError, match="not a readable parquet"):
        read_table(path, TRIALS)
    write_table(path, reading_rows([READ]), READINGS)
    with pytest.raises(StorageError, match="column question_id is missing"):
        read_table(path, TRIALS)


def test_no_failure_turns_into_a_number():
    with pytest.raises(ScoringError, match="status failed"):
        Reading("t", (0.5, 0.5), 1.0, None, None, (), Status.FAILED, "why", "key")
    with pytest.raises(ScoringError, match="not probabilities"):
        Reading("t", (0.5, 0.6), 0.5, None, None, (), Status.OK, None, "key")


@pytest.mark.parametrize(
    ("labels", "values"),
    [(("1",), (1,)), (("1", "1"), (1, 2)), (("1", ""), (1, 2)), (("1", "2"), (1, 1)), (("1", "2"), (1,))],
)
def test_labels_that_cannot_be_told_apart_are_refused(labels, values):
    with pytest.raises(QuestionError):
        ScoreLabels(labels, values)


def test_a_part_without_trials_keeps_the_reason(tmp_path):
    path = tmp_path / "bul.parquet"
    write_trials(path, NoTrials("its words are damaged"))
    found = read_trials(path)
    assert isinstance(found, NoTrials)
    assert (list(found), found.reason) == ([], "its words are damaged")
    write_trials(path, [])
    assert not isinstance(read_trials(path), NoTrials)
