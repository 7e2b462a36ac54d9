"""Asks a model behind an API a list of trials; stored answers are never asked and paid for again."""

import contextlib
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from valuesassets.records.errors import EndpointError, StorageError
from valuesassets.records.files import sha256_json, unbroken
from valuesassets.records.parquet import read_answers, read_readings, reading_rows, write_table, written_rows
from valuesassets.records.preambles import with_preambles
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint, is_loopback
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.tables import ANSWERS, READINGS
from valuesassets.records.thoughts import is_cut_off
from valuesassets.records.trials import Answer, Record, Status, Trial
from valuesassets.remote.answer_cache import find_answer, keep_answer
from valuesassets.remote.budget import Budget, BudgetSpent
from valuesassets.remote.client import Client, Pace
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import Asker, WrongAnswer
from valuesassets.remote.gemini import Gemini
from valuesassets.remote.openai_api import OpenAi
from valuesassets.remote.provider import Provider
from valuesassets.remote.replies import ParsedResponse
from valuesassets.remote.requests import Entry, Request
from valuesassets.remote.routes import choose_route, label_entries, require_route, stored_route
from valuesassets.remote.shown_tokens import ROUNDING
from valuesassets.remote.top_logprobs import mass_of_shown
from valuesassets.remote.written import written_entries

PROVIDERS: dict[str, Callable[[Endpoint], Provider]] = {"gemini": Gemini, "openai": OpenAi}
TWICE, ONE_IN = 4, 10
"""How many requests are sent twice to compare their answers: `TWICE`, or one in `ONE_IN` if that is fewer."""


@dataclass(frozen=True)
class RemoteAnswers:
    """Records of trials and samples in order, the versions of the model, and what they used up.

    Attributes:
        records, used: the records without those that exceeded a budget, and the usage of each.
        twice: comparison of the requests that were sent twice; None if none was.
        notes: what a person should know about the answers, in words.
    """

    records: tuple[Record, ...]
    used: tuple[Usage, ...]
    versions: tuple[str, ...]
    usage: Usage
    twice: dict[str, float] | None
    notes: Sequence[str]

    def describe(self) -> dict[str, object]:
        """Versions in the responses, and tokens without those of failed attempts, for a file's metadata."""
        return {
            "model_versions": list(self.versions),
            "usage": self.usage.model_dump(),
            "notes": list(self.notes),
            **({"asked_twice": self.twice} if self.twice else {}),
        }


