"""Calibration of the readouts on planted answers: measures of recovery with their bounds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.answers import readout_plants as plants
from valuesassets.answers.readout_plants import CANDIDATES, DRAWS, OWN_RUNS, PEOPLE, STATEMENTS, TOPICS, next_probs
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import tvd_of
from valuesassets.measure.sampling_error import SIMULATED_SAMPLES
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.trials import Answer, Reading, Status

MOST_TVD, MOST_EFFECT = 0.02, 0.02
"""Largest mean total variation from planted answers, beyond sampling, and largest error of the history's effect."""
LEAST_MODES, LEAST_VERBATIM = 0.95, 0.97
"""Smallest share of prompts with the planted mode as greedy answer, and of sampled answers that are planted ones."""

ROUNDING = 1e-5
"""Largest difference in float32 between two ways to compute the same probability."""

Probs = Array


@dataclass(frozen=True)
class Recovery:
    """One measure of recovery.

    Attributes:
        model: the reference model's name.
        n: number of readings or answers behind it.
        low, high: its acceptable bounds; None for a measure without bounds.
        by_chance: its value for a model that gives all planted answers the same probability; None where meaningless.
    """

    model: str
    measure: str
    n: int
    found: float
    low: float | None
    high: float | None
    by_chance: float | None

    @property
    def is_within(self) -> bool:
        """Whether it lies within its bounds."""
        return self.low is None or self.high is None or self.low <= self.found <= self.high


def compare_spans(model: str, effect: float, given: Sequence[Reading], own: Sequence[Reading]) -> list[Recovery]:
    """Readings at the spans of transcripts, compared with the planted response model.

    Total variation counts all texts that are not candidates as one more outcome. The history's effect is the difference
    in a candidate's probability between transcripts in which it was and was not the previous answer, averaged over
    statements and candidates. In the planted response model it is equal to the planted share.

    Args:
        effect: the planted share of answers that repeat the previous one.
        given, own: readings of `given_trials` and `own_trials`, in their order.

    Raises:
        MissingData: a span was not read.
    """
    shape, uniform = (-1, len(STATEMENTS), len(CANDIDATES)), np.full(len(CANDIDATES), 1 / len(CANDIDATES))
    given_probs, own_run_probs = (_candidate_probs(model, readings).reshape(shape) for readings in (given, own))
    published = np.array([reading.label_probs_published for reading in given], dtype=float).reshape(shape)
    people = plants.random_people("read", PEOPLE)
    wanted = np.array([[*_planted_probs(effect, answers)] for answers in people])
    planted, marginal = (1 - plants.UNANSWERED) * wanted, plants.own_probs(effect)
    shares, own_shares = (probs / probs.sum(axis=2, keepdims=True) for probs in (given_probs, own_run_probs))
    draw_error = _own_draw_error(effect)
    published_tvd = float(tvd_of(published / published.sum(axis=2, keepdims=True), wanted).mean())
    spans, is_same_mode = PEOPLE * len(STATEMENTS), given_probs.argmax(axis=2) == published.argmax(axis=2)
    by_chance = float(tvd_of(_with_rest((1 - plants.UNANSWERED) * uniform), _with_rest(planted)).mean())
    by_own = float(tvd_of(own_shares.mean(axis=0), marginal).mean())
    chance_of_own, chance_of_given = (float(tvd_of(uniform, probs).mean()) for probs in (marginal, wanted))
    history, other_mode, n_own = _history_effect(shares, people), 1 - is_same_mode.mean(), OWN_RUNS * len(STATEMENTS)
    recovered = (
        ("TVD, given answers before", spans, _mean_tvd(given_probs, planted), 0, MOST_TVD, by_chance),
        ("effect of the answer before", spans - PEOPLE, history, effect - MOST_EFFECT, effect + MOST_EFFECT, 0.0),
        ("TVD, own answers before", n_own, by_own, 0, draw_error + MOST_TVD, chance_of_own),
        ("TVD of shares, as published", spans, published_tvd, None, None, chance_of_given),
        ("other mode, as published", spans, float(other_mode), None, None, 1 - 1 / len(CANDIDATES)),
    )
    return [Recovery(model, *row) for row in recovered]


def compare_routes(model: str, here: Sequence[Reading], by_route: Mapping[str, Sequence[Reading]]) -> list[Recovery]:
    """Readings of a model behind an API by each route, compared with readings of the same weights on this machine.

    Args:
        here: readings on this machine.
        by_route: readings of the same trials in the same order, by route. Readings with upper bounds have to contain
            the readings on this machine; others have to be equal to them.

    Raises:
        MissingData: a trial was not read.
    """
    expected, rows = _candidate_probs(model, here), []
    for route, readings in by_route.items():
        low = _candidate_probs(model, readings)
        if any(reading.label_probs_high is not None for reading in readings):
            high = np.array([reading.label_probs_high for reading in readings], dtype=float)
            share_within = float(((low - ROUNDING <= expected) & (expected <= high + ROUNDING)).mean())
            rows.append(Recovery(model, f"{route}: within its bounds", low.size, share_within, 1, 1, None))
            width = float((high - low).mean())
            rows.append(Recovery(model, f"{route}: mean width", low.size, width, None, None, 1.0))
        else:
            difference = float(np.abs(low - expected).max())
            rows.append(Recovery(model, f"{route}: largest difference", low.size, difference, 0, ROUNDING, None))
    return rows


