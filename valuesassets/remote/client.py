"""Sends requests to a model behind an API: at a pace, with retries where they can help, and failures in words.

The SDKs' own retries do not wait as long as a server asks, and do not repeat a request whose answer has a wrong form.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.records.settings.endpoints import Connection, is_loopback
from valuesassets.remote.authorities import trusted_authorities
from valuesassets.remote.failures import Asker, Failure, SentRequest, WrongAnswer, failure_of, failure_of_refusal
from valuesassets.remote.keys import KeyShown, holds_key, read_key
from valuesassets.remote.provider import Service

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

MINUTE_S = 60.0
FIRST_PAUSE_S = 2.0
"""Seconds of pause before the second attempt; doubled before each further one."""
LONGEST_REASON = 300
"""Most characters of a failure's reason in a message."""


class Pace:
    """Gives turns to send, spread over a minute (None: no limit), and none while a server has asked to wait."""

    def __init__(self, requests_per_minute: int | None = None, tokens_per_minute: int | None = None) -> None:
        self._requests, self._tokens = requests_per_minute, tokens_per_minute
        self._next, self._holding = 0.0, 0
        self._change = threading.Condition()

    def wait_for_turn(self, tokens: int, pause: Callable[[float], None]) -> None:
        """Wait until a request with this many tokens may be sent; `pause` waits for a number of seconds."""
        with self._change:
            now = time.monotonic()
            turn = max(now, self._next)
            shares = [1 / self._requests if self._requests else 0.0, tokens / self._tokens if self._tokens else 0.0]
            self._next = turn + MINUTE_S * max(shares)
        if turn > now:
            pause(turn - now)
        with self._change:
            self._change.wait_for(lambda: not self._holding)

    def hold(self, seconds: float, pause: Callable[[float], None]) -> None:
        """Wait, and let no thread send meanwhile."""
        with self._change:
            self._holding += 1
        try:
            pause(seconds)
        finally:
            with self._change:
                self._holding -= 1
                self._change.notify_all()


class Client:
    """Sends requests to one model, from any thread; it reads the key and connects with the first request.

    Args:
        asker: who sends the requests, for messages.
        key_env: name of the environment variable that holds the key; None if no key is needed.
        pace: limits on the rate of requests; no limit where it is None.
        most_threads: number of threads that use the client, and of its connections.
    """

    def __init__(
        self,
        service: Service,
        model: str,
        connection: Connection,
        asker: Asker,
        pause: Callable[[float], None] = time.sleep,
        *,
        key_env: str | None,
        pace: Pace | None = None,
        most_threads: int = 100,
    ) -> None:
        self._service, self._threads = service, most_threads
        self._request = SentRequest(model, key_env, connection.timeout_s, service.who)
        self._connection, self._asker, self.pause = connection, asker, pause
        self._pace = pace or Pace()
        self._key = pydantic.SecretStr("")
        self._connecting = threading.Lock()
        self._hopeless: str | None = None
        self._transport: httpx2.Client | None = None
        self._sdk: Any = None

    def __str__(self) -> str:
        return f"{self._request.model} ({self._connection.host})"

    def send(self, about: str, request: Callable[[Any], T], tokens: int = 0) -> T:
        """Send a request and return its answer; busy servers and broken connections are retried after doubling pauses.

        After a refused key or model, or without credit, no thread sends anything more. Where a server asks to wait, all
        threads wait.

        Args:
            about: what the request is about, for messages.
            tokens: tokens that are sent and may come back, for the pace.

        Raises:
            InputError: there is no key, a refused key, no such model, or no credit.
            EndpointError: the request was refused, or not answered in all attempts; or the asker's own error.
        """
        sdk, attempt = self._connected(), 0
        while True:
            attempt += 1
            self._pace.wait_for_turn(tokens, self.pause)
            if self._hopeless:
                raise InputError(self._hopeless)
            try:
                return request(sdk)
            except Exception as error:
                failure = self._failure(error)
                if failure is None:
                    raise
            if not failure.may_pass or attempt == self._connection.attempts:
                attempts = f" in {attempt} attempts" if attempt > 1 else ""
                message = f"{self._asker.where}: {about}: {self.masked(failure.reason)}{attempts}; {failure.what_to_do}"
                self._hopeless = message if failure.error is InputError else self._hopeless
                raise failure.error(message)
            if failure.wait_s is None:
                self.pause(FIRST_PAUSE_S * 2 ** (attempt - 1))
            else:
                self._pace.hold(failure.wait_s, self.pause)

    def try_once(self, request: Callable[[Any], object]) -> bool:
        """Send a request that nothing depends on; whether it succeeded."""
        try:
            request(self._connected())
        except Exception as error:
            if self._failure(error) is None:
                raise
            return False
        return True

    def masked(self, message: str) -> str:
        """The beginning of a server's message, without the key if the message repeats it."""
        key = self._key.get_secret_value()
        line = message.replace(key, "***") if key else message  # before the cut: half a key could not be found
        if holds_key(line, key):
            line = "what was said shows a part of the key"
        return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"

    def close(self) -> None:
        """Close the connections."""
        if self._sdk is not None:
            self._service.close(self._sdk)
        if self._transport is not None:
            self._transport.close()

    def _failure(self, error: Exception) -> Failure | None:
        """The failure behind an expected error of a request; None for any other error."""
        import httpx2

        refusal = self._service.refusal(error)
        if refusal is not None:
            return failure_of_refusal(refusal, self._request, self._asker)
        wrapped = isinstance(error.__cause__, httpx2.RequestError | KeyShown)
        cause = error.__cause__ if wrapped else error
        if isinstance(cause, KeyShown):
            return Failure(
                f"{self._request.who} writes the key of {self._request.key_env} into its answer ({cause}), "
                "which is not kept",
                f"have the key replaced, and check the {self._asker.noun}'s settings",
                InputError,
                may_pass=False,
            )
        if isinstance(cause, httpx2.InvalidURL):  # built from the server's answer
            cause = ValueError(str(cause))
        if isinstance(cause, httpx2.RequestError | WrongAnswer | ValueError | KeyError):
            return failure_of(cause, self._request, self._asker)
        return None

    def _require_no_key(self, response: "httpx2.Response") -> None:
        """Refuse a response that shows the key; an error's message may show it in plain, since that is masked later."""
        key = self._key.get_secret_value()
        response.read()
        for name in [name for name, value in response.headers.items() if holds_key(name + value, key)]:
            del response.headers[name]
        if holds_key(response.text if response.is_success else response.text.replace(key, "***"), key):
            raise KeyShown(f"status {response.status_code}")

    def _connected(self) -> Any:
        with self._connecting:
            if self._sdk is None:
                variable = self._request.key_env
                self._key = read_key(variable, self._asker, self._service) if variable else pydantic.SecretStr("")
                import httpx2

                logging.getLogger("httpcore2").setLevel(logging.INFO)  # below INFO it logs headers
                address = self._connection.address
                # The SDKs' own transports follow redirects and send the key along; proxies do not reach this machine.
                is_elsewhere = not is_loopback(address)
                self._transport = httpx2.Client(
                    verify=trusted_authorities(heeds_environment=is_elsewhere),
                    trust_env=is_elsewhere,
                    follow_redirects=False,
                    event_hooks={"response": [self._require_no_key]},
                    limits=httpx2.Limits(max_connections=self._threads, max_keepalive_connections=self._threads),
                )
                self._sdk = self._service.connect(
                    address, self._key.get_secret_value(), self._connection.timeout_s, self._transport
                )
            return self._sdk
