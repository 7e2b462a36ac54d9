"""Keys of providers: in environment variables alone, shown to nobody."""

import os

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.remote.failures import Asker
from valuesassets.remote.provider import Service


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
