"""What a person may choose about the Gemini extractor."""

import ipaddress
from typing import Annotated
from urllib.parse import urlsplit

import pydantic

GOOGLE = "https://generativelanguage.googleapis.com"

Price = Annotated[float, pydantic.Field(ge=0)]


class Prices(pydantic.BaseModel):
    """What a model costs, in USD per million tokens; thoughts count as output."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    input: Price
    output: Price


class GeminiSettings(pydantic.BaseModel):
    """Which model reads a form, and how it is asked."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    model: Annotated[str, pydantic.Field(min_length=1)] = "gemini-3.8-flash"
    pages_per_request: Annotated[int, pydantic.Field(ge=1)] = 6
    base_url: str | None = None
    """Where Gemini is; Google's own address where not given."""
    timeout_s: Annotated[float, pydantic.Field(gt=0)] = 300.0
    attempts: Annotated[int, pydantic.Field(ge=1)] = 5
    """So often a request is sent before it counts as failed."""
    use_page_images: bool = False
    """Whether the pages are sent as pictures, for forms whose text layer is damaged."""
    prices: Prices | None = None

    @pydantic.field_validator("base_url")
    @classmethod
    def _key_travels_encrypted(cls, base_url: str | None) -> str | None:
        if base_url is None or (is_loopback(base_url) and base_url.startswith("http")) or _is_https(base_url):
            return base_url
        raise ValueError(f"an https address was expected (found {base_url}): the key travels with every request")


def _is_https(url: str) -> bool:
    address = urlsplit(url)
    return address.scheme == "https" and bool(address.hostname)


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine.

    >>> is_loopback("http://127.0.0.1:8080"), is_loopback(GOOGLE)
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
