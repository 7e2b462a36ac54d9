"""A profile: what a prompt says of a person's background, as a key such as `B_COUNTRY=156,H_URBRURAL=1,Q275=3`."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds

_BETWEEN = re.compile(r",(?=[A-Z][A-Z0-9_]*=)")


def profile_key(values: Sequence[tuple[str, Any]]) -> str:
    """The key of what is known of a person: attributes in the order of the bundled list, missing ones left out.

    >>> profile_key([("Q275", 3.0), ("B_COUNTRY", 156), ("H_URBRURAL", -5)])
    'B_COUNTRY=156,Q275=3'
    """
    order = {attribute.id: place for place, attribute in enumerate(load_backgrounds().attributes)}
    known = [(order.get(name, len(order)), name, text) for name, value in values if (text := _written(value))]
    return ",".join(f"{name}={text}" for _, name, text in sorted(known))


def parse_profile(key: str) -> dict[str, str]:
    """What a key says, by attribute.

    >>> parse_profile("B_COUNTRY=156,Q275=3")
    {'B_COUNTRY': '156', 'Q275': '3'}
    """
    return {name: value for name, _, value in (part.partition("=") for part in _BETWEEN.split(key) if part)}


def profile_keys(people: pd.DataFrame, attributes: Sequence[str]) -> pd.Series:
    """The key of every person (or row), each combination of codes written once.

    Args:
        people: a column per attribute.
    """
    if not attributes:
        return pd.Series("", index=people.index)
    columns = list(attributes)
    combination = people.groupby(columns, sort=False, dropna=False, observed=True).ngroup()
    distinct = people[columns].loc[~combination.duplicated()].astype(object)
    keys = [profile_key(list(zip(columns, row, strict=True))) for row in distinct.itertuples(index=False)]
    return pd.Series(pd.Categorical.from_codes(combination.to_numpy(), range(len(keys))), index=people.index).map(
        dict(enumerate(keys))
    )


def _written(value: Any) -> str:
    """A code or text as keys have it; empty where it is missing."""
    if value is None or value is pd.NA or value != value:
        return ""
    text = str(value).strip()
    if re.fullmatch(r"[+-]?\d+(\.0*)?", text):
        return "" if text.startswith("-") else str(int(float(text)))
    return text
