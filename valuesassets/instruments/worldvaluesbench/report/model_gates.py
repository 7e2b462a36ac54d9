"""What each family and file of ratings is worth: rows for the first screen, gates, and plain sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from valuesassets.instruments.worldvaluesbench.measures.rating_orders import WORDS
from valuesassets.records.frames import records, rows
from valuesassets.records.study import Study
from valuesassets.reporting.claims import preflight_gates
from valuesassets.reporting.model_gates import OF_ORDERS, first_failure, judged, order_gates, preflight_word
from valuesassets.reporting.parts import Frames, Gate, is_absent
from valuesassets.reporting.run import Run

MISSING = "Every model of the study was asked."
PARSED = "What models wrote can be read as ratings."
LEAST_PARSED = 0.8
"""Share of what was written that has to be a rating."""


def model_rows(study: Study, frames: Frames, verdicts: Mapping[str, Any], there: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each family of the study, and for each model that a file rates for.

    Args:
        verdicts: of the preflight, by family.
        there: families that were asked.
    """
    orders = {row["model"]: row for row in records(frames.get("benchmark_scores/orders", pd.DataFrame()))}
    found = []
    for name in dict.fromkeys([*study.families, *orders]):
        row = orders.get(name, {})
        is_family = name in study.families
        found.append(
            {
                "model": name,
                "preflight": preflight_word(verdicts.get(name)) if is_family else None,
                "was_asked": name in there if is_family else None,
                **{each: row.get(each) for each in ("n_prompts", "n_low_p_valid", *OF_ORDERS)},
            }
        )
    return found


def model_gates(
    study: Study, frames: Frames, verdicts: Mapping[str, Any], there: Sequence[str], planted: Sequence[str] = ()
) -> Iterator[Gate]:
    """Preflight, missing cells, P_valid, agreement of orders, and what can be read of what was written.

    Args:
        planted: models whose ratings are made up, without any order.
    """
    yield from preflight_gates(Run(study, {"preflight": verdicts}))
    lacking = [family for family in study.families if family not in there]
    if study.families:
        told = f"{len(study.families) - len(lacking)} of {len(study.families)} families"
        yield Gate(MISSING, not lacking, told + (f"; not {', '.join(lacking)}" if lacking else ""))
    orders = [
        row for row in records(frames.get("benchmark_scores/orders", pd.DataFrame())) if row["model"] not in planted
    ]
    if orders:
        yield from order_gates(orders, study.thresholds, WORDS.things)
    readouts = frames.get("readout_comparison/readouts", pd.DataFrame())
    if len(readouts):
        written = rows(readouts, ~readouts["readout"].isin(["exact", "greedy"]))
        shares = [
            {"model": f"{row['model']} ({row['readout']})", "share": row["n_answers"] / n}
            for row in records(written)
            if (n := row["n_answers"] + row["n_unparsed"])
        ]
        if shares:
            yield judged(
                PARSED,
                shares,
                lambda row: row["share"] >= LEAST_PARSED,
                lambda row: f"{row['model']} {row['share']:.0%}, {LEAST_PARSED:.0%} is asked for",
            )


def weaknesses(study: Study, frames: Frames, verdicts: Mapping[str, Any], there: Sequence[str]) -> list[str]:
    """What a reader has to know of each model before anything else, in sentences."""
    found = []
    for gate, family in zip(preflight_gates(Run(study, {"preflight": verdicts})), study.families, strict=False):
        if family not in there:
            is_refused = not gate.is_passed and not gate.is_missing
            why = f"failed its preflight and rated nothing: {first_failure(verdicts.get(family))}"
            found.append(f"{family} {why if is_refused else 'rated nothing'}.")
    orders = records(frames.get("benchmark_scores/orders", pd.DataFrame()))
    return found + [f"{row['reason']}." for row in orders if row["n_prompts"] and not is_absent(row["reason"])]
