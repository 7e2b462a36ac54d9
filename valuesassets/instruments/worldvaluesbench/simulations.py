"""Worlds that try what WorldValuesBench concludes: models that move by themselves, with few groups of people.

Where levels of few groups can be exchanged in few ways, no test could tell a model's moves from chance.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from valuesassets.instruments.worldvaluesbench.awareness import derive_awareness
from valuesassets.instruments.worldvaluesbench.awareness_worlds import ANSWERS, PANEL, Truth, make_probe, moved
from valuesassets.instruments.worldvaluesbench.claims import claims
from valuesassets.instruments.worldvaluesbench.rated import Groups
from valuesassets.measure.seeding import seeded
from valuesassets.measure.simulations import NULL, PLANTED, Outcome, Simulation

MOVES = "A model moves with a person's background in the direction that people move."
RESAMPLES, SHARE = 199, 0.8
Factors = Mapping[str, Sequence[str]]
FOUR: Factors = {"continent": ("A", "B", "C", "D")}
EIGHT: Factors = {"continent": ("A", "B", "C", "D"), "settlement": ("urban", "rural")}
TWENTY_FOUR: Factors = EIGHT | {"education": ("low", "middle", "high")}


def of_models(factors: Factors, n_apart: int, follows: bool, seed: int) -> Mapping[str, Outcome]:
    """Whether any model is said to move as people do.

    Args:
        n_apart: models that move by themselves.
        follows: whether there is one more, which makes a share of people's moves.
    """
    random = seeded(seed, "awareness simulations", str(len(factors)), str(n_apart))
    levels = tuple(product(*factors.values()))
    people, *own = ([moved(k, levels, random, factors) for k in ANSWERS] for _ in range(1 + n_apart))
    models = {f"apart {number}": said for number, said in enumerate(own, 1)}
    if follows:
        middle = [part.mean(axis=(0, 1)) for part in people]
        models["follows"] = [mean + SHARE * (part - mean) for mean, part in zip(middle, people, strict=True)]
    probe = make_probe(Truth(Groups(tuple(factors), levels), people, models), PANEL, random)
    found = claims({"awareness": derive_awareness(probe, RESAMPLES, seed)["factors"]}, is_planted=False)
    moves = [claim for claim in found if " moves with a person's background" in claim.sentence]
    is_claimed = any(claim.is_supported for claim in moves)
    is_withheld = not is_claimed and any("nothing can be told" in claim.because for claim in moves)
    return {MOVES: Outcome(None if is_withheld else is_claimed)}


def _simulation(world: str, factors: Factors, n_apart: int, follows: bool, finding: str | None = None) -> Simulation:
    outcomes = partial(of_models, factors, n_apart, follows)
    return Simulation("worldvaluesbench", world, {MOVES: PLANTED if follows else NULL}, outcomes, finding)


SIMULATIONS: tuple[Simulation, ...] = (
    _simulation("eight models move by themselves, four groups", FOUR, 8, False, "D"),
    _simulation("eight models move by themselves, eight groups", EIGHT, 8, False, "D"),
    _simulation("one model moves by itself, 24 groups", TWENTY_FOUR, 1, False),
    _simulation("one of two models follows people, 24 groups", TWENTY_FOUR, 1, True),
)
