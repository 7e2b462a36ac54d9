"""A language's questions matched to the master's: with all evidence, and with the printed codes masked.

The weight of printed codes and question numbers is estimated on the language itself: the share that agrees with a match
made without them. A code that contradicts all other evidence is therefore outvoted, and can be reported.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from valuesassets.instruments.survey.material.alignment import evidence
from valuesassets.instruments.survey.material.alignment.path import Path, best_path, order_steps
from valuesassets.instruments.survey.material.alignment.targets import Target
from valuesassets.records.questions import Question

CODES_RIGHT, CODES_SEEN = 0.995, 50
NUMBERS_RIGHT, NUMBERS_SEEN = 0.8, 5
"""Prior share of correct codes and of correct numbers, and the number of observations that each prior counts for."""
UNASKED = 1.0  # cost (nats) of a question that the master's survey has and the master lacks
BELIEVED = 1000.0  # log odds (nats) of a person's decision


def match_questions(
    questions: Sequence[Question],
    targets: Sequence[Target],
    codes: Sequence[str | None],
    pinned: Sequence[bool] = (),
    likeness: evidence.Matrix | None = None,
) -> tuple[Path, Path]:
    """The targets of all questions: with all evidence, and without the codes.

    Args:
        codes: the variable code that each question prints, or None.
        pinned: whether a person gave that code; then it always holds.
        likeness: log odds of an embedder for every pair.
    """
    rest = (
        evidence.shape_evidence(questions, targets)
        + evidence.length_evidence(questions, targets)
        + evidence.word_evidence(questions, targets)
    )
    if likeness is not None:
        rest = rest + likeness
    is_asked = np.array([target.question is not None for target in targets])
    is_asked = is_asked if is_asked.any() else ~is_asked  # all of them where it is the master itself that is matched
    rest = rest - np.where(is_asked, 0.0, UNASKED)
    order, names = order_steps(is_asked), np.array([target.battery for target in targets])
    same = names[:, None] == names[None]
    steps = [order + evidence.battery_steps(same, one, other) for one, other in itertools.pairwise(questions)]
    numbers = evidence.question_numbers(questions)
    wanted_numbers = [target.number for target in targets]
    wanted_codes = [target.code for target in targets]
    known_numbers = set(filter(None, wanted_numbers))
    numbers = [number if number in known_numbers else (number or "").rstrip("a") or None for number in numbers]
    masked = best_path(rest, steps)
    if any(number in known_numbers for number in numbers):
        right = _share_right(numbers, wanted_numbers, masked, NUMBERS_RIGHT, NUMBERS_SEEN)
        rest = rest + evidence.name_evidence(numbers, wanted_numbers, right)
        masked = best_path(rest, steps)
    codes_right = _share_right(codes, wanted_codes, masked, CODES_RIGHT, CODES_SEEN)
    code_evidence = evidence.name_evidence(codes, wanted_codes, codes_right)
    for place, code in enumerate(codes):
        if pinned and pinned[place] and code in wanted_codes:
            code_evidence[place, wanted_codes.index(code)] += BELIEVED
    lacking = np.array([np.log(1 - codes_right) if code in wanted_codes else 0.0 for code in codes])
    return best_path(rest + code_evidence, steps, lacking, with_confidence=True), masked


def _share_right(
    names: Sequence[str | None], wanted: Sequence[str | None], path: Path, expected: float, seen: int
) -> float:
    """The share of names that agree with the path's targets, shrunk to `expected` with the weight of `seen` pairs."""
    pairs = [
        (name, wanted[place])
        for name, place in zip(names, path.places, strict=True)
        if name is not None and place is not None and wanted[place] is not None
    ]
    return (sum(name == other for name, other in pairs) + expected * seen) / (len(pairs) + seen)
