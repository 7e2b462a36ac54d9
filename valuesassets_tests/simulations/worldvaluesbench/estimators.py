"""Worlds of known truth for awareness: do intervals hold planted slopes, and do tests find nothing where nothing is?

Planted worlds: groups answer as their levels move them, each made of three kinds of people whom a model tells apart.
`panel`: the same 25 people of each group answer everything, and one's answers go together. `probe`: other people for
each question, 10 a group. `crowd`: 240 a group, so that blocks of people are resampled. Three models each: one that
makes .8 of people's moves, one that has moves of its own beside, one that gives single ratings. Null worlds: people and
model move with the levels, but have nothing to do with each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness, measures
from valuesassets.instruments.worldvaluesbench.measures.group_moves import ALL, Resampling, derive_moves, scopes_of
from valuesassets.measure.between_groups import between
from valuesassets.measure.level_permutations import arrangement_p, free_arrangements, level_arrangements
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import parts_of
from valuesassets_tests.simulations.shares import is_within, plain_tables

Floats = NDArray[np.float64]
Records = list[dict[str, Any]]
PEOPLE = {"panel": 25, "probe": 10, "crowd": 240, "null": 25}
"""People of a group by kind of world; in `probe` and `null` they are others for each question."""
KINDS, NULL, PANEL = tuple(PEOPLE), "null", "panel"
NULLS = 10
"""Null worlds for each other: they take no resampling, and a share of a twentieth wants many."""
FACTORS = {"continent": ("A", "B", "C", "D"), "settlement": ("urban", "rural"), "education": ("low", "middle", "high")}
ANSWERS = (2, 3, 4, 4, 5, 5, 10, 10)
"""Answers of each question."""
PROFILES, RESAMPLES, FREE = 3, 299, 299
LEVEL_SD, GROUP_SD, PROFILE_SD, PERSON_SHARE = 0.45, 0.1, 0.25, 0.3
"""Spread on the logit scale; and the share of what moves a person's answer that is the same in all questions."""
LEVEL, ALPHA = 0.95, 0.05
COVERAGE, REJECTED, FREELY_REJECTED = (0.90, 0.99), (0.03, 0.07), 0.15
"""Where coverage and rejections have to lie; and more than which free permutations of groups reject."""


@dataclass(frozen=True)
class Truth:
    """What holds for all people of a world: distribution functions of each profile of each group, question by question.

    Attributes:
        people: by question (G, P, K-1).
        models: by model the same.
    """

    groups: Groups
    people: Sequence[Floats]
    models: Mapping[str, Sequence[Floats]]

    def slope(self, model: str, scope: str) -> float:
        """The slope without any noise."""
        sums = np.zeros(3)
        chosen = next(each for each in scopes_of(self.groups) if each.name == scope)
        everything = np.arange(len(self.groups.levels))
        for people, modelled in zip(self.people, self.models[model], strict=True):
            mix = chosen.mix(everything, everything.size)[1]
            h, m = mix @ people.mean(axis=1), mix @ modelled.mean(axis=1)
            none = np.zeros(len(h))
            sums += np.array([between(h, h, none), between(h, m, none), between(m, m, none)]) / h.shape[1]
        hh, mh, mm = sums.tolist()
        return measures(hh, mh, mm)["slope"]


def make_truth(kind: str, random: np.random.Generator) -> Truth:
    """A world's people and models; in null worlds one model that moves by itself."""
    levels = tuple(product(*FACTORS.values()))
    people, own = ([moved(k, levels, random) for k in ANSWERS] for _ in range(2))
    if kind == NULL:
        return Truth(Groups(tuple(FACTORS), levels), people, {"apart": own})
    follows = [part.mean(axis=(0, 1)) + 0.8 * (part - part.mean(axis=(0, 1))) for part in people]
    mixed = [0.6 * part + 0.4 * other for part, other in zip(people, own, strict=True)]
    models = {"follows": follows, "has own moves": mixed, "single ratings": follows}
    return Truth(Groups(tuple(FACTORS), levels), people, models)


def make_probe(truth: Truth, kind: str, random: np.random.Generator) -> Probe:
    """People drawn from a world, their answers and weights, and what its models say of them."""
    n_groups, size = len(truth.groups.levels), PEOPLE[kind]
    n = n_groups * size
    group, weight = np.repeat(np.arange(n_groups), size), random.gamma(4, 0.25, n)
    profile, person = random.integers(0, PROFILES, n), random.normal(size=n)
    items = []
    for number, k in enumerate(ANSWERS):
        people = np.arange(n)
        if kind in ("probe", NULL):
            people, profile = people + n * number, random.integers(0, PROFILES, n)
            person, weight = random.normal(size=n), random.gamma(4, 0.25, n)
        latent = np.sqrt(PERSON_SHARE) * person + np.sqrt(1 - PERSON_SHARE) * random.normal(size=n)
        answers = _drawn(truth.people[number][group, profile], ndtr(latent))
        models = {}
        for name, at_most in truth.models.items():
            probs = np.diff(np.pad(at_most[number], ((0, 0), (0, 0), (1, 1)), constant_values=((0, 0), (0, 0), (0, 1))))
            ratings = None
            if name == "single ratings":
                ratings = _drawn(at_most[number][group, profile], random.random(n))
            answers_of_model = probs[group, profile] if ratings is None else np.eye(k)[ratings.astype(int)]
            models[name] = Rated(answers_of_model, ratings, 0, 0)
        question = ValueQuestion(id=f"Q{number + 1}", category=f"{number % 4}", text="", lo=0, hi=k - 1, labels=())
        items.append(AskedQuestion(question, people, group, weight, answers, models, {}))
    return Probe(truth.groups, items)


