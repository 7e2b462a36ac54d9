"""Rows of `choices`, `reasons` and `projections` of one model, made by hand."""

import numpy as np
import pandas as pd

from valuesassets.instruments.worldwise.answers.model_answers import gather_answers
from valuesassets.instruments.worldwise.tables import CHOICES, PROJECTIONS, REASONS


def choices(leans, axes, bias=0.0, missing=()):
    """Choices of one model, a pull of `bias` to the first option.

    Args:
        leans: by condition, one for each scenario.
        axes: of each scenario.
        missing: (condition, number of the scenario) without a reading.
    """
    rows = []
    for culture, row in leans.items():
        for number, (lean, axis) in enumerate(zip(row, axes, strict=True)):
            p = (1 + lean) / 2
            entries = {
                "p_high_forward": p + bias,
                "p_high_reversed": p - bias,
                "p_high": p,
                "lean": lean,
                "status": "ok",
            }
            if (culture, number) in missing:
                entries = {"status": "failed", "reason": "not read"}
            rows.append(entries | {"culture": culture, "scenario_id": f"s{number}", "axis": axis, "wording": 0})
    return CHOICES.frame(rows).assign(model="m", model_id="m", channel="exact")


def reasons(written, form="decide"):
    """Reasons of one model.

    Args:
        written: condition, number of the scenario, axis, and what a row holds besides; `order` forward if not given.
    """
    rows = []
    for number, (culture, scenario, axis, more) in enumerate(written):
        entries = {"culture": culture, "scenario_id": f"s{scenario}", "axis": axis, "form": form, "draw": 0}
        entries |= {
            "trial_id": f"{form}/{number}",
            "status": "ok",
            "order": "forward",
            "values": [],
            "unknown_values": [],
        }
        rows.append(entries | more)
    return REASONS.frame(rows)


def projections(reasons, positions):
    """Positions of these reasons on their own axes, and 9 on another."""
    own = reasons[["trial_id", "scenario_id", "culture", "form", "draw", "axis"]].assign(is_own_axis=True, status="ok")
    own["position"] = positions
    other = own.assign(axis="IVR", is_own_axis=False, position=9.0)
    return pd.concat([own, other], ignore_index=True)


def nothing():
    """No reasons and no projections."""
    return REASONS.frame([]), PROJECTIONS.frame([])


def chosen(leans, axes, **more):
    """What measures take, of a model that chose and wrote nothing."""
    return gather_answers(choices(leans, axes, **more), *nothing())


def drawn_leans(conditions, axes, seed=0, size=0.3):
    """Leans without any structure."""
    random = np.random.default_rng(seed)
    return {name: random.uniform(-size, size, len(axes)) for name in conditions}
