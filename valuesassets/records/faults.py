"""Turns pydantic errors into one line for users: the key, what was found, what was expected."""

import difflib
import json
from collections.abc import Iterable
from typing import Any, TypeVar

import pydantic

from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.settings.kinds import PATTERNS

AnyRecord = TypeVar("AnyRecord", bound=pydantic.BaseModel)

_EXPECTED = {
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "too_short": "at least one entry",
    "too_long": "at most {max_length} entries",
    "string_too_short": "text that is not empty",
    "int": "a whole number",
    "float": "a number",
    "string": "text in quotes",
    "bool": "true or false",
    "path": "a path in quotes",
    "date": "a day such as 2026-01-31",
    **dict.fromkeys(("dict", "model"), "a table of keys and values"),
    **dict.fromkeys(("tuple", "list"), "an array"),
}
"""Descriptions of the expected value, by pydantic's error type or its first word."""
LEAST_LIKE = 0.65
"""Likeness from which on a key is offered for a misspelt one: `number` is 0.6 like `near`."""
TABLES_BY_NAME = ("families", "languages", "shift")
"""Keys of a study whose values are tables, each under a name of its own."""
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""pydantic's error types for unknown keys, of a model and of a dataclass."""
_NAMES = {dict: "an object", list: "an array", str: "text", bool: "true or false", int: "a number", float: "a number"}


def validated(
    record: type[AnyRecord],
    content: Any,
    error: type[ValuesAssetsError],
    source: str,
    keys: Iterable[str] = (),
    context: Any = None,
) -> AnyRecord:
    """Content as a record.

    Args:
        source: beginning of the error message.
        keys: see `describe_faults`; the record's own keys if left out.

    Raises:
        error: the content does not fit the record; the message lists the faults.
    """
    try:
        return record.model_validate(content, context=context)
    except pydantic.ValidationError as fault:
        raise error(f"{source}: {describe_faults(fault.errors(), keys or record.model_fields)}") from None


def describe_faults(errors: Iterable[Any], keys: Iterable[str] = ()) -> str:
    """The first three faults of a pydantic error, each with its key, what was found and what was expected.

    Args:
        errors: `ValidationError.errors()`.
        keys: valid keys, from which a misspelt key gets a suggestion.
    """
    by_key: dict[str, list[Any]] = {}
    for error in errors:
        by_key.setdefault(_key(error["loc"]), []).append(error)
    ordered = sorted(by_key.items(), key=lambda item: item[1][0]["type"] not in UNKNOWN)  # a misspelling first
    clauses = [_clause(key, key_errors, list(keys)) for key, key_errors in ordered]
    more = f" (and {len(clauses) - 3} more)" if len(clauses) > 3 else ""
    return "; ".join(clauses[:3]) + more


def kind_of_value(value: Any) -> str:
    """The kind of a JSON value, with its article.

    >>> kind_of_value({}), kind_of_value(None)
    ('an object', 'null')
    """
    return _NAMES.get(type(value), "null")


def _key(place: tuple[Any, ...]) -> str:
    """The place of a fault, with positions from 1, without pydantic's own marks (`[key]`, branches of a union).

    >>> _key(("options", 0, "label")), _key(("languages", "German", "[key]"))
    ("key 'label' in entry 1 of 'options'", "key 'languages.German'")
    """
    parts = [p for p in place if isinstance(p, int) or not ("[" in p or p.startswith("constrained-"))]
    last = max((i for i, part in enumerate(parts) if isinstance(part, int)), default=-1)
    above, below = ".".join(map(str, parts[: max(last, 0)])), ".".join(map(str, parts[last + 1 :]))
    if last < 0:
        return f"key '{below}'" if below else ""
    entry = f"entry {int(parts[last]) + 1} of '{above}'"
    return f"key '{below}' in {entry}" if below else entry


def _clause(key: str, errors: list[Any], keys: list[str]) -> str:
    first = errors[0]
    if first["type"] in UNKNOWN:
        matches = difflib.get_close_matches(str(first["loc"][-1]), keys, n=1, cutoff=LEAST_LIKE)
        advice = f" (did you mean '{matches[0]}'?)" if matches else "; remove it or check its spelling"
        return f"unknown {key}{advice}"
    if first["type"] == "missing":
        return f"{key} is missing; add it"
    if first["type"] == "value_error":  # raised by our own validators
        return (f"{key}: " if key else "") + str(first["ctx"]["error"])
    sentence = next((str(error["ctx"]["error"]) for error in errors if error["type"] == "value_error"), None)
    others = [error for error in errors if error["type"] != "value_error"]
    if sentence and all(error["type"].endswith("_type") for error in others):  # of the right kind, with a fault
        return (f"{key}: " if key else "") + sentence
    expected = ", or ".join(dict.fromkeys(_expected(error) for error in others))
    alternative = f", or else {sentence}" if sentence else ""
    text = f"{expected} was expected (found {_shortened(first['input'])}){alternative}{_how_written(errors)}"
    return (f"{key}: " if key else "") + text


def _how_written(errors: list[Any]) -> str:
    """How an array or a table is written, where a single value stands in its place."""
    place, value, kinds = errors[0]["loc"], errors[0]["input"], {error["type"] for error in errors}
    if isinstance(value, (dict, list)) or len(kinds) > 1:
        return ""
    if kinds <= {"tuple_type", "list_type"}:
        return f"; write [{_shortened(value)}]"
    is_of_name = len(place) == 2 and place[0] in TABLES_BY_NAME
    return f"; write it below [{place[0]}.<name>]" if is_of_name and kinds <= {"model_type"} else ""


def _expected(error: Any) -> str:
    kind, limits = error["type"], error.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(limits["pattern"], f"text like {limits['pattern']}")
    if kind == "too_short" and limits["min_length"] > 1:
        return f"at least {limits['min_length']} entries"
    template = _EXPECTED.get(kind) or _EXPECTED.get(kind.split("_")[0])
    return template.format(**limits) if template else str(error["msg"]).removeprefix("Input should be ").lower()


def _shortened(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):  # types of TOML that JSON lacks, such as dates
        text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
