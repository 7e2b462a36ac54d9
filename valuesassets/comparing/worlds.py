"""Worlds of answers with a known truth, made at the level of distributions without a model, and analysed like a study.

Every answer distribution leans along its scale by a number of logits (a tilt). A tilt is the sum of what is planted:
the item's level, what sets a country apart on the item, what a family makes of it, and what wordings and orders add.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.country_distances import advantages, jsd_bits_to_countries, of_own
from valuesassets.comparing.distances import cell_distances, compare_cells
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.scales import Scales
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import jsd_distance_of
from valuesassets.measure.means import mean_of_known
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study

FAMILIES = ("mono", "multi")
MORE_OPTIONS = (2, 4, 10)
RESPONSE_TYPES = {2: "binary", 3: "likert3", 4: "likert4", 10: "likert10"}
MEASURES = ("w1_unit", "jsd_distance", "own_country_advantage")
"""Of each cell, as means over items with intervals over items."""


@dataclass(frozen=True)
class Plant:
    """Standard deviations of what tilts answers, in logits over a whole scale, and how much families share.

    Attributes:
        item: of the items' levels, the same for all.
        country: of what sets a country apart on an item.
        follows: share of it that each family shows in the country's language.
        own: of what a family makes up for a language and item.
        wording: of what each wording adds, anew for each language and item.
        order: of the pull to the first option shown, which turns with the order; the same for all cells where
            `order_is_shared`.
        people_item: of people's item levels, where they are not the models'.
        position: mean pull to the first option shown, the same for all items (no standard deviation).
        position_apart: of that pull between languages, and once more between scales of as many options in a language.
        agreement: of a readiness to agree, the same in a country's people and in its language's models.
        keying: which items it moves: `one way`, `both ways` (every other item the other way), or `some` (those of four
            options or fewer, one way).
        kinship: shares of the variance of `country` and of `own` that lie between groups of related languages.
    """

    item: float = 1.0
    country: float = 0.8
    follows: tuple[float, float] = (1.0, 0.6)
    own: float = 0.4
    wording: float = 0.3
    order: float = 0.5
    order_is_shared: bool = False
    people_item: float | None = None
    position: float = 0.0
    position_apart: float = 0.0
    agreement: float = 0.0
    keying: Literal["one way", "both ways", "some"] = "one way"
    kinship: tuple[float, float] = (0.0, 0.0)


PLANTED = Plant()
NULL = Plant(follows=(0.0, 0.0), own=0.0, order_is_shared=True)
"""Families that answer the same in all languages, but for what each wording makes anew."""
SCALE_ARTIFACT = Plant(item=0.0, follows=(0.0, 0.0), own=0.8, people_item=4.0)
"""Families that answer near the middle of every scale: long scales have high means in models and in people."""

POSITION_ONLY = Plant(follows=(0.0, 0.0), own=0.0, order=0.0, position=3.0, position_apart=1.0)
"""Families that say the same of every item in all languages, under a pull to the first option that differs by language
and by number of options: what averaging two orders leaves of it repeats in every wording."""


@dataclass(frozen=True)
class World:
    """What was read and what is true.

    Attributes:
        grid: cells and people as an analysis meets them, people drawn in a sample.
        planted: (C, I, K) each cell's answers averaged over the two orders without any wording's own part.
        people: (N, I, K) the answers of whole countries.
    """

    grid: AnswerGrid
    planted: Array
    people: Array


@dataclass(frozen=True)
class WorldItem:
    """One item of a made world.

    Attributes:
        codes: places of its options on the analysis scale, in the order in which they are listed.
        has_order: whether means make sense; else it is categorical.
    """

    name: str
    codes: tuple[int, ...]
    has_order: bool = True


def world_scales(n_items: int, first: Sequence[WorldItem] = (), copies: int = 1) -> Scales:
    """These items, then others on scales of 2, 4 and 10 options up to `n_items`; so many copies of them all."""
    counts = [MORE_OPTIONS[number % len(MORE_OPTIONS)] for number in range(max(n_items - len(first), 0))]
    items = [*first, *(WorldItem(f"w{n}", tuple(range(1, count + 1))) for n, count in enumerate(counts))]
    codes = np.full((len(items), max(len(item.codes) for item in items)), np.nan)
    for place, item in enumerate(items):
        codes[place, : len(item.codes)] = sorted(item.codes)
    types = tuple(RESPONSE_TYPES[len(item.codes)] if item.has_order else "categorical" for item in items)
    names = tuple(f"{item.name}{f'#{copy}' * (copy > 0)}" for copy in range(copies) for item in items)
    ends = np.array([(item.codes[0], item.codes[-1]) for item in items], dtype=float)
    return Scales(names, types * copies, np.tile(codes, (copies, 1)), np.tile(ends, (copies, 1)))


def make_world(
    plant: Plant,
    study: Study,
    scales: Scales,
    wordings: int,
    respondents: int,
    random: np.random.Generator,
    groups: Sequence[str] | None = None,
) -> World:
    """One world over the study's languages and two families.

    Args:
        scales: the items, see `world_scales`.
        respondents: people drawn per country and item; 0 gives whole countries.
        groups: of each language, the group of related ones that `plant.kinship` is about; else its culture zone.
    """
    languages = tuple(study.languages)
    kin = tuple(str(each.zone) for each in study.languages.values()) if groups is None else tuple(groups)
    shape = (len(languages), len(scales.items))
    level = random.normal(0, plant.item, shape[1])
    apart = kindred(plant.country, shape, plant.kinship[0], kin, random)
    of_people = level if plant.people_item is None else random.normal(0, plant.people_item, shape[1])
    style = _agreement(plant, scales, shape, random) if plant.agreement else 0.0
    true = tilted(scales, of_people + apart + style)
    follows = np.array(plant.follows)[:, None, None]
    own = kindred(plant.own, (len(FAMILIES), *shape), plant.kinship[1], kin, random)
    model = level + follows * apart + style + own
    pull = random.normal(0, plant.order, (1, 1, shape[1]) if plant.order_is_shared else model.shape)
    if plant.position_apart:
        pull = pull + _pulls(plant, scales, model.shape[:2], random)
    orders = np.stack([pull, -pull])[:, None]
    said = model + orders + random.normal(0, plant.wording, (1, wordings, *model.shape))
    sides = tilted(scales, said).reshape(2, wordings, -1, *scales.codes.shape)
    planted = tilted(scales, (model + orders)).mean(axis=(0, 1)).reshape(-1, *scales.codes.shape)
    people = sampled(true, respondents, random) if respondents else true
    cells = tuple((family, language) for family in FAMILIES for language in languages)
    types, countries = tuple(family for family, _ in cells), tuple(study.countries[code] for code in languages)
    is_converted, p_valid = np.zeros((len(cells), shape[1]), dtype=bool), np.ones((len(cells), shape[1]))
    answers = sides.mean(axis=(0, 1))
    grid = AnswerGrid(scales, cells, types, answers, sides, is_converted, p_valid, countries, people)
    if respondents:
        grid = replace(grid, respondents=np.full(people.shape[:2], float(respondents)))
    return World(grid, planted, true)


def kindred(
    sd: float, shape: tuple[int, ...], share: float, groups: Sequence[str], random: np.random.Generator
) -> Array:
    """Normal numbers (..., L, I) of this standard deviation; a share of their variance lies between groups of L."""
    alone = random.normal(0, sd, shape)
    if not share:
        return alone
    of_group = np.unique(groups, return_inverse=True)[1]
    shared = random.normal(0, sd, (*shape[:-2], of_group.max() + 1, shape[-1]))[..., of_group, :]
    return np.sqrt(1 - share) * alone + np.sqrt(share) * shared


def _agreement(plant: Plant, scales: Scales, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """(L, I) how far each country's readiness to agree tilts each item."""
    keys = np.ones(shape[1])
    if plant.keying == "both ways":
        keys[1::2] = -1
    elif plant.keying == "some":
        keys[scales.n_options > max(RESPONSE_TYPES.keys() - {10})] = 0
    return random.normal(0, plant.agreement, shape[0])[:, None] * keys


