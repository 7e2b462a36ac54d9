"""The shared parts of the survey's simulations, which are analysed like a study and judged as the report judges."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from valuesassets.comparing import simulated_answers
from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.reliability import derive_reliability
from valuesassets.comparing.scales import Scales
from valuesassets.comparing.signal import SIGNAL, derive_signal
from valuesassets.measure.means import Array
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study, load_study
from valuesassets_tests.simulations.outcomes import NULL, Outcome

LANGUAGES, ITEMS, WORDINGS, RESPONDENTS, RESAMPLES = 12, 60, 3, 1000, 299
FAMILY = "multi"
"""The family whose claims are counted: those of the other would not be independent of them."""
REPEATS: str = "The differences between a family's languages replicate in other wordings."
LIKE_COUNTRIES: str = "Languages answer like their own countries."
RESOURCES: str = "Low- and high-resource languages differ."
OWN: str = "Answers are nearer to the own country's people than chance has it."
AGREE_MORE: str = "A monolingual and a multilingual family differ in how much they agree with their own country."


@cache
def study_of(n_languages: int) -> Study:
    """A study of so many languages, every other one of them low in resources, with one family of each kind."""
    whole = load_study("demo_survey_22")
    languages = {
        code: whole.languages[code].model_copy(update={"resource": "low" if place % 2 else "high"})
        for place, code in enumerate(list(whole.languages)[:n_languages])
    }
    return simulated_answers.simulation_study(
        whole.model_copy(update={"languages": languages}), tuple(languages), RESAMPLES
    )


@cache
def scales_of_worlds(n_items: int = ITEMS) -> Scales:
    """The items of all simulations."""
    return simulated_answers.simulated_scales(n_items)


def survey_world(
    plant: simulated_answers.Plant,
    seed: int,
    n_languages: int = LANGUAGES,
    n_items: int = ITEMS,
) -> tuple[AnswerGrid, Study]:
    """The answers of a simulation of this plant, and its study."""
    study, scales = study_of(n_languages), scales_of_worlds(n_items)
    simulation = simulated_answers.simulate_answers(
        plant, study, scales, WORDINGS, RESPONDENTS, np.random.default_rng(seed)
    )
    return simulation.grid, study.model_copy(update={"seed": seed})


def with_sides(grid: AnswerGrid, sides: Array) -> AnswerGrid:
    """The grid with these answers of models, (O, W, C, I, K)."""
    return replace(grid, sides=sides, answers=sides.mean(axis=(0, 1)))


def normalised(mass: Array) -> Array:
    """Probabilities, (..., K), proportional to a mass."""
    return mass / mass.sum(axis=-1, keepdims=True)


def sharpened(grid: AnswerGrid, factors: Array) -> AnswerGrid:
    """The grid with the log-odds of each of C cells multiplied."""
    powers = grid.sides ** factors[:, None, None] * np.isfinite(grid.scales.codes)
    return with_sides(grid, normalised(powers))


def is_low_resource(study: Study) -> NDArray[np.bool_]:
    """(L,) whether each language is low in resources."""
    return np.array([each.resource == "low" for each in study.languages.values()])


def claims(
    grid: AnswerGrid, study: Study, respondents: ArrayLike = RESPONDENTS, wanted: Collection[str] | None = None
) -> dict[str, Outcome]:
    """What the report would claim: each test corrected, and only of a family that is reliable.

    Args:
        respondents: of each country and item, or something that broadcasts to (N, I).
        wanted: the claims to look at; all if not given.
    """
    reliability = derive_reliability(grid, study)
    is_reliable = dict(zip(reliability["families"]["model"], reliability["families"]["is_reliable"], strict=True))

    def repeats() -> bool:
        return bool(is_reliable[FAMILY]) and rejects(reliability["tests"], FAMILY)

    def like_countries() -> bool | None:
        verdicts = rows_where(derive_signal(grid, study)["verdicts"], model=FAMILY)
        (verdict,), (reason,) = verdicts["verdict"], verdicts["reason"]
        return verdict == SIGNAL and bool(is_reliable[FAMILY]) if reason is None else None

    def resources() -> bool:
        tests = derive_human_comparison(grid, human_of(grid, respondents), study)["tests"]
        return rejects(rows_where(tests, test_family="resources"), FAMILY) and bool(is_reliable[FAMILY])

    def agree_more() -> bool:
        tests = derive_mono_vs_multi(grid, study)["tests"]
        return bool(tests["is_rejected"].any()) and all(is_reliable.values())

    made = {REPEATS: repeats, LIKE_COUNTRIES: like_countries, RESOURCES: resources, AGREE_MORE: agree_more}
    return {claim: Outcome(outcome()) for claim, outcome in made.items() if wanted is None or claim in wanted}


def rejects(tests: pd.DataFrame, family: str) -> bool:
    """Whether any test of this family rejects."""
    return any(row["is_rejected"] for row in records(tests) if str(row["test"]).startswith(f"{family}:"))


def human_of(grid: AnswerGrid, respondents: ArrayLike = RESPONDENTS) -> pd.DataFrame:
    """How many people stand behind the answers of each country to each item, as analyses take it."""
    shape = (len(grid.countries), len(grid.items))
    n = np.broadcast_to(np.asarray(respondents, dtype=float), shape)
    country, item = np.indices(shape).reshape(2, -1)
    asked = pd.DataFrame({"country": np.array(grid.countries)[country], "question_id": np.array(grid.items)[item]})
    return asked.assign(n=n.ravel(), design_effect=1.0, dk_rate=0.0, source="made")


ALL = (REPEATS, LIKE_COUNTRIES, RESOURCES, AGREE_MORE)
ALL_WRONG: Mapping[str, str] = dict.fromkeys(ALL, NULL)