class RemoteAsking:
    """A list of trials, all of one readout, and the model behind an API that is asked them; like `Asking` here.

    Args:
        is_compared: whether some requests are sent twice to compare their answers.

    Raises:
        InputError: the endpoint cannot be asked these trials.
        TokenizerError: the tokenizer that a route needs cannot be read.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        prompting: Prompting,
        trials: Sequence[Trial],
        *,
        is_compared: bool = True,
    ) -> None:
        self.is_compared = is_compared
        trials = with_preambles(trials, prompting, model)
        self.model, self.endpoint, self.prompting, self.trials = model, endpoint, prompting, trials
        self.provider = PROVIDERS[endpoint.provider](endpoint)
        self._responses: dict[str, ParsedResponse] = {}
        self._budget = Budget(endpoint)
        self._entries: Sequence[Entry] | None = None
        self._unique_requests: dict[str, Request] = {}
        self._names: dict[str, str] = {}
        self._is_written = isinstance(trials[0].readout, Generate)
        if self._is_written:
            self._set_entries(written_entries(self.provider, self._identity, trials, prompting))
            self.verb, self.things, self.route = "answered", "answers", None
        else:
            require_route(endpoint, trials)
            self.verb, self.things, self.route = "scored", "readings", endpoint.route
            if endpoint.route != "auto":
                self._use_route(endpoint.route)

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries, one for each record; while no route is chosen, one for each trial."""
        if self._entries is None:
            return label_entries("top_logprobs", self.provider, self._identity, self.trials, self.prompting)
        return self._entries

    def open_known(self, folder: Path, warn: Callable[[str], None] | None = None) -> Path:
        """Load the stored responses from the model's folder below `folder`, which it returns; `warn` gets damage."""
        store = folder / sha256_json(self._identity)[:16]
        if self._entries is None and (route := stored_route(store, self.endpoint)) is not None:
            self._use_route(route)
        self._budget = Budget(self.endpoint, store)
        for request in self._requests():
            if request.key not in self._responses and (path := _path_of(store, request)).exists():
                response = _load_response(path, request)
                if response is not None:
                    self._responses[request.key] = response
                elif warn:
                    warn(f"{path}: what was known is damaged; it is asked for again")
        return store

    def kept(self, store: Path) -> int:
        """How many answers are stored."""
        return sum(all(request.key in self._responses for request in entry.requests) for entry in self.entries)

    def plan(self, store: Path | None) -> str:
        """What asking would take, in words."""
        plan = f"{len(self.entries)} {self.things}, of them {self.kept(store) if store else 0} known"
        about, most = self.planned()
        return f"{plan}; to be asked: {self.describe(about, most)}" if most.requests else plan

    def planned(self) -> tuple[Usage, Usage]:
        """Usage of the requests still to be sent, roughly and at most: by the shortest route until one is chosen."""
        waiting = self._waiting()
        if self._entries is None:
            waiting = list({request.key: request for entry in self.entries for request in entry.requests}.values())
        return sum((each.about for each in waiting), Usage()), sum((each.most for each in waiting), Usage())

    def describe(self, about: Usage, most: Usage) -> str:
        """Requests, tokens and money in words, of this list or of several for the same model."""
        at_most = f"{most.tokens:,} tokens"
        if (cost := most.cost_usd(self.endpoint.prices)) is not None:
            at_most += f", {cost:.2g} USD"
        return f"about {self._budget.describe(about)}; {at_most} at most"

    def refusal(self) -> str | None:
        """Why the budget does not reach for the requests still to be sent, in words; None where it does."""
        return self._budget.refusal(sum((request.about for request in self._waiting()), Usage()))

    def is_written(self, path: Path) -> bool:
        """Whether a whole file holds these answers, without failed ones that could be tried again."""
        if self._entries is None:
            return False
        try:
            written: Sequence[Record] = read_answers(path) if self._is_written else read_readings(path)
        except StorageError:
            return False
        expected = [(entry.trial.trial_id, entry.key) for entry in self.entries]
        hopeless = {entry.key for entry in self.entries if not entry.requests}
        return expected == [(record.trial_id, record.key) for record in written] and all(
            record.status is not Status.FAILED
            or record.key in hopeless
            or (isinstance(record, Answer) and is_cut_off(record))
            for record in written
        )

    def recall(self, store: Path) -> tuple[Sequence[Record], dict[str, object]] | None:
        """The records and their description where all answers are stored, and not all have failed; else None."""
        if self._entries is None or self._waiting():
            return None
        answers = self._answers(self._responses)
        if self._is_written and all(record.status is Status.FAILED for record in answers.records):
            return None  # asking says why there is not one answer
        return answers.records, self._describe() | answers.describe()

    def connect(self, store: Path | None) -> Client:
        """The client that sends the requests; it reads the key with the first one."""
        again = "what was answered so far is kept: run it again" if store else "run it again"
        pace = Pace(self.endpoint.requests_per_minute, self.endpoint.tokens_per_minute)
        return Client(
            self.provider,
            self.model,
            self.endpoint,
            Asker(self.model, again=again),
            key_env=self.endpoint.key_variable,
            pace=pace,
            most_threads=self.endpoint.concurrency,
        )

    def ask(
        self,
        client: Client,
        on_progress: Callable[[int, int], None] | None = None,
        store: Path | None = None,
        *,
        needs_all: bool = True,
    ) -> tuple[RemoteAnswers, dict[str, object]]:
        """Ask the trials: the answers, each stored at once, and their description, which holds no clock.

        A single request that fails becomes a failed answer with its reason.

        Args:
            needs_all: whether asking begins only if the budget suffices for everything; else it goes as far as it can.

        Raises:
            InputError: there is no key, a refused key, no such model, no credit, or no route: nothing more is sent.
            BudgetSpent: the budget does not suffice; answers so far are stored.
            EndpointError: not one answer was obtained; says why.
        """
        with contextlib.closing(client):
            if self._entries is None:
                self._use_route(choose_route(self, client, store))
            waiting, refusal = self._waiting(), self.refusal()
            if refusal is not None and needs_all:
                raise BudgetSpent(f"{self.model}: {refusal}; raise it, or ask for less")
            responses, total = dict(self._responses), len(waiting) + len(self._responses)
            with ThreadPoolExecutor(self.endpoint.concurrency) as pool:
                keys_by_future = {pool.submit(self.send, client, request, store): request.key for request in waiting}
                try:
                    for future in as_completed(keys_by_future):
                        if not needs_all and isinstance(future.exception(), BudgetSpent):
                            continue
                        responses[keys_by_future[future]] = future.result()
                        if on_progress:
                            on_progress(len(responses), total)
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        answers = self._answers(responses)
        if answers.records and all(record.status is Status.FAILED for record in answers.records):
            raise EndpointError(str(answers.records[0].reason))
        return answers, self._describe() | answers.describe()

    def cautions(self, description: Mapping[str, Any]) -> list[str]:
        """What a person should know of answers with this description."""
        return list(description["notes"])

    def write(self, path: Path, answers: Sequence[Any], description: Mapping[str, object]) -> None:
        """Write the answers and their description to a file, whole or not at all."""
        if self._is_written:
            write_table(path, written_rows(answers), ANSWERS, description)
        else:
            write_table(path, reading_rows(answers), READINGS, description)

    def entries_by(self, route: str, trials: Sequence[Trial]) -> Sequence[Entry]:
        """The entries of trials with labels for a route."""
        return label_entries(route, self.provider, self._identity, trials, self.prompting)

    def send(self, client: Client, request: Request, store: Path | None) -> ParsedResponse:
        """Send one request and store its response; one that fails gives a failed response with its reason.

        Raises:
            InputError, BudgetSpent: nothing more may be sent.
        """
        name = self._names.get(request.key, "a request that is sent twice")

        def send_once(sdk: Any) -> tuple[ParsedResponse, dict[str, Any]]:
            with self._budget.paying(request.most) as payment:
                try:
                    response = self.provider.post(sdk, self.model, request.body)
                except Exception as error:
                    if self.provider.refusal(error) is not None:
                        payment.usage = Usage()
                    raise
                _require_same_model(self.model, response)
                parsed = request.parse(response)
                payment.usage = parsed.usage + Usage(requests=1)
            return parsed, response

        try:
            parsed, response = client.send(name, send_once, request.most.tokens)
        except BudgetSpent as error:
            n_left = len(self._waiting())
            raise BudgetSpent(f"{self.model}: {error}; {n_left} of {len(self._requests())} requests are left") from None
        except EndpointError as error:
            return ParsedResponse(Status.FAILED, str(error).removeprefix(f"{self.model}: {name}: "))
        if parsed.is_final:
            with unbroken():  # a count of stored answers finds this one in memory and on disk, or in neither
                if store:
                    keep_answer(_path_of(store, request), [request.key], {"body": request.body, "response": response})
                self._responses[request.key] = parsed
        return parsed

    @property
    def _identity(self) -> list[str]:
        return [self.endpoint.provider, self.endpoint.host, self.model]

    def _use_route(self, route: str) -> None:
        self.route = route
        self._set_entries(self.entries_by(route, self.trials))

    def _set_entries(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._unique_requests = {request.key: request for entry in entries for request in entry.requests}
        self._names = {request.key: str(entry) for entry in entries for request in entry.requests}

    def _requests(self) -> list[Request]:
        """All requests: each once, and some a second time."""
        return [*self._unique_requests.values(), *map(_again, self._compared())]

    def _compared(self) -> list[Request]:
        """The requests that are sent twice, chosen by their hashes, so that they are the same every time."""
        requests = self._unique_requests if self.is_compared else {}
        return [requests[key] for key in sorted(requests)[: min(TWICE, len(requests) // ONE_IN)]]

    def _waiting(self) -> list[Request]:
        return [request for request in self._requests() if request.key not in self._responses]

    def _answers(self, responses: Mapping[str, ParsedResponse]) -> RemoteAnswers:
        known_tokens = frozenset(token for each in responses.values() for token in each.log_probs or ())
        answered = [entry for entry in self.entries if all(request.key in responses for request in entry.requests)]
        by_entry = [[responses[request.key] for request in entry.requests] for entry in answered]
        records = tuple(
            entry.record(own_responses, self.model, known_tokens)
            for entry, own_responses in zip(answered, by_entry, strict=True)
        )
        used = tuple(sum((each.usage for each in own_responses), Usage()) for own_responses in by_entry)
        versions = sorted({each.model_version for each in responses.values() if each.model_version})
        usage = sum((each.usage for each in responses.values()), Usage())
        sent_twice = [(r.key, _again(r).key) for r in self._compared()]
        pairs = [
            (responses[first], responses[second])
            for first, second in sent_twice
            if first in responses and second in responses
        ]
        twice = _difference(pairs)
        return RemoteAnswers(records, used, tuple(versions), usage, twice, self._notes(versions, responses.values()))

    def _notes(self, versions: Sequence[str], responses: Collection[ParsedResponse]) -> list[str]:
        """What a person should know of the answering model and of its probabilities, in words."""
        notes = []
        masses = [mass_of_shown(each) for each in responses if each.log_probs] if self.route == "top_logprobs" else []
        if excess := [mass for mass in masses if mass > 1 + ROUNDING]:
            notes.append(
                f"in {len(excess)} of {len(masses)} responses the probabilities that are shown sum to more than 1 "
                f"({max(excess):.10g} at most): they were divided by their sum"
            )
        if hiding := sum(each.may_hide_tokens for each in responses):
            notes.append(
                f"in {hiding} of {len(responses)} responses tokens of one text may have been lost, as they are named "
                "by their texts: what is missing may be any label's"
            )
        if len(versions) > 1:
            notes.append(f"answers come from {len(versions)} versions of the model: {', '.join(versions)}")
        if not is_loopback(self.endpoint.address) and not re.search(r"\d{3}", self.model.replace(".", "")):
            notes.append(f"{self.model} is a name without a date: another model may stand behind it tomorrow")
        return notes

    def _describe(self) -> dict[str, object]:
        """The description of the model and its prompting, with the first request's body."""
        requests = self._requests()
        return {
            "model": self.model,
            "provider": self.endpoint.provider,
            "host": self.endpoint.host,
            "prompting": self.prompting.model_dump(mode="json"),
            "first_request": requests[0].body if requests else None,
            **({"route": self.route} if self.route else {}),
        }


def _again(request: Request) -> Request:
    return replace(request, key=sha256_json([request.key, "again"]))


def _difference(pairs: Sequence[tuple[ParsedResponse, ParsedResponse]]) -> dict[str, float] | None:
    """How far two answers to the same request differ: number of equal texts, or largest difference of a probability."""
    valid_pairs = [pair for pair in pairs if all(each.status is Status.OK for each in pair)]
    if not valid_pairs:
        return None
    if valid_pairs[0][0].log_probs is None:
        return {"requests": len(valid_pairs), "equal": sum(first.text == second.text for first, second in valid_pairs)}
    gaps = [
        abs(math.exp(first.log_probs[token]) - math.exp(second.log_probs[token]))
        for first, second in valid_pairs
        if first.log_probs and second.log_probs
        for token in first.log_probs.keys() & second.log_probs.keys()
    ]
    return {"requests": len(valid_pairs), "largest_difference": max(gaps, default=0.0)}


def _require_same_model(model: str, response: Mapping[str, Any]) -> None:
    """Raise a WrongAnswer unless the names of the answering and the requested model share a word."""
    name = response.get("model") or response.get("model_version")
    answered = name if isinstance(name, str) else model
    words_of_model, words_of_answer = (set(re.findall(r"[a-z]{2,}", each.lower())) for each in (model, answered))
    if words_of_model and words_of_answer and not words_of_model & words_of_answer:
        raise WrongAnswer(
            f"another model answered ({answered[:80]})",
            "name the model as the server calls it, if this is the one you mean, or name another model",
        )


def _load_response(path: Path, request: Request) -> ParsedResponse | None:
    record = find_answer(path, [request.key])
    try:
        return request.parse((record or {})["response"])
    except (KeyError, ValueError, TypeError, AttributeError, WrongAnswer):  # damaged, or of an SDK with other fields
        return None


def _path_of(store: Path, request: Request) -> Path:
    return store / request.key[:2] / f"{request.key}.json"
