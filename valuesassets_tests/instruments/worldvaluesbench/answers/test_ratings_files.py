import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Distributions, Scores, read_ratings
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.records.errors import RatingsError

QUESTIONS = load_value_questions()
TSV = "QUESTION_ID\tPARTICIPANT_ID\tSCORE\n"
CSV = "question_id,B_COUNTRY,Q275,response_value,prob\n"
HEADERS = "QUESTION_ID PARTICIPANT_ID SCORE, or question_id, attributes such as B_COUNTRY, response_value, prob"


def read(tmp_path, text):
    path = tmp_path / "ratings.tsv"
    path.write_text(text)
    return read_ratings(path, "model", QUESTIONS)


def probs_of(ratings, question, profile):
    return ratings.probs[question][ratings.profiles[question].get_loc(profile)].tolist()


def test_scores_are_read_as_the_benchmarks_sample_file_writes_them(tmp_path):
    ratings = read(tmp_path, TSV + "Q1\t156070594\t4\nQ2\t608070097\t3\n")
    assert isinstance(ratings, Scores)
    assert ratings.frame.astype({"score": int}).astype(str).to_numpy().tolist() == [
        ["Q1", "156070594", "4"],
        ["Q2", "608070097", "3"],
    ]


def test_an_empty_score_is_missing_a_whole_number_may_have_a_zero_and_one_off_the_scale_stays(tmp_path):
    ratings = read(tmp_path, TSV + "Q1\t1\t\nQ1\t2\tNaN\nQ1\t3\tNone\nQ1\t4\t3.0\nQ1\t5.0\t-7\nQ1\t6\t99\n")
    assert ratings.frame["score"].tolist() == pytest.approx([np.nan, np.nan, np.nan, 3, -7, 99], nan_ok=True)
    assert ratings.frame["participant_id"].tolist() == list("123456")


def test_commas_windows_lines_and_further_columns_are_read_too(tmp_path):
    ratings = read(tmp_path, "\ufeffPARTICIPANT_ID,SCORE,QUESTION_ID,NOTE\r\n7,2,Q1,fine\r\n")
    assert ratings.frame[["question_id", "participant_id", "score"]].to_numpy().tolist() == [["Q1", "7", 2.0]]


def test_a_frame_is_read_as_a_file_is(tmp_path):
    frame = pd.DataFrame({"QUESTION_ID": ["Q1", "Q1"], "PARTICIPANT_ID": [7, 8], "SCORE": [2, None]})
    of_file = read(tmp_path, frame.to_csv(index=False, sep="\t"))
    pd.testing.assert_frame_equal(read_ratings(frame, "model", QUESTIONS).frame, of_file.frame)


def test_distributions_are_kept_by_profile_and_without_attributes(tmp_path):
    rows = "Q1,156,3,1,.25\nQ1,156,3,2,.75\nQ1,156,-2,4,1\nQ1,,,1,.5\nQ1,,,3,.5\n"
    ratings = read(tmp_path, CSV + rows)
    assert isinstance(ratings, Distributions)
    assert ratings.attributes == ("B_COUNTRY", "Q275")
    assert probs_of(ratings, "Q1", "B_COUNTRY=156,Q275=3") == [0.25, 0.75, 0, 0]
    assert probs_of(ratings, "Q1", "B_COUNTRY=156") == [0, 0, 0, 1]
    assert probs_of(ratings, "Q1", "") == [0.5, 0, 0.5, 0]


def test_attributes_are_known_whatever_the_case_of_their_columns(tmp_path):
    ratings = read(tmp_path, CSV.replace("Q275", "q275").replace("B_C", "b_c") + "Q1,156,3,1,1\nQ1,156,4,2,1\n")
    assert ratings.attributes == ("B_COUNTRY", "Q275")
    assert probs_of(ratings, "Q1", "B_COUNTRY=156,Q275=4") == [0, 1, 0, 0]


