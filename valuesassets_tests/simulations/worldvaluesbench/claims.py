"""Worlds that try what WorldValuesBench concludes: models that move by themselves, and models that follow people.

What could make chance look like awareness: few groups, groups that are related or unlike in size, models of one line,
flat and peaked models, one manner in all questions, and answers that are missing for what they are. What follows people
and yet brings nothing: moves of its own that cost as much, and a background that makes answers worse.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import derive_benchmark_scores
from valuesassets.instruments.worldvaluesbench.measures.controls import OTHER_PEOPLE
from valuesassets.instruments.worldvaluesbench.report.claims import claims
from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Simulation
from valuesassets_tests.simulations.worldvaluesbench.estimators import (
    ANSWERS,
    LEVEL_SD,
    PANEL,
    Truth,
    by_themselves,
    make_probe,
    moved,
)

MOVES = "A model moves with a person's background in the direction that people move."
CONTRARY = "A model moves with a person's background, the contrary way to people."
MORE = "A model makes more of a person's background than people do."
GAINS = "A model's answers for a background are nearer to people than its answers for nobody."
SKILLED = "A model's answers for a background are nearer to people than its own mean over backgrounds."
BEYOND_POOLED = "A model's published score shows more than pooled answers of other people would."
SENTENCES = {
    MOVES: "in the direction that people move",
    CONTRARY: "the contrary way to people",
    MORE: "makes more of a person's background",
    GAINS: "than its answers for nobody",
    SKILLED: "than its own mean over backgrounds",
    BEYOND_POOLED: "shows more than pooled answers",
}
"""What each claim's sentences have in common."""
RESAMPLES, SHARE = 199, 0.8
RELATED, FEWEST_PEOPLE = 0.9, 5
Factors = Mapping[str, Sequence[str]]
Floats = NDArray[np.float64]
FOUR: Factors = {"continent": ("A", "B", "C", "D")}
SIX: Factors = {"region": ("A", "B", "C", "D", "E", "F")}
EIGHT: Factors = {"continent": ("A", "B", "C", "D"), "settlement": ("urban", "rural")}
TWENTY_FOUR: Factors = EIGHT | {"education": ("low", "middle", "high")}
Spoil = Callable[[Probe, np.random.Generator], Probe]


@dataclass(frozen=True)
class World:
    """What holds in a world, and what is seen of it.

    Attributes:
        n_apart: models that move by themselves.
        share: of people's moves, what one more model makes; 0: there is none.
        line: share of the moves of models of one line that they have in common.
        effects: how levels move people and models.
        spoil: what happens to answers before they are analysed.
    """

    factors: Factors
    n_apart: int = 0
    share: float = 0.0
    line: float = 0.0
    effects: str = "by themselves"
    spoil: Spoil | None = None


def of_world(world: World, claimed: Sequence[str], seed: int) -> Mapping[str, Outcome]:
    """Whether any model of a world is said to move as people do, and the other claims that are asked for."""
    random = seeded(seed, "awareness simulations", repr(world.factors), str(world.n_apart))
    levels = tuple(product(*world.factors.values()))
    sides = [_side(world, levels, random) for _ in range(1 + world.n_apart)]
    people, own = sides[0], sides[1:]
    if world.line:
        kept = [np.sqrt(world.line), np.sqrt(1 - world.line)]
        own = [[_mixed(kept, each) for each in zip(own[0], side, strict=True)] for side in own]
    models = {f"apart {number}": moves for number, moves in enumerate(own, 1)}
    if world.share:
        models["follows"] = [_follow(part, world.share) for part in people]
    probe = make_probe(Truth(Groups(tuple(world.factors), levels), people, models), PANEL, random)
    return _claimed(probe if world.spoil is None else world.spoil(probe, random), claimed, seed)


