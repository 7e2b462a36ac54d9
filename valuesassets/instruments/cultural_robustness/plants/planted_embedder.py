"""The sentence vectors that the planted embedder gives: what a text says, beside a large offset of its script.

A vector is the sum of a question, what is said to it, an offset of the script and noise of the text alone, at right
angles; the squares of their lengths add up to 1. What is said has a part of its region and one of its country.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.plants.planted_answers import (
    OWN_COUNTRIES,
    QUESTIONS,
    REGIONS,
    SCRIPTS,
    load_answers,
)
from valuesassets.measure.seeding import seeded

SEED = 23
QUESTION, CONTENT, OFFSET, NOISE = 0.3, 0.2, 0.45, 0.05
"""Squared length of each part; scripts lie further apart than what is said, noise is what translations differ by."""
REGION_SHARE = 0.85
"""Of what is said, the part that a region's countries have in common."""
ANGLES = {"latin": 0.0, "greek": 5 * np.pi / 9, "cyrillic": -5 * np.pi / 9}
"""Directions of the scripts' offsets in their plane: Greek and Cyrillic lie further from each other than from Latin."""
CONTENT_DIMENSIONS, NOISE_DIMENSIONS = 16, 40

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sentence:
    """The content of a text: its language, its question, and the country whose answer it is; None for the question."""

    language: str
    question_id: str
    country: str | None = None


def planted_sentences(prompts: Mapping[tuple[str, str], str]) -> dict[str, Array]:
    """The vector of every text that is planted, and of every question as it is asked without a country.

    Args:
        prompts: of the questions without a country, by language and question.
    """
    sentences = {text: Sentence(*key) for key, text in load_answers().items()}
    sentences |= {prompt: Sentence(language, question) for (language, question), prompt in prompts.items()}
    return {text: sentence_vector(sentence) for text, sentence in sentences.items()}


def sentence_vector(sentence: Sentence) -> Array:
    """The vector of a text, of length 1."""
    script = next(name for name, languages in SCRIPTS.items() if sentence.language in languages)
    angle = ANGLES[script]
    noise = seeded(SEED, *sentence.__dict__.values()).normal(size=NOISE_DIMENSIONS)
    parts = [
        np.sqrt(QUESTION) * (np.array(QUESTIONS) == sentence.question_id),
        np.sqrt(CONTENT) * _content(sentence),
        np.sqrt(OFFSET) * np.array([np.cos(angle), np.sin(angle)]),
        np.sqrt(NOISE) * noise / np.linalg.norm(noise),
    ]
    vector = np.concatenate(parts)
    return vector / np.linalg.norm(vector)


def _content(sentence: Sentence) -> Array:
    """What is said to a question, of length 1: nothing where nobody answers."""
    if sentence.country is None:
        return np.zeros(CONTENT_DIMENSIONS)
    countries = sorted(OWN_COUNTRIES.values())
    region = next(number for number, region in enumerate(REGIONS) if sentence.country in region)
    axes, _ = np.linalg.qr(seeded(SEED, sentence.question_id).normal(size=(CONTENT_DIMENSIONS, CONTENT_DIMENSIONS)))
    own = axes[len(REGIONS) + countries.index(sentence.country)]
    return np.sqrt(REGION_SHARE) * axes[region] + np.sqrt(1 - REGION_SHARE) * own