def compare_sentences(model: str, greedy: Sequence[Answer], drawn: Sequence[Answer]) -> list[Recovery]:
    """Written answers compared with the planted sentences.

    Args:
        greedy, drawn: answers to `sentence_trials` at temperature 0, one sample, and at temperature 1, `DRAWS` samples.

    Raises:
        MissingData: an answer was not written.
    """
    planted = dict(zip(TOPICS, plants.planted_sentences().values(), strict=True))
    modes = [max(shares, key=shares.__getitem__) for shares in planted.values()]
    is_mode = [text == mode for (_, text), mode in zip(_texts(model, greedy), modes, strict=True)]
    written: Mapping[str, Counter[str]] = {topic: Counter() for topic in TOPICS}
    for topic, text in _texts(model, drawn):
        written[topic][text] += 1
    wanted = np.array([[*shares.values()] for shares in planted.values()])
    shares_drawn = np.array([[written[topic][text] for text in shares] for topic, shares in planted.items()]) / DRAWS
    random = seeded("readouts", "draw")
    draw_error = np.mean(
        [tvd_of(random.multinomial(DRAWS, row, SIMULATED_SAMPLES) / DRAWS, row).mean() for row in wanted]
    )
    n, uniform = len(drawn), np.full(wanted.shape[1], 1 / wanted.shape[1])
    distance, by_chance = _mean_tvd(shares_drawn, wanted), float(tvd_of(uniform, wanted).mean())
    return [
        Recovery(model, "greedy answers that are the mode", len(greedy), float(np.mean(is_mode)), LEAST_MODES, 1, 0.25),
        Recovery(model, "drawn answers verbatim", n, float(shares_drawn.sum(axis=1).mean()), LEAST_VERBATIM, 1, None),
        Recovery(model, "TVD, drawn answers", n, distance, 0, float(draw_error) + MOST_TVD, by_chance),
    ]


def _planted_probs(effect: float, answers: NDArray[np.int64]) -> list[Probs]:
    before = [None, *map(int, answers[:-1])]
    return [next_probs(effect, statement, each) for statement, each in enumerate(before)]


def _candidate_probs(model: str, readings: Sequence[Reading]) -> Probs:
    unread = next((reading for reading in readings if reading.status is not Status.OK), None)
    if unread is not None:
        raise MissingData(f"{model}: span {unread.span} of {unread.trial_id} was not read: {unread.reason}")
    return np.array([reading.label_probs for reading in readings], dtype=float)


def _texts(model: str, answers: Sequence[Answer]) -> list[tuple[str, str]]:
    unwritten = next((answer for answer in answers if answer.status is not Status.OK), None)
    if unwritten is not None:
        raise MissingData(f"{model}: {unwritten.trial_id} was not answered: {unwritten.reason}")
    return [(answer.trial_id, str(answer.text)) for answer in answers]


def _with_rest(probs: Probs) -> Probs:
    """Probabilities with the remaining mass as one more outcome."""
    return np.concatenate([probs, 1 - probs.sum(axis=-1, keepdims=True)], axis=-1)


def _mean_tvd(recovered: Probs, planted: Probs) -> float:
    return float(tvd_of(_with_rest(recovered), _with_rest(planted)).mean())


def _history_effect(shares: Probs, people: NDArray[np.int64]) -> float:
    """Mean difference of shares (people, statements, candidates) between a previous answer of that and another kind."""
    is_before = people[:, :-1, None] == np.arange(len(CANDIDATES))
    later = shares[:, 1:]
    same, other = ((later * where).sum(axis=0) / where.sum(axis=0) for where in (is_before, ~is_before))
    return float((same - other).mean())


def _own_draw_error(effect: float) -> float:
    """Expected total variation of mean shares over `OWN_RUNS` own transcripts from their expectation, by sampling."""
    random, errors = seeded("readouts", "own", effect), []
    for _ in range(SIMULATED_SAMPLES):
        probs = np.tile(next_probs(effect, 0, None), (OWN_RUNS, 1))
        for statement in range(len(STATEMENTS)):
            if statement:
                drawn = (probs.cumsum(axis=1) < random.random((OWN_RUNS, 1))).sum(axis=1)
                own = (1 - effect) * next_probs(0, statement, None)
                probs = own + effect * np.eye(len(CANDIDATES))[drawn]
            errors.append(tvd_of(probs.mean(axis=0), plants.own_probs(effect)[statement]))
    return float(np.mean(errors))
