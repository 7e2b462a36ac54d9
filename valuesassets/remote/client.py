"""Requests to a model behind an API: sent again where that can help, at a pace, failures in words.

The SDKs' own retries would neither wait as long as a server asks nor ask again for an answer of another form.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.records.settings.endpoints import Connection, is_loopback
from valuesassets.remote.failures import Asker, Failure, Sent, WrongAnswer, failure_of, refused
from valuesassets.remote.keys import KeyShown, holds_key, read_key
from valuesassets.remote.pacing import Pace
from valuesassets.remote.provider import Service

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

FIRST_PAUSE_S = 2.0
"""Before the second attempt; doubled before each further one."""
LONGEST_REASON = 300
"""Characters of the reason for a failure that are shown."""


class Client:
    """Sends requests to one model, from any thread. It connects on the first one: who asks for nothing needs no key.

    Args:
        asker: who sends them, for messages.
        key_env: name of the environment variable that holds the key; None where none is needed.
        pace: how fast requests may follow each other; as they come where not given.
        most_threads: from how many threads it is used; it holds as many connections.
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
        self._sent = Sent(model, key_env, connection.timeout_s, service.who)
        self._connection, self._asker, self.pause = connection, asker, pause
        self._pace = pace or Pace()
        self._key = pydantic.SecretStr("")
        self._connecting = threading.Lock()
        self._hopeless: str | None = None
        self._transport: httpx2.Client | None = None
        self._sdk: Any = None

    def __str__(self) -> str:
        return f"{self._sent.model} ({self._connection.host})"

    def send(self, about: str, request: Callable[[Any], T], tokens: int = 0) -> T:
        """The answer to a request; busy servers and broken connections are asked again after doubling pauses.

        Where the key or the model is refused, or the credit has gone, nothing more is sent, from no thread. Where a
        server asks to wait, no thread sends before that.

        Args:
            about: what the request is about, for the message.
            request: given the SDK's client.
            tokens: that are sent and may come back, for the pace.

        Raises:
            InputError: no key, one that is refused, no such model, no credit.
            EndpointError: refused, or not answered in all attempts; where the asker names another error, that one.
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
                tried = f" in {attempt} attempts" if attempt > 1 else ""
                said = f"{self._asker.where}: {about}: {self.shown(failure.reason)}{tried}; {failure.what_to_do}"
                self._hopeless = said if failure.error is InputError else self._hopeless
                raise failure.error(said)
            if failure.wait_s is None:
                self.pause(FIRST_PAUSE_S * 2 ** (attempt - 1))
            else:
                self._pace.hold(failure.wait_s, self.pause)

    def try_once(self, request: Callable[[Any], object]) -> bool:
        """Whether a request succeeded that nothing depends on."""
        try:
            request(self._connected())
        except Exception as error:
            if self._failure(error) is None:
                raise
            return False
        return True

    def shown(self, said: str) -> str:
        """The beginning of what a server said, without the key where it repeats that."""
        key = self._key.get_secret_value()
        line = said.replace(key, "***") if key else said  # first: half a key is not found again
        if holds_key(line, key):
            line = "what was said shows a part of the key"
        return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"

    def close(self) -> None:
        """Give the connections back."""
        if self._sdk is not None:
            self._service.close(self._sdk)
        if self._transport is not None:
            self._transport.close()

    def _failure(self, error: Exception) -> Failure | None:
        """What an error says of a request that can fail so; None where it cannot."""
        import httpx2

        refusal = self._service.refusal(error)
        if refusal is not None:
            return refused(refusal, self._sent, self._asker)
        wrapped = isinstance(error.__cause__, httpx2.RequestError | KeyShown)
        cause = error.__cause__ if wrapped else error
        if isinstance(cause, KeyShown):
            return Failure(
                f"{self._sent.who} writes the key of {self._sent.key_env} into its answer ({cause}), which is not kept",
                f"have the key replaced, and check the {self._asker.noun}'s settings",
                InputError,
                may_pass=False,
            )
        if isinstance(cause, httpx2.InvalidURL):  # made of what the server has answered
            cause = ValueError(str(cause))
        if isinstance(cause, httpx2.RequestError | WrongAnswer | ValueError | KeyError):
            return failure_of(cause, self._sent, self._asker)
        return None

    def _require_no_key(self, response: "httpx2.Response") -> None:
        """Keep the key out of whatever is made of a response; a refusal that shows it as it is may, to be masked."""
        key = self._key.get_secret_value()
        response.read()
        for name in [name for name, value in response.headers.items() if holds_key(name + value, key)]:
            del response.headers[name]
        if holds_key(response.text if response.is_success else response.text.replace(key, "***"), key):
            raise KeyShown(f"status {response.status_code}")

    def _connected(self) -> Any:
        with self._connecting:
            if self._sdk is None:
                variable = self._sent.key_env
                self._key = read_key(variable, self._asker, self._service) if variable else pydantic.SecretStr("")
                import httpx2

                logging.getLogger("httpcore2").setLevel(logging.INFO)  # below it writes down headers as they come
                address = self._connection.address
                # A transport of our own: the SDKs' follow redirects, key and all; proxies do not reach this machine.
                self._transport = httpx2.Client(
                    trust_env=not is_loopback(address),
                    follow_redirects=False,
                    event_hooks={"response": [self._require_no_key]},
                    limits=httpx2.Limits(max_connections=self._threads, max_keepalive_connections=self._threads),
                )
                self._sdk = self._service.connect(
                    address, self._key.get_secret_value(), self._connection.timeout_s, self._transport
                )
            return self._sdk
