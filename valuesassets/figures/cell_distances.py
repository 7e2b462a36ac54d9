"""Distances between cells: their matrix, a plane, their structure, and nearest neighbours."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from valuesassets.figures import marks, style
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.figures.labels import Name, write_names
from valuesassets.measure.arrays import Array
from valuesassets.records.frames import records, rows, rows_where

SIDE_IN = 5.75
"""Side of the matrix in a full page's width, without its names and the colour bar."""
MARKER_PT = 7
POOR_STRESS = 0.2
"""Source: Kruskal (1964), Psychometrika 29(1), 3."""
ROW_IN = 0.27
BY_CHANCE: style.Keywords = {"marker": "D", "color": style.VERMILLION, "markerfacecolor": "white"}
BAR_IN = 0.5
LEAST_SPAN = 0.2
"""Smallest range of distances, from 0 to 1, that the colours of the matrix cover."""
DISTANCES = {"jsd": "Jensen-Shannon distance", "cramer": "squared Cramér distance"}
"""The distances between answers in words."""
MEASURES = {"jsd": "jsd_distance", "cramer": "cramer_unit2"}
LABELS = {
    "jsd": "Jensen-Shannon distance (root of the divergence in bits)",
    "cramer": "Cramér distance (root of the squared distance without noise)",
}
PARTS = (
    ("other family, same language", style.BLUE, ""),
    ("own family, another language", style.ORANGE, "...."),
    ("other family, another language", "#FFFFFF", "////"),
)


@style.styled
def draw_jsd_heatmap(pairs: pd.DataFrame, planted: bool = False, distance: str = "jsd") -> Figure:
    """Distance between every two cells (`distances/pairs`), mean over the items that both answered.

    Of squared Cramér distances the roots are drawn, 0 for those below 0.
    """
    families = list(dict.fromkeys(pairs["model_a"]))
    cells = list(dict.fromkeys(zip(pairs["model_a"], pairs["language_a"], strict=True)))
    cells.sort(key=lambda cell: families.index(cell[0]))
    index = pd.MultiIndex.from_tuples(cells)
    wide = pairs.pivot(index=["model_a", "language_a"], columns=["model_b", "language_b"], values=MEASURES[distance])
    values = wide.reindex(index=index, columns=index).to_numpy(dtype=float)
    values = np.sqrt(np.maximum(values, 0)) if distance == "cramer" else values
    size = len(cells)
    side_in = min(SIDE_IN, 0.5 * size + 1)
    figure = style.new_figure(height_in=side_in + 1.35)
    axes = figure.add_subplot(aspect="equal")
    limits = _span_of_colours(values)
    label = LABELS[distance]
    marks.draw_heat(figure, axes, values, limits, label, extend="min" if limits[0] > 0 else "neither")
    if size <= 14:
        marks.write_values(axes, values, limits, style.SMALL_PT)
    axes.hlines(marks.family_ends(cells), 0, size, color="white", lw=2)
    axes.vlines(marks.family_ends(cells), 0, size, color="white", lw=2)
    marks.label_rows(axes, cells, side_in / size)
    languages = [language for _, language in cells]
    axes.set_xticks(np.arange(size) + 0.5, languages, rotation=90, fontsize=marks.row_pt(side_in / size))
    others = pairs.loc[pairs["n_items"] > 0, "n_items"]
    span = " to ".join(dict.fromkeys(str(int(each)) for each in (others.min(), others.max()))) if len(others) else ""
    notes = [f"Mean over {span} items per pair; columns stand in the order of the rows."] if span else []
    handles = [marks.missing("no common items")] if np.isnan(values).any() else []
    return style.finish(figure, "How far the cells' answers lie apart", notes, handles, planted=planted)


def _span_of_colours(values: Array) -> tuple[float, float]:
    """The range from the smallest to the largest distance between two cells, without the zeros of the diagonal.

    Where all are nearly alike the colours span more, so that differences which are next to nothing look so.
    """
    off_diagonal = values[~np.eye(len(values), dtype=bool)]
    finite = off_diagonal[np.isfinite(off_diagonal)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high - low >= LEAST_SPAN else (max(0.0, high - LEAST_SPAN), max(high, LEAST_SPAN))


@style.styled
def draw_mds_map(points: pd.DataFrame, planted: bool = False, distance: str = "jsd") -> Figure:
    """Multidimensional scaling of the distances between cells (`distances/points`); its axes have no meaning."""
    families = style.looks(points["model"])
    wide, high = (float(points[axis].max() - points[axis].min()) for axis in ("x", "y"))
    shape = min(1.0, max(0.35, high / wide)) if wide > 0 else 0.6
    figure = style.new_figure(height_in=6.6 * shape + 1.4)
    axes = figure.add_subplot()
    for family, look in families.items():
        cells = rows_where(points, model=family)
        axes.plot(cells["x"], cells["y"], ls="", marker=look.marker, color=look.color, markersize=MARKER_PT, gid=family)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.08)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    stress = float(points["stress"].iloc[0])
    rough = " A plane holds these distances badly (above .2): read the matrix." if stress > POOR_STRESS else ""
    scaled = "roots of squared Cramér distances" if distance == "cramer" else f"{DISTANCES[distance]}s"
    notes = [f"Multidimensional scaling of {scaled}; stress {stress:.3f}.{rough} Only the distances "
             "between points have a meaning, not the directions."]  # fmt: skip
    title = "Cells that answer alike lie close together"
    style.finish(figure, title, notes, marks.family_marks(families), planted=planted)
    names = [
        Name(row["x"], row["y"], row["language"], style.text_ink(families[row["model"]].color), marker_pt=MARKER_PT)
        for row in records(points)
    ]
    write_names(axes, names)
    return figure


