import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.inference import Inference
from valuesassets.instruments.worldwise.measure_tables import SAY_DO_GAP
from valuesassets.instruments.worldwise.say_do_gap import correct_gaps, derive_say_do_gap
from valuesassets.instruments.worldwise.scenario_answers import gather_answers
from valuesassets_tests.instruments.worldwise.made_tables import choices, drawn_leans, projections, reasons

AXES = ["IDV"] * 6 + ["PDI"] * 6
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
    return derive_say_do_gap("m", answers, HOW).set_index(["form", "measure", "axis"])


def test_gaps_worked_by_hand():
    """p_high .6 and .7: decided for high each time, .4 and .3 more; positions .5 and 0 beside leans of .2 and .4."""
    found = gaps({"JPN": [0.2, 0.4]}, {"JPN": ["high", "high"]}, {"JPN": [0.5, 0.0]}, axes=["IDV", "IDV"])
    decision, position = found.loc[("decide", "decision", "IDV")], found.loc[("decide", "position", "IDV")]
    assert [decision[name] for name in ("gap", "gap_low", "gap_high", "p")] == pytest.approx([0.35, 0.3, 0.4, 0.5])
    assert [position[name] for name in ("gap", "gap_low", "gap_high", "p")] == pytest.approx([-0.05, -0.4, 0.3, 1])
    assert decision["reason"] == "an interval over 2 scenarios holds the mean in .50 of cases at most"
    assert found.loc[("open", "position", "IDV"), "status"] == "undefined"
    assert found.loc[("open", "position", "IDV"), "reason"] == "no scenario has both a choice and what was written"
    assert np.isnan(found.loc[("open", "position", "IDV"), "gap"])


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


def test_p_values_are_corrected_over_axes_and_models_within_a_form_and_measure():
    rows = [("m", "a", 0.01), ("m", "b", 0.04), ("n", "a", 0.03), ("n", "b", np.nan)]
    made = [
        {"model": m, "axis": axis, "p": p, "form": form, "measure": "position"}
        for form in ("decide", "open")
        for m, axis, p in rows
    ]
    found = correct_gaps(SAY_DO_GAP.frame(made))
    expected = [0.03, 0.06, 0.06, np.nan] * 2
    np.testing.assert_allclose(found["p_corrected"].to_numpy(dtype=float), expected)


def test_refused_answers_never_become_numbers():
    leans = {"JPN": [0.1] * 6}
    found = gaps(leans, {"JPN": ["high"] * 6}, {"JPN": [0.1] * 6}, axes=AXES[:6], lost={("JPN", at) for at in range(6)})
    row = found.loc[("decide", "decision", "IDV")]
    assert (row["status"], row["n_scenarios"]) == ("undefined", 0)
    assert row[["gap", "gap_low", "gap_high", "p"]].isna().all()
    assert [row["gap_least"], row["gap_most"]] == pytest.approx([-0.55, 0.45])
    whole = pd.DataFrame(found.reset_index())[SAY_DO_GAP.names]
    SAY_DO_GAP.checked(pa.Table.from_pandas(correct_gaps(whole), preserve_index=False), "made")
