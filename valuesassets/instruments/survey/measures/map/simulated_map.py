"""The map of a simulation: respondents drawn from its countries, their points, and those of the models."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.comparing.scales import Scales
from valuesassets.comparing.simulated_answers import SimulatedAnswers, SimulatedItem
from valuesassets.instruments.survey.material import indicators
from valuesassets.instruments.survey.material.analysis_scale import analysis_value
from valuesassets.instruments.survey.measures.map.agreement import VERDICTS, families_against_countries
from valuesassets.instruments.survey.measures.map.answers import PARTS, SLOTS, indicator_means
from valuesassets.instruments.survey.measures.map.people import people_of
from valuesassets.instruments.survey.measures.map.points import Cells, lay_ground, people_rows
from valuesassets.instruments.survey.measures.map.projector import choose_axes
from valuesassets.measure.distances import Array
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study
from valuesassets.records.tables import HUMAN_DISTRIBUTIONS

WEIGHT_SHAPE = 11.0  # of the gamma distribution of respondents' weights: a design effect of about 1.1


def map_of_simulation(
    simulation: SimulatedAnswers, study: Study, respondents: int, random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Rows: intervals of the countries' points with the truth, and the map's verdicts and tests."""
    scales, countries = simulation.grid.scales, simulation.grid.countries
    drawn = drawn_respondents(simulation.people, scales, countries, respondents, random)
    people = people_of(HUMAN_DISTRIBUTIONS.empty_frame(), drawn, study)
    ground = lay_ground(choose_axes(study, None), people, study.inference.level)
    true = ground.place(indicator_means(slots_of(simulation.people, scales)))
    for row, place in zip(people_rows(people, ground, study, (), {}), true, strict=True):
        for axis, truth in zip("xy", place, strict=True):
            ends = {name: row[f"{axis}_{name}"] for name in ("low", "high")}
            name = f"country's point, {axis}"
            yield {"what": "interval", "interval": name, "estimate": row[axis], "truth": float(truth)} | ends
    means = indicator_means(slots_of(simulation.grid.answers, scales))
    labels = pd.DataFrame(list(simulation.grid.cells), columns=pd.Index(["model", "language"]))
    cells = Cells(labels, means, means[:, None], np.ones(len(means), dtype=int))
    own = {each.country: each.means for each in people}
    tests = families_against_countries(cells, ground, own, "against their countries", study)
    for row in records(rows_where(tests, test_family=VERDICTS)):
        yield {"what": "test"} | {name: row[name] for name in ("test_family", "p", "p_corrected")}
        yield {"what": "map verdict", "verdict": row["verdict"]}


def map_items() -> list[SimulatedItem]:
    """The questions of the map as items of a simulation."""
    aims = indicators.components("Y002")
    return [
        SimulatedItem(
            part, tuple(analysis_value(part, code) for code in sorted(indicators.answer_codes(part))), part not in aims
        )
        for part in PARTS
    ]


def slots_of(answers: Array, scales: Scales) -> Array:
    """(..., slots) probabilities of the map's answers, from (..., I, K) answers on the analysis scale."""
    items = [scales.items.index(part) for part, _ in SLOTS]
    worth = zip(items, (analysis_value(*slot) for slot in SLOTS), strict=True)
    return answers[..., items, [scales.codes[item].tolist().index(value) for item, value in worth]]


def drawn_respondents(
    answers: Array, scales: Scales, countries: tuple[str, ...], n: int, random: np.random.Generator
) -> pd.DataFrame:
    """`n` respondents per country with the ten indicators, as in `survey/respondents`, from (N, I, K) answers."""

    def draw_codes(part: str) -> Array:
        """(N, n) answer codes."""
        item = scales.items.index(part)
        reached = np.cumsum(answers[:, item], axis=-1)[:, None]
        option = (random.uniform(size=(len(countries), n, 1)) > reached).sum(axis=-1)
        codes = sorted(indicators.answer_codes(part), key=lambda code: analysis_value(part, code))
        return np.array(codes)[np.minimum(option, len(codes) - 1)]

    codes_of = {
        part: draw_codes(part)
        for part in (*(part for part, _ in indicators.SINGLE.values()), *indicators.AUTONOMY, indicators.FIRST_AIM)
    }
    first = codes_of[indicators.FIRST_AIM]
    second = [draw_codes(f"{indicators.SECOND_AIM}@{indicators.FIRST_AIM}={aim}") for aim in indicators.AIMS]
    codes_of[indicators.SECOND_AIM] = np.select([first == aim for aim in indicators.AIMS], second)
    values = indicators.own_indicators(codes_of)
    weights = random.gamma(WEIGHT_SHAPE, 1 / WEIGHT_SHAPE, (len(countries), n))
    frame = pd.DataFrame({name: values[name].ravel() for name in indicators.INDICATORS})
    frame["country"], frame["weight"] = np.repeat(countries, n), weights.ravel()
    frame["respondent_id"], frame["source"] = np.arange(len(frame)).astype(str), "made"
    return frame
