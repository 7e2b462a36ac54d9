"""The line that the UI shows about the tables of each shared analysis."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from valuesassets.records.frames import rows_where

Frames = Mapping[str, pd.DataFrame]


def by_family(rows: pd.DataFrame, describe: Callable[[Any], str]) -> str:
    """A description of each family, separated by semicolons."""
    families: Any = rows.itertuples()
    return "; ".join(f"{row.model}: {describe(row)}" for row in families) or "no family to judge"


def reliability(frames: Frames) -> str:
    """The generalizability of each family's differences between languages."""

    def say(row: Any) -> str:
        if pd.isna(row.generalizability):
            return "not measured"
        beyond = "" if pd.isna(row.beyond_position) else f" ({row.beyond_position:.2f} beyond position)"
        return f"generalizability {row.generalizability:.2f}{beyond}"

    return by_family(frames["families"], say)


def signal(frames: Frames) -> str:
    """The verdict on each family."""
    return by_family(frames["verdicts"], lambda row: str(row.verdict))


def distances(frames: Frames) -> str:
    """The number of cells and their mean distance."""
    pairs = frames["pairs"]
    if not len(pairs):
        return "no two cells to compare"
    apart = pairs.loc[(pairs.model_a != pairs.model_b) | (pairs.language_a != pairs.language_b)]
    n_cells = len(pairs[["model_a", "language_a"]].drop_duplicates())
    is_cramer = "cramer_unit2" in apart
    distance = apart.cramer_unit2 if is_cramer else apart.jsd_distance
    if not distance.notna().any():
        return f"{n_cells} cells, no two of which share an item"
    if is_cramer:
        return f"{n_cells} cells; mean squared Cramér distance between two of them {distance.mean():.4f}"
    return f"{n_cells} cells; mean Jensen-Shannon distance between two of them {distance.mean():.2f}"


def human_comparison(frames: Frames) -> str:
    """The mean rank of each family's own countries among all countries."""
    families = frames["own_country"]
    if "mean_rank" not in families:
        return "no people to compare with"
    models = families.loc[(families.kind == "model") & families.mean_rank.notna()]
    template = "own country ranks {row.mean_rank:.1f} of {row.n_countries} (chance {row.mean_rank_by_chance:.1f})"
    return by_family(models, lambda row: template.format(row=row))


def mono_vs_multi(frames: Frames) -> str:
    """The differences between monolingual and multilingual families in agreement with their own country."""
    summary = frames["summary"]
    differences: Any = rows_where(summary, measure="own_country_agreement").itertuples() if len(summary) else ()
    template = "own-country agreement of {0.mono} minus {0.multi}: {0.mean_difference:+.3f} [{0.low:.3f}, {0.high:.3f}]"
    return "; ".join(map(template.format, differences)) or "nothing to pair"


def position_bias(frames: Frames) -> str:
    """The size of each family's position bias."""
    rows = frames["by_response_type"]
    models = rows_where(rows, kind="model", response_type="all") if len(rows) else rows
    return by_family(models, lambda row: f"position bias {row.position_bias_magnitude:.2f}")
