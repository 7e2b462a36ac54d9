"""Answers to a few single questions."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.marks import mark
from valuesassets.records.frames import rows_where
from valuesassets.records.settings.measuring import USUAL, Inference

Example = tuple[str, str, str]
"""Model family, language, asked question id."""

BAR, MOST = 0.4, 9
ORDER_MARKS = {"forward": "^", "reversed": "v"}
ORDER: style.Keywords = {"color": style.BLACK, "markerfacecolor": "white"}
PEOPLE: style.Keywords = {"facecolor": "white", "edgecolor": style.VERMILLION, "hatch": "////"}


@style.styled
def draw_example_distributions(
    probe: pd.DataFrame,
    human: pd.DataFrame | None = None,
    examples: Sequence[Example] | None = None,
    planted: bool = False,
    inference: Inference = USUAL,
) -> Figure:
    """Small multiples: the averaged answer as bars, both orders as marks on them, the human answer beside it.

    Args:
        probe, human: `PROBE_DISTRIBUTIONS` of all cells and `HUMAN_DISTRIBUTIONS`, where there are some.
        examples: cells and questions to draw; by default one per response type and language in turn.
    """
    chosen = choose_examples(probe, human) if examples is None else list(examples)
    n_columns = 3
    n_rows = max(1, -(-len(chosen) // n_columns))
    figure = style.new_figure(height_in=1.1 + 1.75 * n_rows)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes, example in zip(panels, chosen, strict=False):
        _draw_example(axes, probe, human, example, inference.level)
    for axes in panels[len(chosen) :]:
        axes.set_visible(False)
    for axes in panels[::n_columns]:
        axes.set_ylabel("probability")
    notes = ["Answers of one question sum to 1. Across: answer codes. Marks: the two orders of the options."]
    handles = [Patch(facecolor=style.BLUE, label="model, averaged")]
    handles += [mark(f"model, {order}", marker, **ORDER) for order, marker in ORDER_MARKS.items()]
    if human is not None and len(human):
        sources = ", ".join(sorted(set(human["source"])))
        handles.append(Patch(label=f"respondents ({sources})", **PEOPLE))
        notes.append(f"Bars on respondents: {inference.level:.0%} interval of a weighted share, by its design effect.")
    return style.finish(figure, "What single answers look like", notes, handles, n_columns=5, planted=planted)


def choose_examples(probe: pd.DataFrame, human: pd.DataFrame | None = None) -> list[Example]:
    """Up to nine readable examples, response types and then cells in turn; those with a human answer come first."""
    read = rows_where(probe, status="ok", wording=probe["wording"].min())
    distinct = read.drop_duplicates(["model", "language", "question_id"])
    cells = list(dict.fromkeys(zip(distinct["model"], distinct["language"], strict=True)))
    with_people = set() if human is None else set(zip(human["language"], human["question_id"], strict=True))
    kinds = sorted(distinct["response_type"].unique(), key=style.natural_order)
    chosen: list[Example] = []
    for turn in range(MOST):
        if not kinds:
            break
        model, language = cells[(turn * (len(cells) // MOST + 1)) % len(cells)]
        fitting = rows_where(distinct, model=model, language=language, response_type=kinds[turn % len(kinds)])
        ordered = sorted(fitting["question_id"], key=style.natural_order)
        candidates = [e for q in ordered if (e := (model, language, q)) not in chosen]
        candidates.sort(key=lambda e: (e[1], e[2]) not in with_people)
        chosen += candidates[:1]
    return chosen


def _draw_example(axes: Axes, probe: pd.DataFrame, human: pd.DataFrame | None, example: Example, level: float) -> None:
    model, language, question = example
    of_cell = rows_where(probe, model=model, language=language, question_id=question)
    answers = of_cell.groupby("response_value")[["prob_averaged", "prob_forward", "prob_reversed"]].mean()
    people, reach = None, None
    if human is not None:
        of_question = rows_where(human, language=language, question_id=question)
        grouped = of_question.groupby("response_value")
        people = pd.Series(grouped["prob"].mean()).reindex(answers.index).astype(float)
        effective = (grouped["n"].first() / grouped["design_effect"].first()).reindex(answers.index)
        # A mean of shares that are all 1 may exceed 1 by rounding.
        reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt((people * (1 - people)).clip(lower=0) / effective)
    places = np.arange(len(answers))
    positions = places - BAR / 2 if people is not None else places
    axes.bar(positions, answers["prob_averaged"], BAR, color=style.BLUE, label="model")
    for order, marker in ORDER_MARKS.items():
        column = f"prob_{order}"
        look = style.Keywords(marker=marker, markersize=4, markeredgewidth=0.8) | ORDER
        axes.plot(positions, answers[column], ls="", gid=column, **look)
    if people is not None:
        right = places + BAR / 2
        axes.bar(right, people, BAR, label="human", **PEOPLE)
        axes.errorbar(right, people, reach, ls="", ecolor=style.BLACK, elinewidth=0.9, capsize=1.5, label="interval")
    kind = of_cell["response_type"].iloc[0]
    axes.set_title(f"{question} ({kind}), {language}\n{model}", fontsize=style.SMALL_PT)
    axes.set_xticks(places, [str(value) for value in answers.index])
    axes.tick_params(labelsize=style.SMALL_PT)
    axes.set_ylim(0, max(0.5, float(np.nanmax(axes.get_ylim()))))
    axes.locator_params(axis="y", nbins=4)
