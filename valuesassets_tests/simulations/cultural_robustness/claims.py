"""Simulations that test the claims of cultural robustness: languages that differ, though not as countries do.

Beside tidy simulations stand ugly ones: six questions, two kinds of questions, languages of a group that share their
noise, lost answers. In all of them the ratios that stand beside claims have to hold the truth, or have no interval.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from valuesassets.instruments.cultural_robustness.measures.scores import (
    FOLLOW,
    GAIN,
    OK,
    OWN,
    STRUCTURE,
    TESTS,
    compare_answers,
    score_rows,
)
from valuesassets.instruments.cultural_robustness.report.claims import RATIO_OF, SAYS, claims
from valuesassets.measure.means import Array
from valuesassets.measure.ratio_of_means import ratio_of_means
from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.cultural_robustness.estimators import (
    ARBITRARY,
    COUNTRIES,
    CULTURES,
    DEFAULT,
    HOW,
    LANGUAGES,
    NULL_TESTS,
    OWN_WAYS,
    SAME,
    TIDY,
    Ugliness,
    simulate_answers,
    true_ratios,
)
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Simulation

GROUP_WAYS = "group ways"
"""Own ways that the languages of a group have in common: some do answer more alike than others."""
ALIKE_IN_GROUPS = "arbitrary in groups"
"""Arbitrary answers that the languages of a group share: some languages do follow a country in the same way."""
RATIO = "The ratio of two means over questions is another than it is."
"""Wrong in every simulation: claimed where the interval leaves out the truth."""
NOT_SHOWN = {
    **NULL_TESTS,
    OWN_WAYS: (GAIN, OWN, STRUCTURE),
    GROUP_WAYS: (GAIN, OWN),
    ALIKE_IN_GROUPS: (GAIN, OWN, STRUCTURE),
}
"""By kind of simulation, the tests whose claims are wrong there."""


def of_kind(kind: str, ugly: Ugliness, seed: int) -> Mapping[str, Outcome]:
    """Which claims a simulation of this kind supports, and whether the ratio beside one holds the truth."""
    space, _ = simulate_answers(kind, seeded(seed, "robustness simulations", kind), ugly)
    own = dict(zip(LANGUAGES, COUNTRIES, strict=True))
    how = HOW.with_seed(seed)
    scores = score_rows(kind, space, compare_answers(kind, space, own, how).estimates, how)
    all_claims = claims({"scores": scores}, is_planted=False, alpha=how.alpha)
    supported = [each.sentence for each in all_claims if each.is_supported]
    rows = scores.set_index("score")
    truth = dict.fromkeys(RATIO_OF.values(), np.nan) if ugly.related else true_ratios(kind, ugly)

    def held(name: str) -> tuple[int, int]:
        row, wanted = rows.loc[RATIO_OF[name]], truth[RATIO_OF[name]]
        is_known = bool(row["status"] == OK and np.isfinite([wanted, row["low"]]).all())
        return int(is_known and row["low"] <= wanted <= row["high"]), int(is_known)

    return {
        sentence: Outcome(
            any(each.startswith(sentence) for each in supported), held(name) if name in RATIO_OF else (0, 0)
        )
        for name, sentence in SAYS.items()
    }


Pair = tuple[Array, Array]
"""(n,) numerators and denominators."""


def of_ratio(
    draw: Callable[[int, np.random.Generator], Pair], n: int, truth: float, seed: int
) -> Mapping[str, Outcome]:
    """Whether the interval of a ratio over n questions leaves out the truth."""
    ratio = ratio_of_means(*draw(n, seeded(seed, "ratios", str(n))))
    if ratio.lack is not None:
        return {RATIO: Outcome(None)}
    is_held = ratio.low <= truth <= ratio.high
    return {RATIO: Outcome(not is_held, (int(is_held), 1))}


def two_kinds(share: float, n: int, random: np.random.Generator) -> Pair:
    """Questions of which a share has ratio 1.5, and the others 0."""
    under = random.lognormal(-0.045, 0.3, n)
    return 1.5 * (random.random(n) < share) * under + random.normal(0, 0.1, n), under


def skewed(n: int, random: np.random.Generator) -> Pair:
    """Numerators and denominators that lean to one side, about .5 as large as each other."""
    under = random.lognormal(0, 0.8, n)
    return 0.5 * under * random.lognormal(-0.08, 0.4, n), under


def one_sided(mean: float, n: int, random: np.random.Generator) -> Pair:
    """Numerators with an exponential tail, whatever the denominators."""
    return random.exponential(0.5, n) - 0.5 + mean, random.lognormal(-0.045, 0.3, n)


def small_denominators(n: int, random: np.random.Generator) -> Pair:
    """Denominators whose mean is half of their standard deviation."""
    under = random.normal(0.5, 1, n)
    return 0.5 * under + random.normal(0, 0.5, n), under


def _simulation(
    title: str, kind: str, ugly: Ugliness = TIDY, finding: str | None = None, claimed: Sequence[str] = TESTS
) -> Simulation:
    in_groups = {OWN_WAYS: GROUP_WAYS, ARBITRARY: ALIKE_IN_GROUPS} if ugly.related else {}
    is_null = NOT_SHOWN[in_groups.get(kind, kind)]
    kinds = {SAYS[name]: NULL if name in is_null else PLANTED for name in claimed}
    return Simulation("cultural_robustness", title, kinds, partial(of_kind, kind, ugly), finding)


UGLY = {
    "six questions": Ugliness(questions=6),
    "noise common to groups of languages": Ugliness(related=0.8),
    "contents of very different sizes": Ugliness(sizes_sd=0.4),
    "a flat model": Ugliness(size=0.5),
    "cells of one to four answers": Ugliness(single=0.4),
    "answers lost on one side in every other language": Ugliness(lost=0.7),
    "six questions, noise common to groups of languages": Ugliness(questions=6, related=0.8),
}
RATIOS = {
    "a third of another kind": (partial(two_kinds, 1 / 3), 0.5),
    "half of another kind": (partial(two_kinds, 1 / 2), 0.75),
    "skewed": (skewed, 0.5),
    "numerators with a tail": (partial(one_sided, 0.5), 0.5),
    "numerators with a tail, around 0": (partial(one_sided, 0.0), 0.0),
    "small denominators": (small_denominators, 0.5),
}
SIMULATIONS: tuple[Simulation, ...] = (
    _simulation("languages answer as their countries do", CULTURES),
    _simulation("all languages answer as one country does", DEFAULT),
    _simulation("all answers are the same", SAME),
    _simulation("each language has ways of its own, which are no country's", OWN_WAYS, finding="G"),
    *(_simulation(f"all languages answer as one country does: {how}", DEFAULT, ugly) for how, ugly in UGLY.items()),
    *(_simulation(f"languages answer as their countries do: {how}", CULTURES, ugly) for how, ugly in UGLY.items()),
    _simulation(
        "groups of languages have ways of their own, and their countries others", OWN_WAYS, Ugliness(related=0.8)
    ),
    _simulation("answers are arbitrary, and alike within groups", ARBITRARY, Ugliness(related=0.8)),
    _simulation("equal contents give the same answer, word for word", DEFAULT, Ugliness(is_greedy=True)),
    *(
        _simulation(
            f"{n} questions, half of them answered alike", CULTURES, Ugliness(questions=n, alike=0.5), "H", claimed
        )
        for n, claimed in ((6, (FOLLOW,)), (20, (FOLLOW,)), (50, TESTS))
    ),
    *(
        Simulation(
            "cultural_robustness",
            f"{n} questions: {how}",
            {RATIO: NULL},
            partial(of_ratio, draw, n, truth),
            "H",
        )
        for how, (draw, truth) in RATIOS.items()
        for n in (12, 20, 50)
    ),
)

BASES: Mapping[str, str] = {
    SAYS[GAIN]: "Conditions permuted within questions, and the skew-adjusted t test over questions; the larger p. The "
    "own-country advantage has to be beyond chance too. Questions are independent.",
    SAYS[FOLLOW]: "Countries permuted within questions, and the skew-adjusted t test over questions; the larger p. "
    "Questions are independent.",
    SAYS[OWN]: "Countries permuted among languages, and the skew-adjusted t test over questions; the larger p. "
    "Questions are independent.",
    SAYS[STRUCTURE]: "Languages permuted within questions. Questions are independent.",
    RATIO: "Fieller's interval corrected for the skewness of its numerators, from twenty questions on. Questions are "
    "independent.",
}
"""What each claim is tested by, and what the test takes for granted."""
