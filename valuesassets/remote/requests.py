"""`Request`: one thing to send to a model behind an API, what it may cost, and how its response is read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from valuesassets.records.files import sha256_json
from valuesassets.records.trials import Reading, Record, Status, Trial
from valuesassets.remote.cost import Usage, about_of, most_of
from valuesassets.remote.provider import Body
from valuesassets.remote.replies import Said


@dataclass(frozen=True)
class Request:
    """One thing to send.

    Attributes:
        sent: hash of provider, host, model and body, by which the response is kept.
        about, most: what it uses up, by a rule of thumb and at most.
        read: what a response says; raises WrongAnswer, ValueError or KeyError where it is none.
    """

    body: Body
    sent: str
    about: Usage
    most: Usage
    read: Callable[[dict[str, Any]], Said] = field(compare=False)


class Entry(Protocol):
    """What a trial asks for, one record comes of it."""

    @property
    def trial(self) -> Trial:
        """Whose it is."""
        ...

    @property
    def requests(self) -> Sequence[Request]:
        """What has to be sent for it; entries that ask the same share requests."""
        ...

    @property
    def key(self) -> str:
        """What its record is known by."""
        ...

    def record(self, said: Sequence[Said], model: str, told: frozenset[str]) -> Record:
        """What the responses amount to.

        Args:
            said: in the order of the requests.
            told: every token that the model has shown in this list of trials.
        """
        ...


def new_request(
    identity: Sequence[str], body: Body, texts: Iterable[str], output_tokens: int, read: Callable[[Any], Said]
) -> Request:
    """A request for a body; `texts` are what the model is shown, `output_tokens` what it may answer."""
    shown = list(texts)
    about, most = (each(shown, output_tokens) for each in (about_of, most_of))
    return Request(body, sha256_json([*identity, body]), about, most, read)


def texts_of(trial: Trial) -> list[str]:
    """What a trial shows a model."""
    return [turn.text for turn in trial.chat] if trial.chat else [trial.prompt]


def named(trial: Trial) -> str:
    """A trial, as messages name it."""
    return f"trial {trial.trial_id} ({trial.language}, order {trial.order})"


def unread(key: str, trial: Trial, status: Status, reason: str, version: str | None = None) -> Reading:
    """A reading that could not be made."""
    return Reading(trial.trial_id, None, None, None, None, (), status, reason, key, model_version=version)


def fault_in(said: Sequence[Said], trial: Trial, key: str, model: str) -> Reading | None:
    """The reading of a trial one of whose responses is none; None where all are."""
    bad = next((each for each in said if each.status is not Status.OK), None)
    if bad is None:
        return None
    reason = f"{model}: {named(trial)}: {bad.reason}" if bad.status is Status.FAILED else str(bad.reason)
    return unread(key, trial, bad.status, reason, bad.model_version)
