"""Simulations that test the survey's conclusions: analysed like a study, and judged as the report judges.

Each null simulation mimics a truth that could be mistaken for values: a pull to a place, answers of even chances, a
flatter model.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from valuesassets.comparing import simulated_answers
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.records.frames import rows_where
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Power, Simulation
from valuesassets_tests.simulations.survey import maps as map_worlds
from valuesassets_tests.simulations.survey import reliability as reliability_worlds
from valuesassets_tests.simulations.survey import samples as sample_worlds
from valuesassets_tests.simulations.survey import shift as shift_simulations
from valuesassets_tests.simulations.survey.deriving import (
    AGREE_MORE,
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
    sharpened,
    survey_world,
    with_sides,
)
from valuesassets_tests.simulations.survey.plants import POSITION_ONLY, WIDER


def of_plant(
    plant: simulated_answers.Plant, seed: int, n_languages: int = LANGUAGES, wanted: Collection[str] | None = None
) -> Mapping[str, Outcome]:
    """All claims, or those that are wanted, in a simulation of this plant."""
    return claims(*survey_world(plant, seed, n_languages), wanted=wanted)


def of_silence(sharpness: float, seed: int) -> Mapping[str, Outcome]:
    """All claims where models answer at even chances, or nearly, and people of low-resource countries are more decided.

    What little sets the models' languages apart repeats in every wording, but has nothing to do with people.

    Args:
        sharpness: factor of models' log-odds; 0 for even chances.
    """
    grid, study = survey_world(replace(simulated_answers.PLANTED, follows=(0.0, 0.0)), seed)
    people = normalised(np.where(is_low_resource(study)[:, None, None], grid.people**1.5, grid.people))
    return claims(replace(sharpened(grid, np.full(len(grid.cells), sharpness)), people=people), study)


def of_shares(seed: int) -> Mapping[str, Outcome]:
    """All claims where a share of all answers, which differs by language, is the first option shown."""
    grid, study = survey_world(simulated_answers.NULL, seed)
    share = 1 / (1 + np.exp(-np.random.default_rng([seed, 1]).normal(0, 1, len(grid.cells))))[:, None, None]
    place = np.arange(grid.scales.codes.shape[1])
    shown_first = np.stack(
        [place == np.zeros_like(grid.scales.n_options)[:, None], place == grid.scales.n_options[:, None] - 1]
    )
    sides = (1 - share) * grid.sides + share * shown_first[:, None, None].astype(float)
    return claims(with_sides(grid, sides), study)


def of_resources(seed: int) -> Mapping[str, Outcome]:
    """All claims where models hardly follow low-resource countries, and make much up for them."""
    grid, study = survey_world(replace(simulated_answers.PLANTED, follows=(1.0, 1.0)), seed)
    made_up, _ = survey_world(replace(simulated_answers.PLANTED, follows=(0.0, 0.0), own=1.2), seed)
    is_low = np.tile(is_low_resource(study), len(grid.models))
    return claims(with_sides(grid, np.where(is_low[:, None, None], made_up.sides, grid.sides)), study)


def of_flatness(factor: float, n_languages: int, seed: int) -> Mapping[str, Outcome]:
    """All claims where both families follow their countries alike, and log-odds of the second are multiplied."""
    grid, study = survey_world(replace(simulated_answers.PLANTED, follows=(1.0, 1.0)), seed, n_languages)
    return claims(sharpened(grid, np.where(grid.model_of == FAMILY, factor, 1.0)), study)


def _simulation(
    name: str, outcomes: Callable[[int], Mapping[str, Outcome]], kinds: Mapping[str, str], finding: str | None = None
) -> Simulation:
    return Simulation("survey", name, kinds, outcomes, finding)


AGREEMENT_ONLY = replace(WIDER, follows=(0.0, 0.0), agreement=1.0)
"""Families that share nothing with their countries but how readily people agree."""
UNRELATED_TO_PEOPLE = replace(WIDER, follows=(0.0, 0.0), own=0.8)
SIMULATIONS: tuple[Simulation, ...] = (
    *(
        _simulation(
            f"languages agree as readily as their countries do, {keys}, {n} languages",
            partial(of_plant, replace(AGREEMENT_ONLY, keying=keying), n_languages=n, wanted=[LIKE_COUNTRIES]),
            {LIKE_COUNTRIES: NULL},
            "A",
        )
        for keying, keys in (
            ("both ways", "items keyed both ways"),
            ("some", "agreement on some items"),
            ("one way", "items keyed one way"),
        )
        for n in (22, 6)
    ),
    _simulation(
        "families follow their countries, which agree more or less readily",
        partial(of_plant, replace(WIDER, agreement=1.0, keying="both ways"), wanted=[LIKE_COUNTRIES]),
        {LIKE_COUNTRIES: PLANTED},
        "A",
    ),
    *(
        _simulation(
            f"related languages answer alike ({share:g} of the variance), {n} languages",
            partial(of_plant, replace(UNRELATED_TO_PEOPLE, kinship=(0.5, share)), n_languages=n),
            {LIKE_COUNTRIES: NULL, RESOURCES: NULL, AGREE_MORE: NULL},
            "E",
        )
        for share in (0.5, 0.9)
        for n in (22, 6)
    ),
    _simulation(
        "families follow their countries, related ones are alike",
        partial(of_plant, replace(WIDER, kinship=(0.5, 0.5)), n_languages=22, wanted=[LIKE_COUNTRIES]),
        {LIKE_COUNTRIES: PLANTED},
        "E",
    ),
    _simulation(
        "families follow their countries",
        partial(of_plant, simulated_answers.PLANTED),
        {REPEATS: PLANTED, LIKE_COUNTRIES: PLANTED, AGREE_MORE: PLANTED, RESOURCES: NULL},
    ),
    _simulation("families are the same in all languages", partial(of_plant, simulated_answers.NULL), ALL_WRONG),
    _simulation(
        "answers lie in the middle of every scale",
        partial(of_plant, simulated_answers.SCALE_ARTIFACT),
        {LIKE_COUNTRIES: NULL, RESOURCES: NULL, AGREE_MORE: NULL},
    ),
    _simulation("low-resource countries are hardly followed", of_resources, {RESOURCES: PLANTED}),
    _simulation("a pull to a place differs by language", partial(of_plant, POSITION_ONLY), ALL_WRONG, "N"),
    _simulation(
        "families follow their countries under such a pull",
        partial(of_plant, replace(WIDER, position=3.0, position_apart=1.0)),
        {REPEATS: PLANTED, LIKE_COUNTRIES: PLANTED},
        "N",
    ),
    _simulation("a share of answers, by language, is the first option's", of_shares, ALL_WRONG, "N"),
    *(
        _simulation(
            f"{how} chances, people of low-resource countries are more decided",
            partial(of_silence, sharpness),
            {RESOURCES: NULL, LIKE_COUNTRIES: NULL},
            "B",
        )
        for how, sharpness in (("even", 0.0), ("nearly even", 0.15))
    ),
    *(
        _simulation(
            f"the same pattern, log-odds times {factor:g}, {n} languages",
            partial(of_flatness, factor, n),
            {AGREE_MORE: NULL},
            "C",
        )
        for factor in (0.5, 0.7)
        for n in (22, 6)
    ),
    *sample_worlds.SIMULATIONS,
    *reliability_worlds.SIMULATIONS,
    *map_worlds.SIMULATIONS,
    *shift_simulations.SIMULATIONS,
)


def of_effect(
    claim: str, plant: Callable[[float], simulated_answers.Plant], size: tuple[int, int], effect: float, seed: int
) -> Mapping[str, Outcome]:
    """A claim in a simulation with this size of effect and these numbers of languages and items."""
    grid, study = survey_world(plant(effect), seed, size[0], n_items=size[1])
    return claims(grid, study, wanted=[claim])


def of_own_people(size: tuple[int, int], effect: float, seed: int) -> Mapping[str, Outcome]:
    """The claim that answers are near the own country's people, where countries are followed by this share."""
    grid, study = survey_world(_following(effect), seed, size[0], n_items=size[1])
    tests = derive_human_comparison(grid, human_of(grid), study)["tests"]
    return {OWN: Outcome(rejects(rows_where(tests, test_family="own country"), FAMILY))}