def _pulls(plant: Plant, scales: Scales, cells: tuple[int, ...], random: np.random.Generator) -> Array:
    """(families, languages, I) pulls to the first option shown, alike for all items of a cell with as many options."""
    of_cell = random.normal(plant.position, plant.position_apart, cells)
    counts, kind = np.unique(scales.n_options, return_inverse=True)
    return of_cell[..., None] + random.normal(0, plant.position_apart, (*cells, len(counts)))[..., kind]


def tilted(scales: Scales, tilt: Array) -> Array:
    """Answers (..., I, K) with probabilities proportional to exp(tilt * place), places from -1/2 to 1/2."""
    logits = np.where(np.isfinite(scales.codes), tilt[..., None] * (scales.unit - 0.5), -np.inf)
    mass = np.exp(logits)
    return mass / mass.sum(axis=-1, keepdims=True)


def sampled(answers: Array, n: int, random: np.random.Generator) -> Array:
    """Shares among `n` answers drawn from each distribution along the last axis."""
    return random.multinomial(n, answers) / n


def world_study(study: Study, languages: Sequence[str], resamples: int) -> Study:
    """The study as worlds have it: these languages, a mono and a multi family, so many resamples."""
    family = next(iter(study.families.values()))
    named = {
        name: family.model_copy(
            update={"kind": "reference", "model_type": name, "model_id": None, "languages": None, "plants": "values"}
        )
        for name in FAMILIES
    }
    return study.model_copy(
        update={
            "languages": {code: study.languages[code] for code in languages},
            "families": named,
            "inference": study.inference.model_copy(update={"resamples": resamples}),
        }
    )


