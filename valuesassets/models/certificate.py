"""Tests whether readings depend on their batch: how far readings of the same trials differ, in nats and shares."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from valuesassets.models.loaded_model import LoadedModel, OpenedModel
from valuesassets.records.trials import Reading

UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Largest relative error of rounding one number, by dtype."""
ROOM = {"float64": 16, "float32": 16, "float16": 8, "bfloat16": 8}
"""Factor of `rounding_tolerance`: three times the differences of real models, and above those of random models with up
to 100 layers that do not amplify errors."""
LEAST_TOLERANCE = {"float64": 1e-9}
"""Nats that are always allowed: models in float64 compute norms and positions in float32 too."""
SPREAD_WITHIN = 40.0
"""Nats below the largest logit beyond which logits are not counted: nobody reads such small probabilities."""
MOST_LAYERS, MOST_WIDTH = 100, 16384
"""Depth and width assumed where a configuration names neither."""
VISIBLE_SHARE = 0.03
"""Change of an answer's share that results would show: the sampling error of a share among 1,000 people."""

Pairs = Sequence[tuple[Reading, Reading]]


class LogitSpread:
    """Measures the `largest` standard deviation, 1 at least, of a row of logits: rounding is in proportion to it."""

    def __init__(self) -> None:
        self.largest = 1.0

    @contextmanager
    def watching(self, model: Any) -> Iterator["LogitSpread"]:
        """A block in which every pass through a model is measured."""
        handle = model.register_forward_hook(self._note)
        try:
            yield self
        finally:
            handle.remove()

    def _note(self, _model: Any, _inputs: Any, output: Any) -> None:
        rows = output.logits.float()
        if not rows.numel():
            return
        spread = rows.clamp_min(rows.amax(-1, keepdim=True) - SPREAD_WITHIN).std(-1, correction=0)
        self.largest = max(self.largest, *spread.nan_to_num(1.0).flatten().tolist())


def rounding_tolerance(dtype: str, n_layers: int, width: int, spread: float, steps: int = 1) -> float:
    """The difference between two readings of a label that rounding explains, in nats.

    room * unit * sqrt(layers) * spread * steps, and for sums in float32 and float64 times width^(1/4). Every layer
    adds an independent error to what passes through it, so that errors grow with the square root of the depth; the
    head turns a relative error into one of the logits, which is in proportion to their spread. Sums over the width of
    a layer lose digits of their own where they are made in the dtype itself; in half precision they are in float32.

    Args:
        spread: standard deviation of the model's logits over the vocabulary.
        steps: tokens of the longest label, each of which adds an error.
    """
    error_of_sums = width**0.25 if dtype in ("float32", "float64") else 1.0
    error = ROOM[dtype] * UNIT[dtype] * math.sqrt(n_layers) * error_of_sums * max(spread, 1.0)
    return steps * max(error, LEAST_TOLERANCE.get(dtype, 0.0))


@dataclass(frozen=True)
class Certificate:
    """How far readings change when the same trials are read alone and in another batch.

    Attributes:
        trials: number of trials read again.
        max_difference: largest difference of a label's log-probability, in nats; infinite where only one is zero.
        tolerance: largest difference that rounding explains, in nats.
        share_moved: largest difference of an answer's share of P_valid, from 0 to 1; None in files of older versions.
    """

    trials: int
    max_difference: float
    tolerance: float
    share_moved: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether rounding explains all differences; False where nothing was read again."""
        return self.trials > 0 and self.max_difference <= self.tolerance

    @property
    def is_visible(self) -> bool:
        """Whether answers change so much that results would show it."""
        return self.share_moved is not None and self.share_moved > VISIBLE_SHARE

    def describe(self) -> dict[str, object]:
        """The certificate, for a file's metadata."""
        return {**asdict(self), "agrees": self.agrees, "is_visible": self.is_visible}

    @property
    def doubt(self) -> str | None:
        """How far answers change, in words, if rounding does not explain it or results show it; else None."""
        if not self.trials or (self.agrees and not self.is_visible):
            return None
        nats = f"{self.max_difference:.2g} nats"
        explained = "which is rounding" if self.agrees else f"where rounding explains {self.tolerance:.2g}"
        moved = "by" if self.share_moved is None else f"by {_points(self.share_moved)} percentage points, or"
        return f"shares of answers change with the batch {moved} {nats}, {explained}"

    @property
    def refusal(self) -> str | None:
        """Why no answer can be stored: they change visibly and rounding does not explain it; None where they can."""
        return f"{self.doubt}; none is kept" if self.trials and not self.agrees and self.is_visible else None


def _points(share: float) -> str:
    """A change of a share in percentage points, in words.

    >>> _points(0.0314), _points(0.314), _points(3e-6)
    ('up to 3.1', 'up to 31', 'less than 0.001')
    """
    points = 100 * share
    return "less than 0.001" if points < 0.001 else f"up to {points:{'.2g' if points < 10 else '.0f'}}"


def certify(loaded: LoadedModel, pairs: Pairs, trials: int, spread: LogitSpread) -> Certificate:
    """Compare pairs of readings of `trials` trials; some may be in several pairs. `spread` was measured meanwhile."""
    opened, steps = loaded.opened, max((max(reading.label_tokens or (1,)) for reading, _ in pairs), default=1)
    tolerance = tolerance_of(opened, spread.largest, steps)
    return Certificate(trials, largest_difference(pairs), tolerance, largest_share_moved(pairs))


def tolerance_of(opened: OpenedModel, spread: float, steps: int) -> float:
    """`rounding_tolerance` of a model, in nats; a large model's where its depth or width is not named."""
    n_layers, width = opened.least_setting(["num_hidden_layers"]), opened.least_setting(["hidden_size"])
    return rounding_tolerance(opened.dtype, n_layers or MOST_LAYERS, width or MOST_WIDTH, spread, steps)


def largest_difference(pairs: Pairs) -> float:
    """The largest difference of a label's log-probability between two readings of a trial, in nats."""
    return max((_difference(first, second) for first, second in pairs), default=0.0)


def _difference(first: Reading, second: Reading) -> float:
    if first.label_probs is None or second.label_probs is None:
        return 0.0 if first.status is second.status else math.inf
    pairs = [(a, b) for a, b in zip(first.label_probs, second.label_probs, strict=True) if a != b]
    return max((abs(math.log(a / b)) if a > 0 and b > 0 else math.inf for a, b in pairs), default=0.0)


def largest_share_moved(pairs: Pairs) -> float:
    """The largest difference of an answer's share, its probability over that of all labels, from 0 to 1."""
    return max((_share_moved(first, second) for first, second in pairs), default=0.0)


def _share_moved(first: Reading, second: Reading) -> float:
    if first.label_probs is None or second.label_probs is None:
        return 0.0 if first.status is second.status else 1.0
    totals = math.fsum(first.label_probs), math.fsum(second.label_probs)
    if not all(totals):
        return 0.0 if totals[0] == totals[1] else 1.0
    pairs = zip(first.label_probs, second.label_probs, strict=True)
    return max(abs(a / totals[0] - b / totals[1]) for a, b in pairs)
