"""`Budget`: limits what is spent on a model, counting open requests at their bounds, and keeps a ledger."""

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
    """The next request could exceed the budget; nothing more is sent."""


class Payment:
    """What a request has used up: its bound, until the response gives the true usage."""

    def __init__(self, bound: Usage) -> None:
        self.usage: Usage = bound


class Budget:
    """The budget of one model over all threads; with a `folder`, each response is written to a ledger there."""

    def __init__(self, endpoint: Endpoint, folder: Path | None = None) -> None:
        self._endpoint, self._ledger = endpoint, folder / LEDGER if folder else None
        self.spent = _read(self._ledger)
        self._held = Usage()
        self._under_way = 0
        self._change = threading.Condition()

    @contextlib.contextmanager
    def paying(self, bound: Usage) -> Iterator[Payment]:
        """A block that sends a request, which uses up `bound` at most, and sets the payment's `usage` by the response.

        A request that ends in an error may have been paid for; if it was not, the block sets `usage` to `Usage()`.

        Raises:
            BudgetSpent: the request could exceed the budget.
        """
        with self._change:
            while (limit := self._exceeded_limit(self.spent + self._held + bound)) and self._under_way:
                self._change.wait()  # open requests may use less than their bounds
            if limit:
                raise BudgetSpent(f"{limit} is used up; raise it to go on")
            self._held += bound
            self._under_way += 1
        payment = Payment(bound)
        try:
            yield payment
        finally:
            with self._change:
                self._held -= bound
                self._under_way -= 1
                self._note(payment.usage)
                self._change.notify_all()

    def refusal(self, estimate: Usage) -> str | None:
        """Why requests with this estimate are not begun, in words; None where they may be."""
        limit = self._exceeded_limit(self.spent + estimate)
        return f"{limit} does not reach; {self.describe(estimate)}" if limit else None

    def describe(self, estimate: Usage) -> str:
        """An estimate, and what was spent before, in words."""
        words = _words(estimate, self._endpoint)
        return f"{words} ({_words(self.spent, self._endpoint)} spent before)" if self.spent.requests else words

    def _exceeded_limit(self, usage: Usage) -> str | None:
        """The first limit that this usage would exceed, as in the study file; None where there is none."""
        limits = (
            ("budget_requests", self._endpoint.budget_requests, usage.requests),
            ("budget_tokens", self._endpoint.budget_tokens, usage.tokens),
            ("budget_usd", self._endpoint.budget_usd, usage.cost_usd(self._endpoint.prices)),
        )
        set_limits = ((f"{name} = {limit:g}", limit, amount) for name, limit, amount in limits if limit is not None)
        return next((text for text, limit, amount in set_limits if amount is not None and amount > limit + 1e-9), None)

    def _note(self, usage: Usage) -> None:
        if usage == Usage():
            return
        self.spent += usage
        if self._ledger is not None:
            line = json.dumps({name: count for name, count in usage if count}) + "\n"
            with unbroken():
                try:
                    self._ledger.parent.mkdir(parents=True, exist_ok=True)
                    ledger = os.open(
                        self._ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT
                    )  # several processes may append
                    try:
                        os.write(ledger, line.encode())
                    finally:
                        os.close(ledger)
                except OSError as error:
                    raise StorageError(f"{self._ledger}: cannot be written: {error}") from error


def _read(ledger: Path | None) -> Usage:
    """The sum of a ledger; a line that a full disk cut short counts as one request."""
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
    words = f"{usage.requests:,} requests, {usage.tokens:,} tokens"
    return words if cost is None else f"{words}, {cost:.2g} USD"
