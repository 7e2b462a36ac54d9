"""One cell at a glance, for the page of a materialisation."""

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.marks import HATCH, missing, name_columns, rule
from valuesassets.records.frames import column, rows_where

OPTIONS = {0.0: "first option", 0.5: "middle", 1.0: "last option"}
"""By place on the scale, and in the colours."""


@style.styled
def draw_probe_cell(probe: pd.DataFrame, p_valid_question: float = 0.10, planted: bool = False) -> Figure:
    """P_valid of each question of a cell, and under it its averaged answer as a stacked bar, first option lowest."""
    first = rows_where(probe, wording=probe["wording"].min())
    questions = sorted(set(first["question_id"]), key=style.natural_order)
    places = {question: place for place, question in enumerate(questions)}
    model, language = str(probe["model"].iloc[0]), str(probe["language"].iloc[0])
    figure = style.new_figure(height_in=4.3 + style.upright_height(questions, style.SMALL_PT - 1))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.7))
    p_valid = first.drop_duplicates(["question_id"]).set_index("question_id")["p_valid"].reindex(questions)
    above.bar(range(len(questions)), p_valid.to_numpy(dtype=float), 0.9, color=style.BLUE, label="P_valid")
    above.axhline(p_valid_question, color=style.BLACK, lw=1, ls="--")
    above.set(ylim=(0, 1), ylabel="P_valid", yticks=(0, 0.5, 1))
    unread = _draw_answers(below, first, places)
    below.set_xlabel(name_columns(below, questions, middle=0))
    below.set(ylim=(0, 1), ylabel="share of answers", yticks=(0, 0.5, 1), xlim=(-0.6, len(questions) - 0.4))
    shade = colormaps[style.COLOR_MAP]
    handles = [
        *(Patch(facecolor=shade(end), label=name) for end, name in OPTIONS.items()),
        *([missing("could not be read")] if unread else []),
        rule(f"unreliable below {p_valid_question:.2f}", style.BLACK, "--"),
    ]
    notes = ["Answers: mean over the orders of the options, without the mass outside of them."]
    title = f"{model} in {language}: {len(questions)} questions"
    return style.finish(figure, title, notes, handles, n_columns=5, planted=planted)


def _draw_answers(axes: Axes, probe: pd.DataFrame, places: dict[str, int]) -> int:
    """Stacked bars, coloured by the option's place on its scale; the number of questions without an answer."""
    ordered = probe.sort_values(["question_id", "response_value"])
    groups = ordered.groupby("question_id", sort=False)
    sizes = column(ordered, "question_id").map(column(ordered, "question_id").value_counts())
    rank = groups.cumcount() / (sizes - 1).clip(lower=1)
    height = ordered["prob_averaged"].astype(float)
    floor = groups["prob_averaged"].cumsum() - height
    is_read = height.notna().to_numpy()
    across = column(ordered, "question_id").map(pd.Series(places))
    axes.bar(
        across[is_read], height[is_read], 0.9, bottom=floor[is_read], color=colormaps[style.COLOR_MAP](rank[is_read]),
        edgecolor="white", linewidth=0.3 if len(places) <= 60 else 0, label="answers",
    )  # fmt: skip
    unread = ordered.loc[~is_read, "question_id"].unique()
    axes.bar([places[q] for q in unread], 1, 0.9, facecolor="white", edgecolor=style.GREY, hatch=HATCH, label="unread")
    return len(unread)
