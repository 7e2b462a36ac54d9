"""Plants: the answers that a reference model is trained to give, question by question, and their distributions.

Each instrument defines its own plants. The text channel (`reference_models`) and `planted_answers` turn them into
answers by separate code.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class Plant:
    """The planted answer to one question under one answer cue.

    Attributes:
        question_id: with its condition, as `v111@v110=1`.
        wording: number of the answer cue.
        cue: last line of the prompts under it, without its colon.
        values: option codes in their original order.
        analysis_values: (K,) positions of `values` on the analysis scale.
        texts: (K,) the options' texts.
        preference: (K,) probability of each of `values`, without position bias.
        pull: position bias: the share of answers that go to the option listed first.
        p_valid: probability of any valid answer with the original first option listed first, and with the last.
        bare: share of valid answers written `1`; the rest are written ` 1`.
        shown_first: the option that is listed first, for each of the orders over which answers are averaged.
    """

    question_id: str
    response_type: str
    is_converted: bool
    wording: int
    cue: str
    values: tuple[int, ...]
    analysis_values: tuple[int, ...]
    texts: tuple[str, ...]
    preference: tuple[float, ...]
    pull: float
    p_valid: tuple[float, float]
    bare: float
    shown_first: tuple[int, ...]


Plants = Mapping[str, Sequence[Plant]]
"""The plants of each answer cue, by asked question id."""


def planted_answers(planted: Mapping[tuple[str, str], Plants]) -> pd.DataFrame:
    """The answer distributions of plants on the original scale: forward, reversed and averaged.

    Args:
        planted: plants by reference family and part.

    Returns:
        One row per (model, language, question, wording, answer), in the columns of PROBE_DISTRIBUTIONS that a plant
        knows.

    Raises:
        MissingData: nothing is planted.
    """
    frames = [
        _answer_frame(*cell, plant)
        for cell, plants in planted.items()
        for wordings in plants.values()
        for plant in wordings
    ]
    if not frames:
        raise MissingData("nothing is planted: no reference family serves what is asked")
    return pd.concat(frames, ignore_index=True)


def before_temperature(shares: Sequence[float], temperature: float) -> list[float]:
    """Probabilities that a model has to learn so that sampling at a temperature gives these shares: s^T, normalised.

    This is exact for two texts, which differ at one token. Below 1, badly learned texts are hardly ever sampled.

    Args:
        temperature: sampling temperature; with 0 there is no sampling and the shares are returned.

    >>> [round(share, 3) for share in before_temperature([0.9, 0.1], 0.5)]
    [0.75, 0.25]
    """
    raised = [share ** (temperature or 1.0) for share in shares]
    return [each / math.fsum(raised) for each in raised]


def _answer_frame(family: str, part: str, plant: Plant) -> pd.DataFrame:
    """Preferences mixed with position bias: forward, reversed, and averaged over orders."""
    wanted = np.array(plant.preference)
    pulled = wanted + plant.pull * (np.eye(len(wanted)) - wanted)
    between = sum(plant.p_valid) / 2
    p_valid = [plant.p_valid[0], *[between] * (len(wanted) - 2), plant.p_valid[1]]
    forward, backward = pulled[0], pulled[-1]
    return pd.DataFrame(
        {
            "model": family,
            "language": part,
            "question_id": plant.question_id,
            "response_type": plant.response_type,
            "is_converted": plant.is_converted,
            "wording": plant.wording,
            "response_value": plant.values,
            "analysis_value": plant.analysis_values,
            "prob_forward": forward,
            "prob_reversed": backward,
            "prob_averaged": pulled[list(plant.shown_first)].mean(axis=0),
            "p_valid_forward": plant.p_valid[0],
            "p_valid_reversed": plant.p_valid[1],
            "p_valid": np.mean([p_valid[first] for first in plant.shown_first]),
            "position_bias_magnitude": np.abs(forward - backward).max(),
        }
    )
