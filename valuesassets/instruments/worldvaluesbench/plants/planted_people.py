"""Synthetic people in the columns and codes of WVS-7, whose background moves their answers by planted amounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF, FACTORS, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, chosen_questions
from valuesassets.measure.seeding import seeded
from valuesassets.people.surveys import DONT_KNOW, NO_ANSWER, NOT_ASKED, OTHER

Floats = NDArray[np.float64]

MOST_MOVED = MappingProxyType({"continent": 0.25, "settlement": 0.15, "education": 0.2})
"""The largest relative move of an answer's share by each factor; 1.6 times their sum leaves shares above 0."""
LEAST_SHARE = 0.4
"""The least planted pooled share, as a part of the uniform share."""
WEIGHT_SD = 0.3
"""The standard deviation of weights, whose mean is 1."""
SILENT_SHARES = MappingProxyType({DONT_KNOW: 0.02, NO_ANSWER: 0.01, NOT_ASKED: 0.003, OTHER: 0.002})
"""Shares of people without an answer to a question, by reason."""
OFF_SCALE_SHARE = 0.02
"""The share of answers with a code that is not on the scale, for questions that have such a code."""
RECODED_SHARE = 0.1
"""The share of the recoded code among answers that the file codes in two ways."""
SPANS = MappingProxyType(
    {"A_YEAR": (2017, 2022), "G_TOWNSIZE": (1, 8), "H_SETTLEMENT": (1, 5), "E1_LITERACY": (1, 2), "Q260": (1, 2)}
    | {"Q262": (18, 90), "Q263": (1, 2), "Q264": (1, 2), "Q265": (1, 2), "Q269": (1, 2), "Q270": (1, 7)}
    | {"Q271": (1, 4), "Q273": (1, 6), "Q274": (0, 7), "Q276": (0, 8), "Q277": (0, 8), "Q278": (0, 8)}
    | {"Q279": (1, 8), "Q280": (1, 8), "Q281": (0, 11), "Q282": (0, 11), "Q283": (0, 11), "Q284": (1, 3)}
    | {"Q285": (1, 2), "Q286": (1, 4), "Q287": (1, 5), "Q288": (1, 10), "Q289": (0, 9)}
)
"""First and last code of attributes whose codes are drawn for everybody alike."""


