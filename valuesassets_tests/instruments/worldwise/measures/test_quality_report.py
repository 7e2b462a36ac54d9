import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.answers.model_answers import gather_answers
from valuesassets.instruments.worldwise.measures.quality_report import derive_bounds, derive_refusals, derive_statuses
from valuesassets.instruments.worldwise.tables import BOUNDS, REFUSALS, STATUSES
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import choices, chosen, drawn_leans, projections, reasons

HOW = Inference(resamples=999)


def written(statuses, form="decide"):
    """Reasons with these statuses, by condition and scenario."""
    return reasons(
        [(name, at, "IDV", {"status": each}) for name, row in statuses.items() for at, each in enumerate(row)], form
    )


def test_every_status_is_a_row_and_rates_sum_to_one():
    reason_table = written({"JPN": ["ok", "ok", "refused", "not_asked"], "USA": ["unparsed"]})
    statuses = derive_statuses("m", choices({"JPN": [0.1, 0.2]}, ["IDV", "IDV"], missing={("JPN", 1)}), reason_table)
    assert statuses.groupby(["form", "culture"])["rate"].sum().tolist() == pytest.approx([1, 1, 1])
    by = statuses.set_index(["form", "culture", "status"])
    assert by.loc[("decide", "JPN", "ok"), ["n_status", "n", "rate"]].tolist() == [2, 4, 0.5]
    assert by.loc[("choice", "JPN", "failed"), ["n_status", "n", "rate"]].tolist() == [1, 2, 0.5]
    # Wilson of 1 of 1: from 1 / (1 + 1.96^2)
    assert by.loc[("decide", "USA", "unparsed"), ["rate_low", "rate_high"]].tolist() == pytest.approx(
        [0.2065, 1], abs=1e-4
    )
    STATUSES.checked(pa.Table.from_pandas(statuses, preserve_index=False), "made")


def test_bounds_worked_by_hand():
    leans = {"JPN": [0.2, 0.4], "placebo": [0.0, 0.1]}
    answers = chosen(leans, ["IDV", "IDV"], missing={("JPN", 1), ("placebo", 0)})
    bounds = derive_bounds("m", answers).set_index(["readout", "culture"])
    japan = bounds.loc[("choice", "JPN")]
    assert [japan["lean_least"], japan["lean_most"]] == pytest.approx([(0.2 - 1) / 2, (0.2 + 1) / 2])
    assert [japan["effect_least"], japan["effect_most"]] == pytest.approx([-0.4 - 0.55, 0.6 + 0.45])
    assert japan["n_missing"] == 2  # both orders
    placebo = bounds.loc[("choice", "placebo")]
    assert [placebo["lean_least"], placebo["lean_most"]] == pytest.approx([-0.45, 0.55])
    assert placebo[["effect_least", "effect_most"]].isna().all()
    BOUNDS.checked(pa.Table.from_pandas(bounds.reset_index()[BOUNDS.names], preserve_index=False), "made")


def test_where_nothing_is_missing_bounds_are_the_estimates():
    leans = drawn_leans(["JPN", "placebo"], ["IDV"] * 5)
    bounds = derive_bounds("m", chosen(leans, ["IDV"] * 5)).set_index("culture").loc["JPN"]
    effect = np.mean(leans["JPN"] - leans["placebo"])
    assert [bounds["effect_least"], bounds["effect_most"], bounds["n_missing"]] == pytest.approx([effect, effect, 0])


def test_any_answer_in_place_of_the_missing_ones_stays_within_the_bounds():
    random = np.random.default_rng(6)
    full = {name: row * 3 for name, row in drawn_leans(["JPN", "placebo"], ["IDV"] * 8).items()}
    gone = {(name, int(at)) for name in full for at in random.choice(8, 3, replace=False)}
    row = derive_bounds("m", chosen(full, ["IDV"] * 8, missing=gone)).set_index("culture").loc["JPN"]
    for _ in range(50):
        guessed = {name: values.copy() for name, values in full.items()}
        for name, at in gone:
            guessed[name][at] = random.uniform(-1, 1)
        effect = np.mean(guessed["JPN"] - guessed["placebo"])
        assert row["effect_least"] <= effect <= row["effect_most"]


def test_decisions_have_bounds_too_and_reasons_that_fail_count_as_missing():
    reason_table = written({"JPN": ["ok", "truncated"]}).assign(decision=["high", None])
    bounds = derive_bounds("m", gather_answers(choices({}, []), reason_table, projections(reason_table, 0.5)))
    row = bounds[bounds["readout"] == "decision"].iloc[0]
    assert [row["lean_least"], row["lean_most"], row["n_missing"]] == [0, 1, 1]


def test_refusals_of_one_culture_alone_are_found_and_even_ones_are_not():
    often = {"JPN": ["refused"] * 10 + ["ok"] * 2, "USA": ["ok"] * 12, "IND": ["ok"] * 12, "placebo": ["ok"] * 12}
    row = derive_refusals("m", written(often), HOW).iloc[0]
    assert row["p"] < 0.01
    assert [row["rate_least"], row["rate_most"], row["n_conditions"], row["n_scenarios"]] == pytest.approx(
        [0, 10 / 12, 4, 12]
    )
    even = {name: ["refused", "ok", "declined", "filtered"] * 3 for name in ("JPN", "USA", "placebo")}
    assert derive_refusals("m", written(even), HOW).iloc[0]["p"] == 1


def test_p_is_the_share_of_arrangements_within_scenarios():
    """Three scenarios, two personas: all refusals are with one in 2 of 8 arrangements."""
    row = derive_refusals("m", written({"JPN": ["refused"] * 3, "USA": ["ok"] * 3}), Inference(resamples=20_000)).iloc[
        0
    ]
    assert row["p"] == pytest.approx(0.25, abs=0.01)


def test_what_failed_or_was_not_asked_is_no_refusal_and_who_has_no_persona_is_left_out():
    reason_table = written({"JPN": ["failed", "ok"], "USA": ["not_asked", "ok"], "unprompted": ["refused", "refused"]})
    row = derive_refusals("m", reason_table, HOW).iloc[0]
    assert [row["rate_most"], row["n_conditions"], row["n_scenarios"], row["p"]] == [0, 2, 1, 1]


def test_where_no_answer_can_be_read_no_refusal_is_known():
    entries = [
        (name, at, "IDV", {"status": "unparsed", "decision": None}) for name in ("JPN", "USA") for at in range(8)
    ]
    (row,) = derive_refusals("m", reasons(entries), HOW).to_dict("records")
    assert np.isnan(row["p"])
    assert (row["status"], row["reason"]) == (
        "undefined",
        "none of 16 answers can be read, so that none is known to be no refusal",
    )


def test_one_persona_alone_has_no_test():
    both = pd.concat([written({"JPN": ["ok", "refused"]}), written({"unprompted": ["ok"]}, "open")])
    refusals = derive_refusals("m", both, HOW)
    assert refusals["reason"].tolist() == [
        "1 personas were asked, two are needed",
        "0 personas were asked, two are needed",
    ]
    assert refusals[["rate_least", "rate_most", "p"]].isna().all(axis=None)
    REFUSALS.checked(pa.Table.from_pandas(refusals, preserve_index=False), "made")
