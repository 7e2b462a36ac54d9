"""What the picture of reliability shows where little was measured."""

import numpy as np
import pandas as pd

from valuesassets.figures.position_bias import draw_order_effect
from valuesassets.figures.reliability import draw_reliability

COMPONENTS = pd.DataFrame({"scope": "all families", "source": ["language", "family"], "share": [0.6, 0.4]})


def families(generalizability):
    return pd.DataFrame({"model": ["a", "b"], "threshold": 0.5, "generalizability": generalizability})


def test_without_a_coefficient_the_shares_alone_are_drawn():
    figure = draw_reliability(families([np.nan, np.nan]), COMPONENTS)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "share of the variance of item-centred expected values"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["language", "family"]


def test_the_legend_names_the_coefficients_that_are_drawn():
    figure = draw_reliability(families([0.7, np.nan]), COMPONENTS)
    assert len(figure.axes) == 2
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["over wordings: all differences between languages", "language", "family"]


def test_the_legend_of_order_effects_names_the_families_that_have_one():
    table = pd.DataFrame({"model": ["a", "b"], "response_type": "all", "order_to_language": [2.0, np.nan]})
    table = table.assign(order_to_language_low=np.nan, order_to_language_high=np.nan)
    figure = draw_order_effect(table)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a"]
