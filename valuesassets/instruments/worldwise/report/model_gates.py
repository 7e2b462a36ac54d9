"""What each family of a study can be asked: a row for each on the first screen, gates, and plain sentences."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from valuesassets.instruments.worldwise.answers.reasons import DECLINED, LOOP, OK, TRUNCATED, UNPARSED
from valuesassets.instruments.worldwise.answers.scenario_answers import CHOICE
from valuesassets.instruments.worldwise.material.dimensions import CONTROLS
from valuesassets.instruments.worldwise.measures.choice_orders import WORDS
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.reporting.claims import preflight_gates
from valuesassets.reporting.methods import some_of
from valuesassets.reporting.model_gates import OF_ORDERS, first_failure, judged, order_gates, preflight_word
from valuesassets.reporting.parts import Gate, is_absent
from valuesassets.reporting.run import Run

MISSING = "Every model was asked as every culture and control."
PARSED = "What models wrote can be read."


def chosen_models(run: Run) -> list[str]:
    """The families of whom there are choices."""
    return list(dict.fromkeys(_statuses(run, CHOICE)["model"]))


def family_rows(run: Run) -> list[dict[str, Any]]:
    """A row for each family of the study: what became of it, and what its answers are worth."""
    orders = {row["model"]: row for row in records(_table(run, "reliability", "orders"))}
    verdicts, families = run.found.get("preflight", {}), []
    for family in run.study.families:
        row = orders.get(family, {})
        conditions = set(rows_where(_statuses(run, CHOICE), model=family)["culture"])
        row = {
            "family": family,
            "preflight": preflight_word(verdicts.get(family)),
            "cells": f"{len(conditions)} of {len(_conditions(run))}",
            **{name: row.get(name) for name in ("n_read", *OF_ORDERS)},
        }
        families.append(row | {"share_parsed": _share_parsed(run, family)})
    return families


def weaknesses(run: Run) -> list[str]:
    """What a reader has to know of each family before anything else, in sentences."""
    sentences, verdicts = [], run.found.get("preflight", {})
    orders = {row["model"]: row for row in records(_table(run, "reliability", "orders"))}
    for gate, family in zip(preflight_gates(run), run.study.families, strict=False):
        if family in chosen_models(run):
            sentences += [f"{orders[family]['reason']}."] if not is_absent(orders.get(family, {}).get("reason")) else []
        elif not gate.is_passed and not gate.is_missing:
            sentences.append(f"{family} failed its preflight and chose nothing: {first_failure(verdicts.get(family))}.")
        else:
            sentences.append(f"{family} chose nothing: its cells were not read.")
    return sentences


def model_gates(run: Run) -> Iterator[Gate]:
    """Preflight, missing cells, P_valid, agreement of orders, and what can be read of what was written."""
    yield from preflight_gates(run)
    conditions, statuses = _conditions(run), _statuses(run, CHOICE)
    present = set(zip(statuses["model"], statuses["culture"], strict=True))
    wanted = [(family, culture) for family in run.study.families for culture in conditions]
    missing = [f"{family} as {culture}" for family, culture in wanted if (family, culture) not in present]
    count = f"{len(wanted) - len(missing)} of {len(wanted)} cells" + (f"; not {some_of(missing)}" if missing else "")
    yield Gate(MISSING, not missing, count)
    yield from order_gates(records(_table(run, "reliability", "orders")), run.study.thresholds, WORDS.things)
    settings = Worldwise.of(run.study)
    if settings.has_reasons:
        shares = [{"model": name, "share": _share_parsed(run, name)} for name in chosen_models(run)]
        yield judged(
            PARSED,
            shares,
            lambda row: None if row["share"] is None else row["share"] >= settings.thresholds.parsed,
            lambda row: f"{row['model']} {row['share']:.0%}, {settings.thresholds.parsed:.0%} is asked for",
        )


def _conditions(run: Run) -> tuple[str, ...]:
    return (*Worldwise.of(run.study).cultures, *CONTROLS)


def _table(run: Run, asset: str, name: str) -> pd.DataFrame:
    return run.frames(asset).get(name, pd.DataFrame())


def _statuses(run: Run, *forms: str) -> pd.DataFrame:
    """Rows of the table of statuses, of these forms."""
    statuses = _table(run, "quality_report", "statuses")
    return (
        rows(statuses, statuses["form"].isin(forms))
        if len(statuses)
        else pd.DataFrame(columns=pd.Index(["model", "culture"]))
    )


def _share_parsed(run: Run, family: str) -> float | None:
    """Share of what a family wrote that can be read, of answers that are there and that nobody refused."""
    statuses = _table(run, "quality_report", "statuses")
    if not len(statuses):
        return None
    own = rows(statuses, (statuses["model"] == family) & (statuses["form"] != CHOICE))
    read, unread = (
        int(own.loc[own["status"].isin(statuses), "n_status"].sum())
        for statuses in ((OK, DECLINED), (LOOP, TRUNCATED, UNPARSED))
    )
    return read / (read + unread) if read + unread else None
