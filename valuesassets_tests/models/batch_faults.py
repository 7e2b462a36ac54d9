"""Faults of reading in batches, planted into a model or the engine while it reads trees."""

from contextlib import contextmanager

import pytest
import torch

from valuesassets.models import engine


@contextmanager
def branches_that_see_each_other():
    """A node sees every node before it, those of other branches too."""
    with _masked(lambda ends: torch.full_like(ends, ends.shape[1])):
        yield


@contextmanager
def masks_off_by_one():
    """A node is seen for one node longer than it should be: the first of the next branch sees the end of the last."""
    with _masked(lambda ends: ends + 1):
        yield


@contextmanager
def _masked(change):
    whole = engine.tree_masks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "tree_masks", lambda model, ends, *rest: whole(model, change(ends), *rest))
        yield


@contextmanager
def positions_off_by_one(model):
    """Where a branch is not the first of its tree, its positions are one too high."""

    def shift(_module, args, kwargs):
        given = [*args, *kwargs.values()][1]
        moved = given + (given < torch.arange(given.shape[1])).long()
        return tuple(moved if each is given else each for each in args), {
            name: moved if each is given else each for name, each in kwargs.items()
        }

    handle = model.model.rotary_emb.register_forward_pre_hook(shift, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


FAULTS = {
    "a row sees another": lambda _: branches_that_see_each_other(),
    "a mask is off by one": lambda _: masks_off_by_one(),
    "a position is off by one": positions_off_by_one,
}
