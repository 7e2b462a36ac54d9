"""Simulated answers with a known truth: answer distributions of models and people, analysed like those of a study.

Every answer distribution is tilted along its scale by a number of logits. The tilt is the sum of planted effects: the
item's level, the country's deviation on the item, the family's own deviation, and effects of wordings and orders.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.country_distances import advantages, divergences_from_countries, of_own
from valuesassets.comparing.distances import cell_distances, compare_cells
from valuesassets.comparing.draws import Draws
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.scales import Scales
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import jsd_distance_of
from valuesassets.measure.drawn_answers import mean_variance_of
from valuesassets.measure.means import mean_of_known
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study

FAMILIES = ("mono", "multi")
MORE_OPTIONS = (2, 4, 10)
Effect = Literal["country", "own"]
RESPONSE_TYPES = {2: "binary", 3: "likert3", 4: "likert4", 10: "likert10"}
MEASURES = ("w1_unit", "jsd_distance", "own_country_advantage")
"""Measures of each cell: means over items with intervals over items."""
MEASURES_OF = {"jsd": MEASURES, "cramer": ("cramer_unit2", "own_country_advantage")}
"""The same by the study's distance."""


@dataclass(frozen=True)
class Plant:
    """Standard deviations of the effects on answers, in logits over a whole scale.

    Attributes:
        item: sd of the items' levels, which are shared by all.
        country: sd of a country's deviation on an item.
        follows: share of this deviation that each family shows in the country's language.
        own: sd of a family's own deviation for a language and item.
        wording: sd of the effect of each wording, independent for each language and item.
        order: sd of the position bias towards the first option; the same for all cells if `order_is_shared`.
        people_item: sd of people's item levels, where they differ from the models'.
    """

    item: float = 1.0
    country: float = 0.8
    follows: tuple[float, float] = (1.0, 0.6)
    own: float = 0.4
    wording: float = 0.3
    order: float = 0.5
    order_is_shared: bool = False
    people_item: float | None = None

    def deviations(
        self, effect: Effect, shape: tuple[int, ...], zones: Sequence[str], random: np.random.Generator
    ) -> Array:
        """(..., L, I) deviations of countries, or a family's own; subclasses may relate languages of a zone."""
        return random.normal(0, getattr(self, effect), shape)

    def style(self, scales: Scales, n_languages: int, random: np.random.Generator) -> Array | float:
        """(L, I) response style that people and models of a language share; here there is none."""
        return 0.0

    def pulls(self, scales: Scales, cells: tuple[int, ...], random: np.random.Generator) -> Array | float:
        """(families, languages, I) position bias beyond `order`; here there is none."""
        return 0.0


PLANTED = Plant()
NULL = Plant(follows=(0.0, 0.0), own=0.0, order_is_shared=True)
"""Families that answer the same in all languages, apart from effects of wordings."""
SCALE_ARTIFACT = Plant(item=0.0, follows=(0.0, 0.0), own=0.8, people_item=4.0)
"""Families that answer near the middle of every scale, so that long scales have high means in models and people."""


@dataclass(frozen=True)
class SimulatedAnswers:
    """Simulated answers and their truth.

    Attributes:
        grid: cells and sampled people, the input of analyses.
        planted: (C, I, K) true answers of each cell, averaged over both orders, without effects of wordings.
        people: (N, I, K) true answers of whole countries.
    """

    grid: AnswerGrid
    planted: Array
    people: Array


@dataclass(frozen=True)
class SimulatedItem:
    """One simulated item.

    Attributes:
        codes: positions of its options on the analysis scale, in the order in which they are listed.
        has_order: whether it is ordinal; otherwise it is categorical.
    """

    name: str
    codes: tuple[int, ...]
    has_order: bool = True


