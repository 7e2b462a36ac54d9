"""Trials put to a model behind an API: what was answered once is kept, and never asked and paid for again."""

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
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint, is_loopback
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.tables import ANSWERS, READINGS
from valuesassets.records.trials import Record, Status, Trial
from valuesassets.remote.answer_cache import find_answer, keep_answer
from valuesassets.remote.budget import Budget, BudgetSpent
from valuesassets.remote.client import Client
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import Asker, WrongAnswer
from valuesassets.remote.gemini import Gemini
from valuesassets.remote.openai_api import OpenAi
from valuesassets.remote.pacing import Pace
from valuesassets.remote.provider import Provider
from valuesassets.remote.replies import Said
from valuesassets.remote.requests import Entry, Request
from valuesassets.remote.routes import choose_route, label_entries, require_route, stored_route
from valuesassets.remote.shown_tokens import ROUNDING
from valuesassets.remote.top_logprobs import mass_of_shown
from valuesassets.remote.written import written_entries

PROVIDERS: dict[str, Callable[[Endpoint], Provider]] = {"gemini": Gemini, "openai": OpenAi}
TWICE, ONE_IN = 4, 10
"""So many requests are sent twice, to see how far answers differ; of few, one in five."""


@dataclass(frozen=True)
class RemoteAnswers:
    """Records in the order of their trials and samples, by which versions of the model, and what they used up.

    Attributes:
        records: of all trials, but for those that a budget did not reach.
        used: by each record.
        twice: what came of requests that were sent twice; None where none was.
        notes: what a person should know, in words.
    """

    records: tuple[Record, ...]
    used: tuple[Usage, ...]
    versions: tuple[str, ...]
    usage: Usage
    twice: dict[str, float] | None
    notes: Sequence[str]

    @property
    def doubt(self) -> str | None:
        """Why answers depend on what was asked beside them: here they do not."""
        return None

    def describe(self) -> dict[str, object]:
        """Versions as answered, and tokens without those of failed attempts, as they go into a file's metadata."""
        return {
            "model_versions": list(self.versions),
            "usage": self.usage.model_dump(),
            "notes": list(self.notes),
            **({"asked_twice": self.twice} if self.twice else {}),
        }


