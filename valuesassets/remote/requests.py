"""`Request`: one request to a model behind an API, its cost, and how its response is parsed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from valuesassets.records.files import sha256_json
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Reading, Record, Status, Trial
from valuesassets.remote.cost import Usage, about_of, most_of
from valuesassets.remote.provider import Body, turns_of
from valuesassets.remote.replies import ParsedResponse


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        key: hash of provider, host, model and body, under which the response is stored.
        about, most: what it uses up, roughly and at most.
        parse: parses a response; raises WrongAnswer, ValueError or KeyError where that fails.
    """

    body: Body
    key: str
    about: Usage
    most: Usage
    parse: Callable[[dict[str, Any]], ParsedResponse] = field(compare=False)


class Entry(Protocol):
    """A question of a trial, which gives one record."""

    @property
    def trial(self) -> Trial:
        """The trial that asks."""
        ...

    @property
    def requests(self) -> Sequence[Request]:
        """The requests that it needs; entries that ask the same share requests."""
        ...

    @property
    def key(self) -> str:
        """The key of its record."""
        ...

    def record(self, responses: Sequence[ParsedResponse], model: str, known_tokens: frozenset[str]) -> Record:
        """Make the record of the responses; `known_tokens` are all that the model has shown for these trials."""
        ...


def new_request(
    identity: Sequence[str],
    body: Body,
    texts: Iterable[str],
    output_tokens: int,
    parse: Callable[[Any], ParsedResponse],
) -> Request:
    """A request with a body; `texts` are what the model reads, `output_tokens` how many it may write."""
    prompts = list(texts)
    about, most = (each(prompts, output_tokens) for each in (about_of, most_of))
    return Request(body, sha256_json([*identity, body]), about, most, parse)


def texts_of(trial: Trial, prompting: Prompting) -> list[str]:
    """The texts of a trial that a model reads, with what the system says."""
    system, turns = turns_of(trial, prompting)
    return [*([system] if system else []), *(text for _, text in turns)]


def trial_name(trial: Trial) -> str:
    """A trial's name in messages."""
    return f"trial {trial.trial_id} ({trial.language}, order {trial.order})"


def unreadable(key: str, trial: Trial, status: Status, reason: str, version: str | None = None) -> Reading:
    """The reading of a trial that could not be read."""
    return Reading(trial.trial_id, None, None, None, None, (), status, reason, key, model_version=version)


def fault_in(responses: Sequence[ParsedResponse], trial: Trial, key: str, model: str) -> Reading | None:
    """The reading of a trial if one of its responses is no answer; None where all are answers."""
    bad = next((each for each in responses if each.status is not Status.OK), None)
    if bad is None:
        return None
    reason = f"{model}: {trial_name(trial)}: {bad.reason}" if bad.status is Status.FAILED else str(bad.reason)
    return unreadable(key, trial, bad.status, reason, bad.model_version)
