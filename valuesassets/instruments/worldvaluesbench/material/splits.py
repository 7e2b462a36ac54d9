"""`worldvaluesbench/splits`: which people are in train, valid and test."""

import hashlib
import random
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SplitRule = Literal["seed", "stable"]
"""`seed`: as in the published code, by the row in the file; `stable`: by the id alone."""
SPLITS = ("train", "valid", "test")
TRAIN, TEST = 0.70, 0.15
"""Shares of people; the rest is for validation."""


def split_people(ids: Sequence[str], rule: SplitRule = "seed") -> NDArray[np.object_]:
    """(n,) split of each person.

    Args:
        ids: of the people, in the order of their rows.
        rule: with `seed`, splits depend on the number and order of people; with `stable` on each id alone.

    >>> [int((split_people([str(i) for i in range(93_278)]) == name).sum()) for name in SPLITS]
    [65294, 13993, 13991]
    """
    if rule == "stable":
        shares = np.array([int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) for name in ids]) / 2**32
        names = np.where(shares < TRAIN, "train", np.where(shares < TRAIN + TEST, "test", "valid"))
        return names.astype(object)
    splits = np.empty(len(ids), dtype=object)
    for name, places in published_order(len(ids)).items():
        splits[places] = name
    return splits


def published_order(n: int) -> dict[str, list[int]]:
    """The rows of the people of each split, in the order of the published files.

    Python's generator with seed 0 shuffles the rows; the first 70 % are for training, the next 15 % for testing.

    Source: Zhao et al. (2024), dataset_construction/data_preparation.py of their repository.
    """
    places = list(range(n))
    random.Random(0).shuffle(places)  # noqa: S311
    train, test = int(TRAIN * n), int(TEST * n)
    return {"train": places[:train], "valid": places[train + test :], "test": places[train : train + test]}