def simulate_worlds(kind: str, seeds: Sequence[int]) -> Records:
    """What was found in worlds of one kind, one world per seed: intervals beside the truth, or p-values."""
    records = []
    for seed in seeds:
        random = seeded(seed, "awareness worlds", kind)
        truth = make_truth(kind, random)
        probe = make_probe(truth, kind, random)
        rows = _p_values(probe, seed, random) if kind == NULL else _intervals(probe, truth, kind, seed)
        records += [{"kind": kind, "seed": seed} | row for row in rows]
    return records


def summarise_worlds(records: Records) -> dict[str, pd.DataFrame]:
    """How often intervals held the truth, by kind of world, model and factor; and how often tests rejected."""
    rows = pd.DataFrame(records)
    intervals, tests = (pd.DataFrame(rows[(rows["kind"] == NULL) == is_null]) for is_null in (False, True))
    coverage = []
    for (kind, model, factor), part in parts_of(intervals, ["kind", "model", "factor"]):
        with_interval = part[part["low"].notna() & part["high"].notna()]
        held = (with_interval["low"] <= with_interval["truth"]) & (with_interval["truth"] <= with_interval["high"])
        coverage.append(
            {
                "kind": kind,
                "model": model,
                "factor": factor,
                "coverage": float(held.mean()),
                "n_worlds": len(with_interval),
                "n_without": len(part) - len(with_interval),
                "mean_slope": float(part["estimate"].mean()),
                "mean_truth": float(part["truth"].mean()),
                "median_width": float(np.median(with_interval["high"] - with_interval["low"])),
            }
        )
    rejections = [
        {
            "permuted": permuted,
            "factor": factor,
            "rejected": float((part["p"] <= ALPHA).mean()),
            "n_worlds": len(part),
        }
        for (permuted, factor), part in parts_of(tests, ["permuted", "factor"])
    ]
    return {"coverage": pd.DataFrame(coverage), "rejections": pd.DataFrame(rejections)}


evidence = plain_tables


def faults_of(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is not as it should be beyond three Monte Carlo errors, in words; nothing where all is well."""
    faults = []
    for row in tables["coverage"].to_dict("records"):
        if not is_within(row["coverage"], *COVERAGE, row["n_worlds"]):
            where = f"awareness, {row['kind']} worlds, {row['model']}, {row['factor']}"
            faults.append(f"{where}: {row['coverage']:.3f} of the intervals hold the slope, {COVERAGE} wanted")
    for row in tables["rejections"].to_dict("records"):
        low, high = REJECTED if row["permuted"] == "levels" else (FREELY_REJECTED, 1)
        if not is_within(row["rejected"], low, high, row["n_worlds"]):
            where = f"awareness, {row['permuted']} permuted, {row['factor']}"
            faults.append(f"{where}: {row['rejected']:.3f} of the null worlds rejected, {low} to {high} wanted")
    return faults


def _intervals(probe: Probe, truth: Truth, kind: str, seed: int) -> Iterator[dict[str, Any]]:
    factors = derive_awareness(probe, RESAMPLES, seed, level=LEVEL)["factors"]
    for row in factors.to_dict("records"):
        # two levels may happen not to differ at all, and then have no slope
        if row["factor"] != "settlement":
            slope = truth.slope(row["model"], row["factor"])
            ends = {"estimate": row["slope"], "low": row["slope_low"], "high": row["slope_high"]}
            yield {"model": row["model"], "factor": row["factor"], "truth": slope} | ends


def _p_values(probe: Probe, seed: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
    scopes = [scope for scope in scopes_of(probe.groups) if scope.name in (ALL, "continent")]
    of_scopes = derive_moves(probe, scopes, Resampling(probe, 0, seed), 5)["apart"]
    for scope, moves in zip(scopes, of_scopes, strict=True):
        arranged = {"levels": level_arrangements(scope.levels)}
        if scope.name == ALL:
            arranged["groups"] = free_arrangements(len(scope.levels), FREE, random)
        for permuted, each in arranged.items():
            p = arrangement_p(moves.pairings, moves.lengths[0], moves.lengths[1], each)
            yield {"permuted": permuted, "factor": scope.name, "p": p}


def by_themselves(random: np.random.Generator, place: int, n: int) -> Floats:
    """(n,) effects of the levels of the factor at a place, each drawn alone."""
    return random.normal(0, LEVEL_SD, n)


def moved(
    n_answers: int,
    levels: Sequence[tuple[str, ...]],
    random: np.random.Generator,
    factors: Mapping[str, Sequence[str]] = MappingProxyType(FACTORS),
    effects: Callable[[np.random.Generator, int, int], Floats] = by_themselves,
) -> Floats:
    """(G, P, K-1) distribution functions that move with the levels, and a little with group and profile."""
    location = random.normal(0, GROUP_SD, (len(levels), 1)) + random.normal(0, PROFILE_SD, (len(levels), PROFILES))
    for place, names in enumerate(factors.values()):
        effect = dict(zip(names, effects(random, place, len(names)), strict=True))
        location += np.array([effect[each[place]] for each in levels])[:, None]
    cuts = np.sort(random.normal(0, 1.2, n_answers - 1))
    return 1 / (1 + np.exp(location[:, :, None] - cuts))


def _drawn(at_most: Floats, uniform: Floats) -> Floats:
    """(n,) answers from 0, by the inverse of (n, K-1) distribution functions."""
    return (uniform[:, None] > at_most).sum(axis=1).astype(float)