def of_costly_moves(seed: int) -> Mapping[str, Outcome]:
    """A model that follows people by .4 and has moves of its own that cost exactly what these gain: a skill of 0."""
    random, levels = seeded(seed, "skill simulations"), tuple(product(*TWENTY_FOUR.values()))
    people, own = ([moved(k, levels, random, TWENTY_FOUR) for k in ANSWERS] for _ in range(2))
    follows = [_follow(part, 0.4) - part.mean(axis=(0, 1)) for part in people]
    apart = [part - part.mean(axis=(0, 1)) for part in own]

    def models_of(size: float) -> list[Floats]:
        parts = zip(people, follows, apart, strict=True)
        return [_valid(part.mean(axis=(0, 1)) + near + size * far) for part, near, far in parts]

    def skill(size: float) -> float:
        sums = np.zeros(3)
        for part, model in zip(people, models_of(size), strict=True):
            h, m = (side.mean(axis=1) - side.mean(axis=(0, 1)) for side in (part, model))
            sums += np.array([(h * h).sum(), (h * m).sum(), (m * m).sum()]) / h.shape[1]
        return 2 * sums[1] - sums[2]

    size: Any = brentq(skill, 0.0, 3.0)
    truth = Truth(Groups(tuple(TWENTY_FOUR), levels), people, {"costly": models_of(size)})
    return _claimed(make_probe(truth, PANEL, random), (SKILLED,), seed)


def of_prompts(gains: bool, seed: int) -> Mapping[str, Outcome]:
    """A model that follows people, and whose answers to nobody are as near to them, or farther.

    Args:
        gains: whether naming the background brings answers nearer; else it shifts all of them by what that gains.
    """
    random, levels = seeded(seed, "gain simulations"), tuple(product(*EIGHT.values()))
    people = [moved(k, levels, random, EIGHT) for k in ANSWERS]
    middle = [part.mean(axis=(0, 1)) for part in people]

    def models_of(size: float) -> list[Floats]:
        return [(1 - size) * _follow(part, SHARE) + size for part in people]

    def gain(size: float) -> float:
        each = [
            np.mean((mean - part) ** 2) - np.mean((model - part) ** 2)
            for part, mean, model in zip(people, middle, models_of(size), strict=True)
        ]
        return float(np.sum(each))

    size: Any = 0.0 if gains else brentq(gain, 0.0, 1.0)
    truth = Truth(Groups(tuple(EIGHT), levels), people, {"follows": models_of(size)})
    probe = make_probe(truth, PANEL, random)
    items = []
    for each, mean in zip(probe.questions, middle, strict=True):
        probs = np.diff(mean, prepend=0, append=1)
        items.append(
            replace(
                each, without={"follows": Rated(np.broadcast_to(probs, (len(each.people), len(probs))), None, 0, 0)}
            )
        )
    return _claimed(Probe(probe.groups, items), (GAINS,), seed)


def of_pooled(knows: bool, n_people: int, seed: int) -> Mapping[str, Outcome]:
    """A model beside the pooled answers of twice as many other people, of whom nothing is known but that.

    Args:
        knows: whether the model gives people's own answers, which nobody could foretell; else the pooled truth.
        n_people: of each group that are asked.
    """
    random, levels = seeded(seed, "pooled simulations"), tuple(product(*EIGHT.values()))
    people = [moved(k, levels, random, EIGHT) for k in ANSWERS]
    middle = [np.broadcast_to(part.mean(axis=(0, 1)), part.shape) for part in people]
    truth = Truth(Groups(tuple(EIGHT), levels), people, {"model": middle})
    probe = _few(make_probe(truth, PANEL, random), n_people)
    items = []
    for each, mean in zip(probe.questions, middle, strict=True):
        n, k = len(each.people), len(each.question.values)
        others = random.multinomial(2 * n_people * len(levels), np.diff(mean[0, 0], prepend=0, append=1))
        models = dict(each.with_attributes)
        models[OTHER_PEOPLE] = Rated(np.broadcast_to(others / others.sum(), (n, k)), None, 0, 0)
        if knows:
            observed = np.eye(k)[np.nan_to_num(each.answers).astype(int)]
            models["model"] = Rated(np.where(np.isfinite(each.answers)[:, None], observed, np.nan), None, 0, 0)
        items.append(replace(each, with_attributes=models))
    pooled_probe = Probe(probe.groups, items)
    return _claimed(pooled_probe, (BEYOND_POOLED,), seed)


def _claimed(probe: Probe, claimed: Sequence[str], seed: int) -> dict[str, Outcome]:
    frames: dict[str, pd.DataFrame] = {"awareness/factors": derive_awareness(probe, RESAMPLES, seed)["factors"]}
    if BEYOND_POOLED in claimed:
        frames["benchmark_scores/scores"] = derive_benchmark_scores(probe).assign(attributes="with")
    all_claims = claims(frames, is_planted=False)
    outcomes = {}
    for sentence in claimed:
        of_sentence = [claim for claim in all_claims if SENTENCES[sentence] in claim.sentence]
        is_claimed = any(claim.is_supported for claim in of_sentence)
        is_withheld = not is_claimed and any("nothing can be told" in claim.because for claim in of_sentence)
        outcomes[sentence] = Outcome(None if is_withheld else is_claimed)
    return outcomes


