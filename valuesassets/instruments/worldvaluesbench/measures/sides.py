"""Which rows of a table are a model's with attributes, which without, and which are controls."""

import pandas as pd

from valuesassets.instruments.worldvaluesbench.measures.controls import (
    GROUPS_MAJORITY,
    OTHER_GROUPS,
    OTHER_PEOPLE,
    shuffled,
    without_attributes,
)

WITHOUT, SHUFFLED = without_attributes(""), shuffled("")
"""Endings of the names under which a model's answers without attributes, and its shuffled ones, are scored."""
CONTROLS = ("uniform", "majority", OTHER_PEOPLE, OTHER_GROUPS, GROUPS_MAJORITY)
"""Answers that are no model's."""


def with_sides(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column `attributes`: `with`, `without`, or null for controls; `model` is then the model alone.

    >>> with_sides(pd.DataFrame({"model": ["m", "m without attributes", "uniform"]}))["attributes"].tolist()
    ['with', 'without', None]
    """
    if "attributes" in frame:
        return frame
    names = [str(name) for name in frame["model"]]
    sides = {each: None if _is_control(each) else "without" if each.endswith(WITHOUT) else "with" for each in names}
    bare = [each.removesuffix(WITHOUT) for each in names]
    return frame.assign(model=bare, attributes=[sides[each] for each in names])


def models_only(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of models that were asked with attributes."""
    sided = with_sides(frame)
    return pd.DataFrame(sided.loc[sided["attributes"] == "with"])


def _is_control(name: str) -> bool:
    return name in CONTROLS or name.endswith(SHUFFLED)
