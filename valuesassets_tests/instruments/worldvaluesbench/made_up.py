"""Made-up probes for tests: what people of each group answer, and models that make a share of their moves."""

from itertools import product

import numpy as np

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion

FACTORS = {
    "continent": ("Africa", "Asia", "Europe", "Oceania"),
    "settlement": ("urban", "rural"),
    "education": ("low", "high"),
}


def value_question(name="Q1", k=4, category="one", lo=1):
    """A question of K answers."""
    return ValueQuestion(id=name, category=category, text="", lo=lo, hi=lo + k - 1, labels=())


def made_groups(lacking=0):
    """All combinations of levels but the last ones."""
    levels = tuple(product(*FACTORS.values()))
    return Groups(tuple(FACTORS), levels[: len(levels) - lacking])


def made_probe(size, seed=0, slopes=None, n_questions=6, groups=None, same_people=True, weighted=True):
    """People drawn from planted shares, and models that make `slopes` of how they move."""
    random = np.random.default_rng(seed)
    groups = groups or made_groups()
    slopes = {"perfect": 1.0, "blind": 0.0, "contrary": -0.4} if slopes is None else slopes
    n_groups, items = len(groups.levels), []
    n = n_groups * size
    weights = random.gamma(4, 0.25, n) if weighted else np.ones(n)
    for number in range(n_questions):
        k = (2, 4, 5)[number % 3]
        location = random.normal(0, 0.2, n_groups)
        for place, names in enumerate(FACTORS.values()):
            effect = dict(zip(names, random.normal(0, 0.5, len(names)), strict=True))
            location += [effect[levels[place]] for levels in groups.levels]
        at_most = 1 / (1 + np.exp(location[:, None] - np.linspace(-1, 1, k - 1)))
        shares = np.diff(np.pad(at_most, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))))
        pooled, group = shares.mean(axis=0), np.repeat(np.arange(n_groups), size)
        answers = (random.random(n)[:, None] > at_most[group]).sum(axis=1) + 1.0
        models = {name: Rated((pooled + by * (shares - pooled))[group], None, 0, 0) for name, by in slopes.items()}
        without = {name: Rated(np.broadcast_to(pooled, (n, k)), None, 0, 0) for name in slopes}
        people = np.arange(n) + (0 if same_people else n * number)
        question = value_question(f"Q{number + 1}", k, f"category {number % 3}")
        items.append(AskedQuestion(question, people, group, weights, answers, models, without))
    return Probe(groups, items)
