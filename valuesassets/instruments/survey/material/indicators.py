"""The ten indicators of the Inglehart-Welzel map, derived from answer distributions under canonical ids.

Source: Inglehart and Welzel (2005), Modernization, Cultural Change, and Democracy, table 2.1; codes of the integrated
EVS/WVS file. EVS 2017 (ZA7500) variables; the same rules serve models and people.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.analysis_scale import analysis_value

Answers = Mapping[str, Mapping[int, float]]  # probability of each answer code, by asked id (`v111@v110=1`)

SINGLE = {
    "A008": ("v7", 4),
    "A165": ("v31", 2),
    "E018": ("v114", 3),
    "E025": ("v98", 3),
    "F063": ("v63", 10),
    "F118": ("v153", 10),
    "F120": ("v154", 10),
    "G006": ("v170", 4),
}
"""Indicators of one question: its id and the number of its answer codes."""
AUTONOMY = {"v86": 1, "v92": 1, "v93": -1, "v95": -1}
"""Y003: independence and determination count for autonomy, faith and obedience against it."""
FIRST_AIM, SECOND_AIM, AIMS = "v110", "v111", (1, 2, 3, 4)
POSTMATERIALIST = frozenset({2, 4})  # Y002: the aims that are not order (1) and prices (3)

INDICATORS = (*SINGLE, "Y002", "Y003")


def components(indicator: str) -> tuple[str, ...]:
    """The ids of all asked questions of an indicator."""
    if indicator == "Y003":
        return tuple(AUTONOMY)
    if indicator == "Y002":
        return (FIRST_AIM, *(f"{SECOND_AIM}@{FIRST_AIM}={aim}" for aim in AIMS))
    return (SINGLE[indicator][0],)


def answer_codes(asked_id: str) -> tuple[int, ...]:
    """The answer codes of a component of an indicator."""
    if asked_id in AUTONOMY:
        return (1, 2)
    if asked_id == FIRST_AIM:
        return AIMS
    if asked_id.startswith(f"{SECOND_AIM}@"):
        return tuple(aim for aim in AIMS if aim != int(asked_id[-1]))
    count = next(count for question, count in SINGLE.values() if question == asked_id)
    return tuple(range(1, count + 1))


def indicator_mean(indicator: str, answers: Answers) -> float:
    """The mean of one indicator from the answers to all of its components.

    Y002 is 1 if both aims are material, 3 if neither is, else 2, from the joint of first and second choice.
    Y003 = faith + obedience - independence - determination, mentioned 1 and not mentioned 2: from -2 to 2.
    """
    if indicator == "Y003":
        return float(sum(sign * answers[question][1] for question, sign in AUTONOMY.items()))
    if indicator == "Y002":
        return 2 - _both(answers, frozenset(AIMS) - POSTMATERIALIST) + _both(answers, POSTMATERIALIST)
    question, _ = SINGLE[indicator]
    return float(sum(analysis_value(question, code) * prob for code, prob in answers[question].items()))


def own_indicators(answers: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Each respondent's value of every indicator, on the scale of `iw_slopes.csv`.

    Y002 and Y003 combine the answers of one person, so that their means need no assumption on the joint distribution.

    Args:
        answers: (n,) answer codes by question, of all indicators' questions; NaN without an answer.

    Returns:
        (n,) by indicator; NaN if one of its questions has no answer.

    >>> own_indicators({q: np.array([1.0]) for q in ["v110", *AUTONOMY, *(q for q, _ in SINGLE.values())]}
    ...     | {"v111": np.array([3.0])})["Y002"].tolist()
    [1.0]
    """
    own = {}
    for indicator, (question, count) in SINGLE.items():
        places = np.array([np.nan, *(analysis_value(question, code) for code in range(1, count + 1))])
        own[indicator] = places[np.nan_to_num(answers[question]).astype(int)]
    aims = np.stack([answers[FIRST_AIM], answers[SECOND_AIM]])
    chosen = np.isin(aims, list(POSTMATERIALIST)).sum(axis=0)
    own["Y002"] = np.where(np.isnan(aims).any(axis=0), np.nan, 1.0 + chosen)
    own["Y003"] = np.sum([-sign * answers[question] for question, sign in AUTONOMY.items()], axis=0)
    return own


def _both(answers: Answers, aims: frozenset[int]) -> float:
    """P(first and second choice both among `aims`)."""
    second = {first: answers[f"{SECOND_AIM}@{FIRST_AIM}={first}"] for first in aims}
    return float(sum(answers[FIRST_AIM][first] * second[first][other] for first in aims for other in aims - {first}))
