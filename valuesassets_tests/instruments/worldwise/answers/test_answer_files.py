import pandas as pd
import pytest

from valuesassets.instruments.worldwise.answers.answer_files import read_answer_file
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldwise.made_answer_files import answer, many_answers, write_answers, write_lines


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_every_format_gives_the_same_answers(tmp_path, ending):
    answers = read_answer_file(write_answers(tmp_path / f"a.{ending}", many_answers()))
    assert answers.drop(columns="raw_response").to_dict("records") == many_answers()
    assert answers["raw_response"].isna().all()


def test_explanations_of_many_lines_with_commas_are_whole_in_a_csv_file(tmp_path):
    lines = "One, two, three, four, five, six, seven, eight, nine.\n" * 3
    listed = [answer(number, explanation=lines.strip()) for number in range(2)]
    answers = read_answer_file(write_answers(tmp_path / "a.csv", listed))
    assert answers["explanation"].tolist() == [lines.strip()] * 2


def test_more_columns_are_let_pass_and_whole_answers_are_kept(tmp_path):
    listed = [answer(raw_response="DECISION: A", more=1, decision=None)]
    answers = read_answer_file(write_answers(tmp_path / "a.jsonl", listed))
    assert (answers["raw_response"][0], answers["decision"][0], "more" in answers) == ("DECISION: A", "", False)


def test_thoughts_that_others_left_in_an_answer_are_split_off(tmp_path):
    thought = "<think>DECISION: B\nSuccess counts.</think>\n\n"
    listed = [answer(raw_response=f"{thought}DECISION: A", decision=f"{thought}A", explanation="Hm.</think>Peace.")]
    answers = read_answer_file(write_answers(tmp_path / "a.jsonl", listed)).iloc[0]
    assert (answers["raw_response"], answers["decision"], answers["explanation"]) == ("DECISION: A", "A", "Peace.")


NO_END = "its thought has no end (a tag such as </think>); leave the answer out or mend it"
NO_LETTER = "neither decision, values nor explanation holds a letter; leave the answer out or mend it"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"axis": "XYZ"}, "axis 'XYZ' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected; mend it"),
        ({"response_id": "r0"}, "response_id 'r0' stands in line 1 too; each once was expected"),
        (
            {"axis": "PDI"},
            "scenario S1 is on PDI, but on IDV in line 1; one axis was expected; mend it",
        ),
        ({"model": " "}, "model is empty, a name was expected; add it"),
        ({"culture": None}, "culture is empty, a name was expected; add it"),
        ({"scenario_id": 7}, "scenario_id 7 found, a text was expected; mend it"),
        ({"values": "a; b"}, "values 'a; b' found, a list of texts was expected; mend it"),
        ({"values": [1]}, "values '[1]' found, a list of texts was expected; mend it"),
        ({"explanation": "<think>Hm."}, f"explanation: {NO_END}"),
        ({"raw_response": "<think>Hm."}, f"raw_response: {NO_END}"),
        ({"decision": "", "values": [], "explanation": " ..."}, NO_LETTER),
    ],
)
def test_a_fault_of_an_answer_is_one_line_with_its_place(tmp_path, given, message):
    path = write_answers(tmp_path / "a.jsonl", [answer(0), answer(1) | given])
    with pytest.raises(InputError) as error:
        read_answer_file(path)
    assert str(error.value) == f"{path}: line 2: {message}"


COLUMNS = "response_id, scenario_id, axis, model, culture, decision, values, explanation"


def test_a_missing_column_is_named_in_every_format(tmp_path):
    lacking = [{name: value for name, value in answer().items() if name != "decision"}]
    for ending, place in (("json", "answer 1"), ("jsonl", "line 1"), ("parquet", "row 1")):
        path = write_answers(tmp_path / f"a.{ending}", lacking)
        with pytest.raises(InputError) as error:
            read_answer_file(path)
        assert str(error.value) == f"{path}: {place}: no decision found, {COLUMNS} were expected; add it"
    path = write_answers(tmp_path / "a.csv", lacking)
    with pytest.raises(InputError) as error:
        read_answer_file(path)
    result = COLUMNS.replace("decision, ", "")
    expected = f"a table (CSV) with columns {COLUMNS} was expected; add it"
    assert str(error.value) == f"{path}: row 1: no column decision (found {result[:80]}); {expected}"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "x", ".txt found, one of .csv, .json, .jsonl, .parquet was expected; name such a file"),
        (
            "a.jsonl",
            "{",
            "line 1, column 2: not JSON (Expecting property name enclosed in double quotes); mend the file there",
        ),
        ("a.jsonl", "[]", "line 1: no object found, an answer in { } was expected; mend it"),
        ("a.json", "{}", "no array found, a list of answers in [ ] was expected; mend the file"),
        ("a.json", "[]", "holds no answer; name another file"),
        ("a.parquet", "{}", "is JSON, a parquet file was expected; write it again"),
        ("a.csv", "", "is an empty file, a table (CSV) with columns " + COLUMNS + " was expected; name another file"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_answer_file(path)
    assert str(error.value) == f"{path}: {message}"


def test_a_row_of_another_length_is_named(tmp_path):
    path = write_lines(tmp_path / "a.csv", [COLUMNS.replace(", ", ","), "r,S,IDV,m,c,A,v"])
    with pytest.raises(InputError) as error:
        read_answer_file(path)
    assert str(error.value) == f"{path}: row 2: 7 fields, 8 were expected as in the header; mend the row"


def test_a_parquet_file_without_rows_holds_no_answer(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame([answer()]).iloc[:0].to_parquet(path)
    with pytest.raises(InputError, match="holds no answer"):
        read_answer_file(path)