def simulated_scales(n_items: int, first: Sequence[SimulatedItem] = (), copies: int = 1) -> Scales:
    """The scales of these items and of others with 2, 4 and 10 options, up to `n_items`, in `copies` copies."""
    counts = [MORE_OPTIONS[number % len(MORE_OPTIONS)] for number in range(max(n_items - len(first), 0))]
    items = [*first, *(SimulatedItem(f"w{n}", tuple(range(1, count + 1))) for n, count in enumerate(counts))]
    codes = np.full((len(items), max(len(item.codes) for item in items)), np.nan)
    for place, item in enumerate(items):
        codes[place, : len(item.codes)] = sorted(item.codes)
    types = tuple(RESPONSE_TYPES[len(item.codes)] if item.has_order else "categorical" for item in items)
    names = tuple(f"{item.name}{f'#{copy}' * (copy > 0)}" for copy in range(copies) for item in items)
    ends = np.array([(item.codes[0], item.codes[-1]) for item in items], dtype=float)
    return Scales(names, types * copies, np.tile(codes, (copies, 1)), np.tile(ends, (copies, 1)))


def simulate_answers(
    plant: Plant, study: Study, scales: Scales, wordings: int, respondents: int, random: np.random.Generator
) -> SimulatedAnswers:
    """A simulated data set over the study's languages and two families.

    Args:
        scales: the items, see `simulated_scales`.
        respondents: number of people drawn per country and item; 0 for whole countries.
    """
    languages = tuple(study.languages)
    zones = tuple(str(each.zone) for each in study.languages.values())
    shape = (len(languages), len(scales.items))
    level = random.normal(0, plant.item, shape[1])
    deviations = plant.deviations("country", shape, zones, random)
    people_level = level if plant.people_item is None else random.normal(0, plant.people_item, shape[1])
    style = plant.style(scales, len(languages), random)
    true_people = tilted(scales, people_level + deviations + style)
    follows = np.array(plant.follows)[:, None, None]
    own_deviations = plant.deviations("own", (len(FAMILIES), *shape), zones, random)
    model = level + follows * deviations + style + own_deviations
    pull = random.normal(0, plant.order, (1, 1, shape[1]) if plant.order_is_shared else model.shape)
    pull = pull + plant.pulls(scales, model.shape[:2], random)
    orders = np.stack([pull, -pull])[:, None]
    tilts = model + orders + random.normal(0, plant.wording, (1, wordings, *model.shape))
    sides = tilted(scales, tilts).reshape(2, wordings, -1, *scales.codes.shape)
    planted = tilted(scales, (model + orders)).mean(axis=(0, 1)).reshape(-1, *scales.codes.shape)
    people = sampled(true_people, respondents, random) if respondents else true_people
    cells = tuple((family, language) for family in FAMILIES for language in languages)
    types, countries = tuple(family for family, _ in cells), tuple(study.countries[code] for code in languages)
    is_converted, p_valid = np.zeros((len(cells), shape[1]), dtype=bool), np.ones((len(cells), shape[1]))
    answers = sides.mean(axis=(0, 1))
    grid = AnswerGrid(scales, cells, types, answers, sides, is_converted, p_valid, countries, people)
    if respondents:
        grid = replace(grid, respondents=np.full(people.shape[:2], float(respondents)))
    return SimulatedAnswers(grid, planted, true_people)


def drawn_answers(grid: AnswerGrid, n: int, random: np.random.Generator, models: Sequence[str] = ()) -> AnswerGrid:
    """The grid with `n` draws of each answer in each order and wording, of these families; of all if none is named."""
    is_drawn = np.isin(grid.model_of, list(models or grid.models))
    is_there = np.isfinite(grid.sides).all(axis=-1) & is_drawn[:, None]
    probs = np.where(is_there[..., None], grid.sides, grid.scales.uniform())
    probs = probs / probs.sum(axis=-1, keepdims=True) * (1 - 1e-12)  # numpy refuses sums that exceed 1 by rounding
    sides = np.where(is_there[..., None], sampled(probs, n, random), grid.sides)
    n_read = np.where(is_there, float(n), np.inf)
    squares = np.prod(sides.shape[:2]) ** 2
    cramer = np.nansum(np.where(is_there, grid.scales.cramer_noise(sides, n_read), 0), axis=(0, 1)) / squares
    of_means = mean_variance_of(sides, n_read, grid.scales.unit)
    mean = np.nansum(np.where(is_there & grid.scales.is_ordinal, of_means, 0), axis=(0, 1)) / squares
    has_draws = np.asarray(is_there.any(axis=(0, 1)))
    answers = np.where(has_draws[..., None], mean_of_known(mean_of_known(sides, axis=0), axis=0), grid.answers)
    return replace(grid, answers=answers, sides=sides, draws=Draws(n_read, cramer, mean))