def of_less_followed(size: tuple[int, int], effect: float, seed: int) -> Mapping[str, Outcome]:
    """The claim of resources where low-resource countries are followed less than others by this share."""
    (grid, study), (less, _) = (
        survey_world(replace(simulated_answers.PLANTED, follows=(share, share)), seed, size[0], n_items=size[1])
        for share in (1.0, 1.0 - effect)
    )
    is_low = np.tile(is_low_resource(study), len(grid.models))[:, None, None]
    return claims(with_sides(grid, np.where(is_low, less.sides, grid.sides)), study, wanted=[RESOURCES])


def _following(share: float) -> simulated_answers.Plant:
    return replace(simulated_answers.PLANTED, follows=(share, share))


def _differing(sd: float) -> simulated_answers.Plant:
    return replace(simulated_answers.PLANTED, follows=(0.0, 0.0), own=sd)


def _apart(share: float) -> simulated_answers.Plant:
    return replace(simulated_answers.PLANTED, follows=(share, 0.0))


POWER: tuple[Power, ...] = tuple(
    Power("survey", claim, f"{size[0]} languages, {size[1]} questions, {WORDINGS} wordings", effect, effects, outcomes)
    for size in ((6, 34), (22, 200))
    for claim, effect, effects, outcomes in (
        (
            LIKE_COUNTRIES,
            "share of what sets countries apart that languages show",
            (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
            partial(of_effect, LIKE_COUNTRIES, _following, size),
        ),
        (
            OWN,
            "share of what sets countries apart that languages show",
            (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
            partial(of_own_people, size),
        ),
        (
            REPEATS,
            "standard deviation between languages, in logits from end to end of a scale",
            (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0),
            partial(of_effect, REPEATS, _differing, size),
        ),
        (
            AGREE_MORE,
            "share of what sets countries apart that one family shows and the other does not",
            (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
            partial(of_effect, AGREE_MORE, _apart, size),
        ),
        (
            RESOURCES,
            "share of what sets low-resource countries apart that their languages lack",
            (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
            partial(of_less_followed, size),
        ),
    )
)
POWER += map_worlds.POWER + shift_simulations.POWER

BASES: Mapping[str, str] = {
    LIKE_COUNTRIES: "Countries are permuted among languages, for three correlations that all have to be beyond chance. "
    "Languages are independent but for culture zones and language families; style is at most one dimension of any "
    "pattern beside what bounded scales make of a push.",
    RESOURCES: "Languages are permuted between the two groups, beyond each of three answers without content and "
    "beyond the family's answers in its other languages. Languages are independent.",
    AGREE_MORE: "A sign test over languages. Languages are independent but for culture zones and language families.",
    REPEATS: "Languages are permuted in each wording, and the intervals of both coefficients lie above 0. Wordings are "
    "drawn from those that might be asked.",
    OWN: "Countries are permuted among cells, for all items together. Languages are independent.",
    map_worlds.ON_MAP: "Countries are permuted among languages, for one correlation over both axes. Languages are "
    "independent but for culture zones and language families.",
    shift_simulations.TOWARDS: "Student's t of a slope, whose variance leaves out one battery at a time and "
    "holds wordings and trainings. Batteries are independent, and style is at most four columns.",
    reliability_worlds.REPEATS_MUCH: "The same as of differences that replicate.",
    **{
        reliability_worlds.IS_BOUNDED.format(share): "A generalized confidence interval over wordings, languages and "
        "items. Deviations are normal."
        for share in reliability_worlds.SHARES
    },
}
"""What each claim is tested by, and what the test takes for granted."""