class RemoteAsking:
    """A list of trials, all of one readout, put to one model behind an API: as `Asking` puts them to one here.

    Args:
        is_compared: whether some requests are sent twice, to see how far answers differ.

    Raises:
        InputError: trials that the endpoint cannot be asked.
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
        self.model, self.endpoint, self.prompting, self.trials = model, endpoint, prompting, trials
        self.provider = PROVIDERS[endpoint.provider](endpoint)
        self._said: dict[str, Said] = {}
        self._budget = Budget(endpoint)
        self._entries: Sequence[Entry] | None = None
        self._once: dict[str, Request] = {}
        self._abouts: dict[str, str] = {}
        self._is_written = isinstance(trials[0].readout, Generate)
        if self._is_written:
            self._hold(written_entries(self.provider, self._identity, trials, prompting))
            self.verb, self.things, self.route = "answered", "answers", None
        else:
            require_route(endpoint, trials)
            self.verb, self.things, self.route = "scored", "readings", endpoint.route
            if endpoint.route != "auto":
                self._take(endpoint.route)

    @property
    def entries(self) -> Sequence[Entry]:
        """What is asked for, one for each record; as many as there are trials while no route is chosen."""
        if self._entries is None:
            return label_entries("top_logprobs", self.provider, self._identity, self.trials, self.prompting)
        return self._entries

    def open_known(self, folder: Path, warn: Callable[[str], None] | None = None) -> Path:
        """Where responses of the model lie in a folder that serves any number of them; those of the entries are read.

        A damaged one is told to `warn`, and asked for again.
        """
        known = folder / sha256_json(self._identity)[:16]
        if self._entries is None and (route := stored_route(known, self.endpoint)) is not None:
            self._take(route)
        self._budget = Budget(self.endpoint, known)
        for request in self._requests():
            if request.sent not in self._said and (path := _place(known, request)).exists():
                said = _known(path, request)
                if said is not None:
                    self._said[request.sent] = said
                elif warn:
                    warn(f"{path}: what was known is damaged; it is asked for again")
        return known

    def kept(self, known: Path) -> int:
        """How many answers are known."""
        return sum(all(request.sent in self._said for request in entry.requests) for entry in self.entries)

    def plan(self, known: Path | None) -> str:
        """What asking would come to, in words."""
        plan = f"{len(self.entries)} {self.things}, of them {self.kept(known) if known else 0} known"
        about, most = self.planned()
        return f"{plan}; to be asked: {self.describe(about, most)}" if most.requests else plan

    def planned(self) -> tuple[Usage, Usage]:
        """What is still to be sent: by a rule of thumb, and at most.

        While no route is chosen it is that of the route which needs the fewest requests.
        """
        waiting = self._waiting()
        if self._entries is None:
            waiting = list({request.sent: request for entry in self.entries for request in entry.requests}.values())
        return sum((each.about for each in waiting), Usage()), sum((each.most for each in waiting), Usage())

    def describe(self, about: Usage, most: Usage) -> str:
        """Requests, tokens and money in words, of this asking or of several that go to the same model."""
        at_most = f"{most.tokens:,} tokens"
        if (cost := most.cost_usd(self.endpoint.prices)) is not None:
            at_most += f", {cost:.2g} USD"
        return f"about {self._budget.describe(about)}; {at_most} at most"

    def is_written(self, path: Path) -> bool:
        """Whether a whole file holds these answers; one that failed is tried again."""
        if self._entries is None:
            return False
        try:
            written: Sequence[Record] = read_answers(path) if self._is_written else read_readings(path)
        except StorageError:
            return False
        wanted = [(entry.trial.trial_id, entry.key) for entry in self.entries]
        hopeless = {entry.key for entry in self.entries if not entry.requests}
        return wanted == [(record.trial_id, record.key) for record in written] and all(
            record.status is not Status.FAILED or record.key in hopeless for record in written
        )

    def recall(self, known: Path) -> tuple[Sequence[Record], dict[str, object]] | None:
        """The answers and how they were made, where all are known; None where they are not."""
        if self._entries is None or self._waiting():
            return None
        answers = self._answers(self._said)
        return answers.records, self._describe() | answers.describe()

    def connect(self, known: Path | None) -> Client:
        """What sends the requests; it reads the key with the first one."""
        again = "what was answered so far is kept: run it again" if known else "run it again"
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
        known: Path | None = None,
        *,
        needs_all: bool = True,
    ) -> tuple[RemoteAnswers, dict[str, object]]:
        """What came of asking, each answer kept as it comes; and how they were made, no clock in it.

        A request that fails alone is an answer with its reason.

        Args:
            needs_all: whether nothing is begun that the budget does not reach; else as much is asked as it reaches.

        Raises:
            InputError: no key, one that is refused, no such model, no credit, or no route: nothing more is sent.
            BudgetSpent: what is to be asked does not fit into the budget; what was answered is kept.
            EndpointError: not one answer could be had; says why.
        """
        with contextlib.closing(client):
            if self._entries is None:
                self._take(choose_route(self, client, known))
            waiting = self._waiting()
            refusal = self._budget.refusal(sum((request.about for request in waiting), Usage()))
            if refusal is not None and needs_all:
                raise BudgetSpent(f"{self.model}: {refusal}; raise it, or ask for less")
            said, total = dict(self._said), len(waiting) + len(self._said)
            with ThreadPoolExecutor(self.endpoint.concurrency) as pool:
                under_way = {pool.submit(self.send, client, request, known): request.sent for request in waiting}
                try:
                    for future in as_completed(under_way):
                        if not needs_all and isinstance(future.exception(), BudgetSpent):
                            continue
                        said[under_way[future]] = future.result()
                        if on_progress:
                            on_progress(len(said), total)
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        answers = self._answers(said)
        if answers.records and all(record.status is Status.FAILED for record in answers.records):
            raise EndpointError(str(answers.records[0].reason))
        return answers, self._describe() | answers.describe()

    def cautions(self, described: Mapping[str, Any]) -> list[str]:
        """What a person should know of answers that were described so, known before or not."""
        return list(described["notes"])

    def write(self, path: Path, answers: Sequence[Any], described: Mapping[str, object]) -> None:
        """Write the answers and what describes them, whole or not at all."""
        if self._is_written:
            write_table(path, written_rows(answers), ANSWERS, described)
        else:
            write_table(path, reading_rows(answers), READINGS, described)

    def entries_by(self, route: str, trials: Sequence[Trial]) -> Sequence[Entry]:
        """Trials with labels, as they would be asked by a route."""
        return label_entries(route, self.provider, self._identity, trials, self.prompting)

    def send(self, client: Client, request: Request, known: Path | None) -> Said:
        """What came of one request, kept where it is something; one that fails is that, with its reason.

        Raises:
            InputError, BudgetSpent: nothing more is to be sent.
        """
        about = self._abouts.get(request.sent, "a request that is sent twice")

        def once(sdk: Any) -> tuple[Said, dict[str, Any]]:
            with self._budget.paying(request.most) as paid:
                try:
                    response = self.provider.post(sdk, self.model, request.body)
                except Exception as error:
                    if self.provider.refusal(error) is not None:
                        paid.usage = Usage()
                    raise
                _require_kin(self.model, response)
                said = request.read(response)
                paid.usage = said.usage + Usage(requests=1)
            return said, response

        try:
            said, response = client.send(about, once, request.most.tokens)
        except BudgetSpent as error:
            left = len(self._waiting())
            raise BudgetSpent(f"{self.model}: {error}; {left} of {len(self._requests())} requests are left") from None
        except EndpointError as error:
            return Said(Status.FAILED, str(error).removeprefix(f"{self.model}: {about}: "))
        if said.status is not Status.FAILED:
            with unbroken():  # who counts what is kept finds it in memory and on disk, or in neither
                if known:
                    keep_answer(_place(known, request), [request.sent], {"body": request.body, "response": response})
                self._said[request.sent] = said
        return said

    @property
    def _identity(self) -> list[str]:
        return [self.endpoint.provider, self.endpoint.host, self.model]

    def _take(self, route: str) -> None:
        self.route = route
        self._hold(self.entries_by(route, self.trials))

    def _hold(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._once = {request.sent: request for entry in entries for request in entry.requests}
        self._abouts = {request.sent: str(entry) for entry in entries for request in entry.requests}

    def _requests(self) -> list[Request]:
        """Everything that is sent: what entries ask for, each once, and some of it once more."""
        return [*self._once.values(), *map(_again, self._compared())]

    def _compared(self) -> list[Request]:
        """Those that are sent twice."""
        return _sample(self._once) if self.is_compared else []

    def _waiting(self) -> list[Request]:
        return [request for request in self._requests() if request.sent not in self._said]

    def _answers(self, said: Mapping[str, Said]) -> RemoteAnswers:
        told = frozenset(token for each in said.values() for token in each.shown or ())
        answered = [entry for entry in self.entries if all(request.sent in said for request in entry.requests)]
        of_each = [[said[request.sent] for request in entry.requests] for entry in answered]
        records = tuple(entry.record(own, self.model, told) for entry, own in zip(answered, of_each, strict=True))
        used = tuple(sum((each.usage for each in own), Usage()) for own in of_each)
        versions = sorted({each.model_version for each in said.values() if each.model_version})
        usage = sum((each.usage for each in said.values()), Usage())
        sent_twice = [(r.sent, _again(r).sent) for r in self._compared()]
        pairs = [(said[one], said[other]) for one, other in sent_twice if one in said and other in said]
        twice = _difference(pairs)
        return RemoteAnswers(records, used, tuple(versions), usage, twice, self._notes(versions, said.values()))

    def _notes(self, versions: Sequence[str], said: Collection[Said]) -> list[str]:
        """What a person should know of who answered and of what is shown, in words."""
        notes = []
        masses = [mass_of_shown(each) for each in said if each.shown] if self.route == "top_logprobs" else []
        if over := [mass for mass in masses if mass > 1 + ROUNDING]:
            notes.append(
                f"in {len(over)} of {len(masses)} responses the probabilities that are shown sum to more than 1 "
                f"({max(over):.10g} at most): they were divided by their sum"
            )
        if hiding := sum(each.hides for each in said):
            notes.append(
                f"in {hiding} of {len(said)} responses tokens of one text may have been lost, as they are named by "
                "their texts: what is missing may be any label's"
            )
        if len(versions) > 1:
            notes.append(f"answers come from {len(versions)} versions of the model: {', '.join(versions)}")
        if not is_loopback(self.endpoint.address) and not re.search(r"\d{3}", self.model.replace(".", "")):
            notes.append(f"{self.model} is a name without a date: another model may stand behind it tomorrow")
        return notes

    def _describe(self) -> dict[str, object]:
        """What names the model and how it is shown trials, with the first request as it is sent."""
        requests = self._requests()
        return {
            "model": self.model,
            "provider": self.endpoint.provider,
            "host": self.endpoint.host,
            "prompting": self.prompting.model_dump(mode="json"),
            "first_request": requests[0].body if requests else None,
            **({"route": self.route} if self.route else {}),
        }


def _sample(requests: Mapping[str, Request]) -> list[Request]:
    """Those that are sent twice: four, or one in ten of few; by their hashes, so that they are the same every time."""
    return [requests[sent] for sent in sorted(requests)[: min(TWICE, len(requests) // ONE_IN)]]


def _again(request: Request) -> Request:
    return replace(request, sent=sha256_json([request.sent, "again"]))


def _difference(pairs: Sequence[tuple[Said, Said]]) -> dict[str, float] | None:
    """How far two answers to the same request differ: equal texts, or largest difference of a shown probability."""
    sound = [pair for pair in pairs if all(each.status is Status.OK for each in pair)]
    if not sound:
        return None
    if sound[0][0].shown is None:
        return {"requests": len(sound), "equal": sum(one.text == other.text for one, other in sound)}
    apart = [
        abs(math.exp(one.shown[token]) - math.exp(other.shown[token]))
        for one, other in sound
        if one.shown and other.shown
        for token in one.shown.keys() & other.shown.keys()
    ]
    return {"requests": len(sound), "largest_difference": max(apart, default=0.0)}


def _require_kin(model: str, response: Mapping[str, Any]) -> None:
    """See that who answered is who was asked, by a name that has a word in common at least.

    Raises:
        WrongAnswer: it is another model.
    """
    given = response.get("model") or response.get("model_version")
    answered = given if isinstance(given, str) else model
    asked, named = (set(re.findall(r"[a-z]{2,}", each.lower())) for each in (model, answered))
    if asked and named and not asked & named:
        raise WrongAnswer(
            f"another model answered ({answered[:80]})",
            "name the model as the server calls it, if this is the one you mean, or name another model",
        )


def _known(path: Path, request: Request) -> Said | None:
    record = find_answer(path, [request.sent])
    try:
        return request.read((record or {})["response"])
    except (KeyError, ValueError, TypeError, AttributeError, WrongAnswer):  # damaged, or of an SDK with other fields
        return None


def _place(known: Path, request: Request) -> Path:
    return known / request.sent[:2] / f"{request.sent}.json"
