import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measures.answer_space import build_space
from valuesassets.instruments.cultural_robustness.measures.language_pairs import measure_pairs
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.cultural_robustness.made_vectors import (
    LANGUAGES,
    answer,
    answer_rows,
    drawn_cells,
    question_frame,
    question_rows,
)


def test_cells_are_means_of_answers_with_half_the_variance_of_the_mean_as_noise():
    cells = drawn_cells(0, samples=3)
    space, dropped = build_space(pd.DataFrame(answer_rows(cells)), question_frame(6, 3, LANGUAGES[:4]))
    assert space.languages == LANGUAGES[:4]
    assert dropped.empty
    assert [each.question_id for each in space.questions] == ["1", "2", "3", "4", "5", "6"]
    assert (space.has_unanchored, space.has_anchored, space.note) == (True, True, None)
    for question, given in zip(space.questions, cells, strict=True):
        np.testing.assert_allclose(question.means, given.mean(axis=2))
        np.testing.assert_allclose(question.noise, given.var(axis=2, ddof=1).sum(axis=-1) / 6)
        assert question.countries == ("AT", "DE", "FR")
        assert question.strata.tolist() == [-1, 0, 0, 0]


def test_answers_that_are_cut_off_or_not_usable_for_another_reason_move_no_mean():
    cells = drawn_cells(1)
    whole = pd.DataFrame(answer_rows(cells))
    spoilt = [answer(LANGUAGES[0], id_, np.full(5, 100.0), 2, is_usable=False) for id_ in ("1", "1-2")]
    with_cut = pd.concat([whole, pd.DataFrame(spoilt)])
    one, other = (build_space(each, question_frame(6, 3, LANGUAGES[:4]))[0] for each in (whole, with_cut))
    for first, second in zip(one.questions, other.questions, strict=True):
        np.testing.assert_array_equal(first.means, second.means)
        np.testing.assert_array_equal(first.n_answers, second.n_answers)


def test_a_language_is_dropped_where_too_few_of_either_kind_are_usable():
    rows = pd.DataFrame(answer_rows(drawn_cells(2, n_questions=10, samples=1)))
    is_of = {language: rows["language"] == language for language in LANGUAGES[:4]}
    is_plain = rows["kind"] == "unspecific"
    rows.loc[is_of["deu"] & is_plain & rows["id"].isin(["1", "2", "3"]), "is_usable"] = False
    rows.loc[is_of["ell"] & ~is_plain & rows["id"].str.startswith(("4-", "5-", "6-")), "is_usable"] = False
    rows.loc[is_of["eng"] & is_plain & rows["id"].isin(["1", "2"]), "is_usable"] = False
    space, dropped = build_space(rows, question_frame(10, 3, LANGUAGES[:4]))
    assert space.languages == ("eng", "fra")
    assert dict(dropped.itertuples(index=False)) == {
        "deu": "7 of 10 unanchored answers are usable, 80% are needed",
        "ell": "21 of 30 anchored answers are usable, 80% are needed",
    }
    assert [each.question_id for each in space.questions] == [str(number) for number in range(3, 11)]
    assert build_space(rows, question_frame(10, 3, LANGUAGES[:4]), usable_share=0.7)[0].languages == LANGUAGES[:4]


def test_what_other_languages_answer_and_one_does_not_counts_as_not_usable():
    rows = pd.DataFrame(answer_rows(drawn_cells(3, n_questions=10)))
    few = rows[
        (rows["language"] != "fra") | rows["id"].isin(["1", "2", *(f"{n}-{a}" for n in (1, 2) for a in (1, 2, 3))])
    ]
    dropped = build_space(few, question_frame(10, 3, LANGUAGES[:4]))[1]
    assert dict(dropped.itertuples(index=False)) == {"fra": "4 of 12 unanchored answers are usable, 80% are needed"}


def test_questions_that_nobody_was_asked_drop_nobody():
    rows = pd.DataFrame(answer_rows(drawn_cells(15)))
    space, dropped = build_space(rows, question_frame(40, 5, LANGUAGES[:4]))
    assert dropped.empty
    assert [(each.question_id, each.countries) for each in space.questions] == [
        (str(number), ("AT", "DE", "FR")) for number in range(1, 7)
    ]


def test_answers_without_a_vector_count_where_quality_lists_them():
    rows = pd.DataFrame(answer_rows(drawn_cells(4, n_questions=5)))
    failed = [{"language": "deu", "kind": "unspecific", "id": str(n), "sample": 2} for n in range(1, 6)]
    quality = pd.concat([rows[["language", "kind", "id", "sample"]], pd.DataFrame(failed)])
    questions = question_frame(5, 3, LANGUAGES[:4])
    assert build_space(rows, questions)[1].empty
    dropped = build_space(rows, questions, quality=quality)[1]
    assert dict(dropped.itertuples(index=False)) == {"deu": "10 of 15 unanchored answers are usable, 80% are needed"}


def test_a_language_that_was_asked_nothing_with_a_country_is_dropped_where_others_were():
    rows = pd.DataFrame(answer_rows(drawn_cells(5)))
    rows = rows[(rows["language"] != "ell") | (rows["kind"] == "unspecific")]
    space, dropped = build_space(rows, question_frame(6, 3, LANGUAGES[:4]))
    assert space.languages == ("deu", "eng", "fra")
    assert dropped["reason"].tolist() == ["no anchored answers, and other languages have some"]


def test_an_anchor_counts_where_every_kept_language_answers_and_a_question_with_two_of_them():
    rows = pd.DataFrame(answer_rows(drawn_cells(6, n_questions=10, n_conditions=4)))
    is_eng = rows["language"] == "eng"
    rows.loc[is_eng & rows["id"].isin(["1-1", "2-1", "2-2"]), "is_usable"] = False
    space, _ = build_space(rows, question_frame(10, 3, LANGUAGES[:4]))
    by_name = {each.question_id: each.countries for each in space.questions}
    assert by_name["1"] == ("DE", "FR")
    assert "2" not in by_name
    assert by_name["3"] == ("AT", "DE", "FR")


