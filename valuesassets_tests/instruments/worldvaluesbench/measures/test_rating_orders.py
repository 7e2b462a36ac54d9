"""The order agreement of simulated ratings, in files, and the ratings that scores then leave out."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from valuesassets.instruments.worldvaluesbench.answers.rating_distributions import BESIDE, write_ratings
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import read_ratings
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.measures.evaluation import evaluate_gathered
from valuesassets.instruments.worldvaluesbench.measures.gathered import Gathered, gather_probe
from valuesassets.instruments.worldvaluesbench.measures.rating_checks import rating_orders
from valuesassets.instruments.worldvaluesbench.tables import RATING_ORDERS
from valuesassets.records.errors import RatingsError
from valuesassets.records.settings.measuring import Thresholds
from valuesassets_tests.instruments.worldvaluesbench.rated_people import people_of, samples_of

QUESTIONS = ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q27", "Q28"]
K = 4
SIMULATIONS = {
    "ratings": {"apart": 1.5},
    "ratings under a pull": {"apart": 1.5, "pull": 6.0},
    "position": {"pull": 6.0},
    "noise": {"noise": 1.0},
}


def simulated(seed=0, apart=0.0, pull=0.0, noise=0.05, p_valid=0.6):
    """A file of ratings without attributes and for eight countries: leanings of prompts, a pull of the first place."""
    random, rows, codes = np.random.default_rng(seed), [], np.arange(K)
    for question in QUESTIONS:
        of_question = random.normal(0, apart)
        for country in (None, 156, 276, 484, 840, 392, 356, 566):
            leaning = of_question + random.normal(0, apart / 3)
            places = {"forward": codes, "reversed": codes[::-1]}
            answers = {
                order: softmax(leaning * (codes - 1.5) - pull * place / K + random.normal(0, noise, K) * 2)
                for order, place in places.items()
            }
            mean = (answers["forward"] + answers["reversed"]) / 2
            for code in codes:
                row = {"question_id": question, "B_COUNTRY": country, "response_value": code + 1, "prob": mean[code]}
                row |= {f"prob_{order}": answers[order][code] for order in places}
                rows.append(row | {"p_valid": p_valid, "position_bias": 0.5})
    return pd.DataFrame(rows)


def orders_of(frame, name="m"):
    return rating_orders(name, read_ratings(frame, name, load_value_questions(), 0.1), Thresholds())


@pytest.mark.parametrize(
    ("kind", "follow", "is_evidence"),
    [
        ("ratings", {"options"}, True),
        ("ratings under a pull", {"options under a pull", "options"}, True),
        ("position", {"position"}, False),
        ("noise", {"position", "neither"}, False),
    ],
)
@pytest.mark.slow
def test_each_simulation_is_recognised(kind, follow, is_evidence):
    orders = [orders_of(simulated(seed, **SIMULATIONS[kind])) for seed in range(12)]
    assert np.mean([row["is_evidence"] is is_evidence for row in orders]) >= 0.9
    assert np.mean([row["follow"] in follow for row in orders]) >= 0.9
    RATING_ORDERS.frame(orders)


def test_the_mean_over_orders_of_a_model_that_takes_the_first_place_is_a_u_and_its_sentence_says_so():
    frame = simulated(**SIMULATIONS["position"])
    ends = frame.loc[frame["response_value"].isin([1, K]), "prob"].mean()
    assert ends > 0.35 > 0.15 > frame.loc[~frame["response_value"].isin([1, K]), "prob"].mean()
    row = orders_of(frame)
    assert row["reason"].startswith("m rates by position: 64 of 64 ratings have another most probable answer once the ")
    assert (row["n_prompts"], row["n_questions"], row["changed"]) == (64, 8, 1.0)


def test_a_file_without_both_orders_is_used_and_a_sentence_says_that_nobody_can_tell():
    frame = simulated(**SIMULATIONS["position"]).drop(columns=list(BESIDE))
    row = orders_of(frame)
    assert (row["n_prompts"], row["is_evidence"]) == (0, None)
    assert row["reason"] == (
        "m: its file has no prob_forward and prob_reversed, so that nobody can tell whether its ratings follow position"
    )


def test_scores_leave_out_who_rates_by_position_and_prompts_of_low_p_valid_and_the_ledger_tells():
    dataset = people_of(5, QUESTIONS)
    good = simulated(1, **SIMULATIONS["ratings"])
    good.loc[(good["question_id"] == "Q1") & good["B_COUNTRY"].isna(), "p_valid"] = 0.04
    both = {"good": good, "by position": simulated(2, **SIMULATIONS["position"])}
    given = {name: frame[frame["B_COUNTRY"].isna()].drop(columns="B_COUNTRY") for name, frame in both.items()}
    probe, ledger = gather_probe(dataset, samples_of(dataset), given)
    assert {name for item in probe.questions for name in item.with_attributes} == {"good"}
    assert np.isnan(probe.questions[0].with_attributes["good"].probs).all()
    assert np.isfinite(probe.questions[1].with_attributes["good"].probs).all()
    by_what = ledger.frame().set_index("what")
    assert by_what.loc[
        "prompts with attributes whose P_valid is below 0.1: not used", ["model", "n", "of"]
    ].tolist() == [
        "good",
        1,
        8,
    ]
    left_out = (
        "ratings with attributes: not used, as they follow position, or do not come back once the options are reversed"
    )
    assert by_what.loc[left_out, ["model", "n"]].tolist() == ["by position", 8]
    assert ledger.orders_frame()["is_evidence"].tolist() == [True, False]


def test_where_every_model_is_left_out_the_probe_is_gathered_all_the_same():
    dataset = people_of(5, QUESTIONS)
    frame = simulated(2, **SIMULATIONS["position"])
    frame = frame[frame["B_COUNTRY"].isna()].drop(columns="B_COUNTRY")
    probe, ledger = gather_probe(dataset, samples_of(dataset), {"by position": frame})
    assert not any(item.with_attributes for item in probe.questions)
    assert len(ledger.orders) == 1
    tables = evaluate_gathered(Gathered(probe, ledger, dataset, samples_of(dataset), min_group=2, seed=0), resamples=20)
    assert set(tables["benchmark_scores"]["model"]) == {"majority of each group"}
    assert tables["benchmark_scores"]["n_people"].dtype == int
    assert not len(tables["awareness"])


def test_what_is_written_is_read_again_with_what_it_is_judged_by(tmp_path):
    frame = simulated(**SIMULATIONS["ratings"]).query("question_id == 'Q1' and B_COUNTRY.isna()")
    renamed = frame.rename(columns={"prob": "prob_averaged", "position_bias": "position_bias_magnitude"})
    write_ratings(tmp_path / "r.csv", renamed, ["B_COUNTRY"])
    header = (tmp_path / "r.csv").read_text().splitlines()[0]
    assert header == "question_id,B_COUNTRY,response_value,prob,prob_forward,prob_reversed,p_valid,position_bias"
    (prompt,) = read_ratings(tmp_path / "r.csv", "m", load_value_questions()).prompts.to_dict("records")
    assert prompt["forward"] == pytest.approx((frame["prob_forward"] * [0, 1 / 3, 2 / 3, 1]).sum())
    assert (prompt["p_valid"], prompt["profile"]) == (0.6, "")


def test_a_p_valid_that_is_no_probability_is_refused():
    frame = simulated(**SIMULATIONS["ratings"]).assign(p_valid=1.5)
    with pytest.raises(RatingsError, match=r"ratings of m: row 2: p_valid: found 1\.5, a probability"):
        read_ratings(frame, "m", load_value_questions())


def test_a_p_valid_that_rounding_has_carried_beyond_one_is_one():
    frame = simulated(**SIMULATIONS["ratings"]).assign(p_valid=1 + 1e-8)
    assert (read_ratings(frame, "m", load_value_questions()).prompts["p_valid"] == 1).all()
