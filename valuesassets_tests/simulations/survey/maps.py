"""Simulations that test the map: countries at their published positions, and models' points with a known truth."""

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd

from valuesassets.comparing.hypotheses import FAMILY, ZONE, groupings
from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.agreement import AGREES, VERDICTS, families_against_countries
from valuesassets.instruments.survey.measures.map.points import Cells, Ground, lay_ground
from valuesassets.instruments.survey.measures.map.projector import choose_axes
from valuesassets.instruments.survey.published.axes import average_means, published_position, reference_projector
from valuesassets.measure.means import Array
from valuesassets.records.frames import rows_where
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Power, Simulation
from valuesassets_tests.simulations.survey.deriving import study_of
from valuesassets_tests.simulations.survey.plants import kindred

ON_MAP: str = "A family's points lie on the map as those of its countries do."
SPREAD = 0.5
"""Standard deviation of models' points on each axis."""
FOLLOWS = 0.8
ALONE = "each by itself"
"""Languages that are related to no other."""


def of_points(follows: float, share: float, kind: str, n_languages: int, seed: int) -> Mapping[str, Outcome]:
    """Whether a family's points are said to lie as its countries' do.

    Args:
        follows: true correlation of its points with the countries', on each axis.
        share: of the variance of what does not follow, how much lies between groups of related languages.
        kind: of these groups.
    """
    study = study_of(n_languages)
    languages, random = list(study.languages), np.random.default_rng(seed)
    published = {code: np.array(published_position(study.countries[code])) for code in languages}
    standard = np.array(list(published.values()))
    standard = (standard - standard.mean(axis=0)) / standard.std(axis=0)
    groups: Sequence[str] = groupings(languages, study).get(kind, languages)
    rest = kindred(1.0, standard.shape, share, groups, random)
    points = SPREAD * (follows * standard + np.sqrt(1 - follows**2) * rest)
    labels = pd.DataFrame({"model": "made", "language": languages})
    means = _means_at(points)
    cells = Cells(labels, means, means[:, None], np.ones(len(means), dtype=int))
    countries = {study.countries[code]: place for code, place in published.items()}
    seeded = study.model_copy(update={"seed": seed})
    tests = families_against_countries(cells, _ground(n_languages), countries, "made", seeded)
    (verdict,) = rows_where(tests, test_family=VERDICTS)["verdict"]
    return {ON_MAP: Outcome(verdict == AGREES)}


def of_correlation(n_languages: int, follows: float, seed: int) -> Mapping[str, Outcome]:
    """The same where no language is like another."""
    return of_points(follows, 0.0, ALONE, n_languages, seed)


def _means_at(points: Array) -> Array:
    """(L, 10) indicator means near the average country's whose points lie so far from its point, (L, 2)."""
    average = np.array([average_means()[name] for name in INDICATORS])
    return average + points @ np.linalg.pinv(reference_projector().slopes).T


@cache
def _ground(n_languages: int) -> Ground:
    return lay_ground(choose_axes(study_of(n_languages), None), [])


SIMULATIONS: tuple[Simulation, ...] = (
    *(
        Simulation(
            "survey",
            f"points lie alike in languages of one {kind} ({share:g} of the variance), {n} languages",
            {ON_MAP: NULL},
            partial(of_points, 0.0, share, kind, n),
            "E",
        )
        for kind in (ZONE, FAMILY)
        for share in (0.5, 0.9)
        for n in (22, 6)
    ),
    *(
        Simulation(
            "survey",
            f"points lie anywhere, {n} languages",
            {ON_MAP: NULL},
            partial(of_points, 0.0, 0.0, ALONE, n),
        )
        for n in (22, 6)
    ),
    *(
        Simulation(
            "survey",
            f"points follow the countries' (correlation {FOLLOWS:g}), {likeness}",
            {ON_MAP: PLANTED},
            partial(of_points, FOLLOWS, share, ZONE, 22),
            "E",
        )
        for likeness, share in (("no language is like another", 0.0), ("those of a culture zone are alike", 0.5))
    ),
)
POWER: tuple[Power, ...] = tuple(
    Power(
        "survey",
        ON_MAP,
        f"{n} languages",
        "correlation of a family's points with its countries', on each axis",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        partial(of_correlation, n),
    )
    for n in (6, 22)
)