def _side(world: World, levels: Sequence[tuple[str, ...]], random: np.random.Generator) -> list[Floats]:
    """(G, P, K-1) of every question: one side's moves."""
    effects = {"by themselves": by_themselves, "in pairs": in_pairs, "along the levels": along}.get(world.effects)
    if effects is None:
        effects = OneManner()
    return [moved(k, levels, random, world.factors, effects) for k in ANSWERS]


def in_pairs(random: np.random.Generator, place: int, n: int) -> Floats:
    """(n,) effects of levels of which two and two are nearly alike."""
    common = np.repeat(random.normal(0, LEVEL_SD, (n + 1) // 2), 2)[:n]
    return np.sqrt(RELATED) * common + np.sqrt(1 - RELATED) * random.normal(0, LEVEL_SD, n)


def along(random: np.random.Generator, place: int, n: int) -> Floats:
    """(n,) effects that rise or fall from level to level."""
    slope = random.normal(0, LEVEL_SD)
    return np.sqrt(RELATED) * slope * np.linspace(-1.5, 1.5, n) + np.sqrt(1 - RELATED) * by_themselves(random, place, n)


class OneManner:
    """Effects that are nearly the same in all questions: a group answers high, or low, whatever is asked."""

    def __init__(self) -> None:
        self._common: dict[int, Floats] = {}

    def __call__(self, random: np.random.Generator, place: int, n: int) -> Floats:
        """(n,) effects of the factor at a place."""
        common = self._common.setdefault(place, by_themselves(random, place, n))
        return np.sqrt(RELATED) * common + np.sqrt(1 - RELATED) * by_themselves(random, place, n)


def _follow(part: Floats, share: float) -> Floats:
    middle = part.mean(axis=(0, 1))
    return _valid(middle + share * (part - middle))


def _mixed(kept: Sequence[float], parts: Sequence[Floats]) -> Floats:
    logits = [np.log(part / (1 - part)) for part in parts]
    return 1 / (1 + np.exp(-sum(share * each for share, each in zip(kept, logits, strict=True))))


def _valid(at_most: Floats) -> Floats:
    return np.maximum.accumulate(np.clip(at_most, 0, 1), axis=-1)


def _few(probe: Probe, n_people: int) -> Probe:
    """The first people of each group alone have answered."""
    return _answered(probe, lambda item: _place_in_group(item) < n_people)


def _place_in_group(item: AskedQuestion) -> NDArray[np.int64]:
    order = np.argsort(item.groups, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    first = np.searchsorted(item.groups[order], item.groups[order])
    place[order] = np.arange(len(order)) - first
    return place


def _answered(probe: Probe, keep: Callable[[AskedQuestion], NDArray[np.bool_]]) -> Probe:
    items = [replace(each, answers=np.where(keep(each), each.answers, np.nan)) for each in probe.questions]
    return Probe(probe.groups, items)


def unequal_n(probe: Probe, random: np.random.Generator) -> Probe:
    """Of some groups all have answered, of others five."""
    sizes = np.round(np.geomspace(FEWEST_PEOPLE, 25, len(probe.groups.levels)))[
        random.permutation(len(probe.groups.levels))
    ]
    return _answered(probe, lambda item: _place_in_group(item) < sizes[item.groups])


def not_at_random(probe: Probe, random: np.random.Generator) -> Probe:
    """The higher an answer, the likelier it is missing, and that more in some groups than in others."""
    silent = random.uniform(0, 0.8, len(probe.groups.levels))

    def keep(item: AskedQuestion) -> NDArray[np.bool_]:
        height = np.nan_to_num(item.answers) / (len(item.question.values) - 1)
        return random.random(len(height)) >= silent[item.groups] * height

    return _answered(probe, keep)


def _with_changed_answers(probe: Probe, change: Callable[[Floats], Floats]) -> Probe:
    items = []
    for each in probe.questions:
        models = {name: replace(rated, probs=change(rated.probs)) for name, rated in each.with_attributes.items()}
        items.append(replace(each, with_attributes=models))
    return Probe(probe.groups, items)


def flat(probe: Probe, random: np.random.Generator) -> Probe:
    """Models answer at nearly even chances."""
    return _with_changed_answers(probe, lambda probs: 0.1 * probs + 0.9 / probs.shape[1])


def peaked(probe: Probe, random: np.random.Generator) -> Probe:
    """Models are sure of one answer, and many groups get the same: ties."""
    return _with_changed_answers(probe, lambda probs: np.eye(probs.shape[1])[probs.argmax(axis=1)])


def _simulation(
    world: str, outcomes: Callable[[int], Mapping[str, Outcome]], kinds: Mapping[str, str], finding: str | None = None
) -> Simulation:
    return Simulation("worldvaluesbench", world, kinds, outcomes, finding)


def _of(world: str, about: World, finding: str | None = None, **more: str) -> Simulation:
    kinds = {MOVES: PLANTED if about.share else NULL, CONTRARY: NULL} | more
    return _simulation(world, partial(of_world, about, tuple(kinds)), kinds, finding)


APART, FOLLOWS = World(TWENTY_FOUR, n_apart=1), World(TWENTY_FOUR, n_apart=1, share=SHARE)
SIMULATIONS: tuple[Simulation, ...] = (
    _of("eight models move by themselves, four groups", World(FOUR, n_apart=8), "D"),
    _of("eight models move by themselves, eight groups", World(EIGHT, n_apart=8), "D"),
    _of("one model moves by itself, 24 groups", APART),
    _of("one of two models follows people, 24 groups", FOLLOWS),
    _of("eight models of one line move by themselves, 24 groups", World(TWENTY_FOUR, n_apart=8, line=RELATED)),
    _of("a model moves by itself, levels are alike two by two", replace(APART, effects="in pairs")),
    _of("a model moves by itself, people and it along the levels", replace(APART, effects="along the levels")),
    _of("a model moves by itself, in the same manner in all questions", replace(APART, effects="one manner")),
    _of("a model moves by itself, six groups", World(SIX, n_apart=1)),
    # Of one that follows people there, half are found: four categories of questions tell little.
    *(
        _of(f"a model {how}, {world}", replace(about, spoil=spoil))
        for world, spoil in (
            ("groups of 5 to 25 people", unequal_n),
            ("high answers are missing", not_at_random),
            ("nearly even chances", flat),
            ("sure of one answer", peaked),
        )
        for how, about in (("moves by itself", APART), ("follows people", replace(FOLLOWS, n_apart=0)))
    ),
)
SIMULATIONS += (
    _simulation(
        "a model moves exactly as people do",
        partial(of_world, World(TWENTY_FOUR, share=1.0), (MOVES, MORE)),
        {MOVES: PLANTED, MORE: NULL},
    ),
    _simulation(
        "a model makes half as much again of backgrounds",
        partial(of_world, World(TWENTY_FOUR, share=1.5), (MORE, SKILLED)),
        {MORE: PLANTED, SKILLED: PLANTED},
    ),
    _simulation("a model's own moves cost what following people gains", of_costly_moves, {SKILLED: NULL}),
    _simulation("a background shifts answers by what it gains", partial(of_prompts, False), {GAINS: NULL}),
    _simulation("a background brings answers nearer", partial(of_prompts, True), {GAINS: PLANTED}),
    _simulation(
        "five people a group, a model knows no background", partial(of_pooled, False, 5), {BEYOND_POOLED: NULL}
    ),
    _simulation("25 people a group, a model knows no background", partial(of_pooled, False, 25), {BEYOND_POOLED: NULL}),
    _simulation(
        "five people a group, a model knows each answer", partial(of_pooled, True, 5), {BEYOND_POOLED: PLANTED}
    ),
)

BASES: Mapping[str, str] = {
    MOVES: "Levels of people's background permuted, and the slope's interval over categories of questions. Levels are "
    "independent within a factor where there is one category of questions only.",
    CONTRARY: "The same, on the other side.",
    MORE: "The slope's interval over questions lies above 1. Questions are drawn from those that might be asked.",
    GAINS: "The interval of the gain over questions lies above 0. Questions are drawn from those that might be asked.",
    SKILLED: "The interval of the skill over questions lies above 0. Questions are drawn from those that might be "
    "asked.",
    BEYOND_POOLED: "The score is better by more than half the floor of sampling. People are drawn independently.",
}
"""What each claim is tested by, and what the test takes for granted."""
