"""`Provider`: the common protocol of the interfaces through which models are asked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Trial
from valuesassets.remote.failures import Refusal
from valuesassets.remote.replies import ParsedResponse

if TYPE_CHECKING:
    import httpx2

Body = dict[str, Any]
"""The body of one request, JSON: everything that the response depends on, besides the model and its host."""


class Service(Protocol):
    """An interface for sending requests: its SDK, and the meaning of its refusals."""

    name: str
    """Its name in study files."""
    who: str
    """Its name in messages."""
    where_keys_are: str
    """Where users get a key."""

    def connect(self, address: str, key: str, timeout_s: float, transport: "httpx2.Client") -> Any:
        """The SDK's client, which sends each request once, with no headers but ours."""
        ...

    def close(self, sdk: Any) -> None:
        """Close the SDK's client."""
        ...

    def refusal(self, error: Exception) -> Refusal | None:
        """The refusal behind an error of the SDK; None where no server refused."""
        ...


class Provider(Service, Protocol):
    """An interface for asking a model trials: makes bodies of requests, and parses responses."""

    endpoint: Endpoint

    def post(self, sdk: Any, model: str, body: Body) -> dict[str, Any]:
        """Send a body; returns the response as JSON, without headers."""
        ...

    def text_body(self, trial: Trial, readout: Generate, sample: int, prompting: Prompting) -> Body:
        """The body of a request for one text."""
        ...

    def parse_text(self, response: dict[str, Any], readout: Generate, prompting: Prompting) -> ParsedResponse:
        """Parse a response with a text.

        Raises:
            WrongAnswer: the response is empty, or no file can hold it; asking again may help.
            ValueError, KeyError: the response is of another form than the interface promises.
        """
        ...

    def tokens_body(self, trial: Trial, prompting: Prompting) -> Body:
        """The body of a request for the likeliest next tokens."""
        ...

    def parse_tokens(self, response: dict[str, Any]) -> ParsedResponse:
        """Parse a response with the likeliest next tokens; errors as for `parse_text`."""
        ...


def turns_of(trial: Trial, prompting: Prompting) -> tuple[str | None, Sequence[tuple[str, str]]]:
    """The system's text, and the turns of a trial as (role, text); a bare prompt is the user's turn."""
    turns = [(turn.role, turn.text) for turn in trial.chat or ()] or [("user", trial.prompt)]
    if turns[0][0] == "system":
        return turns[0][1], turns[1:]
    return prompting.system_in(trial.language), turns
