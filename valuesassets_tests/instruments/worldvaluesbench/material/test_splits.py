"""Splits: the published ones are a shuffle of places, stable ones depend on the id alone; each person is in one."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.worldvaluesbench.material.splits import SPLITS, published_order, split_people


@given(n=st.integers(0, 400))
def test_every_person_is_in_one_split_of_the_published_sizes(n):
    order = published_order(n)
    assert sorted(place for places in order.values() for place in places) == list(range(n))
    assert (len(order["train"]), len(order["test"])) == (int(0.7 * n), int(0.15 * n))
    splits = split_people([str(place) for place in range(n)])
    assert all(splits[place] == name for name, places in order.items() for place in places)


def test_splits_by_hand_are_a_shuffle_with_seed_zero():
    labels = list(range(20))
    random.seed(0)
    random.shuffle(labels)
    order = published_order(20)
    assert order == {"train": labels[:14], "test": labels[14:17], "valid": labels[17:]}


def test_the_published_sizes_are_found():
    sizes = {name: len(places) for name, places in published_order(93_278).items()}
    assert sizes == {"train": 65_294, "valid": 13_993, "test": 13_991}


@given(ids=st.lists(st.text(min_size=1), unique=True, max_size=30), data=st.data())
def test_a_stable_split_stays_whoever_else_is_there(ids, data):
    some = data.draw(st.permutations(ids))[: len(ids) // 2]
    whole = dict(zip(ids, split_people(ids, "stable"), strict=True))
    assert dict(zip(some, split_people(some, "stable"), strict=True)) == {name: whole[name] for name in some}


def test_stable_splits_have_the_published_shares():
    splits = split_people([str(number) for number in range(20_000)], "stable")
    shares = {name: float((splits == name).mean()) for name in SPLITS}
    assert shares == pytest.approx({"train": 0.7, "valid": 0.15, "test": 0.15}, abs=0.01)
