"""Answers made elsewhere, by file and line, matched with what was asked; those written here in the same frame."""

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.answers.answer_files import answered_frame, read_answer_files
from valuesassets.instruments.cultural_robustness.material.questions import read_questions
from valuesassets.instruments.cultural_robustness.tables import ANSWERED
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.parquet import read_table, write_frame
from valuesassets.records.trials import Answer, Status
from valuesassets_tests.instruments.cultural_robustness.made_files import ASKED, answer_rows, write_folder


@pytest.fixture
def questions(tmp_path):
    return read_questions(write_folder(tmp_path / "asked"))


def test_answers_stand_in_the_order_of_questions_each_with_its_country_and_prompt(tmp_path, questions):
    rows = {key: list(reversed(lines)) for key, lines in answer_rows().items()}
    answered = read_answer_files(write_folder(tmp_path / "made", rows, countries=None), questions)
    greek = answered[answered["language"] == "ell"]
    assert greek["id"].tolist()[:8] == ["1", "2", "3", "4", "5", "6", "1-1", "1-2"]
    assert greek["country"].tolist()[5:8] == [None, "AT", "GR"]
    assert greek["prompt"].tolist()[0] == ASKED["ell"][0]
    assert greek["prompt"].tolist()[6] == f"{ASKED['ell'][0]} Ζω στην Αυστρία."
    assert answered["finish"].isna().all()
    assert answered["reason"].isna().all()


def test_without_questions_countries_are_known_by_the_file_and_prompts_are_not(tmp_path):
    answered = read_answer_files(write_folder(tmp_path, answer_rows(), packed=True))
    assert answered["country"].dropna().unique().tolist() == ["AT", "GR"]
    assert answered["prompt"].isna().all()
    assert len(answered) == 3 * 18


def test_several_samples_stand_side_by_side(tmp_path, questions):
    rows = {
        key: [line | {"sample": sample} for line in lines for sample in (2, 0)] for key, lines in answer_rows().items()
    }
    answered = read_answer_files(write_folder(tmp_path, rows), questions)
    assert answered["sample"].tolist()[:4] == [0, 2, 0, 2]
    assert len(answered) == 3 * 18 * 2


@pytest.mark.parametrize(
    ("finish_reason", "finish", "reason"),
    [
        ("stop", "end", None),
        ("STOP", "end", None),
        ("FinishReason.MAX_TOKENS", "length", None),
        ("length", "length", None),
        (None, None, None),
        ("eos_token_id", "end", None),
        ("<|im_end|>", "end", None),
        ("model_length", "length", None),
        (
            "vanished",
            None,
            "finish_reason vanished, which is not known here; where it is an ordinary end, write stop in its place",
        ),
        ("content_filter", None, "finish_reason content_filter"),
    ],
)
def test_what_others_say_of_an_answers_end_is_understood(tmp_path, questions, finish_reason, finish, reason):
    rows = answer_rows()
    rows["ell", "unspecific"][0] |= {"finish_reason": finish_reason}
    first = read_answer_files(write_folder(tmp_path, rows), questions).query("language == 'ell'").iloc[0]
    assert (first["finish"], first["reason"]) == (finish, reason)
    assert (first["text"] is None) == (reason is not None)


def refusal(folder, *given):
    with pytest.raises(InputError) as error:
        read_answer_files(folder, *given)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"id": "3"', "line 3, column 11: not JSON"),
        ({"id": "3", "text": "Καλά."}, "line 3 (id 3): no text under 'answer' (found the keys id, text)"),
        ({"id": "3", "answer": None}, "line 3 (id 3): no text under 'answer' (found null)"),
        ({"id": "3", "answer": 15}, "line 3 (id 3): no text under 'answer' (found a number)"),
        ({"id": "2", "answer": "Καλά."}, "line 3: id 2, sample 0 stands in line 2 already; give each its own sample"),
        ({"id": "3", "answer": "Καλά.", "sample": -1}, "line 3: sample -1 found, a whole number from 0"),
        ({"id": "3", "answer": "Καλά.", "sample": 0.5}, "line 3: sample 0.5 found"),
        ({"id": "3", "answer": "Καλά.", "finish_reason": 1}, "line 3: finish_reason 1 found, a text"),
        ({"id": "77", "answer": "Καλά."}, "line 3: id 77 stands in no other language"),
        ({"id": "3-1", "answer": "Καλά."}, "line 3: id '3-1' found, one like '12' was expected"),
    ],
)
def test_a_line_that_cannot_serve_is_named(tmp_path, questions, line, fault):
    rows = answer_rows()
    rows["ell", "unspecific"][2] = line
    message = refusal(write_folder(tmp_path, rows), questions)
    assert message.startswith(f"{tmp_path / 'ell_unspecific.jsonl'}: {fault}")


