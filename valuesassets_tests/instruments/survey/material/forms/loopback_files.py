"""A real web server on this machine that misbehaves as it is told, one reply for each request."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from http.server import BaseHTTPRequestHandler as Handler
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from valuesassets_tests.loopback import LoopbackServer

Reply = Callable[[Handler], None]
"""Writes the answer to one request."""


@dataclass
class Loopback:
    """A server's address, what it will reply, and what it was asked.

    Attributes:
        replies: in turn, the last one for ever.
        released: set at the end, so that no reply hangs longer than its test.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    headers: list[Message] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextlib.contextmanager
def loopback(*replies: Reply, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Loopback]:
    """A server for as long as the block lasts."""

    class Scripted(Handler):
        def do_GET(self):
            self.follow_script()

        def do_CONNECT(self):
            self.follow_script()

        def follow_script(self):
            state.asked.append(self.path)
            state.headers.append(self.headers)
            reply = state.replies.pop(0) if len(state.replies) > 1 else state.replies[0]
            with contextlib.suppress(ConnectionError):  # the client has gone
                reply(self)

        def log_message(self, format, *args):
            pass

    server = LoopbackServer(Scripted, host)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    name = f"[{host}]" if ":" in host else host
    url = f"{'https' if tls else 'http'}://{name}:{server.port}"
    state = Loopback(url, list(replies), released=server.released)
    with server.serving():
        yield state


def answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply:
    """A status with a body and no word about its length."""

    def reply(handler: Handler) -> None:
        send_head(handler, status, headers or {})
        handler.wfile.write(body)

    return reply


def file(content: bytes, cut: int | None = None, claimed: int | None = None, then: Reply | None = None) -> Reply:
    """A file as good servers send it: with its length.

    Args:
        cut: the connection ends after so many bytes of the body.
        claimed: the length that the server says where it is not the true one.
        then: what happens to the connection after the last byte.
    """

    def reply(handler: Handler) -> None:
        send_head(handler, 200, {"Content-Length": str(len(content) if claimed is None else claimed)})
        handler.wfile.write(content[:cut])
        handler.wfile.flush()
        if then is not None:
            then(handler)

    return reply


def chunked(*pieces: bytes, ends: bool = True, headers: Mapping[str, str] | None = None) -> Reply:
    """A body in chunks; without its end the connection breaks in the middle."""

    def reply(handler: Handler) -> None:
        handler.protocol_version = "HTTP/1.1"
        send_head(handler, 200, {**(headers or {}), "Transfer-Encoding": "chunked", "Connection": "close"})
        for piece in pieces:
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n" if ends else b"")
        handler.close_connection = True

    return reply


def endless(status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A body that never ends."""

    def reply(handler: Handler) -> None:
        send_head(handler, status, headers or {})
        while True:
            handler.wfile.write(bytes(2**16))

    return reply


def redirect(target: str, status: int = 302, headers: Mapping[str, str] | None = None) -> Reply:
    """Elsewhere; `target` may be a path."""
    return answer(status, b"moved", {"Location": target, **(headers or {})})


def reset(handler: Handler) -> None:
    """Break the connection off, as a crashed server does."""
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.wfile.flush()
    handler.connection.close()


def send_head(handler: Handler, status: int, headers: Mapping[str, str]) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


@contextlib.contextmanager
def refusing_port() -> Iterator[int]:
    """A port of this machine that is taken and where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def tunnel(tls: ssl.SSLContext) -> Reply:
    """A proxy's yes to CONNECT; at the tunnel's end stands this server again, as the host that was asked for."""

    def reply(handler: Handler) -> None:
        send_head(handler, 200, {})
        with contextlib.suppress(ssl.SSLError), tls.wrap_socket(handler.connection, server_side=True) as inside:
            type(handler)(inside, handler.client_address, handler.server)

    return reply


def self_signed(folder: Path, host: str) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS for a host name, and the certificate that a client has to trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2099, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    trusted, secret = folder / "certificate.pem", folder / "key.pem"
    trusted.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, secret)
    return context, trusted
