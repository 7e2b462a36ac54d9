"""`Draws`: what drawing does to the answers of a grid of which some are shares of draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.drawn_answers import entropy_bits_by_drawing, with_pseudo_draws
from valuesassets.measure.means import mean_of_known

NOISE = ("cramer_noise", "draw_noise")
N_READ = ("n_read_forward", "n_read_reversed")
COLUMNS = (*NOISE, *N_READ)


@dataclass(frozen=True)
class Draws:
    """Numbers of draws and their noise, for C cells and I items.

    Attributes:
        n_read: (O, W, C, I) draws that are an option, forward and reversed; infinite where probabilities were read.
        cramer_noise: (C, I) expected addition of drawing to a squared Cramér distance from the averaged answer; 0 where
            probabilities were read.
        mean_noise: (C, I) variance of the averaged mean answer by drawing, in squared scale units; 0 likewise.
    """

    n_read: Array
    cramer_noise: Array
    mean_noise: Array

    @property
    def is_drawn(self) -> NDArray[np.bool_]:
        """(C, I) whether the answer is a share of draws."""
        return np.asarray(np.isfinite(self.n_read).any(axis=(0, 1)))

    @property
    def n(self) -> Array:
        """(C, I) draws that are an option, over orders and wordings; infinite where probabilities were read."""
        sums = np.where(np.isfinite(self.n_read), self.n_read, 0).sum(axis=(0, 1))
        return np.where(self.is_drawn, sums, np.inf)

    def smoothed(self, sides: Array, n_options: NDArray[np.intp]) -> Array:
        """(O, W, C, I, K) answers with pseudo-draws, so that an option that nobody drew has a logarithm.

        Args:
            sides: (O, W, C, I, K) answers forward and reversed, in each wording.
            n_options: (I,) options of each item; further places stay 0.
        """
        on_scale = np.arange(sides.shape[-1]) < n_options[:, None]
        return np.where(on_scale, with_pseudo_draws(sides, self.n_read, n_options), sides)

    def entropy_lost(self, answers: Array) -> Array:
        """(C, I) bits that drawing takes from the entropy of (C, I, K) answers."""
        return entropy_bits_by_drawing(answers, self.n)


def draws_of(rows: pd.DataFrame, places: Sequence[NDArray[np.intp]], shape: tuple[int, ...]) -> Draws | None:
    """The draws of usable answers; None where no answer is drawn.

    Args:
        rows: as `usable_answers` returns them, by wording.
        places: wording, cell and item of each row.
        shape: (W, C, I).
    """
    if "n_drawn" not in rows or not (rows["n_drawn"].to_numpy(dtype=float) > 0).any():
        return None
    is_drawn = rows["n_drawn"].to_numpy(dtype=float) > 0
    at = tuple(each[is_drawn] for each in places)
    noise = {name: np.full(shape, np.nan) for name in NOISE}
    n_read = np.full((len(N_READ), *shape), np.inf)
    for name, values in noise.items():
        values[at] = rows[name].to_numpy(dtype=float)[is_drawn]
    for side, name in enumerate(N_READ):
        n_read[side][at] = rows[name].to_numpy(dtype=float)[is_drawn]
    cramer, mean = (_of_mean(noise[name]) for name in NOISE)
    return Draws(n_read, cramer, mean)


def _of_mean(noise: Array) -> Array:
    """(C, I) noise of the mean over wordings, from (W, C, I) noise in each; 0 where there is none."""
    n = np.isfinite(noise).sum(axis=0)
    return np.nan_to_num(mean_of_known(noise, axis=0)) / np.maximum(n, 1)
