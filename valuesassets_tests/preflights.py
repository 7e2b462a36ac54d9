"""Verdicts of a preflight as it stores them, for tests that begin behind it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any


def verdict(parts: Iterable[str], failing: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Of a family that passed in some parts and fails in others, by the reason."""
    said = {"is_left_out": False, "reason": None, "override": None, "is_asked": True}
    told = {part: said | {"is_left_out": True, "reason": reason} for part, reason in failing.items()}
    return {"parts": dict.fromkeys(parts, said) | told, "findings": [], "tokenizers": {}, "wordings": []}