def test_rows_of_rating_distributions_are_taken_as_they_are_and_what_was_not_read_is_missing():
    ids = ["Q1@B_COUNTRY=156,Q275=3"] * 4 + ["Q1"] * 4
    rows = {"question_id": ids, "response_value": [1, 2, 3, 4] * 2, "prob_averaged": [0.1, 0.2, 0.3, 0.4] + [None] * 4}
    ratings = read_ratings(pd.DataFrame(rows), "model", QUESTIONS)
    assert probs_of(ratings, "Q1", "B_COUNTRY=156,Q275=3") == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert np.isnan(probs_of(ratings, "Q1", "")).all()
    assert ratings.attributes == ("B_COUNTRY", "Q275")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TSV, "holds no rating below its header; a row for each was expected; name another file"),
        (
            "Q1\t1\t3\nQ1\t2\t4\n",
            f"row 1: 'Q1, 1, 3' is no header; {HEADERS} was expected; add that line",
        ),
        (
            TSV.replace("\t", ";") + "Q1;1;3\n",
            "row 1: found semicolons between fields, tabs or commas were expected; save it with these",
        ),
        (
            "SCORE\tSCORE\nQ1\t1\n",
            f"row 1: column 'SCORE' stands twice; {HEADERS} was expected; mend the header",
        ),
        (
            TSV + "Q1\t1\t3\nQ999\t1\t3\n",
            "row 3: question_id: found Q999, ids such as Q1 to Q259, Q234A were expected; mend or remove it",
        ),
        (
            TSV + "Q1\t1\t3\nQ1\t\t3\n",
            "row 3: PARTICIPANT_ID: found '', the id of a person was expected; add it",
        ),
        (
            TSV + "Q1\t1\t2.5\n",
            "row 2: SCORE: found 2.5, a whole number was expected; round it, or leave it empty",
        ),
        (
            TSV + "Q1\t1\t3\nQ1\t2\tI would say 3\n",
            "row 3: SCORE: found I would say 3, a number was expected; mend it, or leave it empty if there is none",
        ),
        (
            TSV + "Q1\t1\tinf\n",
            "row 2: SCORE: found inf, a number was expected; mend it, or leave it empty if there is none",
        ),
        (
            TSV + "Q1\t1\t3\nQ1\t2\t3\nQ1\t1\t3\n",
            "row 4: Q1, 1 stands in row 2 too; one rating of each person and question was expected; keep one",
        ),
        (
            TSV + "Q1\t1\n",
            "not a table: Expected 3 columns, got 2: Q1 1; mend the file there",
        ),
        (
            CSV + "Q1,156,3,1,.5\nQ1,156,3,2,.4\n",
            "row 2: probabilities of Q1 for B_COUNTRY=156,Q275=3 sum to 0.9, 1 was expected; give every answer, "
            "normalised",
        ),
        (
            CSV + "Q1,,,1,.5\n",
            "row 2: probabilities of Q1 for no attributes sum to 0.5, 1 was expected; give every answer, normalised",
        ),
        (
            CSV + "Q1,156,3,1,.5\nQ1,156,3,7,.5\n",
            "row 3: response_value: found 7 of Q1, 1 to 4 was expected; mend it",
        ),
        (
            CSV + "Q1,156,3,1,1.5\nQ1,156,3,2,-.5\n",
            "row 2: prob: found 1.5, a probability from 0 to 1 was expected; mend it",
        ),
        (
            CSV + "Q1,156,3,1,half\n",
            "row 2: prob: found half, a number was expected; mend it, or leave it empty if there is none",
        ),
        (
            CSV + "Q1,156,3,1,.5\nQ1,156.0,3,1,.5\n",
            "row 3: Q1, B_COUNTRY=156,Q275=3, 1 stands in row 2 too; one row of each profile, question and answer was "
            "expected; keep one",
        ),
        (
            CSV.replace("Q275", "Q257") + "Q1,156,3,1,1\nQ1,156,4,1,1\n",
            "row 3: Q1, B_COUNTRY=156, 1 stands in row 2 too; one row of each profile, question and answer was "
            "expected; keep one; no attribute: Q257",
        ),
    ],
)
def test_a_bad_file_is_told_in_one_line(tmp_path, text, message):
    with pytest.raises(RatingsError) as caught:
        read(tmp_path, text)
    assert " ".join(str(caught.value).split()) == f"{tmp_path / 'ratings.tsv'}: {message}"


