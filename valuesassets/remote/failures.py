"""Explains why a request to a model behind an API failed, and whether sending it again can help."""

import datetime
import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass

from valuesassets.records.errors import EndpointError, InputError, ValuesAssetsError
from valuesassets.records.files import kind_of

LONGEST_WAIT_S = 120.0
"""Longest pause, in seconds, that a server may ask for; after a longer one, the user must try again later."""


class WrongAnswer(Exception):
    """An answer of another form than was asked for; without `what_to_do`, the user is to name another model."""

    def __init__(self, reason: str, what_to_do: str | None = None, *, may_pass: bool = True) -> None:
        super().__init__(reason)
        self.what_to_do, self.may_pass = what_to_do, may_pass


@dataclass(frozen=True)
class Asker:
    """The words for messages about the sender of requests.

    Attributes:
        where: beginning of a message: the file, or the model.
        noun: what holds the settings.
        instead: what else the user can do, as the end of a sentence.
        again: how the user tries again.
        error: error for a request that is failure_of_refusal, or not answered in all attempts.
    """

    where: str
    noun: str = "endpoint"
    instead: str = ""
    again: str = "run it again"
    error: type[ValuesAssetsError] = EndpointError


@dataclass(frozen=True)
class SentRequest:
    """The facts about a failed request that messages need.

    Attributes:
        who: name of the service that answers.
        key_env: variable of the key that was sent; None if there was none.
        timeout_s: seconds that an answer may take.
    """

    model: str
    key_env: str | None
    timeout_s: float
    who: str


@dataclass(frozen=True)
class Refusal:
    """A server's refusal of a request.

    Attributes:
        code: HTTP status.
        text: the server's words, for a message.
        wait_s: seconds that it asks to wait; None where it does not say.
        of_key, of_model, of_credit: whether it refuses the key, knows no such model, or wants to be paid first.
    """

    code: int
    text: str
    wait_s: float | None = None
    of_key: bool = False
    of_model: bool = False
    of_credit: bool = False


@dataclass(frozen=True)
class Failure:
    """Why a request failed, and what the user can do.

    Attributes:
        error: class of the error to raise if the request is not sent again.
        may_pass: whether sending it again can help.
        wait_s: seconds that the server asks to wait before that; None where it does not say.
    """

    reason: str
    what_to_do: str
    error: type[Exception]
    may_pass: bool = True
    wait_s: float | None = None


def failure_of(error: Exception, request: SentRequest, asker: Asker) -> Failure:
    """The failure behind an expected error that is no `Refusal`."""
    import httpx2

    later = f"{asker.again} later"
    if isinstance(error, httpx2.TimeoutException):
        return Failure(f"no answer within {request.timeout_s:g} s", later, asker.error)
    if isinstance(error, httpx2.RequestError):
        reason = f"{type(error).__name__}: {one_line(str(error))}"
        return Failure(f"the connection failed ({reason})", later, asker.error)
    if isinstance(error, WrongAnswer):
        what_to_do = error.what_to_do or f"name another model{asker.instead}"
        return Failure(str(error), what_to_do, asker.error, may_pass=error.may_pass)
    reason = f"the answer is not what {request.who}'s interface promises ({one_line(str(error))})"
    return Failure(reason, later, asker.error)


def one_line(text: str) -> str:
    """A server's words on one line, for a message.

    >>> one_line("Quota exceeded.\\n* Please retry"), one_line("<!DOCTYPE html><title>502</title>")
    ('Quota exceeded. * Please retry', 'an HTML page')
    """
    return "an HTML page" if kind_of(text.encode()) == "an HTML page" else " ".join(text.split())


def failure_of_refusal(refusal: Refusal, request: SentRequest, asker: Asker) -> Failure:
    """The failure behind a refusal."""
    words = f"{refusal.code} {refusal.text}".strip()
    if refusal.of_key:
        check = f"check {request.key_env}" if request.key_env else f"name its variable in the {asker.noun}'s key_env"
        return Failure(f"{request.who} refuses the key ({words})", check, InputError, may_pass=False)
    if refusal.of_credit:
        advice = f"pay there; {asker.again}"
        return Failure(f"{request.who} has no credit left for this key ({words})", advice, InputError, may_pass=False)
    if refusal.of_model:
        advice = f"name another one in the {asker.noun}'s settings"
        return Failure(f"{request.who} has no model {request.model} ({words})", advice, InputError, may_pass=False)
    if refusal.code not in (408, 409, 429) and refusal.code < 500:
        advice = f"check the {asker.noun}'s settings"
        return Failure(f"{request.who} refuses the request ({words})", advice, asker.error, may_pass=False)
    wait_s = refusal.wait_s
    if wait_s is None or wait_s <= LONGEST_WAIT_S:
        return Failure(f"{request.who} is busy ({words})", f"{asker.again} later", asker.error, wait_s=wait_s)
    when = f"{asker.again} in {wait_s / 60:.0f} minutes"
    return Failure(f"{request.who} asks to wait for {wait_s:.0f} s ({words})", when, asker.error, may_pass=False)


def requested_wait_s(headers: Mapping[str, str], delay: str = "") -> float | None:
    """Seconds that a server asks to wait: in its header, as a number or a date; else in `delay`.

    >>> requested_wait_s({"retry-after": "12"}), requested_wait_s({}, "1.5"), requested_wait_s({})
    (12.0, 1.5, None)
    """
    text = headers.get("retry-after", delay)
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    try:  # a date is compared with the server's own clock, if it sends that
        now = datetime.datetime.now(datetime.UTC)
        server_time = email.utils.parsedate_to_datetime(headers["date"]) if headers.get("date") else now
        return max((email.utils.parsedate_to_datetime(text) - server_time).total_seconds(), 0.0)
    except (ValueError, TypeError):  # TypeError: one of the dates is without a time zone
        return None
