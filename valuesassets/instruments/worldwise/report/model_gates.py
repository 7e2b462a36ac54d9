"""The models of a study on the first screen: a row for each, gates, and sentences on their weaknesses."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from valuesassets.instruments.worldwise.answers.reasons import DECLINED, LOOP, OK, TRUNCATED, UNPARSED
from valuesassets.instruments.worldwise.answers.scenario_answers import CHOICE
from valuesassets.instruments.worldwise.material.dimensions import CONTROLS
from valuesassets.instruments.worldwise.measures.choice_orders import WORDS
from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.reporting.claims import preflight_gates
from valuesassets.reporting.methods import some_of
from valuesassets.reporting.model_gates import OF_ORDERS, first_failure, judged, order_gates, preflight_word
from valuesassets.reporting.parts import Gate, is_absent
from valuesassets.reporting.run import Run

MISSING = "Every model was asked as every culture and control."
PARSED = "What models wrote can be read."


def stored_table(run: Run, asset: str, name: str) -> pd.DataFrame:
    """A table of an analysis; without columns if it is not there."""
    return run.frames(asset).get(name, pd.DataFrame())


def chosen_models(run: Run) -> list[str]:
    """The families that have choices."""
    return list(dict.fromkeys(model for model, _ in _cells(run)))


def family_rows(run: Run) -> list[dict[str, Any]]:
    """A row for each family of the study: its preflight, its cells, and the worth of its answers."""
    orders, verdicts, cells = _orders(run), run.found.get("preflight", {}), _cells(run)
    return [
        {
            "family": family,
            "preflight": preflight_word(verdicts.get(family)),
            "cells": f"{sum(model == family for model, _ in cells)} of {len(_conditions(run))}",
            **{name: orders.get(family, {}).get(name) for name in ("n_read", *OF_ORDERS)},
            "share_parsed": _share_parsed(run, family),
        }
        for family in run.study.families
    ]


def weaknesses(run: Run) -> list[str]:
    """Sentences on the families whose answers should be read with care."""
    sentences, verdicts, orders = [], run.found.get("preflight", {}), _orders(run)
    for gate, family in zip(preflight_gates(run), run.study.families, strict=False):
        if family in chosen_models(run):
            reason = orders.get(family, {}).get("reason")
            sentences += [] if is_absent(reason) else [f"{reason}."]
        elif not gate.is_passed and not gate.is_missing:
            failure = first_failure(verdicts.get(family))
            sentences.append(f"{family} failed its preflight and chose nothing: {failure}.")
        else:
            sentences.append(f"{family} chose nothing: its cells were not read.")
    return sentences


def model_gates(run: Run) -> Iterator[Gate]:
    """Preflight, missing cells, P_valid, agreement of orders, and the share of texts that can be read."""
    yield from preflight_gates(run)
    cells = [(family, culture) for family in run.study.families for culture in _conditions(run)]
    missing = [f"{family} as {culture}" for family, culture in cells if (family, culture) not in _cells(run)]
    count = f"{len(cells) - len(missing)} of {len(cells)} cells" + (f"; not {some_of(missing)}" if missing else "")
    yield Gate(MISSING, not missing, count)
    yield from order_gates(list(_orders(run).values()), run.study.thresholds, WORDS.things)
    settings = Worldwise.of(run.study)
    if settings.has_reasons:
        least = settings.thresholds.parsed
        yield judged(
            PARSED,
            [{"model": name, "share": _share_parsed(run, name)} for name in chosen_models(run)],
            lambda row: None if row["share"] is None else row["share"] >= least,
            lambda row: f"{row['model']} {row['share']:.0%}, {least:.0%} is asked for",
        )


def _conditions(run: Run) -> tuple[str, ...]:
    return (*Worldwise.of(run.study).cultures, *CONTROLS)


def _orders(run: Run) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in records(stored_table(run, "reliability", "orders"))}


def _cells(run: Run) -> dict[tuple[str, str], None]:
    """Model and culture of each cell with choices, in order."""
    statuses = records(stored_table(run, "quality_report", "statuses"))
    return {(row["model"], row["culture"]): None for row in statuses if row["form"] == CHOICE}


def _share_parsed(run: Run, family: str) -> float | None:
    """Share of a family's texts that can be read, among those that exist and that nobody refused."""
    statuses = stored_table(run, "quality_report", "statuses")
    if not len(statuses):
        return None
    texts = rows_where(statuses, model=family)
    counts = texts.loc[texts["form"] != CHOICE].groupby("status")["n_status"].sum()
    n_read, n_unread = (int(counts.reindex(names).sum()) for names in ((OK, DECLINED), (LOOP, TRUNCATED, UNPARSED)))
    return n_read / (n_read + n_unread) if n_read + n_unread else None
