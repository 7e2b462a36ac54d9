"""Keys of providers: in environment variables alone, shown to nobody, and known again in what a server says."""

import base64
import html
import json
import os
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.remote.failures import Asker
from valuesassets.remote.provider import Service

FRAGMENT = 12
"""So many characters of a key, letters and digits, are not to be seen; a key of fewer is no secret."""
FIGURES = 24
"""So many where all are digits: twelve of those stand in answers by chance, which have hundreds of probabilities."""


class KeyShown(Exception):
    """A server has written the key into what it answers."""


def read_key(variable: str, asker: Asker, service: Service) -> pydantic.SecretStr:
    """The key in an environment variable; left alone, the SDKs would prefer other variables to it.

    Raises:
        InputError: there is none, or it cannot be one; the message does not show it.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputError(
            f"{variable} is not set, the {service.name} {asker.noun} needs it; set it to a key from "
            f"{service.where_keys_are}{asker.instead}"
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError(f"{variable} holds characters that are in no key (a blank, a line break?); copy it again")
    return pydantic.SecretStr(key)


def holds_key(text: str, key: str) -> bool:
    """Whether a text shows `FRAGMENT` characters of a key or more, in any of the usual ways.

    Plain or encoded, backwards, escaped (URL, JSON, HTML), between other signs, or spread over the values of JSON.
    """
    parts = _parts(key)
    unescaped = html.unescape(unquote(re.sub(r"\\(?:u00|x)([0-9a-fA-F]{2})", r"%\1", text)))
    ways = {_bare(each) for each in (text, unescaped, "".join(_values(text)))}
    return any(not parts.isdisjoint(_fragments(each)) for each in ways)


@cache
def _parts(key: str) -> frozenset[str]:
    forms = [_bare(each) for said in (key, key[::-1]) for each in _forms(said)] if len(_bare(key)) >= FRAGMENT else []
    forms += [form[::-1] for form in forms]
    return frozenset(fragment for form in forms for fragment in _fragments(form))


def _fragments(text: str) -> Iterator[str]:
    for place in range(len(text) - FRAGMENT + 1):
        fragment = text[place : place + FRAGMENT]
        if fragment.isdecimal():
            fragment = text[place : place + FIGURES]
            if len(fragment) < FIGURES or not fragment.isdecimal():
                continue
        yield fragment


def _forms(key: str) -> Iterator[str]:
    """A key plain, as numbers, hexadecimal, in base32, and in base64 wherever in a text it begins."""
    content = key.encode()
    yield from (key, "".join(map(str, content)), content.hex(), base64.b32encode(content).decode())
    for skipped in range(3):  # of three bytes base64 makes four characters; the first of them may hold others' bits
        yield base64.b64encode(b" " * skipped + content).decode()[skipped + bool(skipped) :].rstrip("=")[:-1]


def _bare(text: str) -> str:
    """Letters and digits alone, small: case and what stands between them may change on the way."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text)).casefold()


def _values(text: str) -> list[str]:
    """What JSON says, without the keys that stand between."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return []
    found: list[str] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += reversed(list(value.values() if isinstance(value, dict) else value))
        else:
            found.append(str(value))
    return found
