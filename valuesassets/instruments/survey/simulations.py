"""Worlds that try what the survey concludes: made by `worlds`, analysed like a study, judged as the report judges.

Each of the null worlds mimics a truth that could be mistaken for values: a pull to a place, answers of even chances, a
flatter model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing import worlds
from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.reliability import derive_reliability
from valuesassets.comparing.scales import Scales
from valuesassets.comparing.signal import SIGNAL, derive_signal
from valuesassets.measure.means import Array
from valuesassets.measure.simulations import NULL, PLANTED, Outcome, Simulation
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study, load_study

LANGUAGES, ITEMS, WORDINGS, RESPONDENTS, RESAMPLES = 12, 60, 3, 1000, 299
FAMILY = "multi"
"""The family whose claims are counted: those of the other would not be independent of them."""
REPEATS: str = "The differences between a family's languages come out again in other wordings."
LIKE_COUNTRIES: str = "Languages answer like their own countries."
RESOURCES: str = "Low- and high-resource languages differ."
AGREE_MORE: str = "A monolingual and a multilingual family differ in how much they agree with their own country."


@cache
def _study(n_languages: int) -> Study:
    """A study of so many languages, every other one of them low in resources, with one family of each kind."""
    whole = load_study("demo22")
    languages = {
        code: whole.languages[code].model_copy(update={"resource": "low" if place % 2 else "high"})
        for place, code in enumerate(list(whole.languages)[:n_languages])
    }
    return worlds.world_study(whole.model_copy(update={"languages": languages}), tuple(languages), RESAMPLES)


@cache
def _scales() -> Scales:
    return worlds.world_scales(ITEMS)


def _world(
    plant: worlds.Plant, seed: int, n_languages: int = LANGUAGES, groups: Sequence[str] | None = None
) -> tuple[AnswerGrid, Study]:
    study = _study(n_languages)
    world = worlds.make_world(plant, study, _scales(), WORDINGS, RESPONDENTS, np.random.default_rng(seed), groups)
    return world.grid, study.model_copy(update={"seed": seed})


def _with_sides(grid: AnswerGrid, sides: Array) -> AnswerGrid:
    return replace(grid, sides=sides, answers=sides.mean(axis=(0, 1)))


def _normalised(mass: Array) -> Array:
    return mass / mass.sum(axis=-1, keepdims=True)


def _sharpened(grid: AnswerGrid, factors: Array) -> AnswerGrid:
    """The grid with the log-odds of each of C cells multiplied."""
    powers = grid.sides ** factors[:, None, None] * np.isfinite(grid.scales.codes)
    return _with_sides(grid, _normalised(powers))


def _is_low(study: Study) -> NDArray[np.bool_]:
    return np.array([each.resource == "low" for each in study.languages.values()])


def of_plant(plant: worlds.Plant, seed: int, n_languages: int = LANGUAGES) -> Mapping[str, Outcome]:
    """All claims in a world of this plant."""
    return claims(*_world(plant, seed, n_languages))


def of_silence(sharpness: float, seed: int) -> Mapping[str, Outcome]:
    """All claims where models answer at even chances, or nearly, and people of low-resource countries are more decided.

    What little sets the models' languages apart repeats in every wording, but has nothing to do with people.

    Args:
        sharpness: factor of models' log-odds; 0 for even chances.
    """
    grid, study = _world(replace(worlds.PLANTED, follows=(0.0, 0.0)), seed)
    people = _normalised(np.where(_is_low(study)[:, None, None], grid.people**1.5, grid.people))
    return claims(replace(_sharpened(grid, np.full(len(grid.cells), sharpness)), people=people), study)


def of_shares(seed: int) -> Mapping[str, Outcome]:
    """All claims where a share of all answers, which differs by language, is the first option shown."""
    grid, study = _world(worlds.NULL, seed)
    share = 1 / (1 + np.exp(-np.random.default_rng([seed, 1]).normal(0, 1, len(grid.cells))))[:, None, None]
    place = np.arange(grid.scales.codes.shape[1])
    shown_first = np.stack(
        [place == np.zeros_like(grid.scales.n_options)[:, None], place == grid.scales.n_options[:, None] - 1]
    )
    sides = (1 - share) * grid.sides + share * shown_first[:, None, None].astype(float)
    return claims(_with_sides(grid, sides), study)


def of_resources(seed: int) -> Mapping[str, Outcome]:
    """All claims where models hardly follow low-resource countries, and make much up for them."""
    grid, study = _world(replace(worlds.PLANTED, follows=(1.0, 1.0)), seed)
    made_up, _ = _world(replace(worlds.PLANTED, follows=(0.0, 0.0), own=1.2), seed)
    is_low = np.tile(_is_low(study), len(grid.models))
    return claims(_with_sides(grid, np.where(is_low[:, None, None], made_up.sides, grid.sides)), study)


def of_flatness(factor: float, n_languages: int, seed: int) -> Mapping[str, Outcome]:
    """All claims where both families follow their countries alike, and log-odds of the second are multiplied."""
    grid, study = _world(replace(worlds.PLANTED, follows=(1.0, 1.0)), seed, n_languages)
    return claims(_sharpened(grid, np.where(grid.model_of == FAMILY, factor, 1.0)), study)


def claims(grid: AnswerGrid, study: Study) -> dict[str, Outcome]:
    """What the report would claim: each test corrected, and only of a family that is reliable."""
    reliability, signal = derive_reliability(grid, study), derive_signal(grid, study)
    human = _human(grid)
    people, families = derive_human_comparison(grid, human, study), derive_mono_vs_multi(grid, study)
    is_reliable = dict(zip(reliability["families"]["model"], reliability["families"]["is_reliable"], strict=True))
    repeats = _rejects(reliability["tests"], FAMILY)
    (verdict,), (reason,) = (rows_where(signal["verdicts"], model=FAMILY)[name] for name in ("verdict", "reason"))
    resources = rows_where(people["tests"], test_family="resources")
    return {
        REPEATS: Outcome(bool(is_reliable[FAMILY]) and repeats),
        LIKE_COUNTRIES: Outcome(verdict == SIGNAL and bool(is_reliable[FAMILY]) if reason is None else None),
        RESOURCES: Outcome(_rejects(resources, FAMILY) and bool(is_reliable[FAMILY])),
        AGREE_MORE: Outcome(bool(families["tests"]["is_rejected"].any()) and all(is_reliable.values())),
    }


def _rejects(tests: pd.DataFrame, family: str) -> bool:
    return any(row["is_rejected"] for row in records(tests) if str(row["test"]).startswith(f"{family}:"))


def _human(grid: AnswerGrid) -> pd.DataFrame:
    country, item = np.divmod(np.arange(len(grid.countries) * len(grid.items)), len(grid.items))
    asked = pd.DataFrame({"country": np.array(grid.countries)[country], "question_id": np.array(grid.items)[item]})
    return asked.assign(n=RESPONDENTS, design_effect=1.0, dk_rate=0.0, source="made")


ALL = (REPEATS, LIKE_COUNTRIES, RESOURCES, AGREE_MORE)
ALL_WRONG: Mapping[str, str] = dict.fromkeys(ALL, NULL)


def _simulation(
    world: str, outcomes: Callable[[int], Mapping[str, Outcome]], kinds: Mapping[str, str], finding: str | None = None
) -> Simulation:
    return Simulation("survey", world, kinds, outcomes, finding)


AGREEMENT_ONLY = replace(worlds.PLANTED, follows=(0.0, 0.0), agreement=1.0)
"""Families that share nothing with their countries but how readily people agree."""
UNRELATED_TO_PEOPLE = replace(worlds.PLANTED, follows=(0.0, 0.0), own=0.8)
SIMULATIONS: tuple[Simulation, ...] = (
    *(
        _simulation(
            f"languages agree as readily as their countries do, {said}, {n} languages",
            partial(of_plant, replace(AGREEMENT_ONLY, keying=keying), n_languages=n),
            {LIKE_COUNTRIES: NULL},
            "A",
        )
        for keying, said in (
            ("both ways", "items keyed both ways"),
            ("some", "agreement on some items"),
            ("one way", "items keyed one way"),
        )
        for n in (22, 6)
    ),
    _simulation(
        "families follow their countries, which agree more or less readily",
        partial(of_plant, replace(worlds.PLANTED, agreement=1.0, keying="both ways")),
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
        partial(of_plant, replace(worlds.PLANTED, kinship=(0.5, 0.5)), n_languages=22),
        {LIKE_COUNTRIES: PLANTED},
        "E",
    ),
    _simulation(
        "families follow their countries",
        partial(of_plant, worlds.PLANTED),
        {REPEATS: PLANTED, LIKE_COUNTRIES: PLANTED, AGREE_MORE: PLANTED, RESOURCES: NULL},
    ),
    _simulation("families are the same in all languages", partial(of_plant, worlds.NULL), ALL_WRONG),
    _simulation(
        "answers lie in the middle of every scale",
        partial(of_plant, worlds.SCALE_ARTIFACT),
        {LIKE_COUNTRIES: NULL, RESOURCES: NULL, AGREE_MORE: NULL},
    ),
    _simulation("low-resource countries are hardly followed", of_resources, {RESOURCES: PLANTED}),
    _simulation("a pull to a place differs by language", partial(of_plant, worlds.POSITION_ONLY), ALL_WRONG, "N"),
    _simulation(
        "families follow their countries under such a pull",
        partial(of_plant, replace(worlds.PLANTED, position=3.0, position_apart=1.0)),
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
)
