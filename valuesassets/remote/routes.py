"""Chooses the route by which a model behind an API gives labels' probabilities, by asking its server."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.records.errors import EndpointError, InputError, StorageError
from valuesassets.records.files import read_json, write_json
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial
from valuesassets.remote.openai_api import OpenAi
from valuesassets.remote.provider import Provider
from valuesassets.remote.requests import Entry
from valuesassets.remote.top_logprobs import top_entries

if TYPE_CHECKING:
    from valuesassets.remote.asking import RemoteAsking
    from valuesassets.remote.client import Client

ROUTE_FILE = "route.json"


def require_route(endpoint: Endpoint, trials: Sequence[Trial]) -> None:
    """Raise an InputError if an endpoint cannot be asked for probabilities at all."""
    unfit = next((trial for trial in trials if not isinstance(trial.readout, ScoreLabels)), None)
    if unfit is not None:
        raise InputError(
            f"trial {unfit.trial_id}: is read by {type(unfit.readout).__name__}, which needs a model that is loaded; "
            "behind an API there are ScoreLabels and Generate"
        )
    if not endpoint.shows_probabilities:
        raise InputError(
            f"trial {trials[0].trial_id}: is read by ScoreLabels, and route = 'sampled' asks for no probabilities; ask "
            "by Generate, or name another route"
        )


def possible_routes(endpoint: Endpoint) -> list[str]:
    """The routes that an endpoint's settings allow, best first."""
    exact = ["token_ids", "echo"] if endpoint.api == "completions" and endpoint.tokenizer else []
    return [*exact, "top_logprobs"] if endpoint.route == "auto" else [endpoint.route]


def label_entries(
    route: str, provider: Provider, identity: Sequence[str], trials: Sequence[Trial], prompting: Prompting
) -> Sequence[Entry]:
    """Prepare trials with labels for a route; a TokenizerError if the tokenizer it needs cannot be read."""
    if route == "top_logprobs":
        return top_entries(provider, identity, trials, prompting, provider.endpoint.max_width)
    from valuesassets.remote.exact import exact_entries
    from valuesassets.spelling.tokenizer_files import open_tokenizer

    if not isinstance(provider, OpenAi):
        raise InputError(f"route {route}: {provider.who} has none; name another")
    tokenizer, eos_ids = open_tokenizer(str(provider.endpoint.tokenizer))
    return exact_entries(provider, route, identity, trials, tokenizer, eos_ids)


def stored_route(folder: Path, endpoint: Endpoint) -> str | None:
    """The stored route of a model, if the settings still allow it."""
    try:
        content = read_json(folder / ROUTE_FILE)
    except StorageError:
        return None
    route = content.get("route") if isinstance(content, dict) else None
    return route if route in possible_routes(endpoint) else None


def choose_route(asking: "RemoteAsking", client: "Client", folder: Path | None) -> str:
    """The first route that can read the first trial, stored for all trials of a model; an InputError if none can."""
    faults = []
    for route in possible_routes(asking.endpoint):
        (entry,) = asking.entries_by(route, asking.trials[:1])
        try:
            responses = [asking.send(client, request, folder) for request in entry.requests]
        except EndpointError as error:
            faults.append(f"{route}: {error}")
            continue
        record = entry.record(responses, asking.model, frozenset())
        if record.status is not Status.FAILED:
            if folder:
                write_json(folder / ROUTE_FILE, {"route": route})
            return route
        faults.append(f"{route}: {record.reason}")
    raise InputError(
        f"{asking.model}: the first trial has no probabilities by any route ({'; '.join(faults)}); mend what is said "
        "there, ask by Generate, or name another model"
    )
