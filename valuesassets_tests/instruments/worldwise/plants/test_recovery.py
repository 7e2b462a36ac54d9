"""What comes back of what was planted: found where it is there, off where poles, cultures or answers are other ones."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldwise.answers.model_answers import ModelAnswers
from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
from valuesassets.instruments.worldwise.plants import recovery
from valuesassets.instruments.worldwise.plants.plants import REFUSED_SHARE
from valuesassets.instruments.worldwise.plants.recovery import derive_recovery, planted_rows
from valuesassets.instruments.worldwise.tables import CHOICES, PROJECTIONS, REASONS, RECOVERY
from valuesassets.records.study import load_study

STUDY = load_study("demo_worldwise")
SCENARIOS = read_scenarios(STUDY.worldwise.scenarios)
DRAWS = 40


def answered(model, sign=1.0, as_culture=None):
    """What a model answers that chooses, decides and reasons just as planted, but for the sign of its positions."""
    planted = planted_rows(STUDY, model, STUDY.worldwise.parts, SCENARIOS)
    leans = planted.set_index(["culture", "scenario_id"])
    choices, reasons, projections = [], [], []
    for row in planted.to_dict("records"):
        of = leans.loc[as_culture or row["culture"], row["scenario_id"]]
        cell = {"culture": row["culture"], "scenario_id": row["scenario_id"], "axis": row["axis"]}
        choices.append(cell | {"p_high": of["p_high_choice"], "status": "ok"})
        n_refused = round(DRAWS * row["refused"])
        n_high = round((DRAWS - n_refused) * of["p_high_reason"])
        for draw in range(DRAWS):
            is_refused, is_high = draw >= DRAWS - n_refused, draw < n_high
            entries = cell | {"trial_id": "/".join(cell.values()), "form": "decide", "draw": draw}
            status = "refused" if is_refused else "ok"
            decision = None if is_refused else "high" if is_high else "low"
            reasons.append(entries | {"order": "forward", "status": status, "decision": decision})
            position = None if is_refused else sign * (1.0 if is_high else -1.0)
            projections.append(entries | {"is_own_axis": True, "status": status, "position": position})
    frames = (table.frame(rows) for table, rows in ((CHOICES, choices), (REASONS, reasons), (PROJECTIONS, projections)))
    return ModelAnswers(*frames)


def recovered(**models):
    return derive_recovery({name.replace("_", "-"): each for name, each in models.items()}, STUDY)["measures"]


@pytest.fixture(scope="module")
def measures():
    return recovered(reference=answered("reference"), reference_same=answered("reference-same"))


def test_what_is_as_it_was_planted_is_within_all_bounds(measures):
    assert list(measures.columns) == list(RECOVERY.names)
    assert set(measures["model"]) == {"reference", "reference-same"}
    assert measures["is_within"].all()
    assert measures.loc[measures["measure"] == "choices, mean error", "value"].max() == 0


def test_positions_of_a_model_that_leans_alike_everywhere_have_no_r(measures):
    r = measures.loc[measures["measure"] == "positions, r with what was planted"]
    assert r["model"].tolist() == ["reference"]
    assert r["value"].iloc[0] == pytest.approx(1, abs=0.01)
    assert r["n"].iloc[0] == len(STUDY.worldwise.parts) * len({scenario.axis for scenario in SCENARIOS})


def test_exchanged_poles_are_off_in_positions_and_their_gaps_and_nowhere_else():
    off = recovered(reference=answered("reference", sign=-1)).loc[lambda frame: ~frame["is_within"].astype(bool)]
    assert set(off["measure"]) == {"positions, r with what was planted", "gap of position and choice, off by"}


def test_another_cultures_answers_are_off():
    off = recovered(reference=answered("reference", as_culture="KYPP")).loc[
        lambda frame: ~frame["is_within"].astype(bool)
    ]
    assert {"choices, mean error", "decisions, mean error"} <= set(off["measure"])


def test_refusals_are_held_against_their_planted_share(measures):
    error = measures.loc[
        (measures["model"] == "reference") & (measures["measure"] == "refusals, mean error"), "value"
    ].iloc[0]
    assert 0 <= error < REFUSED_SHARE
    assert np.isfinite(measures["value"].astype(float)).all()


@pytest.mark.parametrize("share", [0.3, 0.5])
@pytest.mark.parametrize("n", [6, 12])
def test_shares_that_are_off_by_their_draws_alone_are_seldom_called_off(share, n):
    """400 simulated models: 96 shares of n draws each; and 400 whose shares are off by .3 besides."""
    rng = np.random.default_rng(7)
    due, counts = pd.Series(np.full(96, share)), pd.Series(np.full(96, float(n)))

    def alarms(drawn_from):
        called_off = 0
        for _ in range(400):
            drawn = pd.Series(rng.binomial(n, drawn_from, 96) / n)
            called_off += not all(row["is_within"] for row in recovery._errors("decisions", drawn, due, counts))
        return called_off / 400

    assert alarms(share) <= 0.01
    assert alarms(share + 0.3) >= 0.95