MARK = '"'
REASONED = "QUESTION_ID\tPARTICIPANT_ID\tSCORE\tREASON\n"


@pytest.mark.parametrize("stray", [{2}, {2, 7}, {49_000}])
def test_a_mark_that_opens_a_reason_between_tabs_takes_in_no_row(tmp_path, stray):
    rows = [f"Q1\t{n}\t3\t{MARK * (n in stray)}I say no\n" for n in range(50_000)]
    assert len(read(tmp_path, REASONED + "".join(rows)).frame) == 50_000


def test_fields_between_marks_are_their_text_where_others_hold_stray_marks(tmp_path):
    ratings = read(tmp_path, REASONED + '"Q1"\t"7"\t"3"\t"\n"Q1"\t"8"\t""\t"fine"\n')
    assert ratings.frame["participant_id"].tolist() == ["7", "8"]
    assert ratings.frame["score"].tolist() == pytest.approx([3, np.nan], nan_ok=True)


@pytest.mark.parametrize(("opening", "closing"), [(3, None), (3, 5), (49_000, None)])
def test_a_mark_that_takes_in_rows_of_a_file_with_quoted_commas_is_told(tmp_path, opening, closing):
    rows = [f'Q1,{n},3,"well, fine"\n' if n % 3 == 0 else f"Q1,{n},3,fine\n" for n in range(50_000)]
    rows[opening] = f'Q1,{opening},3,"fine\n'
    if closing:
        rows[closing] = f'Q1,{closing},3,he said so"\n'
    with pytest.raises(RatingsError) as caught:
        read(tmp_path, "QUESTION_ID,PARTICIPANT_ID,SCORE,REASON\n" + "".join(rows))
    assert str(caught.value) == (
        f"{tmp_path / 'ratings.tsv'}: line {opening + 2}: a quotation mark takes in what follows it; close it in its "
        "field, double it or leave it out"
    )


@pytest.mark.slow
def test_line_ends_in_quoted_reasons_are_text_whatever_the_files_size(tmp_path):
    frame = pd.DataFrame({"QUESTION_ID": "Q1", "PARTICIPANT_ID": range(40_000), "SCORE": 3})
    frame["REASON"] = 'As they say: "family",\nfriends, work, leisure\n\nand so, of course, on'
    for separator in ("\t", ","):
        assert len(read(tmp_path, frame.to_csv(index=False, sep=separator)).frame) == 40_000


def test_old_line_ends_and_questions_in_small_letters_are_read(tmp_path):
    ratings = read(tmp_path, (TSV + "q1\t7\t2\nq234a\t7\t2\n").replace("\n", "\r"))
    assert ratings.frame["question_id"].tolist() == ["Q1", "Q234A"]


def test_a_file_that_is_not_there_or_of_another_kind_is_told(tmp_path):
    with pytest.raises(RatingsError, match="no such file"):
        read_ratings(tmp_path / "ratings.tsv", "model", QUESTIONS)
    (tmp_path / "ratings.tsv").write_bytes(b"PK\x03\x04")
    with pytest.raises(RatingsError, match="is a ZIP archive or an Office document, a table of ratings was expected"):
        read_ratings(tmp_path / "ratings.tsv", "model", QUESTIONS)
    with pytest.raises(RatingsError, match="is a folder"):
        read_ratings(tmp_path, "model", QUESTIONS)