def comparisons_of_world(
    world: World, study: Study, respondents: int, truth: dict[str, float] | None
) -> Iterator[dict[str, Any]]:
    """Tests of all declared families, and, where the truth is known, intervals beside it.

    Args:
        respondents: people per country behind the world's people.
        truth: see `true_comparisons`.
    """
    grid = world.grid
    country, item = np.divmod(np.arange(len(grid.countries) * len(grid.items)), len(grid.items))
    asked = pd.DataFrame({"country": np.array(grid.countries)[country], "question_id": np.array(grid.items)[item]})
    human = asked.assign(n=respondents, design_effect=1.0, dk_rate=0.0, source="made")
    people = derive_human_comparison(grid, human, study)
    families = derive_mono_vs_multi(grid, study)
    for tests in (compare_cells(cell_distances(grid, study), study)["tests"], people["tests"], families["tests"]):
        yield from test_rows(tests)
    if truth is None:
        return
    for row in records(rows_where(people["cells"], kind="model")):
        for measure in MEASURES:
            ends = {end: row[f"{measure}_{end}"] for end in ("low", "high")}
            told = {"estimate": row[measure], "truth": truth[f"{measure} {row['model']}"]}
            yield {"what": "interval", "interval": f"cell's {measure.replace('_', ' ')}"} | told | ends
    row = records(rows_where(families["summary"], measure="own_country_advantage"))[0]
    told = {"estimate": row["mean_difference"], "low": row["low"], "high": row["high"]}
    difference = truth["own_country_advantage mono"] - truth["own_country_advantage multi"]
    yield {"what": "interval", "interval": "mono - multi, advantage", "truth": difference} | told


def test_rows(tests: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """What tests of a world found, those that could be made."""
    for row in records(tests.dropna(subset=["p"])):
        yield {"what": "test"} | {name: row[name] for name in ("test_family", "p", "p_corrected")}


def true_comparisons(world: World) -> dict[str, float]:
    """Means of `MEASURES` over all cells of each family, in a world of very many items."""
    grid, found = world.grid, {}
    for model in grid.models:
        places = list(grid.places(model).values())
        own, cells = np.arange(len(places)), grid.answers[places]
        to_all = jsd_bits_to_countries(cells, grid.people, grid.effective_n)
        values = {
            "w1_unit": grid.scales.w1_unit(cells, grid.people),
            "jsd_distance": jsd_distance_of(cells, grid.people),
            "own_country_advantage": of_own(advantages(to_all), own),
        }
        found |= {f"{name} {model}": float(mean_of_known(each).mean()) for name, each in values.items()}
    return found
