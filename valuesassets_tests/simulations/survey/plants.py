"""Plants with more effects than those that a study simulates itself: position bias, acquiescence, related languages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from valuesassets.comparing.scales import Scales
from valuesassets.comparing.simulated_answers import RESPONSE_TYPES, Effect, Plant
from valuesassets.measure.arrays import Array


@dataclass(frozen=True)
class WiderPlant(Plant):
    """A plant with further effects, in logits over a whole scale.

    Attributes:
        position: mean position bias, the same for all items (not a standard deviation).
        position_apart: sd of the position bias between languages, and again between numbers of options in a language.
        agreement: sd of acquiescence, which a country's people and its language's models share.
        keying: items that acquiescence moves: `one way`, `both ways` (every other item the other way), or `some` (items
            with four options or fewer, one way).
        kinship: shares of the variance of `country` and of `own` that lie between culture zones.
    """

    position: float = 0.0
    position_apart: float = 0.0
    agreement: float = 0.0
    keying: Literal["one way", "both ways", "some"] = "one way"
    kinship: tuple[float, float] = (0.0, 0.0)

    def deviations(
        self,
        effect: Effect,
        shape: tuple[int, ...],
        zones: Sequence[str],
        random: np.random.Generator,
    ) -> Array:
        """Deviations of which a share lies between zones."""
        return kindred(getattr(self, effect), shape, self.kinship[effect == "own"], zones, random)

    def style(self, scales: Scales, n_languages: int, random: np.random.Generator) -> Array | float:
        """(L, I) effect of each country's acquiescence on each item, in logits."""
        if not self.agreement:
            return 0.0
        keys = np.ones(len(scales.items))
        if self.keying == "both ways":
            keys[1::2] = -1
        elif self.keying == "some":
            keys[scales.n_options > max(RESPONSE_TYPES.keys() - {10})] = 0
        return random.normal(0, self.agreement, n_languages)[:, None] * keys

    def pulls(self, scales: Scales, cells: tuple[int, ...], random: np.random.Generator) -> Array | float:
        """(families, languages, I) position bias, equal for all items of a cell with the same number of options."""
        if not self.position_apart:
            return 0.0
        cell_means = random.normal(self.position, self.position_apart, cells)
        counts, kind = np.unique(scales.n_options, return_inverse=True)
        return cell_means[..., None] + random.normal(0, self.position_apart, (*cells, len(counts)))[..., kind]


def kindred(
    sd: float, shape: tuple[int, ...], share: float, groups: Sequence[str], random: np.random.Generator
) -> Array:
    """Normal numbers (..., L, I) with this standard deviation; `share` of their variance lies between groups of L."""
    independent = random.normal(0, sd, shape)
    if not share:
        return independent
    group_of_row = np.unique(groups, return_inverse=True)[1]
    shared = random.normal(0, sd, (*shape[:-2], group_of_row.max() + 1, shape[-1]))[..., group_of_row, :]
    return np.sqrt(1 - share) * independent + np.sqrt(share) * shared


WIDER = WiderPlant()
POSITION_ONLY = WiderPlant(follows=(0.0, 0.0), own=0.0, order=0.0, position=3.0, position_apart=1.0)
"""Families with the same answers in all languages and a position bias that differs by language and number of options:
what remains of it after averaging two orders replicates in every wording."""
