import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.answers.rated import large_groups
from valuesassets.instruments.worldvaluesbench.material.backgrounds import (
    FACTORS,
    parse_profile,
    profile_key,
    profile_keys,
)
from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets.records.errors import RatingsError
from valuesassets_tests.instruments.worldvaluesbench.rated_people import (
    drawn_scores,
    people_of,
    samples_of,
    scores_of,
)

EMPTY = {"B_COUNTRY": None, "H_URBRURAL": None, "Q275": None}


def distribution(question, profile, probs):
    """Rows of a file for one profile; answers from 1 on."""
    rows = [{"question_id": question, **EMPTY, **profile} for _ in probs]
    return pd.DataFrame(rows).assign(response_value=range(1, len(probs) + 1), prob=probs)


def everybody(dataset, question, probs):
    profiles = dataset.participants[list(EMPTY)].drop_duplicates().to_dict("records")
    return pd.concat([distribution(question, profile, probs) for profile in profiles], ignore_index=True)


def lines_about(ledger, what):
    frame = ledger.frame()
    return frame.loc[frame["what"].str.startswith(what), ["model", "question_id", "n", "of"]].to_numpy().tolist()


def test_every_rating_stands_beside_the_answer_of_its_person():
    dataset = people_of(5)
    n = len(dataset.participants)
    ratings = scores_of(dataset, {"Q1": dataset.value_answers["Q1"], "Q2": 5 - dataset.value_answers["Q2"]})
    probe, ledger = gather_probe(dataset, samples_of(dataset), {"model": ratings.sample(frac=1, random_state=0)})
    first, second = probe.questions
    assert (first.with_attributes["model"].ratings == first.answers).all()
    assert (second.with_attributes["model"].ratings == 5 - second.answers).all()
    assert (first.with_attributes["model"].probs.argmax(axis=1) + 1 == first.answers).all()
    assert sorted(first.people) == list(range(n))
    levels = dataset.participants[list(probe.groups.factors)].to_numpy().tolist()
    assert [list(probe.groups.levels[group]) for group in first.groups] == levels
    assert ledger.frame().empty


def test_missing_ratings_and_those_off_the_scale_are_counted_and_answers_that_are_lacking():
    dataset = people_of(5)
    dataset.value_answers.loc[0, "Q1"] = -2
    ratings = scores_of(dataset, {"Q1": [np.nan, 7, *[2] * 38]})
    probe, ledger = gather_probe(dataset, samples_of(dataset), {"model": ratings}, min_group=2)
    rated = probe.questions[0].with_attributes["model"]
    assert (rated.n_missing, rated.n_off_scale) == (1, 1)
    assert np.isnan(rated.probs[:2]).all()
    assert rated.ratings[1] == 7
    assert lines_about(ledger, "ratings with attributes that are missing") == [["model", "", 41, 80]]  # Q2 is not rated
    assert lines_about(ledger, "ratings with attributes that are off the scale") == [["model", "", 1, 80]]
    assert lines_about(ledger, "people without an answer") == [["", "Q1", 1, 40]]


