"""Synthetic people in WVS-7's columns and codes, whose background moves what they answer by moves that are known."""

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
"""By how much of itself a factor moves an answer's share at most: 1.6 times all of them leave it above 0."""
LEAST_SHARE = 0.4
"""A planted pooled share is at least this much of the even one."""
WEIGHT_SD = 0.3
"""Of the weights (mean 1)."""
SILENT_SHARES = MappingProxyType({DONT_KNOW: 0.02, NO_ANSWER: 0.01, NOT_ASKED: 0.003, OTHER: 0.002})
"""Of people, for every question: why there is no answer."""
OFF_SCALE_SHARE = 0.02
"""Of those who answered a question with a code that is no place on its scale, so many gave that code."""
RECODED_SHARE = 0.1
"""Of those whose answer the file codes in two ways, so many have the code that is recoded."""
SPANS = MappingProxyType(
    {
        "A_YEAR": (2017, 2022),
        "G_TOWNSIZE": (1, 8),
        "H_SETTLEMENT": (1, 5),
        "E1_LITERACY": (1, 2),
        "Q260": (1, 2),
        "Q262": (18, 90),
        "Q263": (1, 2),
        "Q264": (1, 2),
        "Q265": (1, 2),
        "Q269": (1, 2),
        "Q270": (1, 7),
        "Q271": (1, 4),
        "Q273": (1, 6),
        "Q274": (0, 7),
        "Q276": (0, 8),
        "Q277": (0, 8),
        "Q278": (0, 8),
        "Q279": (1, 8),
        "Q280": (1, 8),
        "Q281": (0, 11),
        "Q282": (0, 11),
        "Q283": (0, 11),
        "Q284": (1, 3),
        "Q285": (1, 2),
        "Q286": (1, 4),
        "Q287": (1, 5),
        "Q288": (1, 10),
        "Q289": (0, 9),
    }
)
"""First and last code of the attributes that any person may have any code of."""


