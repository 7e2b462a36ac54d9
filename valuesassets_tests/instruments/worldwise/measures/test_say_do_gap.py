import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.answers.model_answers import ModelAnswers, gather_answers
from valuesassets.instruments.worldwise.measures.say_do_gap import derive_say_do_gap, gaps_of_model
from valuesassets.instruments.worldwise.tables import SAY_DO_GAP
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import choices, drawn_leans, projections, reasons

AXES = ["IDV"] * 6 + ["PDI"] * 6
NO_DOMAINS = pd.DataFrame(columns=pd.Index(["scenario_id", "domain"]))
HOW = Inference(resamples=999)


def gaps(leans, decisions, positions, lost=(), axes=AXES):
    """Gaps of a model that decides and writes so, by condition and scenario, in the form `decide`."""
    written = reasons(
        [
            (name, at, axes[at], {"status": "refused"} if (name, at) in lost else {"decision": decision})
            for name, row in decisions.items()
            for at, decision in enumerate(row)
        ]
    )
    where = [value for row in positions.values() for value in row]
    answers = gather_answers(choices(leans, axes), written, projections(written, where))
    return gaps_of_model("m", answers, HOW).set_index(["form", "measure", "axis"])


def test_gaps_worked_by_hand():
    """p_high .6 and .7: decided for high each time, .4 and .3 more; positions .5 and 0 beside leans of .2 and .4."""
    table = gaps({"JPN": [0.2, 0.4]}, {"JPN": ["high", "high"]}, {"JPN": [0.5, 0.0]}, axes=["IDV", "IDV"])
    decision, position = table.loc[("decide", "decision", "IDV")], table.loc[("decide", "position", "IDV")]
    assert [decision[name] for name in ("gap", "gap_low", "gap_high", "p")] == pytest.approx([0.35, 0.3, 0.4, 0.5])
    assert [position[name] for name in ("gap", "gap_low", "gap_high", "p")] == pytest.approx([-0.05, -0.4, 0.3, 1])
    assert decision["reason"] == "an interval over 2 scenarios holds the mean in .50 of cases at most"
    assert table.loc[("open", "position", "IDV"), "status"] == "undefined"
    assert table.loc[("open", "position", "IDV"), "reason"] == "no scenario has both a choice and what was written"
    assert np.isnan(table.loc[("open", "position", "IDV"), "gap"])


def test_a_scenario_is_the_mean_over_conditions_that_have_both():
    leans = {"JPN": [0.0] * 6, "USA": [0.4] * 6}
    decisions = {"JPN": ["high"] * 6, "USA": ["low"] * 6}
    positions = {"JPN": [0.0] * 6, "USA": [0.0] * 6}
    whole = gaps(leans, decisions, positions, axes=AXES[:6])
    assert whole.loc[("decide", "decision", "IDV"), "gap"] == pytest.approx((0.5 - 0.7) / 2)
    lost = gaps(leans, decisions, positions, axes=AXES[:6], lost={("USA", 0)})
    assert lost.loc[("decide", "decision", "IDV"), "gap"] == pytest.approx((-0.1 * 5 + 0.5) / 6)
    # the missing one on the low pole would give -.1 again, on the high one (.5 + .3) / 2
    assert lost.loc[("decide", "decision", "IDV"), "gap_least"] == pytest.approx(-0.1)
    assert lost.loc[("decide", "decision", "IDV"), "gap_most"] == pytest.approx((-0.1 * 5 + 0.4) / 6)


def test_who_writes_what_is_chosen_has_no_gap_and_who_always_leans_further_is_found():
    leans = drawn_leans(["JPN", "placebo"], AXES)
    decided = {name: np.where(row > 0, "high", "low") for name, row in leans.items()}
    same = gaps(leans, decided, leans)
    assert same.loc[("decide", "position", "IDV"), ["gap", "gap_low", "gap_high"]].abs().max() < 1e-12
    further = gaps(leans, decided, {name: row + 0.3 for name, row in leans.items()})
    row = further.loc[("decide", "position", "PDI")]
    assert row["gap"] == pytest.approx(0.3)
    assert row["p"] == 2 / 2**6  # all of one sign


def test_eight_scenarios_of_one_sign_are_found_among_twelve_tests_and_nothing_else():
    """p of such an axis is 2 / 256, and twelve times that is above .05; other statistics are seldom as large."""
    axes = list(np.repeat(["IDV", "PDI", "MAS", "UAI", "LTO", "IVR"], 8))
    answered = {}
    for model, gap in (("m", 0.3), ("n", 0.0)):
        leans = drawn_leans(["JPN", "USA", "placebo"], axes, seed=len(answered) + 1)
        texts = {name: row + np.where(np.array(axes) == "PDI", gap, 0) for name, row in leans.items()}
        noise = np.random.default_rng(len(answered))
        texts = {name: row + noise.normal(0, 0.1, len(row)) for name, row in texts.items()}
        written = reasons([(name, at, axes[at], {}) for name in texts for at in range(len(axes))], form="open")
        placed = projections(written, [value for row in texts.values() for value in row])
        answered[model] = ModelAnswers(choices(leans, axes), written, placed)
    result = derive_say_do_gap(answered, {}, NO_DOMAINS, Inference(resamples=1999))["gaps"].set_index(
        ["model", "form", "axis"]
    )
    assert set(result.index.get_level_values("form")) == {"open"}
    least = result["p_corrected"] <= 0.05
    assert result.index[least].tolist() == [("m", "open", "PDI")]
    assert result.loc[("m", "open", "PDI"), "p"] == 2 / 2**8
    assert (result["p_corrected"] >= result["p"]).all()


def test_refused_answers_never_become_numbers():
    leans = {"JPN": [0.1] * 6}
    table = gaps(leans, {"JPN": ["high"] * 6}, {"JPN": [0.1] * 6}, axes=AXES[:6], lost={("JPN", at) for at in range(6)})
    row = table.loc[("decide", "decision", "IDV")]
    assert (row["status"], row["n_scenarios"]) == ("undefined", 0)
    assert row[["gap", "gap_low", "gap_high", "p"]].isna().all()
    assert [row["gap_least"], row["gap_most"]] == pytest.approx([-0.55, 0.45])
    whole = pd.DataFrame(table.reset_index())[SAY_DO_GAP.names]
    SAY_DO_GAP.checked(pa.Table.from_pandas(whole, preserve_index=False), "made")