def test_a_profile_gives_its_distribution_to_everybody_who_has_it():
    dataset = people_of(5)
    ratings = everybody(dataset, "Q1", [0.1, 0.2, 0.3, 0.4])
    is_chinese = ratings["B_COUNTRY"] == 156
    ratings.loc[is_chinese, "prob"] = np.tile([0.4, 0.3, 0.2, 0.1], is_chinese.sum() // 4)
    probe, _ = gather_probe(dataset, samples_of(dataset), {"model": ratings})
    rated = probe.questions[0].with_attributes["model"]
    assert rated.ratings is None
    expected = np.where(dataset.participants["B_COUNTRY"] == 156, 0.4, 0.1)
    assert rated.probs[:, 0] == pytest.approx(expected)


def test_a_missing_attribute_is_left_out_of_the_profile():
    dataset = people_of(5)
    dataset.participants.loc[0, "Q275"] = -2
    whole = everybody(dataset, "Q1", [0.25] * 4)
    rest = distribution("Q1", {"B_COUNTRY": 156, "H_URBRURAL": 1}, [1, 0, 0, 0])
    ratings = pd.concat([whole[whole["Q275"] != -2], rest], ignore_index=True)
    probe, _ = gather_probe(dataset, samples_of(dataset), {"model": ratings})
    assert probe.questions[0].with_attributes["model"].probs[:2].tolist() == [[1, 0, 0, 0], [0.25] * 4]


def test_answers_without_attributes_are_the_same_for_all_and_may_stand_in_the_same_file():
    dataset = people_of(5)
    without = distribution("Q1", {}, [0.7, 0.1, 0.1, 0.1])
    both = pd.concat([everybody(dataset, "Q1", [0.25] * 4), without], ignore_index=True)
    samples = samples_of(dataset)
    for ratings, more in (
        ({"model": both}, {}),
        ({"model": both}, {"model": both}),
        ({"model": both}, {"model": without}),
    ):
        probe, _ = gather_probe(dataset, samples, ratings, more)
        assert probe.questions[0].without["model"].probs == pytest.approx(np.tile([0.7, 0.1, 0.1, 0.1], (40, 1)))
        assert (probe.questions[0].with_attributes["model"].probs == 0.25).all()


def test_drawn_ratings_without_attributes_may_have_the_ids_of_the_people_asked():
    dataset = people_of(5)
    probe, _ = gather_probe(
        dataset, samples_of(dataset), {"model": drawn_scores(dataset, 1)}, {"model": drawn_scores(dataset, 2)}
    )
    assert probe.questions[0].without["model"].is_decoded


def test_ratings_of_others_are_left_out_and_told_and_so_are_groups_that_codes_contradict():
    dataset = people_of(6)
    samples = samples_of(dataset).groupby(["question_id", *FACTORS], sort=False).head(5).reset_index(drop=True)
    samples.loc[:4, "continent"] = "Europe"
    probe, ledger = gather_probe(dataset, samples, {"model": drawn_scores(dataset, 1)})
    assert [len(item.people) for item in probe.questions] == [40, 40]
    assert lines_about(ledger, "ratings with attributes of people who are not asked") == [["model", "", 16, 96]]
    assert lines_about(ledger, "rows of the probe whose group is not that of the person's codes") == [["", "", 5, 80]]


def test_groups_of_too_few_people_are_left_out_and_told():
    dataset = people_of(5)
    dataset.value_answers.loc[0, "Q1"] = -1
    probe, ledger = gather_probe(dataset, samples_of(dataset), {"model": drawn_scores(dataset, 1)})
    assert [len(item.people) for item in probe.questions] == [40, 40]  # the published score is of everybody
    assert [len(item.people) for item in large_groups(probe, 5).questions] == [35, 40]
    assert lines_about(ledger, "people in groups of fewer than 5 who answered") == [["", "Q1", 5, 40]]
    assert len(probe.groups.levels) == len(large_groups(probe, 5).groups.levels) == 8


def test_a_group_that_is_large_in_no_question_is_gone_and_the_others_keep_what_is_theirs():
    dataset = people_of(5)
    dataset.value_answers.loc[0, ["Q1", "Q2"]] = -1
    without = distribution("Q1", {}, [0.7, 0.1, 0.1, 0.1])
    ratings = drawn_scores(dataset, 1, missing=0.2, off=0.2)
    probe, _ = gather_probe(dataset, samples_of(dataset), {"model": ratings}, {"model": without})
    compared, whole = large_groups(probe, 5), probe.questions[0]
    assert compared.groups.levels == probe.groups.levels[1:]
    item = compared.questions[0]
    assert item.groups.tolist() == [group - 1 for group in whole.groups if group]
    assert item.people.tolist() == whole.people[5:].tolist()
    rated, before = item.with_attributes["model"], whole.with_attributes["model"]
    assert np.array_equal(rated.probs, before.probs[5:], equal_nan=True)
    assert np.array_equal(rated.ratings, before.ratings[5:], equal_nan=True)
    assert rated.n_missing == np.isnan(before.ratings[5:]).sum() > 0
    assert rated.n_off_scale == np.isin(before.ratings[5:], [0, 5, 99]).sum() > 0
    assert (item.without["model"].n_missing, item.without["model"].probs.shape) == (0, (35, 4))
    assert large_groups(probe, 2) is probe


def test_a_file_of_samples_that_gives_people_other_groups_than_the_data_set_is_told():
    dataset = people_of(5)
    samples = samples_of(dataset)
    is_first = samples["question_id"] == "Q1"
    swapped = samples["settlement"].map({"urban": "rural", "rural": "urban"})
    samples["settlement"] = samples["settlement"].where(~is_first, swapped)
    _, ledger = gather_probe(dataset, samples, {"model": drawn_scores(dataset, 1)})
    what = "rows of the probe whose group is not that of the person's codes"
    assert lines_about(ledger, what) == [["", "", 40, 80]]
    dataset.participants.loc[0, "education"] = None
    _, ledger = gather_probe(dataset, samples, {"model": drawn_scores(dataset, 1)})
    assert lines_about(ledger, what) == [["", "", 41, 80]]


def refused(dataset, ratings, without=None, samples=None, **settings):
    with pytest.raises(RatingsError) as caught:
        gather_probe(dataset, samples_of(dataset) if samples is None else samples, ratings, without or {}, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_gathered_is_told_in_one_line():
    dataset = people_of(5)
    good = drawn_scores(dataset, 1)
    assert refused(dataset, {"model": good.replace({"156070003": "7"})}) == (
        "ratings of model: row 4: person 7: nobody in the data set has this id; is it another version of the data?"
    )
    assert refused(dataset, {"model": good}, min_group=6) == (
        "probe: no group has 6 people who answered; two groups are needed: lower min_group or ask more"
    )
    assert refused(dataset, {"model": good}, min_group=1) == (
        "min_group: found 1, 2 or more was expected: one person has no spread"
    )
    one_group = samples_of(dataset)
    one_group = one_group[(one_group["continent"] == "Asia") & (one_group["settlement"] == "urban")]
    one_group = one_group[one_group["education"] == "tertiary"].reset_index(drop=True)
    assert refused(dataset, {"model": good}, samples=one_group) == (
        "probe: only Asia urban tertiary has 5 people who answered; two groups are needed: lower min_group or ask more"
    )
    stranger = samples_of(dataset).replace({"156070001": "8"})
    assert refused(dataset, {"model": good}, samples=stranger) == (
        "probe: row 2: person 8: nobody in the data set has this id; is it another version of the data?"
    )
    unknown = everybody(dataset, "Q1", [0.25] * 4).assign(Q275=8)
    assert refused(dataset, {"model": unknown.drop_duplicates(["B_COUNTRY", "H_URBRURAL", "response_value"])}) == (
        "ratings of model: Q1: nobody in the data set is B_COUNTRY=156,H_URBRURAL=1,Q275=8; give codes as the survey "
        "has them, or remove its rows"
    )
    assert refused(dataset, {"model": good}, {"model": everybody(dataset, "Q1", [0.25] * 4)}) == (
        "ratings of model: Q1 is rated for B_COUNTRY=156,H_URBRURAL=1,Q275=2, not without attributes; leave them empty "
        "or give the file as ratings with attributes"
    )
    of_others = scores_of(people_of(5, ["Q3"]), {"Q3": [1] * 40})
    assert refused(dataset, {"model": of_others}) == (
        "ratings of model: rates nothing that is asked; is it of this probe?"
    )


def test_a_model_that_rates_nothing_that_is_asked_is_left_out_and_the_others_stay():
    """Such as the model of a cell that could not be read, or a file of ratings for another set."""
    dataset = people_of(5)
    good, of_others = drawn_scores(dataset, 1), scores_of(people_of(5, ["Q3"]), {"Q3": [1] * 40})
    unread = everybody(dataset, "Q1", [None] * 4)
    probe, ledger = gather_probe(
        dataset,
        samples_of(dataset),
        {"unread": unread, "good": good, "of others": of_others},
        {"good": distribution("Q3", {}, [0.25] * 4)},
    )
    alone, _ = gather_probe(dataset, samples_of(dataset), {"good": good})
    for item, expected in zip(probe.questions, alone.questions, strict=True):
        assert list(item.with_attributes) == ["good"]
        assert (item.with_attributes["good"].ratings == expected.with_attributes["good"].ratings).all()
        assert not item.without
    of_none = "attributes, none of what is asked: the model is left out"
    assert lines_about(ledger, f"ratings with {of_none}") == [["unread", "", 80, 80], ["of others", "", 80, 80]]
    assert lines_about(ledger, f"ratings without {of_none}") == [["good", "", 80, 80]]


def test_what_a_file_says_without_attributes_of_some_questions_alone_is_told():
    dataset = people_of(5)
    both = [*(everybody(dataset, name, [0.25] * 4) for name in ("Q1", "Q2")), distribution("Q1", {}, [0.25] * 4)]
    probe, ledger = gather_probe(dataset, samples_of(dataset), {"model": pd.concat(both, ignore_index=True)})
    assert not any(item.without for item in probe.questions)
    assert lines_about(ledger, "questions without an answer without attributes") == [["model", "", 1, 2]]


def test_rows_of_a_file_of_samples_that_are_of_questions_not_asked_are_told(tmp_path):
    dataset = people_of(5)
    samples_of(dataset).to_csv(tmp_path / "samples.tsv", sep="\t", index=False)
    samples = choose_samples(dataset, chosen_questions(["Q2"]), str(tmp_path / "samples.tsv"))
    _, ledger = gather_probe(dataset, samples, {"model": drawn_scores(dataset, 1)})
    assert lines_about(ledger, "rows of the file of samples that are of questions not asked") == [["", "", 40, 80]]


def test_a_key_says_what_is_known_in_one_order():
    key = "B_COUNTRY=156,H_URBRURAL=1,Q275=3"
    assert profile_key([("Q275", "3"), ("H_URBRURAL", 1.0), ("B_COUNTRY", 156)]) == key
    assert profile_key(list(parse_profile(key).items())) == key
    assert parse_profile("N_TOWN=Berlin, Mitte,Q275=3") == {"N_TOWN": "Berlin, Mitte", "Q275": "3"}
    people = pd.DataFrame({"Q275": pd.array([3, None, -4], "Int64"), "B_COUNTRY": [156.0, 156.0, 276.0]})
    assert profile_keys(people, ["Q275", "B_COUNTRY"]).tolist() == [
        "B_COUNTRY=156,Q275=3",
        "B_COUNTRY=156",
        "B_COUNTRY=276",
    ]
