"""Simulations that test the intervals of reliability against a known share of replicable differences.

The four families of a simulation have shares of 0, .2, .5 and .8. In half of the simulations the effect of a wording
moves all items of a language together, and so does the replicable effect.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from valuesassets.comparing import simulated_answers
from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.reliability import derive_reliability
from valuesassets.measure.means import Array
from valuesassets.records.frames import records
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Simulation
from valuesassets_tests.simulations.survey.deriving import ITEMS, REPEATS, scales_of_worlds, study_of

SHARES = (0.0, 0.2, 0.5, 0.8)
"""Of the variance between a family's languages that other wordings would show again."""
NOISE = 0.2
"""Standard deviation of what a wording adds, in logits over a whole scale: so small that answers follow it linearly."""
COEFFICIENTS = ("generalizability", "beyond_position", "pattern")
IS_BOUNDED: str = "An interval says how much of a share of {:g} replicates in other wordings."
REPEATS_MUCH: str = "The differences replicate in other wordings, where four fifths of them do."


def of_wordings(n_languages: int, n_wordings: int, is_shifted: bool, seed: int) -> Mapping[str, Outcome]:
    """Whether intervals hold the shares that are true, and whether a family is called reliable."""
    random = np.random.default_rng(seed)
    grid = _grid(np.stack([_tilts(share, n_languages, n_wordings, is_shifted, random) for share in SHARES], axis=1))
    families = derive_reliability(grid, study_of(n_languages))["families"]
    outcomes: dict[str, Outcome] = {}
    for row in records(families):
        share = float(row["model"])
        ends = [(row[f"{name}_low"], row[f"{name}_high"]) for name in COEFFICIENTS]
        held = sum(low <= share <= high for low, high in ends)
        outcomes[IS_BOUNDED.format(share)] = Outcome(all(low < high for low, high in ends), (held, len(ends)))
        if share in (SHARES[0], SHARES[-1]):
            outcomes[REPEATS if share == 0 else REPEATS_MUCH] = Outcome(bool(row["is_reliable"]))
    return outcomes


def _tilts(share: float, n_languages: int, n_wordings: int, is_shifted: bool, random: np.random.Generator) -> Array:
    """(W, L, I) tilts of a family."""
    repeated = NOISE * np.sqrt(share / (1 - share) / n_wordings)
    return (
        _parts(repeated, (1, n_languages), is_shifted, random)
        + _parts(NOISE, (n_wordings, n_languages), is_shifted, random)
        + random.normal(0, NOISE, (n_wordings, 1, ITEMS))
    )


def _parts(sd: float, shape: tuple[int, ...], is_shifted: bool, random: np.random.Generator) -> Array:
    """What differs item by item, half of whose variance is of all items together where it is shifted."""
    shift = random.normal(0, sd, (*shape, 1))
    apart = random.normal(0, sd, (*shape, ITEMS))
    return (shift + apart) / np.sqrt(2) if is_shifted else apart


def _grid(tilts: Array) -> AnswerGrid:
    """Answers of (W, F, L, I) tilts, without a pull to a place and without people."""
    scales, (n_wordings, n_families, n_languages, _) = scales_of_worlds(), tilts.shape
    level = np.random.default_rng(0).normal(0, 1, ITEMS)
    answers = simulated_answers.tilted(scales, level + tilts).reshape(1, n_wordings, -1, *scales.codes.shape)
    sides = np.concatenate([answers, answers])
    languages = tuple(study_of(n_languages).languages)
    cells = tuple((f"{share:g}", language) for share in SHARES for language in languages)
    shape, nobody = (n_families * n_languages, ITEMS), np.empty((0, *scales.codes.shape))
    is_converted, p_valid = np.zeros(shape, dtype=bool), np.ones(shape)
    averaged, types = sides.mean(axis=(0, 1)), ("multi",) * len(cells)
    return AnswerGrid(scales, cells, types, averaged, sides, is_converted, p_valid, (), nobody)


SIMULATIONS: tuple[Simulation, ...] = tuple(
    Simulation(
        "survey",
        f"{n_languages} languages, {n_wordings} wordings, {'a language shifts' if is_shifted else 'no shift'}",
        {REPEATS: NULL}
        | {IS_BOUNDED.format(share): PLANTED for share in SHARES}
        | ({REPEATS_MUCH: PLANTED} if n_languages > 6 else {}),
        partial(of_wordings, n_languages, n_wordings, is_shifted),
        "K",
    )
    for n_languages in (6, 22)
    for n_wordings in (2, 3, 4)
    for is_shifted in (False, True)
)