def test_countries_stand_for_each_other_within_a_persona_and_one_alone_for_none():
    rows = pd.DataFrame(answer_rows(drawn_cells(7, n_questions=10, n_conditions=5)))
    rows.loc[(rows["language"] == "deu") & (rows["id"] == "1-4"), "is_usable"] = False
    space, _ = build_space(rows, question_frame(10, 2, LANGUAGES[:4], personas=2))
    assert space.questions[0].personas == (1, 1)
    assert space.questions[1].strata.tolist() == [-1, 1, 1, 2, 2]


def test_one_answer_in_each_cell_is_said_and_nothing_is_subtracted():
    space, _ = build_space(pd.DataFrame(answer_rows(drawn_cells(8, samples=1))), question_frame(6, 3, LANGUAGES[:4]))
    assert all((each.noise == 0).all() for each in space.questions)
    assert space.note == "one answer in each cell: sampling noise is not subtracted"


def test_a_cell_with_one_answer_among_others_has_the_mean_noise_of_its_language_and_kind():
    cells = drawn_cells(9)
    rows = pd.DataFrame(answer_rows(cells))
    rows.loc[(rows["language"] == "eng") & (rows["id"] == "1-2") & (rows["sample"] == 1), "is_usable"] = False
    space, _ = build_space(rows, question_frame(6, 3, LANGUAGES[:4]))
    spread = cells.var(axis=3, ddof=1).sum(axis=-1)[:, 2, 1:]  # of eng, its anchored cells
    kept = np.delete(spread.ravel(), 1)
    np.testing.assert_array_equal(space.questions[0].means[2, 2], cells[0, 2, 2, 0])
    assert space.questions[0].noise[2, 2] == pytest.approx(kept.mean() / 2)
    assert space.questions[0].noise[2, 1] == pytest.approx(spread[0, 0] / 4)
    assert space.note == "1 of 96 cells have one answer: their language's mean sampling noise is subtracted"


def test_answers_that_are_lost_by_chance_make_no_gain():
    """One answer in all languages and countries; a third of the second anchored ones is lost: U = A on average."""
    rows = pd.DataFrame(answer_rows(drawn_cells(14, n_questions=60)))
    is_second = (rows["kind"] == "specific") & (rows["sample"] == 1)
    rows["is_usable"] = ~is_second | (np.random.default_rng(0).random(len(rows)) > 1 / 3)
    space, _ = build_space(rows, question_frame(60, 3, LANGUAGES[:4]))
    pairs = measure_pairs(space, 0, np.random.default_rng(0))
    error = pairs.gains.std(ddof=1) / len(pairs.gains) ** 0.5
    assert abs(pairs.gains.mean()) < 3 * error
    assert error < 5 / 9  # without subtracting noise there, A would be 5 / 3 too large


def test_where_one_kind_has_single_answers_both_are_compared_by_their_first():
    cells = drawn_cells(10, samples=4)
    rows = pd.DataFrame(answer_rows(cells))
    rows = rows[(rows["kind"] == "unspecific") | (rows["sample"] == 0)].sample(frac=1, random_state=0)
    space, _ = build_space(rows, question_frame(6, 3, LANGUAGES[:4]))
    for question, given in zip(space.questions, cells, strict=True):
        np.testing.assert_array_equal(question.means, given[:, :, 0])
    assert space.note is not None
    assert "the first of each" in space.note


def test_one_kind_alone_makes_a_space():
    cells = drawn_cells(11)
    plain, _ = build_space(pd.DataFrame(answer_rows(cells[:, :, :1])), question_frame(6, 3, LANGUAGES[:4]))
    named, _ = build_space(pd.DataFrame(answer_rows(cells[:, :, 1:], first=1)), question_frame(6, 3, LANGUAGES[:4]))
    assert (plain.has_unanchored, plain.has_anchored) == (True, False)
    assert (named.has_unanchored, named.has_anchored) == (False, True)
    assert plain.questions[0].means.shape == (4, 1, 5)
    assert named.questions[0].means.shape == (4, 3, 5)


def test_vectors_of_the_questions_are_no_answers():
    cells = drawn_cells(12)
    rows = answer_rows(cells) + question_rows(np.zeros((4, 6, 5)))
    space, _ = build_space(pd.DataFrame(rows), question_frame(6, 3, LANGUAGES[:4]))
    np.testing.assert_allclose(space.questions[0].means[:, 0], cells[0, :, 0].mean(axis=1))


@pytest.mark.parametrize("n", [0, 1])
def test_with_fewer_than_two_languages_the_space_says_what_it_lacks(n):
    rows = pd.DataFrame(answer_rows(drawn_cells(13, n_languages=2)))
    rows.loc[rows["language"].isin(LANGUAGES[n:]), "is_usable"] = False
    space, dropped = build_space(rows, question_frame(6, 3, LANGUAGES[:2]))
    assert space.lack == f"{n} languages with enough usable answers, two are needed"
    assert len(dropped) == 2 - n


def test_an_answer_to_no_question_is_refused():
    with pytest.raises(InputError, match=r"eng: answer 99 \(unspecific\) answers no question"):
        build_space(pd.DataFrame([answer("eng", "99", [1.0])]), question_frame(6, 3))


def test_an_anchor_without_a_country_is_refused():
    with pytest.raises(InputError, match="question 1-1: no country"):
        build_space(pd.DataFrame([answer("eng", "1", [1.0])]), question_frame(6, 3).assign(country=None))
