"""How far the order of the options moves answers: by response type and family, and beside what the language does."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from valuesassets.figures import style
from valuesassets.figures.marks import draw_dots, family_marks, name_rows, rule, shift
from valuesassets.records.frames import column, rows, rows_where

FINE_TICKS = (0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10)
TICKS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
FARTHEST = 1e4
"""Ratio up to which marks are drawn; where nothing but the order moves answers, it has no bound."""
RATIO = "order_to_language"


@style.styled
def draw_position_bias_dist(probe: pd.DataFrame, position_bias: float = 0.20, planted: bool = False) -> Figure:
    """Box plots of position bias over readings (question, language, wording): one box per response type and family."""
    readings = probe.drop_duplicates(["model", "language", "question_id", "wording"])
    readings = rows(readings, readings["position_bias_magnitude"].notna())
    families = style.looks(readings["model"])
    kinds = sorted(set(readings["response_type"]), key=style.natural_order)
    figure = style.new_figure(height_in=1.5 + len(kinds) * (0.22 + 0.24 * len(families)))
    axes = figure.add_subplot()
    right = min(1.0, 1.05 * max(1.5 * position_bias, *readings["position_bias_magnitude"], 0.1))
    step = 0.8 / max(len(families), 1)
    for number, (family, look) in enumerate(families.items()):
        groups = [
            column(rows_where(readings, model=family, response_type=kind), "position_bias_magnitude").to_numpy()
            for kind in kinds
        ]
        heights = np.arange(len(kinds)) + shift(number, len(families), step)
        axes.boxplot(
            groups, positions=heights, widths=step * 0.78, orientation="horizontal", patch_artist=True, whis=(5, 95),
            boxprops={"facecolor": style.tint(look.color), "edgecolor": look.color, "hatch": look.hatch},
            medianprops={"color": style.BLACK, "lw": 1.8},
            flierprops={"marker": look.marker, "markersize": 2.5, "markerfacecolor": "none", "markeredgewidth": 0.5},
        )  # fmt: skip
        for height, group in zip(heights, groups, strict=True):
            axes.text(1.01 * right, height, f"{len(group)}", va="center", fontsize=style.SMALL_PT - 1, clip_on=False)
    axes.axvline(position_bias, color=style.BLACK, ls="--", lw=1)
    axes.text(1.01 * right, -0.6, "n", va="center", fontsize=style.SMALL_PT - 1, style="italic", clip_on=False)
    axes.set_xlim(0, right)
    axes.set_xlabel("position bias: largest |forward − reversed| probability of an answer")
    name_rows(axes, kinds, above=0.5, below=0.5)
    handles = [
        *(
            Patch(facecolor=style.tint(look.color), edgecolor=look.color, hatch=look.hatch, label=name)
            for name, look in families.items()
        ),
        rule(f"threshold {position_bias:.2f}", style.BLACK, "--"),
    ]
    notes = ["Box: quartiles and median; whiskers: 5th to 95th percentile; marks: readings outside; n: readings."]
    title = "How far the order of the options moves the answer"
    return style.finish(figure, title, notes, handles, planted=planted)


@style.styled
def draw_order_effect(by_response_type: pd.DataFrame, planted: bool = False) -> Figure:
    """Spread of expected values between orders over that between languages (`position_bias/by_response_type`)."""
    measured = rows(by_response_type, by_response_type[RATIO] > 0)
    families = style.looks(by_response_type["model"])
    kinds = sorted(set(measured["response_type"]) - {"all"}, key=style.natural_order)
    kinds = ["all"] * ("all" in set(measured["response_type"])) + kinds
    figure = style.new_figure(height_in=1.6 + max(len(kinds), 1) * (0.14 + 0.17 * len(families)))
    axes = figure.add_subplot()
    ratios = [f"{RATIO}_low", f"{RATIO}_high", RATIO]
    for number, (family, look) in enumerate(families.items()):
        of_family = rows_where(measured, model=family).set_index("response_type").reindex(kinds)[ratios]
        within = pd.DataFrame(of_family.clip(1 / FARTHEST, FARTHEST))
        places = np.arange(len(kinds)) + shift(number, len(families), 0.7 / len(families))
        draw_dots(axes, places, within, RATIO, look.color, look.marker, gid=family)
    axes.axvline(1, color=style.BLACK, lw=1)
    axes.set_xscale("log")
    ends = measured[ratios].to_numpy(dtype=float)
    finite = ends[np.isfinite(ends) & (ends > 0)]
    reach = min(FARTHEST, max([2.2, *np.maximum(finite, 1 / finite)]))
    margin = 1.1 * reach**0.03  # so that a mark at the end stands whole inside
    axes.set_xlim(1 / reach / margin, reach * margin)
    axes.xaxis.set_major_locator(FixedLocator(FINE_TICKS if reach <= FINE_TICKS[-1] else TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    name_rows(axes, ["all together" if kind == "all" else kind for kind in kinds], above=0.5, below=0.5)
    axes.set_xlabel("spread between orders over spread between languages")
    note = (
        "Standard deviations of expected values; right of 1 the order moves answers more than the language does. "
        "Bars: intervals over items, where there are two or more."
    )
    title = "What moves answers more, the order of the options or the language?"
    marked = {family: look for family, look in families.items() if family in set(measured["model"])}
    return style.finish(figure, title, [note], family_marks(marked, ls="-"), planted=planted)
