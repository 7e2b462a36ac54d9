"""Simulations that test claims about people with few answers, and about answers that are hard to compare."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from valuesassets.comparing import simulated_answers
from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.measure.means import Array
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Simulation
from valuesassets_tests.simulations.survey.deriving import (
    ALL_WRONG,
    FAMILY,
    LANGUAGES,
    LIKE_COUNTRIES,
    OWN,
    REPEATS,
    RESOURCES,
    WORDINGS,
    claims,
    human_of,
    is_low_resource,
    normalised,
    rejects,
    scales_of_worlds,
    sharpened,
    study_of,
    with_sides,
)

SAME = simulated_answers.Plant(country=0.0, follows=(0.0, 0.0), own=0.0, wording=0.3, order=0.0)
"""All people and all models answer alike."""
FOLLOWING = simulated_answers.Plant(follows=(1.0, 1.0), own=0.2, order=0.0)
TRUTH_ITEMS, TRUTH_SEED = 6000, 17


def sized_world(
    plant: simulated_answers.Plant, respondents: NDArray[np.intp], seed: int, n_languages: int = LANGUAGES
) -> tuple[AnswerGrid, Study, Array]:
    """A simulation with (N,) respondents of each country: its answers, its study, and (N, I) numbers."""
    random, study = np.random.default_rng(seed), study_of(n_languages)
    simulation = simulated_answers.simulate_answers(plant, study, scales_of_worlds(), WORDINGS, 0, random)
    n = np.tile(respondents[:, None], (1, simulation.people.shape[1]))
    people = random.multinomial(n, simulation.people * (1 - 1e-12)) / n[..., None]
    grid = replace(simulation.grid, people=people, respondents=n.astype(float))
    return grid, study.model_copy(update={"seed": seed}), n.astype(float)


def of_own_countries(plant: simulated_answers.Plant, sizes: tuple[int, ...], seed: int) -> Mapping[str, Outcome]:
    """Whether the own country is said to be near, and how often its advantage's intervals hold the true one."""
    respondents = np.resize(sizes, LANGUAGES)
    grid, study, n = sized_world(plant, respondents, seed)
    tables = derive_human_comparison(grid, human_of(grid, n), study)
    cells = records(rows_where(tables["cells"], kind="model", model=FAMILY))
    truth = true_advantage(plant)
    held = sum(row["own_country_advantage_low"] <= truth <= row["own_country_advantage_high"] for row in cells)
    is_claimed = rejects(rows_where(tables["tests"], test_family="own country"), FAMILY)
    return {OWN: Outcome(is_claimed, (int(held), len(cells)))}


@cache
def true_advantage(plant: simulated_answers.Plant) -> float:
    """The mean own-country advantage of a language, over very many items and with whole countries."""
    scales = simulated_answers.simulated_scales(TRUTH_ITEMS)
    random = np.random.default_rng(TRUTH_SEED)
    simulation = simulated_answers.simulate_answers(plant, study_of(LANGUAGES), scales, WORDINGS, 0, random)
    return simulated_answers.true_comparisons(simulation, study_of(LANGUAGES))[f"own_country_advantage {FAMILY}"]


def of_few_in_low_resource(seed: int) -> Mapping[str, Outcome]:
    """All claims where families follow all countries alike, and few people of low-resource countries answered."""
    respondents = np.where(is_low_resource(study_of(LANGUAGES)), 80, 3300)
    return claims(*sized_world(FOLLOWING, respondents, seed))


def of_ugly(ugliness: str, plant: simulated_answers.Plant, seed: int) -> Mapping[str, Outcome]:
    """All claims where answers are hard to compare.

    Args:
        ugliness: `flat` or `peaked` (log-odds times a fifth or four, by family), `gone` (items that a language answers
            far from the middle are missing in it), `ties` (answers in steps of a fifth), `six` (languages), all of them
            with countries of 60 to 3300 respondents.
    """
    n_languages = 6 if ugliness == "six" else LANGUAGES
    respondents = np.resize([60, 300, 1000, 3300, 150], n_languages)
    grid, study, n = sized_world(plant, respondents, seed, n_languages)
    if ugliness in ("flat", "peaked"):
        grid = sharpened(grid, np.full(len(grid.cells), 0.2 if ugliness == "flat" else 4.0))
    if ugliness == "ties":
        grid = with_sides(grid, normalised(np.round(5 * grid.sides) + 1e-3 * np.isfinite(grid.scales.codes)))
    if ugliness == "gone":
        far = np.abs(grid.scales.expected_unit(grid.answers) - 0.5)
        random = np.random.default_rng([seed, 1])
        gone = random.uniform(size=far.shape) < np.clip(3 * (far - 0.1), 0, 0.6)
        grid = with_sides(grid, np.where(gone[..., None], np.nan, grid.sides))
    return claims(grid, study, n)


UGLY = ("unequal", "flat", "peaked", "gone", "ties", "six")

SIMULATIONS: tuple[Simulation, ...] = (
    *(
        Simulation(
            "survey",
            f"people and models are all alike, {' and '.join(map(str, sizes))} respondents",
            {OWN: NULL},
            partial(of_own_countries, SAME, sizes),
            "J",
        )
        for sizes in ((1000, 3300), (60, 3300))
    ),
    *(
        Simulation(
            "survey",
            f"families follow countries, {' and '.join(map(str, sizes))} respondents",
            {OWN: PLANTED},
            partial(of_own_countries, FOLLOWING, sizes),
            "J",
        )
        for sizes in ((60, 1000), (300, 3300))
    ),
    Simulation(
        "survey",
        "all countries are followed alike, few people of low-resource countries answered",
        {RESOURCES: NULL, LIKE_COUNTRIES: PLANTED},
        of_few_in_low_resource,
        "J",
    ),
    *(
        Simulation(
            "survey",
            f"families are the same in all languages, {ugliness}",
            ALL_WRONG,
            partial(of_ugly, ugliness, simulated_answers.NULL),
        )
        for ugliness in UGLY
    ),
    *(
        Simulation(
            "survey",
            f"families follow countries, {ugliness}",
            {LIKE_COUNTRIES: PLANTED, REPEATS: PLANTED},
            partial(of_ugly, ugliness, FOLLOWING),
        )
        for ugliness in UGLY
    ),
)
