"""Monolingual against multilingual models, paired per language."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from valuesassets.figures import style
from valuesassets.figures.marks import mark, say_nothing
from valuesassets.records.frames import records

_PANELS = (
    ("agreement", "own-country\nagreement", "correlation with the own\nminus the others (up to 2)"),
    ("advantage", "own-country\nadvantage", "bits"),
    ("distance_own", "distance to\nown country", "Jensen-Shannon\ndistance"),
    ("entropy_bits", "entropy", "bits"),
)
_PANELS_OF = {
    "cramer": (
        _PANELS[0],
        ("advantage", "own-country\nadvantage", "squared Cramér\ndistance"),
        ("cramer_unit2", "distance to\nown country", "squared Cramér\ndistance"),
        _PANELS[3],
    )
}
"""The panels where a study uses another distance."""


@style.styled
def draw_mono_vs_multi(
    pairs: pd.DataFrame,
    summary: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
    planted: bool = False,
    distance: str = "jsd",
) -> Figure:
    """Own-country agreement and advantage, raw distance and entropy of both families, one row per language.

    Args:
        pairs: rows of `mono_vs_multi/pairs` of one pair of families.
        summary: those of `mono_vs_multi/summary`, said under the figure, as `notes` are.
    """
    differences = pairs["agreement_mono"] - pairs["agreement_multi"]
    ordered = pairs.assign(apart=differences).sort_values(["apart", "difference"], kind="stable").reset_index(drop=True)
    families = {kind: str(ordered[kind].iloc[0]) for kind in ("mono", "multi")}
    looks = style.looks(families.values())
    looks_of: dict[str, style.Keywords] = {
        kind: {
            "marker": looks[family].marker, "color": looks[family].color, "markersize": 6,
            "markerfacecolor": "white" if kind == "multi" else looks[family].color,
        }
        for kind, family in families.items()
    }  # fmt: skip
    rows = np.arange(len(ordered))
    figure = style.new_figure(height_in=1.9 + 0.22 * len(ordered) + 0.14 * 6)
    panels = figure.subplots(1, 4, sharey=True, width_ratios=(1.5, 1.2, 1, 1))
    for axes, (measure, title, label) in zip(panels, _PANELS_OF.get(distance, _PANELS), strict=True):
        ends = ordered[[f"{measure}_mono", f"{measure}_multi"]].to_numpy(dtype=float)
        axes.hlines(rows, ends.min(axis=1), ends.max(axis=1), color=style.GREY, lw=1)
        for of_kind, (kind, family) in zip(ends.T, families.items(), strict=True):
            axes.plot(of_kind, rows, ls="", gid=f"{measure} {family}", **looks_of[kind])
        if np.isnan(ends).all():
            say_nothing(axes)
        else:
            n_ticks = 5 if measure == "agreement" else 3
            axes.xaxis.set_major_locator(MaxNLocator(n_ticks, steps=[1, 2, 5, 10], min_n_ticks=1))
        axes.set_title(title)
        axes.set_xlabel(label, fontsize=style.SMALL_PT)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
    for axes in panels[:2]:
        axes.axvline(0, color=style.BLACK, lw=1)
    panels[0].set_yticks(rows, [f"{row['language']} ({row['country']})" for row in records(ordered)])
    panels[0].set_ylim(-0.7, len(ordered) - 0.3)
    handles = [mark(f"{family} ({kind})", **looks_of[kind]) for kind, family in families.items()]
    title = "Whose answers agree more with the country of their language?"
    return style.finish(figure, title, [*_lines(summary), *notes], handles, planted=planted)


def _lines(summary: pd.DataFrame | None) -> list[str]:
    """One line per measure."""
    if summary is None:
        return []
    return [
        f"{row['measure'].replace('_', ' ')}, mono - multi: {row['mean_difference']:+.3f} "
        f"[{row['low']:+.3f}, {row['high']:+.3f}] ({row['level']:.0%} interval over {row['source_of_variation']}), "
        f"{_sign_test(row)}{row['n_pairs']} languages."
        for row in records(summary)
        if pd.notna(row["low"])
    ]


def _sign_test(row: Mapping[str, Any]) -> str:
    """Its p-value, corrected where that is known; nothing where none was made."""
    if pd.isna(row["p_sign_test"]):
        return ""
    corrected = row.get("p_corrected")
    more = f" ({_p_value(corrected)} corrected)" if corrected is not None and pd.notna(corrected) else ""
    return f"sign test p {_p_value(row['p_sign_test'])}{more}, "


def _p_value(p: float) -> str:
    """Three decimals, and never a zero that is none.

    >>> _p_value(0.0000004), _p_value(0.25)
    ('< 0.001', '= 0.250')
    """
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
