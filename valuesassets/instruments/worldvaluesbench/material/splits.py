"""`worldvaluesbench/splits`: who is in train, valid and test."""

import hashlib
import random
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SplitRule = Literal["seed", "stable"]
"""`seed`: as the benchmark's authors drew them, by the place in the file; `stable`: by the id alone."""
SPLITS = ("train", "valid", "test")
TRAIN, TEST = 0.70, 0.15
"""Shares of people; the rest is for validation."""


def split_people(ids: Sequence[str], rule: SplitRule = "seed") -> NDArray[np.object_]:
    """(n,) split of each person.

    Args:
        ids: of the people, in the order of their rows.
        rule: by `seed`, a person's split depends on the number of people and on the place among them; by `stable` on
            the id alone, so that others who come or go change nothing.

    >>> [int((split_people([str(i) for i in range(93_278)]) == name).sum()) for name in SPLITS]
    [65294, 13993, 13991]
    """
    if rule == "stable":
        shares = np.array([int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) for name in ids]) / 2**32
        found = np.where(shares < TRAIN, "train", np.where(shares < TRAIN + TEST, "test", "valid"))
        return found.astype(object)
    splits = np.empty(len(ids), dtype=object)
    for name, places in seed_order(len(ids)).items():
        splits[places] = name
    return splits


def seed_order(n: int) -> dict[str, list[int]]:
    """Places of the people of each split in the order in which the seed's files have them.

    Rows are shuffled by Python's generator with seed 0; the first 70 % are for training, the next 15 % for testing.

    Source: Zhao et al. (2024), dataset_construction/data_preparation.py of their repository.
    """
    places = list(range(n))
    random.Random(0).shuffle(places)  # noqa: S311
    train, test = int(TRAIN * n), int(TEST * n)
    return {"train": places[:train], "valid": places[train + test :], "test": places[train : train + test]}
