"""What was asked and what was answered: every question with its options, a bar for each cell, both orders below it."""

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from valuesassets.figures import style
from valuesassets.records.frames import records, rows_where

MOST_SHEETS = 12
"""Further pages are not drawn: the table has every question."""
BARS = (("prob", 0.0, 0.46), ("prob_forward", 0.34, 0.13), ("prob_reversed", 0.5, 0.13))
"""Which share, how far below the row's middle, and how high: the mean of both orders, then each of them."""
SHOWN_SHARE = 0.12
"""A smaller share has no room for its number."""
MOST_NAMED = 7
"""Scales with more options have their ends named alone."""
ROW_IN, LINE_IN, KEY_IN = 0.27, 0.17, 0.2
NAMES_IN = 1.3
"""Width that the names of cells take of a figure."""
V_IN = 0.5
"""Width on the right for P_valid."""
HOW = (
    "Thick bars: mean of both orders. Thin bars: options as printed, then reversed. V: P_valid, the probability of any "
    "answer."
)


@style.styled
def draw_question_answers(
    options: pd.DataFrame, planted: bool = False, width_in: float = style.PAGE_WIDTH_IN
) -> Figure | None:
    """A block for each question: its text, its options in their order, and a row for each model in each language.

    Args:
        options: rows of `survey/question_answers/options`; an answer that cannot be used has its reason in its row.
        width_in: of the figure.
    """
    if "sheet" in options and len(options) and int(options["sheet"].iloc[0]) > MOST_SHEETS:
        return None
    ids = list(dict.fromkeys(options["question_id"]))
    blocks = [rows_where(options, question_id=each) for each in ids]
    titles = [_title(block, width_in) for block in blocks]
    keys = [_key(block) for block in blocks]
    n_rows = [len(block.drop_duplicates(["model", "language"])) for block in blocks]
    columns = [_columns(key, width_in) for key in keys]
    heights = [
        ROW_IN * rows + LINE_IN * (title.count("\n") + 1) + KEY_IN * math.ceil(len(key) / max(across, 1)) + 0.2
        for rows, title, key, across in zip(n_rows, titles, keys, columns, strict=True)
    ]
    figure = style.new_figure(height_in=sum(heights) + 1.0 + 0.25 * planted, width_in=width_in)
    panels = figure.subplots(len(blocks), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, block, title, key, across in zip(panels, blocks, titles, keys, columns, strict=True):
        axes.set_title(title, fontsize=style.BODY_PT - 1, weight="bold")
        _draw_block(axes, block, width_in)
        if key:
            axes.legend(
                handles=_row_by_row(key, across), loc="upper left", bbox_to_anchor=(0, 0), ncols=across,
                fontsize=style.SMALL_PT, handlelength=1, handleheight=0.9, columnspacing=1, borderpad=0.1,
                handletextpad=0.4,
            )  # fmt: skip
    return style.finish(figure, "What was asked and answered", [HOW], planted=planted)


def _title(block: pd.DataFrame, width_in: float) -> str:
    """The question in the languages that it was asked in, each once."""
    texts = list(dict.fromkeys(block["question"]))
    lines = [f"{block['question_id'].iloc[0]}: {texts[0]}", *texts[1:3]]
    if len(texts) > 3:
        lines.append(f"... and in {len(texts) - 3} more languages")
    return "\n".join(style.wrap(" ".join(line.split()), width_in - NAMES_IN, style.BODY_PT) for line in lines)


def _colors(n: int) -> list[Any]:
    """From light to dark, so that an order is seen in black and white."""
    return [mpl.colormaps[style.COLOR_MAP](place) for place in np.linspace(0.97, 0.12, n)]


def _scale(block: pd.DataFrame) -> dict[int, str]:
    """Code and words of the options, in their order, in the first language that has them."""
    first = block.drop_duplicates("response_value")
    return {int(row["response_value"]): str(row["option"]) for row in records(first)}


def _key(block: pd.DataFrame) -> list[Patch]:
    scale = _scale(block)
    entries = {code: f"{code} {words}" if words != str(code) else words for code, words in scale.items()}
    if len(scale) > MOST_NAMED:
        ends = {next(iter(scale)), next(reversed(scale))}
        entries = {code: words for code, words in entries.items() if code in ends}
    colors = dict(zip(scale, _colors(len(scale)), strict=True))
    return [
        Patch(facecolor=colors[code], edgecolor=style.GREY, lw=0.4, label=_short(entries[code])) for code in entries
    ]


def _short(text: str, most: int = 44) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _columns(key: Sequence[Patch], width_in: float) -> int:
    longest = max((len(str(each.get_label())) for each in key), default=1)
    return max(1, min(len(key), int((width_in - 1.9) * 72 / (0.56 * style.SMALL_PT) // (longest + 4))))


def _row_by_row(key: Sequence[Patch], across: int) -> list[Patch]:
    """A legend is filled column by column: entries so that it reads row by row."""
    return [each for column in range(across) for each in key[column::across]]


def _draw_block(axes: Axes, block: pd.DataFrame, width_in: float) -> None:
    scale = _scale(block)
    colors = dict(zip(scale, _colors(len(scale)), strict=True))
    cells = records(block.drop_duplicates(["model", "language"]))
    most = int((width_in - NAMES_IN - V_IN) * 72 / (0.52 * style.SMALL_PT))
    for place, cell in enumerate(cells):
        rows = records(rows_where(block, model=cell["model"], language=cell["language"]))
        if pd.isna(rows[0]["prob"]):
            axes.text(0.005, place, _short(f"not shown: {rows[0]['reason']}", most), va="center",
                      fontsize=style.SMALL_PT, style="italic", color=style.GREY)  # fmt: skip
            continue
        for name, below, height in BARS:
            left = 0.0
            for row in rows:
                color = colors[int(row["response_value"])]
                corner = (left, place + below - height / 2)
                axes.add_artist(Rectangle(corner, row[name], height, facecolor=color, edgecolor=style.GREY, lw=0.3,
                                          gid=f"{name} {cell['model']} {cell['language']}"))  # fmt: skip
                if name == "prob" and row[name] >= SHOWN_SHARE:
                    ink = "white" if style.luminance(color[:3]) < 0.3 else "black"
                    axes.text(left + row[name] / 2, place, f"{row[name]:.0%}", ha="center", va="center", color=ink,
                              fontsize=style.SMALL_PT - 1)  # fmt: skip
                left += row[name]
        axes.text(1.01, place, f"V {rows[0]['p_valid']:.2f}", va="center", fontsize=style.SMALL_PT - 1)
    axes.set(xlim=(0, 1), ylim=(len(cells) - 0.3, -0.4), xticks=[])
    names = [f"{cell['model']} {cell['language']}" for cell in cells]
    axes.set_yticks(range(len(cells)), [_short(name, 26) for name in names], fontsize=style.SMALL_PT)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