@style.styled
def draw_distance_structure(
    groups: pd.DataFrame, shares: pd.DataFrame, planted: bool = False, distance: str = "jsd"
) -> Figure | None:
    """Distance within groups of languages minus between them (`distances/groups`), and shares of variance beside
    those by chance (`distances/variance_shares`): a panel for each that has rows, None where neither has.
    """
    drawn, split = (
        rows(table, table[name].notna()) if has_numbers(table, name) else table.iloc[:0]
        for table, name in ((groups, "difference"), (shares, "r2"))
    )
    if not len(drawn) and not len(split):
        return None
    figure = style.new_figure(height_in=1.9 + ROW_IN * max(len(drawn), 2 * len(split), 3))
    panels = iter(figure.subplots(1, 2, width_ratios=(1.2, 1)) if len(drawn) and len(split) else [figure.add_subplot()])
    handles = [marks.mark("found, with interval over items", "o", style.BLUE, ls="-")]
    notes = []
    if len(drawn):
        _draw_groups(next(panels), drawn)
        notes.append(f"Distances: mean {DISTANCES[distance]}; below 0 languages of a group answer more alike.")
    if len(split):
        _draw_shares(next(panels), split)
        handles.append(marks.mark("by chance", **BY_CHANCE))
        notes.append("Shares: PERMANOVA; only what exceeds the share by chance counts.")
    notes = [" ".join([*notes, "p: permuted labels, corrected within each family of tests."])]
    return style.finish(figure, "The structure of the distances between cells", notes, handles, planted=planted)


def _draw_groups(axes: Axes, groups: pd.DataFrame) -> None:
    axes.set_title("within groups - between groups")
    marks.draw_dots(axes, np.arange(len(groups)), groups, "difference", style.BLUE, size=5, gid="groups")
    axes.axvline(0, color=style.BLACK, lw=1)
    _finish(axes, [f"{row['model']}: {row['grouping']}" for row in records(groups)], groups)


def _draw_shares(axes: Axes, shares: pd.DataFrame) -> None:
    axes.set_title("share of variance (R²)")
    places, chance = np.arange(len(shares)), shares["r2_by_chance"]
    ends = {f"r2_{end}": chance + shares[f"excess_{end}"] for end in ("low", "high")}
    axes.plot(chance, places, ls="", markersize=5, zorder=2.1, gid="by chance", **BY_CHANCE)
    marks.draw_dots(axes, places, shares.assign(**ends), "r2", style.BLUE, size=4, zorder=2.2, gid="shares")
    axes.set_xlim(-0.02, 1)
    _finish(axes, [str(row["factor"]) for row in records(shares)], shares)


def _finish(axes: Axes, names: list[str], frame: pd.DataFrame) -> None:
    """Name the rows and write their p-values beside them."""
    marks.name_rows(axes, names, style.SMALL_PT)
    axes.locator_params(axis="x", nbins=4)
    for place, p in enumerate(frame["p_corrected" if "p_corrected" in frame else "p"]):
        if pd.notna(p):
            marks.write_beside(axes, place, "p < .001" if p < 0.001 else f"p {p:.3f}".replace("0.", "."))


@style.styled
def draw_nearest_neighbours(counts: pd.DataFrame, planted: bool = False, distance: str = "jsd") -> Figure | None:
    """A bar per row of `distances/neighbour_counts`: how many languages are nearest to which kind of cell.

    None where no family has languages that another has, too.
    """
    if not has_numbers(counts, "n_same_language"):
        return None
    drawn = rows(counts, counts["n_same_language"].notna())
    figure = style.new_figure(height_in=1.9 + BAR_IN * len(drawn))
    axes = figure.add_subplot()
    for place, row in enumerate(records(drawn)):
        same, own_family = row["n_same_language"], row["n_own_family"]
        start = 0.0
        for (name, color, hatch), width in zip(
            PARTS, (same, own_family, row["n_languages"] - same - own_family), strict=True
        ):
            look: style.Keywords = {"facecolor": color, "edgecolor": style.BLACK, "hatch": hatch, "lw": 0.8}
            axes.barh(place, width, 0.6, left=start, gid=name, **look)
            if width:
                axes.text(
                    start + width / 2, place, f"{width:.0f}", ha="center", va="center", fontsize=style.SMALL_PT,
                    color="white" if color == style.BLUE else "black",
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": color, "edgecolor": "none"},
                )  # fmt: skip
            start += width
        axes.plot(
            [row["n_same_language_by_chance"]] * 2, [place - 0.42, place + 0.42], color=style.VERMILLION, lw=2,
            gid="by chance", path_effects=[withStroke(linewidth=4.5, foreground="white")],
        )  # fmt: skip
        marks.write_beside(axes, place, f"{row['mean_rank']:.1f} ({row['mean_rank_by_chance']:.1f})", style.SMALL_PT)
    marks.write_beside(axes, -0.72, "mean rank of same\nlanguage (by chance)", va="bottom", style="italic")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    names = [f"{row['model']}\n(other: {row['other']})" for row in records(drawn)]
    marks.name_rows(axes, names, style.SMALL_PT, has_grid=False)
    axes.set_xlabel("languages, by their nearest neighbour")
    handles = [
        *(Patch(facecolor=color, edgecolor=style.BLACK, hatch=hatch, label=name) for name, color, hatch in PARTS),
        marks.rule("same language by chance", style.VERMILLION, lw=2),
    ]
    nearest = f"Nearest by mean {DISTANCES[distance]}"
    notes = [f"{nearest}; rank of the same language among the other family's cells."]
    title = "Language or family: whom do cells answer most alike?"
    return style.finish(figure, title, notes, handles, n_columns=2, planted=planted)
