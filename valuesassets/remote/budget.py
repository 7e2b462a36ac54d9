"""`Budget`: what may be spent on a model, held while requests are under way, and what was spent before."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pydantic

from valuesassets.records.errors import EndpointError, StorageError
from valuesassets.records.files import unbroken
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.remote.cost import Usage

LEDGER = "spent.jsonl"


class BudgetSpent(EndpointError):
    """The next request could pass the budget; nothing more is sent."""


class Paid:
    """What a request has used up so far: its bound, until the response says how much it was."""

    def __init__(self, bound: Usage) -> None:
        self.usage: Usage = bound


class Budget:
    """What may be spent on one model, over all threads; each response is written into a ledger where there is a store.

    Args:
        folder: of the model's answers; None where none are kept.
    """

    def __init__(self, endpoint: Endpoint, folder: Path | None = None) -> None:
        self._endpoint, self._ledger = endpoint, folder / LEDGER if folder else None
        self.spent = _read(self._ledger)
        self._held = Usage()
        self._under_way = 0
        self._change = threading.Condition()

    @contextlib.contextmanager
    def paying(self, bound: Usage) -> Iterator[Paid]:
        """A block that sends a request. The block sets `usage` of what it gets, to what the response says.

        A request that ends in an error may have been answered and paid for all the same, unless the block says not
        (`usage = Usage()`).

        Args:
            bound: what it uses up at most.

        Raises:
            BudgetSpent: it could pass the budget.
        """
        with self._change:
            while (reached := self._passed_by(self.spent + self._held + bound)) and self._under_way:
                self._change.wait()  # what is under way may come to less than what is held for it
            if reached:
                raise BudgetSpent(f"{reached} is used up; raise it to go on")
            self._held += bound
            self._under_way += 1
        paid = Paid(bound)
        try:
            yield paid
        finally:
            with self._change:
                self._held -= bound
                self._under_way -= 1
                self._note(paid.usage)
                self._change.notify_all()

    def refusal(self, estimate: Usage) -> str | None:
        """Why requests of so many tokens are not begun at all, in words; None where they may be."""
        reached = self._passed_by(self.spent + estimate)
        return f"{reached} does not reach; {self.describe(estimate)}" if reached else None

    def describe(self, estimate: Usage) -> str:
        """What requests come to and what was spent before, in words."""
        said = _words(estimate, self._endpoint)
        return f"{said} ({_words(self.spent, self._endpoint)} spent before)" if self.spent.requests else said

    def _passed_by(self, usage: Usage) -> str | None:
        """The limit that so much would pass, as a person wrote it."""
        limits = (
            ("budget_requests", self._endpoint.budget_requests, usage.requests),
            ("budget_tokens", self._endpoint.budget_tokens, usage.tokens),
            ("budget_usd", self._endpoint.budget_usd, usage.cost_usd(self._endpoint.prices)),
        )
        found = ((f"{name} = {limit:g}", limit, used) for name, limit, used in limits if limit is not None)
        return next((named for named, limit, used in found if used is not None and used > limit + 1e-9), None)

    def _note(self, usage: Usage) -> None:
        if usage == Usage():
            return
        self.spent += usage
        if self._ledger is not None:
            line = json.dumps({name: count for name, count in usage if count}) + "\n"
            with unbroken():
                try:
                    self._ledger.parent.mkdir(parents=True, exist_ok=True)
                    ledger = os.open(self._ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)  # several processes write
                    try:
                        os.write(ledger, line.encode())
                    finally:
                        os.close(ledger)
                except OSError as error:
                    raise StorageError(f"{self._ledger}: cannot be written: {error}") from error


def _read(ledger: Path | None) -> Usage:
    """What a ledger comes to; a line that a full disk cut short counts as one request."""
    if ledger is None or not ledger.exists():
        return Usage()
    return sum(map(_usage, ledger.read_text(encoding="utf-8").splitlines()), Usage())


def _usage(line: str) -> Usage:
    try:
        return Usage.model_validate_json(line)
    except pydantic.ValidationError:
        return Usage(requests=1)


def _words(usage: Usage, endpoint: Endpoint) -> str:
    cost = usage.cost_usd(endpoint.prices)
    said = f"{usage.requests:,} requests, {usage.tokens:,} tokens"
    return said if cost is None else f"{said}, {cost:.2g} USD"
