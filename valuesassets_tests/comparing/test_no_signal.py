"""Simulations: a family without signal is called a signal no more often than the stated level, a real one is."""

import numpy as np
import pytest
from scipy.stats import binom

from valuesassets.measure.resampling import permutation_p
from valuesassets_tests.comparing.planted_grid import demo, planted_in
from valuesassets_tests.instruments.survey.asked import ask

N_SIMULATIONS, PERMUTATIONS, LEVEL, DRAWN = 40, 99, 0.05, 200
QUESTIONS = [ask("v7"), ask("v39", 10), ask("v31", 2), ask("v46", 5), ask("v115"), ask("v153", 10), ask("v98", 3)]


def planted(study, family):
    """The planted probabilities of a family, (K,) by item within language."""
    rows = planted_in(study, dict.fromkeys(study.languages, QUESTIONS), [family])
    parts = dict(iter(rows.groupby(["language", "question_id"])["prob_averaged"]))
    return [[parts[language, question.id].to_numpy() for question in QUESTIONS] for language in study.languages]


def mean_answers(probs, rng):
    """(languages, items) mean of so many answers drawn, on the unit scale."""
    return np.array([[rng.multinomial(DRAWN, p) @ np.linspace(0, 1, len(p)) / DRAWN for p in row] for row in probs])


def signal_p(answers, people, rng):
    """One-sided p of the item-centred correlation, languages permuted jointly across items."""
    answers, people = (each - each.mean(axis=0) for each in (answers, people))
    observed = np.corrcoef(answers.ravel(), people.ravel())[0, 1]
    shuffled = [answers[rng.permutation(len(answers))] for _ in range(PERMUTATIONS)]
    return permutation_p(observed, [np.corrcoef(each.ravel(), people.ravel())[0, 1] for each in shuffled])


@pytest.mark.slow
def test_no_signal_is_seldom_called_a_signal_and_a_planted_one_often():
    mono = demo().families["reference-mono"]
    families = {"values": mono, "nothing": mono.model_copy(update={"plants": "no-signal"})}
    called = {"values": 0, "nothing": 0}
    for seed in range(N_SIMULATIONS):
        study = demo().model_copy(update={"seed": seed, "families": families})
        rng = np.random.default_rng(seed)
        probs = {family: planted(study, family) for family in families}
        people = mean_answers(probs["values"], rng)
        for family in families:
            called[family] += signal_p(mean_answers(probs[family], rng), people, rng) <= LEVEL
    assert called["nothing"] <= binom.ppf(0.999, N_SIMULATIONS, LEVEL)
    assert called["values"] >= 0.8 * N_SIMULATIONS
