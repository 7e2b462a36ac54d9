"""What was asked and answered, in words and numbers, and the pages of figures that it fills."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.answers.quality_report import report_quality
from valuesassets.figures.question_answers import MOST_SHEETS, draw_question_answers
from valuesassets.instruments.survey.answers.question_answers import (
    QUESTION_ROWS,
    SHEET_ROWS,
    derive_question_answers,
    first_questions,
)
from valuesassets.records.errors import MissingData
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets_tests.comparing.planted_grid import demo, probe, questions

FAMILY, LANGUAGES = "reference-mono", ("deu", "eng")


@pytest.fixture(scope="module")
def rows():
    whole = probe()
    return whole[(whole["model"] == FAMILY) & whole["language"].isin(LANGUAGES)]


def tables(rows):
    quality = report_quality(rows, [(FAMILY, language) for language in LANGUAGES], demo().thresholds)
    return derive_question_answers(rows, quality.frames(), {language: questions() for language in LANGUAGES})


def test_every_question_has_its_words_and_each_option_its_share_in_both_orders(rows):
    frames = tables(rows)
    by_id = {question.id: question for question in questions()}
    of_one = frames["options"].query("question_id == 'v39' and language == 'eng'")
    assert set(of_one["question"]) == {by_id["v39"].text}
    assert of_one["response_value"].astype(int).tolist() == list(by_id["v39"].values)
    assert of_one[["prob", "prob_forward", "prob_reversed"]].sum().to_numpy() == pytest.approx(np.ones(3))
    given = rows[(rows["question_id"] == "v39") & (rows["language"] == "eng")].groupby("response_value")
    assert of_one["prob"].to_numpy() == pytest.approx(given["prob_averaged"].mean().to_numpy())
    answer = frames["answers"].query("question_id == 'v39' and language == 'eng'").iloc[0]
    assert answer["mean_code"] == pytest.approx((of_one["prob"] * of_one["response_value"]).sum())
    assert answer["option"] == of_one.loc[of_one["prob"].idxmax(), "option"]
    assert [*dict.fromkeys(each.partition("@")[0] for each in frames["answers"]["question_id"])] == [*by_id]


def test_an_answer_that_cannot_be_used_has_its_reason_and_no_number(rows):
    is_weak = (rows["question_id"] == "v39") & (rows["language"] == "eng")
    frames = tables(rows.assign(p_valid=rows["p_valid"].where(~is_weak, 0.01)))
    n_options = len(next(question for question in questions() if question.id == "v39").options)
    for name, n_rows in (("answers", 1), ("options", n_options)):
        of_one = frames[name].query("question_id == 'v39' and language == 'eng'")
        assert len(of_one) == n_rows
        assert of_one["prob"].isna().all()
        assert of_one["reason"].str.len().gt(0).all()
    assert frames["options"]["option"].notna().all()
    assert frames["answers"].query("question_id == 'v39' and language == 'eng'")["option"].isna().all()


def test_without_answers_the_reason_is_the_result(rows):
    with pytest.raises(MissingData, match="no answers have been read"):
        derive_question_answers(PROBE_DISTRIBUTIONS.empty_frame(), {"readings": pd.DataFrame()}, {})


def test_questions_fill_one_page_after_the_other_and_none_is_torn(rows):
    options = tables(rows)["options"]
    assert (options.groupby("question_id")["sheet"].nunique() == 1).all()
    per_page = options.drop_duplicates("question_id").groupby("sheet").size()
    assert (per_page * (QUESTION_ROWS + len(LANGUAGES)) <= SHEET_ROWS).all()
    assert len(first_questions(options, 1)["question_id"].unique()) == 1
    assert len(first_questions(options, 10)["question_id"].unique()) == 2


def test_a_page_shows_the_words_of_questions_and_options_and_the_reason_of_what_is_missing(rows):
    is_weak = (rows["question_id"] == questions()[0].id) & (rows["language"] == "eng")
    options = tables(rows.assign(p_valid=rows["p_valid"].where(~is_weak, 0.01)))["options"].query("sheet == 1")
    figure = draw_question_answers(options, planted=True)
    first = figure.axes[0]
    assert questions()[0].text[:40] in first.get_title(loc="left").replace("\n", " ")
    assert len(first.patches) == 3 * len(questions()[0].options)
    assert [text.get_text() for text in first.texts if text.get_text().startswith("not shown: ")]
    assert draw_question_answers(options.assign(sheet=MOST_SHEETS + 1)) is None
