"""Numbers in the cells of a table of shades."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from valuesassets.figures.marks import write_values


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, ".00"), (0.104, ".10"), (0.9, ".90"), (0.994, ".99"), (0.9951, "1.0"), (1.0, "1.0"), (12.34, "12.3")],
)
def test_a_value_has_two_decimals_below_one_and_one_from_there_on(value, text):
    axes = Figure().subplots()
    write_values(axes, np.array([[np.nan, value]]), (0.0, 1.0), 6.0)
    assert [written.get_text() for written in axes.texts] == [text]