@dataclass(frozen=True)
class Design:
    """Whom synthetic people stand for: each combination of levels alike, and within a level each code alike.

    Attributes:
        questions: ids; each is planted on its own, so that others beside it change nothing.
        countries: ISO 3166-1 numeric.
        settlements: codes of H_URBRURAL.
        education: codes of Q275.
    """

    questions: tuple[str, ...]
    countries: tuple[int, ...]
    settlements: tuple[int, ...]
    education: tuple[int, ...]

    @cached_property
    def asked(self) -> dict[str, ValueQuestion]:
        """The questions by id."""
        return {question.id: question for question in chosen_questions(self.questions)}

    @cached_property
    def codes(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """By factor: the codes of each level that people have, levels in the order of `FACTORS`."""
        known = load_backgrounds()
        given = {
            "continent": (known.continents, self.countries),
            "settlement": (known.settlement, self.settlements),
            "education": (known.education, self.education),
        }
        return {
            factor: {
                level: tuple(code for code in codes if level_of[code] == level)
                for level in FACTORS[factor]
                if any(level_of[code] == level for code in codes)
            }
            for factor, (level_of, codes) in given.items()
        }

    @cached_property
    def profiles(self) -> tuple[dict[str, int], ...]:
        """Every combination of codes, by attribute."""
        combined = product(self.countries, self.settlements, self.education)
        return tuple(dict(zip(ATTRIBUTE_OF.values(), codes, strict=True)) for codes in combined)


DEMO = Design(("Q1", "Q7", "Q94", "Q106", "Q119", "Q164"), (156, 276, 484, 566), (1, 2), (2, 7))
"""Questions of 4, 2, 3, 10, 5 and 10 answers; 4 continents x 2 settlements x 2 levels of education, a profile each."""


def levels_of(profile: Mapping[str, int]) -> dict[str, str]:
    """The level of each factor that a profile's codes stand for.

    >>> levels_of({"B_COUNTRY": 156, "H_URBRURAL": 1, "Q275": 7})
    {'continent': 'Asia', 'settlement': 'urban', 'education': 'tertiary'}
    """
    known = load_backgrounds()
    tables = {"continent": known.continents, "settlement": known.settlement, "education": known.education}
    return {factor: tables[factor][profile[attribute]] for factor, attribute in ATTRIBUTE_OF.items()}


def pooled_shares(question: str, seed: int, design: Design = DEMO) -> Floats:
    """(K,) what all people together answer, in shares that sum to 1: the mean over the design's groups."""
    n_answers = len(_question(question, design).values)
    drawn = seeded(seed, "pooled", question).dirichlet(np.full(n_answers, 2.0))
    return LEAST_SHARE / n_answers + (1 - LEAST_SHARE) * drawn


def planted_shares(question: str, levels: Mapping[str, str], seed: int, design: Design = DEMO) -> Floats:
    """(K,) what people of one group answer, in shares that sum to 1: the pooled ones, moved by each of the levels."""
    return planted_model(question, levels, seed, 1.0, design)


def planted_model(question: str, levels: Mapping[str, str], seed: int, slope: float, design: Design = DEMO) -> Floats:
    """(K,) what a model that makes `slope` of people's moves answers for a person of these levels.

    A level moves each share by a part of that share, one way along the scale or the other; the moves of a factor's
    levels sum to 0, so that the pooled shares stay what they are.

    Args:
        slope: -1.6 to 1.6, so that no share falls below 0.
    """
    pooled = pooled_shares(question, seed, design)
    moved = sum((_move(question, factor, levels[factor], seed, design) for factor in FACTORS), np.zeros(len(pooled)))
    return pooled + slope * pooled * moved


def plant_people(
    n: int, seed: int, design: Design = DEMO, n_shared_ids: int = 1, n_repeated_rows: int = 0
) -> pd.DataFrame:
    """People of a design in the columns and codes of WVS-7's file, groups in turn so that all are as large.

    Args:
        n: people.
        n_shared_ids: people who have the id of another of their country, with answers of their own.
        n_repeated_rows: rows that stand once more at the end, equal in every column.

    Returns:
        `n + n_repeated_rows` rows: A_WAVE, the 42 attributes, D_INTERVIEW, W_WEIGHT and the design's questions, as
        integers but for the weight. Answers are coded as the file has them, before any recoding.
    """
    groups = list(product(*(levels for levels in design.codes.values())))
    group = np.arange(n) % len(groups)
    background = _background(n, seed, design, groups, group)
    columns = {"A_WAVE": np.full(n, 7), "D_INTERVIEW": _ids(background["B_COUNTRY"], n_shared_ids), **background}
    columns["W_WEIGHT"] = seeded(seed, "weights").gamma(1 / WEIGHT_SD**2, WEIGHT_SD**2, n).round(6)
    for name, question in design.asked.items():
        shares = np.array(
            [planted_shares(name, dict(zip(FACTORS, each, strict=True)), seed, design) for each in groups]
        )
        draw = seeded(seed, "answers", name)
        place = (draw.uniform(size=n)[:, None] > np.cumsum(shares, axis=1)[group, :-1]).sum(axis=1)
        columns[name] = _as_filed(question.lo + place, question, draw)
    people = pd.DataFrame(columns)
    return pd.concat([people, people.head(n_repeated_rows)], ignore_index=True)


def planted_ratings(slope: float, seed: int, design: Design = DEMO) -> pd.DataFrame:
    """A planted model's answers with and without attributes: `question_id`, attributes, `response_value`, `prob`.

    One row per question, profile and answer; rows whose attributes are empty are the answers without.
    """
    rows: list[dict[str, object]] = []
    for name, question in design.asked.items():
        without = dict.fromkeys(ATTRIBUTE_OF.values()), pooled_shares(name, seed, design)
        given = [(each, planted_model(name, levels_of(each), seed, slope, design)) for each in design.profiles]
        rows += [
            {"question_id": name, **profile, "response_value": value, "prob": prob}
            for profile, probs in [*given, without]
            for value, prob in zip(question.values, probs, strict=True)
        ]
    return pd.DataFrame(rows).astype(dict.fromkeys(ATTRIBUTE_OF.values(), "Int64"))


def _question(name: str, design: Design) -> ValueQuestion:
    return design.asked[name] if name in design.questions else chosen_questions([name])[0]


@cache
def _move(question: str, factor: str, level: str, seed: int, design: Design) -> Floats:
    """(K,) by how much of itself a level moves each share; 0 on average over the pooled shares, and over levels."""
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
    """The 42 attributes in the file's codes."""
    draw = seeded(seed, "background")
    known: dict[str, NDArray[np.int64]] = {}
    for place, (factor, codes_of) in enumerate(design.codes.items()):
        known[ATTRIBUTE_OF[factor]] = np.zeros(n, dtype=np.int64)
        for level, codes in codes_of.items():
            here = np.flatnonzero(np.array([each[place] == level for each in groups])[group])
            known[ATTRIBUTE_OF[factor]][here] = np.resize(draw.permutation(np.resize(codes, len(here))), len(here))
    for name, (first, last) in SPANS.items():
        known[name] = draw.integers(first, last + 1, n)
    country, age = known["B_COUNTRY"], known["Q262"]
    known["J_INTDATE"] = known["A_YEAR"] * 10_000 + draw.integers(1, 13, n) * 100 + draw.integers(1, 29, n)
    known["N_TOWN"] = country * 1000 + draw.integers(1, 10, n)
    known["S_INTLANGUAGE"] = known["Q272"] = np.full(n, 1240)
    known["Q261"] = known["A_YEAR"] - age
    known["X003R"] = np.clip((age - 15) // 10 + 1, 1, 6)
    known["Q266"] = known["Q267"] = known["Q268"] = country
    known["Q289CS9"] = np.maximum(known["Q289"], 1) * 10_000_000
    known["Q290"] = country * 1000 + draw.integers(1, 5, n)
    settled = {"A_YEAR", "J_INTDATE", *ATTRIBUTE_OF.values()}
    for name in (each for each in known if each not in settled):
        known[name] = np.where(draw.uniform(size=n) < SILENT_SHARES[OTHER], OTHER, known[name])
    return {attribute.id: known[attribute.id] for attribute in load_backgrounds().attributes}


def _ids(country: NDArray[np.int64], n_shared: int) -> NDArray[np.int64]:
    """(n,) numbers of interviews: country, wave 07, number; the last of a country's people share those of its first."""
    number = pd.Series(country).groupby(country).cumcount().to_numpy()
    ids = country * 1_000_000 + 70_001 + number
    first = np.flatnonzero(country == country[0])
    ids[first[len(first) - n_shared :]] = ids[first[:n_shared]]
    return ids


def _as_filed(on_scale: NDArray[np.int64], question: ValueQuestion, draw: np.random.Generator) -> NDArray[np.int64]:
    """(n,) codes of the survey's file: recodings undone, and now and then no place on the scale, or no answer."""
    filed = on_scale.copy()
    for old, new in question.recodes.items():
        is_only_one = new in question.recodes or old in question.values  # else the file has `new` itself as well
        chosen = draw.uniform(size=len(filed)) < (1.0 if is_only_one else RECODED_SHARE)
        filed[(on_scale == new) & chosen] = old
    if question.missing:
        filed[draw.uniform(size=len(filed)) < OFF_SCALE_SHARE] = question.missing[0]
    silent = draw.choice(
        [0, *SILENT_SHARES], size=len(filed), p=[1 - sum(SILENT_SHARES.values()), *SILENT_SHARES.values()]
    )
    return np.where(silent < 0, silent, filed)
