"""Answers drawn before and after, and the same model drawn twice."""

import numpy as np
import pytest

from valuesassets.comparing.exchanged_draws import exchanged_p

N, ITEMS, OPTIONS = 20, 30, 5
UNIT = np.tile(np.linspace(0, 1, OPTIONS), (ITEMS, 1))


def truth(random):
    return random.dirichlet(np.ones(OPTIONS), (1, 2, 1, ITEMS))


def drawn(shares, wordings, random):
    return random.multinomial(N, np.broadcast_to(shares, (1, 2, wordings, ITEMS, OPTIONS))) / N


def n_of(shares, n):
    return np.full(shares.shape[:-1], n)


def p_of(before, after, counts, random):
    return exchanged_p(before, after, n_of(before, counts[0]), n_of(after, counts[1]), UNIT, 99, random)


@pytest.mark.parametrize("wordings", [1, 2])
@pytest.mark.parametrize("counts", [(N, N), (0, N), (N, 0)])
def test_the_same_model_twice_is_rarely_two(wordings, counts):
    random = np.random.default_rng(0)
    p = []
    for _ in range(60):
        model = truth(random)
        exact = np.broadcast_to(model, (1, 2, wordings, ITEMS, OPTIONS))
        sides = [drawn(model, wordings, random) if n else exact for n in counts]
        p.append(p_of(*sides, counts, random))
    assert np.mean(np.array(p) <= 0.1) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 60)
    assert np.mean(p) == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("wordings", [1, 2])
def test_two_models_are_distinguished(wordings):
    random = np.random.default_rng(0)
    sides = [drawn(truth(random), wordings, random) for _ in range(2)]
    assert p_of(*sides, (N, N), random) <= 0.02
