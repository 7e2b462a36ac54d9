"""Keys of providers: read from environment variables only, never shown, and recognised in a server's words."""

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
"""Fewest letters and digits of a key in a row that count as showing it; a shorter key is no secret."""
FIGURES = 24
"""The same where all are digits: answers with hundreds of probabilities hold any twelve digits by chance."""


class KeyShown(Exception):
    """A server's answer shows the key."""


def read_key(variable: str, asker: Asker, service: Service) -> pydantic.SecretStr:
    """The key in an environment variable (the SDKs would prefer others); an InputError, without it, if it is no key."""
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
    """Whether a text shows `FRAGMENT` characters of a key: plain, encoded, backwards, escaped (URL, JSON, HTML),
    between other signs, or spread over the values of JSON."""
    parts = _parts(key)
    unescaped = html.unescape(unquote(re.sub(r"\\(?:u00|x)([0-9a-fA-F]{2})", r"%\1", text)))
    forms = {_bare(each) for each in (text, unescaped, "".join(_values(text)))}
    return any(not parts.isdisjoint(_fragments(each)) for each in forms)


@cache
def _parts(key: str) -> frozenset[str]:
    forms = [_bare(each) for text in (key, key[::-1]) for each in _forms(text)] if len(_bare(key)) >= FRAGMENT else []
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
    """A key plain, as numbers, hexadecimal, in base32, and in base64 at each of the three possible offsets."""
    content = key.encode()
    yield from (key, "".join(map(str, content)), content.hex(), base64.b32encode(content).decode())
    for skipped in range(
        3
    ):  # base64 turns three bytes into four characters; the first may hold bits of the text before
        yield base64.b64encode(b" " * skipped + content).decode()[skipped + bool(skipped) :].rstrip("=")[:-1]


def _bare(text: str) -> str:
    """Only letters and digits, in lower case: case and other characters may change on the way."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text)).casefold()


def _values(text: str) -> list[str]:
    """The values of a JSON text, without the names of its fields."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return []
    texts: list[str] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += reversed(list(value.values() if isinstance(value, dict) else value))
        else:
            texts.append(str(value))
    return texts
