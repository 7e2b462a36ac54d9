"""The answer scales of many items as arrays, with the measures of answers on them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure import drawn_distances
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import expected_unit_of, jsd_bits_of, tvd_of, w1_unit_of
from valuesassets.records.questions import ResponseType

LEAST_PROB = 1e-9
"""Smallest probability that counts: readings in float32 are not more precise than that."""


@dataclass(frozen=True)
class Scales:
    """The items and their answer scales; K is the longest scale's number of options.

    Attributes:
        items: asked question ids (`v111@v110=1`).
        response_types: of each item.
        codes: (I, K) answer codes on the analysis scale, increasing; NaN beyond an item's options.
        listed_ends: (I, 2) the codes of the first and the last option as listed; None where all are listed in order.
    """

    items: tuple[str, ...]
    response_types: tuple[str, ...]
    codes: Array
    listed_ends: Array | None = None

    @cached_property
    def is_ordinal(self) -> NDArray[np.bool_]:
        """(I,) whether means and W1 make sense."""
        return np.array([ResponseType(kind).is_ordinal for kind in self.response_types], dtype=bool)

    @cached_property
    def n_options(self) -> NDArray[np.intp]:
        """(I,) options of each item."""
        return np.isfinite(self.codes).sum(axis=1)

    @cached_property
    def ends(self) -> Array:
        """(I, 2) lowest and highest code of each item."""
        return np.stack([np.nanmin(self.codes, axis=1), np.nanmax(self.codes, axis=1)], axis=1)

    @cached_property
    def unit(self) -> Array:
        """(I, K) positions of the options on [0, 1]; 1 beyond an item's options."""
        low, high = self.ends[:, :1], self.ends[:, 1:]
        return np.where(np.isfinite(self.codes), (self.codes - low) / (high - low), 1.0)

    def uniform(self) -> Array:
        """(I, K) the uniform answer."""
        return np.isfinite(self.codes) / self.n_options[:, None]

    def always_first(self) -> Array:
        """(I, K) always choosing the first option shown, averaged over both orders: half on each end of the list."""
        ends = self.ends if self.listed_ends is None else self.listed_ends
        return 0.5 * (self.codes[..., None] == ends[:, None, :]).any(axis=-1)

    def w1_unit(self, p: Array, q: Array) -> Array:
        """W1 in scale units between answers (..., I, K); NaN for items without an order."""
        return np.where(self.is_ordinal, w1_unit_of(p, q, self.unit), np.nan)

    def distances(self, p: Array, q: Array) -> dict[str, Array]:
        """Every distance between answers (..., I, K), by the name of its column."""
        bits = jsd_bits_of(p, q)
        return {"w1_unit": self.w1_unit(p, q), "tvd": tvd_of(p, q), "jsd_bits": bits, "jsd_distance": np.sqrt(bits)}

    def cramer_unit2(self, p: Array, q: Array) -> Array:
        """Squared Cramér distances between answers (..., I, K), as observed; half squares for items without an order.

        What drawing and sampling add to them is `cramer_noise`.
        """
        along_scale = drawn_distances.cramer_unit2_of(p, q, self.unit)
        return (
            along_scale if self.is_ordinal.all() else self._by_order(along_scale, drawn_distances.half_squares_of(p, q))
        )

    def cramer_noise(self, p: Array, n: Array) -> Array:
        """What `n` (..., I) draws or people add to a squared Cramér distance from their shares (..., I, K)."""
        noise = drawn_distances.cramer_noise_of(p, n, self.unit), drawn_distances.half_squares_noise_of(p, n)
        return self._by_order(*noise)

    def _by_order(self, along_scale: Array, without_order: Array) -> Array:
        return np.where(self.is_ordinal, along_scale, without_order)

    def expected_unit(self, p: Array) -> Array:
        """Mean answers (..., I) with the scale's ends at 0 and 1; NaN for items without an order."""
        return np.where(self.is_ordinal, expected_unit_of(p, self.unit), np.nan)

    def lean(self, p: Array) -> Array:
        """Slope of log-probabilities along the scale (..., I), in nats from end to end; NaN for items without an order.

        Positive leans are towards the upper end. Probabilities below `LEAST_PROB` count as `LEAST_PROB`.
        """
        unit = np.where(np.isfinite(self.codes), self.unit, np.nan)
        place = unit - np.nanmean(unit, axis=-1, keepdims=True)
        logs = np.log(np.maximum(p, LEAST_PROB))
        slope = np.nansum(logs * place, axis=-1) / np.nansum(place**2, axis=-1)
        return np.where(self.is_ordinal & np.isfinite(p).any(axis=-1), slope, np.nan)

    def variance_unit(self, p: Array) -> Array:
        """Variance of answers (..., I) in squared scale units; NaN for items without an order."""
        square = expected_unit_of(p, self.unit**2) - expected_unit_of(p, self.unit) ** 2
        return np.where(self.is_ordinal, square, np.nan)

    def expected_code(self, p: Array) -> Array:
        """Mean answers (..., I) in the scale's own codes; NaN for items without an order."""
        low, high = self.ends[:, 0], self.ends[:, 1]
        return low + self.expected_unit(p) * (high - low)
