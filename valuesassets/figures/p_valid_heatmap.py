"""Heat map of P_valid per cell and question, with its median per model and language."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import marks, style
from valuesassets.measure.arrays import Array


@style.styled
def draw_p_valid_heatmap(
    probe: pd.DataFrame, p_valid_question: float = 0.10, dropped: Collection[str] = (), planted: bool = False
) -> Figure:
    """P_valid of every question (columns) in every cell (rows): unreliable ones are marked, unread ones hatched.

    Args:
        probe: `PROBE_DISTRIBUTIONS` of all cells.
        dropped: ids of the questions that no analysis uses; a triangle stands over their columns.
    """
    table = p_valid_by_cell(probe)
    values, questions = table.to_numpy(), list(table.columns)
    cells = [(str(model), str(language)) for model, language in table.index]
    rows_in = style.axes_height(len(cells), 0.16 if len(cells) > 12 else 0.24, 0.8, 6.4)
    figure = style.new_figure(height_in=rows_in + style.upright_height(questions, style.SMALL_PT - 1) + 1.6)
    axes = figure.add_subplot()
    _draw_p_valid(figure, axes, values, "P_valid")
    rows, columns = np.nonzero(values < p_valid_question)
    size = float(np.clip(0.5 * 72 * 5 / max(len(questions), 1), 2.5, 5))
    axes.plot(columns + 0.5, rows + 0.5, "x", color="white", markersize=size, markeredgewidth=0.8, gid="unreliable")
    over = [place + 0.5 for place, question in enumerate(questions) if question in set(dropped)]
    if over:
        axes.plot(over, np.full(len(over), -0.35), "v", color=style.BLACK, markersize=4, clip_on=False, gid="dropped")
    axes.set_xlabel(marks.name_columns(axes, questions))
    marks.label_rows(axes, cells, rows_in / len(cells))
    axes.hlines(marks.family_ends(cells), 0, len(questions), color=style.BLACK, lw=1.2, gid="between families")
    handles = [
        marks.mark(f"unreliable: below {p_valid_question:.2f}", "x", style.BLACK),
        marks.missing("could not be read"),
        *([marks.mark("question dropped", "v", style.BLACK)] if over else []),
    ]
    title = "Probability that the answer is one of the options"
    return style.finish(figure, title, handles=handles, planted=planted)


@style.styled
def draw_p_valid_by_language(probe: pd.DataFrame, p_valid_cell: float = 0.20, planted: bool = False) -> Figure:
    """Median P_valid over questions of each model (rows) in each language (columns); a frame around those below."""
    table = pd.Series(p_valid_by_cell(probe).median(axis=1)).unstack("language")
    values, (n_rows, n_columns) = table.to_numpy(), table.shape
    figure = style.new_figure(height_in=0.42 * n_rows + 2.0)
    axes = figure.add_subplot()
    _draw_p_valid(figure, axes, values, "median P_valid")
    marks.write_values(axes, values, (0, 1), style.SMALL_PT if n_columns <= 14 else style.SMALL_PT - 1)
    for row, column in np.argwhere(values < p_valid_cell):
        across = column + np.array([0.1, 0.9, 0.9, 0.1, 0.1])
        along = row + np.array([0.1, 0.1, 0.9, 0.9, 0.1])
        axes.plot(across, along, color="white", lw=3.4)
        axes.plot(across, along, color=style.BLACK, lw=1.4, gid="flagged")
    axes.set_xticks(np.arange(n_columns) + 0.5, list(table.columns), rotation=0 if n_columns <= 14 else 90)
    axes.set_yticks(np.arange(n_rows) + 0.5, list(table.index))
    flagged = Patch(facecolor="none", edgecolor=style.BLACK, linewidth=1.4, label=f"flagged: below {p_valid_cell:.2f}")
    handles = [flagged, marks.missing("not there")]
    return style.finish(figure, "Median P_valid per model and language", handles=handles, planted=planted)


def p_valid_by_cell(probe: pd.DataFrame) -> pd.DataFrame:
    """P_valid, mean over wordings, indexed by (model, language), one column per asked question in natural order."""
    distinct = probe.drop_duplicates(["model", "language", "question_id", "wording"])
    means = distinct.groupby(["model", "language", "question_id"])["p_valid"].mean()
    table = pd.DataFrame(means.unstack("question_id"))
    return table.reindex(columns=sorted(set(distinct["question_id"]), key=style.natural_order))


def _draw_p_valid(figure: Figure, axes: Axes, values: Array, label: str) -> None:
    n_rows, n_columns = values.shape
    bar = marks.draw_heat(figure, axes, values, (0, 1), label, ticks=(0, 0.5, 1))
    bar.outline.set_visible(False)  # type: ignore[operator]
    if n_columns <= 60:
        axes.vlines(np.arange(1, n_columns), 0, n_rows, color="white", lw=marks.GAP_PT)
    axes.hlines(np.arange(1, n_rows), 0, n_columns, color="white", lw=marks.GAP_PT)
