"""The certificate authorities that connections trust; reading them takes some 30 ms, more than most requests."""

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def trusted_authorities(*, heeds_environment: bool) -> "ssl.SSLContext":
    """A TLS context with the authorities of this system, shared by all connections of the process.

    Args:
        heeds_environment: whether `SSL_CERT_FILE` and `SSL_CERT_DIR` may name others.
    """
    named = (os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return _context(heeds_environment, *(named if heeds_environment else ()))


@cache
def _context(heeds_environment: bool, *_named: str | None) -> "ssl.SSLContext":
    import httpx2

    return httpx2.create_ssl_context(trust_env=heeds_environment)
