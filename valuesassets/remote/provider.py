"""`Provider`: what differs between the interfaces that models are asked by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Trial
from valuesassets.remote.failures import Refusal
from valuesassets.remote.replies import Said

if TYPE_CHECKING:
    import httpx2

Body = dict[str, Any]
"""What is sent in one request, JSON: whatever the response depends on, but for the model and its host."""


class Service(Protocol):
    """An interface as requests reach it: its SDK, and what its refusals mean."""

    name: str
    """As study files name it."""
    who: str
    """Whom messages name as the one who answers."""
    where_keys_are: str
    """Where a person gets a key."""

    def connect(self, address: str, key: str, timeout_s: float, transport: "httpx2.Client") -> Any:
        """The SDK's client, which sends every request once and with no header but ours."""
        ...

    def close(self, sdk: Any) -> None:
        """Give back what the SDK's client holds."""
        ...

    def refusal(self, error: Exception) -> Refusal | None:
        """What an error of the SDK says, where a server answered with a status of its own; else None."""
        ...


class Provider(Service, Protocol):
    """An interface as trials are put to a model by it: bodies of requests, and what the responses say."""

    endpoint: Endpoint

    def post(self, sdk: Any, model: str, body: Body) -> dict[str, Any]:
        """The response to a body as JSON, without headers."""
        ...

    def to_write(self, trial: Trial, readout: Generate, sample: int, prompting: Prompting) -> Body:
        """What is sent for one text."""
        ...

    def written(self, response: dict[str, Any], readout: Generate, prompting: Prompting) -> Said:
        """The text of a response.

        Raises:
            WrongAnswer: nothing at all, or what no file can hold; asking again may help.
            ValueError, KeyError: it is of another form than the interface promises.
        """
        ...

    def to_show(self, trial: Trial, prompting: Prompting) -> Body:
        """What is sent for the likeliest next tokens."""
        ...

    def shown(self, response: dict[str, Any]) -> Said:
        """The likeliest next tokens of a response; errors as of `written`."""
        ...


def turns_of(trial: Trial, prompting: Prompting) -> tuple[str | None, Sequence[tuple[str, str]]]:
    """What the system says, and the turns of a trial as (role, text); a bare prompt is the user's."""
    turns = [(turn.role, turn.text) for turn in trial.chat or ()] or [("user", trial.prompt)]
    if turns[0][0] == "system":
        return turns[0][1], turns[1:]
    return prompting.system, turns
