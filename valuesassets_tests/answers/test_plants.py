"""What is planted is learned so that it comes back as it is drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.answers.plants import before_temperature


@given(st.floats(0.01, 0.99), st.floats(0.2, 2))
def test_answers_drawn_at_a_temperature_come_in_the_planted_shares(share, temperature):
    learned = before_temperature([share, 1 - share], temperature)
    drawn = [each ** (1 / temperature) for each in learned]
    assert sum(learned) == pytest.approx(1)
    assert drawn[0] / sum(drawn) == pytest.approx(share)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_without_a_temperature_shares_are_learned_as_they_are(temperature):
    assert before_temperature([0.7, 0.3], temperature) == pytest.approx([0.7, 0.3])