def tilted(scales: Scales, tilt: Array) -> Array:
    """Answers (..., I, K) with probabilities proportional to exp(tilt * position), positions from -1/2 to 1/2."""
    logits = np.where(np.isfinite(scales.codes), tilt[..., None] * (scales.unit - 0.5), -np.inf)
    mass = np.exp(logits)
    return mass / mass.sum(axis=-1, keepdims=True)


def sampled(answers: Array, n: int, random: np.random.Generator) -> Array:
    """Shares among `n` answers drawn from each distribution along the last axis."""
    return random.multinomial(n, answers) / n


def simulation_study(study: Study, languages: Sequence[str], resamples: int) -> Study:
    """The study of simulated data: these languages, a mono and a multi family, and `resamples` resamples."""
    family = next(iter(study.families.values()))
    families = {
        name: family.model_copy(
            update={
                "kind": "reference",
                "model_type": name,
                "model_id": None,
                "languages": None,
                "plants": "values",
                "draws": None,
            }
        )
        for name in FAMILIES
    }
    return study.model_copy(
        update={
            "languages": {code: study.languages[code] for code in languages},
            "families": families,
            "inference": study.inference.model_copy(update={"resamples": resamples}),
        }
    )


def simulated_comparisons(
    simulation: SimulatedAnswers, study: Study, respondents: int, truth: dict[str, float] | None
) -> Iterator[dict[str, Any]]:
    """Rows of all tests, and of intervals with their truth where it is known.

    Args:
        respondents: number of people per country in the simulation.
        truth: see `true_comparisons`.
    """
    grid = simulation.grid
    country, item = np.divmod(np.arange(len(grid.countries) * len(grid.items)), len(grid.items))
    questions = pd.DataFrame({"country": np.array(grid.countries)[country], "question_id": np.array(grid.items)[item]})
    human = questions.assign(n=respondents, design_effect=1.0, dk_rate=0.0, source="made")
    people = derive_human_comparison(grid, human, study)
    families = derive_mono_vs_multi(grid, study)
    for tests in (compare_cells(cell_distances(grid, study), study)["tests"], people["tests"], families["tests"]):
        yield from test_rows(tests)
    if truth is None:
        return
    for row in records(rows_where(people["cells"], kind="model")):
        for measure in MEASURES_OF[study.distance]:
            ends = {end: row[f"{measure}_{end}"] for end in ("low", "high")}
            values = {"estimate": row[measure], "truth": truth[f"{measure} {row['model']}"]}
            yield {"what": "interval", "interval": f"cell's {measure.replace('_', ' ')}"} | values | ends
    row = records(rows_where(families["summary"], measure="own_country_advantage"))[0]
    values = {"estimate": row["mean_difference"], "low": row["low"], "high": row["high"]}
    difference = truth["own_country_advantage mono"] - truth["own_country_advantage multi"]
    yield {"what": "interval", "interval": "mono - multi, advantage", "truth": difference} | values


def test_rows(tests: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of the tests that were possible."""
    for row in records(tests.dropna(subset=["p"])):
        yield {"what": "test"} | {name: row[name] for name in ("test_family", "p", "p_corrected")}


def true_comparisons(simulation: SimulatedAnswers, study: Study) -> dict[str, float]:
    """Means of `MEASURES_OF` the study over all cells of each family, in simulated data with very many items."""
    grid, means = simulation.grid, {}
    for model in grid.models:
        places = list(grid.places(model).values())
        own, cells = np.arange(len(places)), grid.answers[places]
        to_all = divergences_from_countries(grid, study, cells, grid.cramer_noise[places])
        every = {
            "w1_unit": grid.scales.w1_unit(cells, grid.people),
            "jsd_distance": jsd_distance_of(cells, grid.people),
            "cramer_unit2": of_own(to_all, own),
            "own_country_advantage": of_own(advantages(to_all), own),
        }
        values = {name: every[name] for name in MEASURES_OF[study.distance]}
        means |= {f"{name} {model}": float(mean_of_known(each).mean()) for name, each in values.items()}
    return means
