"""Where may an answer not be read off one token? The share of candidates that have several, by model and kind."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import short
from valuesassets.figures.marks import draw_heat, missing, name_columns, row_pt, say_nothing, write_values
from valuesassets.records.frames import rows

SHARE = "share_multi_token"
MOST_WRITTEN = 16
"""Columns up to which each share is written in its cell."""


@style.styled
def draw_multi_token_share(shares: pd.DataFrame, planted: bool = False) -> Figure:
    """A shade for each model and kind of mark.

    Args:
        shares: `model`, `kind` (named as its column), `share_multi_token`.
    """
    measured = rows(shares, shares[SHARE].notna())
    models, kinds = (list(dict.fromkeys(shares[name])) for name in ("model", "kind"))
    row_in = 0.17 if len(models) > 12 else 0.3
    longest = style.upright_height([short(str(kind), 34) for kind in kinds], style.SMALL_PT - 1)
    height = min(style.PAGE_HEIGHT_IN, 1.3 + row_in * max(2, len(models)) + longest)
    figure = style.new_figure(height_in=height)
    axes = figure.add_subplot()
    title = "Which answers have several tokens?"
    if not len(measured):
        say_nothing(axes)
        axes.set_yticks([])
        return style.finish(figure, title, planted=planted)
    table = measured.pivot_table(index="model", columns="kind", values=SHARE, aggfunc="first")
    values = table.reindex(index=models, columns=kinds).to_numpy(dtype=float)
    draw_heat(figure, axes, values, (0.0, 1.0), "share")
    if len(kinds) <= MOST_WRITTEN:
        write_values(axes, values, (0.0, 1.0), row_pt(row_in) - 1)
    axes.set_yticks(np.arange(len(models)) + 0.5, [short(str(model)) for model in models], fontsize=row_pt(row_in))
    name_columns(axes, [short(str(kind), 34) for kind in kinds])
    caption = (
        "Shares of the candidates that may be answered at a kind of mark. A candidate of several tokens is as likely "
        "as all of them in turn; reading the first alone gives it the share of every candidate that begins so."
    )
    handles = [missing("not read")] if np.isnan(values).any() else []
    return style.finish(figure, title, [caption], handles, 3, planted)
