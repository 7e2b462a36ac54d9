"""Parameters of tests that `make test` tries a few of, and `make test-all` all."""

from collections.abc import Iterable
from typing import Any

import pytest


def fast(values: Iterable[Any], *chosen: Any) -> list[Any]:
    """Values of a parameter, or tuples of several parameters' values, all but the chosen ones marked slow."""
    values = list(values)
    assert {*chosen} <= {*values}, f"{chosen} are not all among the values"
    slow = pytest.mark.slow
    return [
        value if value in chosen else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=slow)
        for value in values
    ]
