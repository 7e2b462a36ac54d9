"""Worlds that try what cultural robustness concludes: languages that differ, though not as countries do."""

from collections.abc import Mapping
from functools import partial

from valuesassets.instruments.cultural_robustness.claims import SAYS, claims
from valuesassets.instruments.cultural_robustness.robustness_worlds import (
    COUNTRIES,
    CULTURES,
    DEFAULT,
    HOW,
    LANGUAGES,
    OWN_WAYS,
    SAME,
    make_world,
)
from valuesassets.instruments.cultural_robustness.scores import GAIN, OWN, Inference, compare_answers, score_rows
from valuesassets.measure.seeding import seeded
from valuesassets.measure.simulations import NULL, PLANTED, Outcome, Simulation

DIFFER, CLOSER = SAYS[GAIN], SAYS[OWN]


def of_kind(kind: str, seed: int) -> Mapping[str, Outcome]:
    """Which claims a world of this kind supports."""
    space, _ = make_world(kind, seeded(seed, "robustness simulations", kind))
    own = dict(zip(LANGUAGES, COUNTRIES, strict=True))
    how = Inference(HOW.resamples, HOW.follow_resamples, HOW.alpha, HOW.level, seed)
    scores = score_rows(kind, space, compare_answers(kind, space, own, how).found, how.alpha)
    found = [
        each.sentence for each in claims({"scores": scores}, is_planted=False, alpha=how.alpha) if each.is_supported
    ]
    return {said: Outcome(any(each.startswith(said) for each in found)) for said in (DIFFER, CLOSER)}


def _simulation(world: str, kind: str, is_so: str, finding: str | None = None) -> Simulation:
    kinds = {DIFFER: is_so, CLOSER: is_so}
    return Simulation("cultural_robustness", world, kinds, partial(of_kind, kind), finding)


SIMULATIONS: tuple[Simulation, ...] = (
    _simulation("languages answer as their countries do", CULTURES, PLANTED),
    _simulation("all languages answer as one country does", DEFAULT, NULL),
    _simulation("all answers are the same", SAME, NULL),
    _simulation("each language has ways of its own, which are no country's", OWN_WAYS, NULL, "G"),
)
