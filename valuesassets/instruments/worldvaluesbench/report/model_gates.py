"""The quality of each family's answers and of each file of ratings, as rows, gates and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.answers.calibration import summarise_recovery
from valuesassets.instruments.worldvaluesbench.measures.rating_checks import WORDS
from valuesassets.records.files import sha256_file
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study
from valuesassets.reporting.claims import preflight_gates
from valuesassets.reporting.model_gates import OF_ORDERS, first_failure, judged, order_gates, preflight_word
from valuesassets.reporting.parts import Frames, Gate, is_absent
from valuesassets.reporting.run import Run

MISSING = "Every model of the study was asked."
PARSED = "What models wrote can be read as ratings."
LEAST_PARSED = 0.8
"""The least share of written answers that are ratings."""


def model_rows(
    study: Study, frames: Frames, verdicts: Mapping[str, Any], answered: Sequence[str]
) -> list[dict[str, Any]]:
    """A row for each family of the study, and for each model that a file rates for.

    Args:
        verdicts: of the preflight, by family.
        there: families that were asked.
    """
    orders = {row["model"]: row for row in records(frames.get("benchmark_scores/orders", pd.DataFrame()))}
    columns = ("n_prompts", "n_low_p_valid", *OF_ORDERS)
    return [
        {
            "model": name,
            "preflight": preflight_word(verdicts.get(name)) if name in study.families else None,
            "was_asked": name in answered if name in study.families else None,
            **{each: orders.get(name, {}).get(each) for each in columns},
        }
        for name in dict.fromkeys([*study.families, *orders])
    ]


def model_gates(
    study: Study, frames: Frames, verdicts: Mapping[str, Any], answered: Sequence[str], planted: Sequence[str] = ()
) -> Iterator[Gate]:
    """Gates of the preflight, missing cells, P_valid, agreement of orders, and parsed answers.

    Args:
        planted: models with planted ratings, which have no orders.
    """
    yield from preflight_gates(Run(study, {"preflight": verdicts}))
    lacking = [family for family in study.families if family not in answered]
    if study.families:
        why = f"{len(study.families) - len(lacking)} of {len(study.families)} families"
        yield Gate(MISSING, not lacking, why + (f"; missing: {', '.join(lacking)}" if lacking else ""))
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
                lambda row: f"{row['model']} {row['share']:.0%}; at least {LEAST_PARSED:.0%} is required",
            )


def weaknesses(study: Study, frames: Frames, verdicts: Mapping[str, Any], answered: Sequence[str]) -> list[str]:
    """The weaknesses of each model that a reader has to know first, in sentences."""
    sentences = []
    for gate, family in zip(preflight_gates(Run(study, {"preflight": verdicts})), study.families, strict=False):
        if family not in answered:
            is_refused = not gate.is_passed and not gate.is_missing
            why = f"failed its preflight and rated nothing: {first_failure(verdicts.get(family))}"
            sentences.append(f"{family} {why if is_refused else 'rated nothing'}.")
    orders = records(frames.get("benchmark_scores/orders", pd.DataFrame()))
    return sentences + [f"{row['reason']}." for row in orders if row["n_prompts"] and not is_absent(row["reason"])]


def calibration_gates(compared: Mapping[str, pd.DataFrame], phantom: Phantom) -> list[Gate]:
    """A gate for each reference model, passed if its planted answers were read back."""
    gates = []
    for cell, comparison in compared.items():
        (whole,) = records(rows_where(summarise_recovery(comparison, phantom), response_type="all"))
        why = f"mean W1 {whole['w1_unit_error_mean']:.4f} over {whole['n']} prompts"
        sentence = f"The planted answers of {cell} are read back."
        gates.append(Gate(sentence, bool(whole["is_recovered"]), whole["reason"] or why, of_instrument=True))
    return gates


def file_origins(study: Study) -> list[dict[str, Any]]:
    """A record for each file with people's answers or ratings."""
    settings = WorldValuesBench.of(study)
    files = {"people's answers": settings.answers if isinstance(settings.answers, Path) else None}
    for each in settings.ratings:
        files |= {f"ratings {each.name}": each.with_attributes, f"ratings {each.name} without": each.without}
    return [{"what": what, "source": path.name, "sha256": sha256_file(path)} for what, path in files.items() if path]
