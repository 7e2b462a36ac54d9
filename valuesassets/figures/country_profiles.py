"""Which countries are the answers in a language close to, if no country is named?"""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import has_numbers, short
from valuesassets.figures.marks import draw_heat, mark, missing, row_pt, say_nothing
from valuesassets.measure.arrays import Array
from valuesassets.records.frames import records, rows, rows_where

MOST_IN = 7.8
"""Height of all panels together; further models are only in the table."""
ROW_IN = {8: 0.22, 16: 0.16, 1000: 0.125}
"""Height of a row, by how many a panel has at most."""
AROUND_IN = 0.62
"""Height of a panel beyond its rows, for its name and the names of countries."""
VALUES = ("closeness", "closeness_low", "closeness_high")


@style.styled
def draw_country_profiles(profiles: pd.DataFrame, planted: bool = False) -> Figure:
    """A panel for each model: closeness of each language (rows) to each country (columns), the own country boxed.

    Args:
        profiles: `model`, `language`, `country`, `closeness` with its ends, `is_own`.
    """
    measured = rows(profiles, profiles["closeness"].notna()) if has_numbers(profiles, "closeness") else profiles.head(0)
    models = [str(name) for name in dict.fromkeys(measured["model"])]
    heights = [_rows_in(rows_where(measured, model=name)) + AROUND_IN for name in models]
    n_shown = max(1, int((np.cumsum(heights) <= MOST_IN).sum())) if heights else 0
    caption = [
        "Closeness: minus the distance between the answers without a country and the answers for the country in the "
        "same language, minus the means of that language and of that country (half squared distance). Above 0: closer "
        "than other languages are to that country.",
        *([f"{len(models) - n_shown} more models are in the table."] * (len(models) > n_shown)),
    ]
    figure = style.new_figure(height_in=1.6 + (sum(heights[:n_shown]) or 1))
    panels = figure.subplots(max(1, n_shown), 1, squeeze=False, height_ratios=heights[:n_shown] or [1])[:, 0]
    if not n_shown:
        say_nothing(panels[0])
        panels[0].set_yticks([])
    most = float(np.abs(measured["closeness"].astype(float)).max()) if n_shown else 1.0
    for axes, name in zip(panels, models[:n_shown], strict=False):
        _draw_model(figure, axes, rows_where(measured, model=name), most or 1.0)
        axes.set_title(short(name, 60), fontsize=style.BODY_PT)
    own_mark = Patch(facecolor="none", edgecolor=style.BLACK, linewidth=1.4, label="the language's own country")
    has_gaps = any(len(rows_where(measured, model=each)) < _size(rows_where(measured, model=each)) for each in models)
    handles = [own_mark, mark("interval holds 0", "x", style.BLACK, markersize=4), *([missing("not there")] * has_gaps)]
    title = "Which countries are answers without a country close to?"
    return style.finish(figure, title, caption, handles, 3, planted)


def _size(part: pd.DataFrame) -> int:
    return part["language"].nunique() * part["country"].nunique()


def _rows_in(part: pd.DataFrame) -> float:
    n = part["language"].nunique()
    return max(0.66, n * next(height for most, height in ROW_IN.items() if n <= most))


def country_order(part: pd.DataFrame) -> list[str]:
    """Countries: the languages' own in the order of these, then the others.

    >>> country_order(pd.DataFrame({"country": ["A", "B", "C"], "is_own": [False, False, True]}))
    ['C', 'A', 'B']
    """
    own_countries = [str(name) for name in dict.fromkeys(rows(part, part["is_own"].astype(bool))["country"])]
    return own_countries + sorted({str(name) for name in part["country"]} - set(own_countries))


def _draw_model(figure: Figure, axes: Axes, part: pd.DataFrame, most: float) -> None:
    languages, countries = [str(name) for name in dict.fromkeys(part["language"])], country_order(part)
    values, low, high = (_table(part, name, languages, countries) for name in VALUES)
    bar = draw_heat(figure, axes, values, (-most, most), "closeness", ticks=(-most, 0, most), format="%.2g")
    bar.ax.tick_params(labelsize=style.SMALL_PT - 1)
    bar.outline.set_visible(False)  # type: ignore[operator]
    row_in = _rows_in(part) / len(languages)
    axes.set_yticks(np.arange(len(languages)) + 0.5, languages, fontsize=row_pt(row_in))
    size = style.SMALL_PT - (1 if len(countries) <= 24 else 2)
    axes.set_xticks(np.arange(len(countries)) + 0.5, countries, fontsize=size)
    holds = (low <= 0) & (high >= 0)
    shades = colormaps[style.COLOR_MAP](np.clip((values + most) / (2 * most), 0, 1))
    inks = np.array([[style.ink_on(tuple(shade)) == "white" for shade in row] for row in shades])
    marked: style.Keywords = {"ls": "", "marker": "x", "markersize": 3, "markeredgewidth": 0.7}
    for color, which in (("black", holds & ~inks), ("white", holds & inks)):
        down, across = np.nonzero(which)
        axes.plot(across + 0.5, down + 0.5, color=color, gid=f"holds 0 {color} {part['model'].iloc[0]}", **marked)
    _box_own(axes, part, languages, countries)


def _box_own(axes: Axes, part: pd.DataFrame, languages: list[str], countries: list[str]) -> None:
    for row in records(rows(part, part["is_own"].astype(bool))):
        down, across = languages.index(row["language"]), countries.index(row["country"])
        around = across + np.array([0.06, 0.94, 0.94, 0.06, 0.06]), down + np.array([0.08, 0.08, 0.92, 0.92, 0.08])
        axes.plot(*around, color="white", lw=2.6)
        axes.plot(*around, color=style.BLACK, lw=1.3, gid=f"own {row['model']} {row['language']}")


def _table(part: pd.DataFrame, name: str, languages: list[str], countries: list[str]) -> Array:
    table = part.pivot_table(index="language", columns="country", values=name, aggfunc="first")
    return table.reindex(index=languages, columns=countries).to_numpy(float)