def test_an_answer_to_what_is_not_asked_is_named(tmp_path, questions):
    rows = answer_rows()
    for language in ("deu", "ell", "eng"):
        rows[language, "unspecific"].append({"id": "8", "answer": "Καλά."})
    folder = write_folder(tmp_path / "more", rows)
    assert refusal(folder, questions).startswith(
        f"{folder / 'deu_unspecific.jsonl'}: line 7: id 8 is no question of deu"
    )
    rows = answer_rows() | {("fr", kind): lines for (code, kind), lines in answer_rows().items() if code == "deu"}
    folder = write_folder(tmp_path / "french", rows)
    assert "line 1: there are no questions in fra, only in deu, ell, eng" in refusal(folder, questions)


def test_too_few_languages_or_questions_and_anchors_without_a_country_are_refused(tmp_path):
    one = {key: lines for key, lines in answer_rows().items() if key[0] == "ell"}
    assert "1 language found (ell)" in refusal(write_folder(tmp_path / "one", one))
    few = {key: [line for line in lines if line["id"][0] < "5"] for key, lines in answer_rows().items()}
    assert "4 questions found" in refusal(write_folder(tmp_path / "few", few))
    assert "line 1: anchor 1 of question 1 has no country" in refusal(
        write_folder(tmp_path / "none", answer_rows(), countries=None)
    )


def test_only_one_language_may_have_anchored_answers(tmp_path):
    rows = {key: lines for key, lines in answer_rows().items() if key[1] == "unspecific" or key[0] == "ell"}
    answered = read_answer_files(write_folder(tmp_path, rows))
    assert set(answered.loc[answered["kind"] == "specific", "language"]) == {"ell"}


def answer(trial_id, sample=0, text="Καλά.", **changes):
    is_ok = text is not None
    return Answer(
        **{"trial_id": trial_id, "sample": sample, "text": text, "finish": "end" if is_ok else None,
           "n_tokens": 2 if is_ok else None, "status": Status.OK if is_ok else Status.FAILED,
           "reason": None if is_ok else "the prompt is too long", "answer_key": "k"} | changes
    )  # fmt: skip


NO_END = "its thought has no end (a tag such as </think>)"


@pytest.mark.parametrize(
    ("written_text", "text", "reason"),
    [
        ("<think>Hm.</think>\n\nΚαλά.", "Καλά.", None),
        ("Hm.\n[/THINK]Καλά.", "Καλά.", None),
        ("<think>Hm.", None, NO_END),
        ("<think>Hm.</think>", None, "nothing stands behind its thought"),
    ],
)
def test_thoughts_that_others_left_in_an_answer_are_split_off(tmp_path, questions, written_text, text, reason):
    rows = answer_rows()
    rows["ell", "unspecific"][0] |= {"answer": written_text}
    first = read_answer_files(write_folder(tmp_path, rows), questions).query("language == 'ell'").iloc[0]
    assert (first["text"], first["reason"]) == (text, reason)
    written = answered_frame({"ell": [answer("1", text=written_text)]}, questions).iloc[0]
    assert (written["text"], written["reason"]) == (text, reason)


def test_answers_written_here_stand_in_the_same_frame(tmp_path, questions):
    given = {"ell": [answer("1-2", 1), answer("1-2", 0, finish="length"), answer("1", text=None)]}
    answered = answered_frame(given, questions)
    assert answered["id"].tolist() == ["1", "1-2", "1-2"]
    assert answered["country"].tolist() == [None, "GR", "GR"]
    assert answered["text"].tolist() == [None, "Καλά.", "Καλά."]
    assert answered["finish"].tolist() == [None, "length", "end"]
    assert answered["reason"].tolist() == ["the prompt is too long", None, None]
    elsewhere = read_answer_files(write_folder(tmp_path / "made", answer_rows()), questions)
    pd.testing.assert_series_equal(answered.dtypes, elsewhere.dtypes)
    write_frame(tmp_path / "a.parquet", answered, ANSWERED)
    assert read_table(tmp_path / "a.parquet", ANSWERED).column("persona").to_pylist() == [None, None, None]


def test_answers_to_questions_that_have_changed_are_refused(questions):
    with pytest.raises(MissingData, match="answers in ell: trial 9 is no question any more"):
        answered_frame({"ell": [answer("9")]}, questions)