@dataclass(frozen=True)
class Design:
    """The population of synthetic people: equal shares of combinations of levels, and of codes within a level.

    Countries are ISO 3166-1 numeric, the others codes of WVS-7. Planted answers to a question do not depend on others.
    """

    questions: tuple[str, ...]
    countries: tuple[int, ...]
    settlements: tuple[int, ...]
    education: tuple[int, ...]

    @cached_property
    def questions_by_id(self) -> dict[str, ValueQuestion]:
        """The questions by id."""
        return {question.id: question for question in chosen_questions(self.questions)}

    @cached_property
    def codes(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """By factor, the codes of each level that people have, levels in the order of `FACTORS`."""
        by_level: dict[str, dict[str, tuple[int, ...]]] = {}
        in_factors = zip(
            load_backgrounds().levels.items(), (self.countries, self.settlements, self.education), strict=True
        )
        for (factor, level_of), codes in in_factors:
            levels = ((level, tuple(code for code in codes if level_of[code] == level)) for level in FACTORS[factor])
            by_level[factor] = {level: codes_of_level for level, codes_of_level in levels if codes_of_level}
        return by_level

    @cached_property
    def profiles(self) -> tuple[dict[str, int], ...]:
        """All combinations of codes, by attribute."""
        combined = product(self.countries, self.settlements, self.education)
        return tuple(dict(zip(ATTRIBUTE_OF.values(), codes, strict=True)) for codes in combined)


DEMO = Design(("Q1", "Q7", "Q94", "Q106", "Q119", "Q164"), (156, 276, 484, 566), (1, 2), (2, 7))
"""Questions of 4, 2, 3, 10, 5 and 10 answers; 4 continents x 2 settlements x 2 levels of education, a profile each."""


def levels_of(profile: Mapping[str, int]) -> dict[str, str]:
    """The level of each factor for the codes of a profile.

    >>> levels_of({"B_COUNTRY": 156, "H_URBRURAL": 1, "Q275": 7})
    {'continent': 'Asia', 'settlement': 'urban', 'education': 'tertiary'}
    """
    levels = load_backgrounds().levels
    return {factor: levels[factor][profile[attribute]] for factor, attribute in ATTRIBUTE_OF.items()}


def pooled_shares(question: str, seed: int, design: Design = DEMO) -> Floats:
    """(K,) planted shares of answers of all people, which are the mean over the design's groups and sum to 1."""
    n_answers = len(_question(question, design).values)
    drawn = seeded(seed, "pooled", question).dirichlet(np.full(n_answers, 2.0))
    return LEAST_SHARE / n_answers + (1 - LEAST_SHARE) * drawn


def planted_shares(question: str, levels: Mapping[str, str], seed: int, design: Design = DEMO) -> Floats:
    """(K,) planted shares of answers of one group, which are the pooled shares moved by each level and sum to 1."""
    return planted_model(question, levels, seed, 1.0, design)


def planted_model(question: str, levels: Mapping[str, str], seed: int, slope: float, design: Design = DEMO) -> Floats:
    """(K,) shares of answers for a person of these levels by a model that makes `slope` of people's moves.

    A level moves each share by a part of that share, up or down the scale; the moves of a factor's levels sum to 0, so
    that the pooled shares do not change.

    Args:
        slope: -1.6 to 1.6, so that no share falls below 0.
    """
    pooled = pooled_shares(question, seed, design)
    moved = sum((_move(question, factor, levels[factor], seed, design) for factor in FACTORS), np.zeros(len(pooled)))
    return pooled + slope * pooled * moved


def plant_people(
    n: int, seed: int, design: Design = DEMO, n_shared_ids: int = 1, n_repeated_rows: int = 0
) -> pd.DataFrame:
    """People of a design in the columns and codes of WVS-7's file, in groups of the same size.

    Args:
        n: number of people.
        n_shared_ids: number of people who have the id of another person of their country.
        n_repeated_rows: number of rows that are repeated at the end.

    Returns:
        `n + n_repeated_rows` rows: A_WAVE, the 42 attributes, D_INTERVIEW, W_WEIGHT and the design's questions, all
        integers except the weight. Answers have the codes of the file, before any recoding.
    """
    groups = list(product(*(levels for levels in design.codes.values())))
    group = np.arange(n) % len(groups)
    background = _background(n, seed, design, groups, group)
    columns = {"A_WAVE": np.full(n, 7), "D_INTERVIEW": _ids(background["B_COUNTRY"], n_shared_ids), **background}
    columns["W_WEIGHT"] = seeded(seed, "weights").gamma(1 / WEIGHT_SD**2, WEIGHT_SD**2, n).round(6)
    for name, question in design.questions_by_id.items():
        shares = np.array(
            [planted_shares(name, dict(zip(FACTORS, each, strict=True)), seed, design) for each in groups]
        )
        draw = seeded(seed, "answers", name)
        place = (draw.uniform(size=n)[:, None] > np.cumsum(shares, axis=1)[group, :-1]).sum(axis=1)
        columns[name] = _as_filed(question.lo + place, question, draw)
    people = pd.DataFrame(columns)
    return pd.concat([people, people.head(n_repeated_rows)], ignore_index=True)


def planted_ratings(slope: float, seed: int, design: Design = DEMO) -> pd.DataFrame:
    """A planted model's answers: `question_id`, attributes (empty in answers without), `response_value`, `prob`."""
    rows: list[dict[str, object]] = []
    for name, question in design.questions_by_id.items():
        without = dict.fromkeys(ATTRIBUTE_OF.values()), pooled_shares(name, seed, design)
        shares = [(each, planted_model(name, levels_of(each), seed, slope, design)) for each in design.profiles]
        rows += [
            {"question_id": name, **profile, "response_value": value, "prob": prob}
            for profile, probs in [*shares, without]
            for value, prob in zip(question.values, probs, strict=True)
        ]
    return pd.DataFrame(rows).astype(dict.fromkeys(ATTRIBUTE_OF.values(), "Int64"))


def _question(name: str, design: Design) -> ValueQuestion:
    return design.questions_by_id[name] if name in design.questions else chosen_questions([name])[0]


@cache
def _move(question: str, factor: str, level: str, seed: int, design: Design) -> Floats:
    """(K,) relative moves of shares by a level, with mean 0 over the pooled shares and over levels."""
    pooled, levels = pooled_shares(question, seed, design), list(design.codes[factor])
    draw = seeded(seed, "moves", question, factor)
    unit = np.linspace(0, 1, len(pooled))
    course = unit + draw.uniform(-0.4, 0.4) * unit * (1 - unit)
    course -= pooled @ course
    far = draw.permutation(np.linspace(-1, 1, len(levels)) if len(levels) > 1 else np.zeros(1))
    return MOST_MOVED[factor] * far[levels.index(level)] * course / np.abs(course).max()


def _background(
    n: int, seed: int, design: Design, groups: Sequence[tuple[str, ...]], group: NDArray[np.intp]
) -> dict[str, NDArray[np.int64]]:
    """The 42 attributes with the codes of the file."""
    draw = seeded(seed, "background")
    attributes: dict[str, NDArray[np.int64]] = {}
    for place, (factor, codes_of) in enumerate(design.codes.items()):
        attributes[ATTRIBUTE_OF[factor]] = np.zeros(n, dtype=np.int64)
        for level, codes in codes_of.items():
            places = np.flatnonzero(np.array([each[place] == level for each in groups])[group])
            attributes[ATTRIBUTE_OF[factor]][places] = np.resize(
                draw.permutation(np.resize(codes, len(places))), len(places)
            )
    for name, (first, last) in SPANS.items():
        attributes[name] = draw.integers(first, last + 1, n)
    country, age = attributes["B_COUNTRY"], attributes["Q262"]
    attributes["J_INTDATE"] = attributes["A_YEAR"] * 10_000 + draw.integers(1, 13, n) * 100 + draw.integers(1, 29, n)
    attributes["N_TOWN"] = country * 1000 + draw.integers(1, 10, n)
    attributes["S_INTLANGUAGE"] = attributes["Q272"] = np.full(n, 1240)
    attributes["Q261"] = attributes["A_YEAR"] - age
    attributes["X003R"] = np.clip((age - 15) // 10 + 1, 1, 6)
    attributes["Q266"] = attributes["Q267"] = attributes["Q268"] = country
    attributes["Q289CS9"] = np.maximum(attributes["Q289"], 1) * 10_000_000
    attributes["Q290"] = country * 1000 + draw.integers(1, 5, n)
    settled = {"A_YEAR", "J_INTDATE", *ATTRIBUTE_OF.values()}
    for name in (each for each in attributes if each not in settled):
        attributes[name] = np.where(draw.uniform(size=n) < SILENT_SHARES[OTHER], OTHER, attributes[name])
    return {attribute.id: attributes[attribute.id] for attribute in load_backgrounds().attributes}


def _ids(country: NDArray[np.int64], n_shared: int) -> NDArray[np.int64]:
    """(n,) numbers of interviews: country, wave 07, number; the last people of a country share those of its first."""
    number = pd.Series(country).groupby(country).cumcount().to_numpy()
    ids = country * 1_000_000 + 70_001 + number
    first = np.flatnonzero(country == country[0])
    ids[first[len(first) - n_shared :]] = ids[first[:n_shared]]
    return ids


def _as_filed(on_scale: NDArray[np.int64], question: ValueQuestion, draw: np.random.Generator) -> NDArray[np.int64]:
    """(n,) codes of the survey's file: before recoding, some of them off the scale or missing."""
    filed = on_scale.copy()
    for old, new in question.recodes.items():
        is_only_one = new in question.recodes or old in question.values  # otherwise the file has `new` as well
        chosen = draw.uniform(size=len(filed)) < (1.0 if is_only_one else RECODED_SHARE)
        filed[(on_scale == new) & chosen] = old
    if question.missing:
        filed[draw.uniform(size=len(filed)) < OFF_SCALE_SHARE] = question.missing[0]
    silent = draw.choice(
        [0, *SILENT_SHARES], size=len(filed), p=[1 - sum(SILENT_SHARES.values()), *SILENT_SHARES.values()]
    )
    return np.where(silent < 0, silent, filed)
