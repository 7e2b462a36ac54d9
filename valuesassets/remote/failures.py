"""Why a request to a model behind an API failed, in words, and whether sending it again can help."""

import datetime
import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass

from valuesassets.records.errors import EndpointError, InputError, ValuesAssetsError
from valuesassets.records.files import kind_of

LONGEST_WAIT_S = 120.0
"""A server that asks for a longer pause is asked again by a person, later."""


class WrongAnswer(Exception):
    """An answer came that is not of the form that was asked for.

    Args:
        what_to_do: by a person; to name another model where not given.
        may_pass: whether asking again can help.
    """

    def __init__(self, said: str, what_to_do: str | None = None, *, may_pass: bool = True) -> None:
        super().__init__(said)
        self.what_to_do, self.may_pass = what_to_do, may_pass


@dataclass(frozen=True)
class Asker:
    """Who sends requests, as messages name it.

    Attributes:
        where: begins a message: the file, or the model.
        noun: what has the settings.
        instead: what else a person can do, as the end of a sentence.
        again: what a person does later.
        error: raised where a request is refused, or not answered in all attempts.
    """

    where: str
    noun: str = "endpoint"
    instead: str = ""
    again: str = "run it again"
    error: type[ValuesAssetsError] = EndpointError


@dataclass(frozen=True)
class Sent:
    """What a failed request was.

    Attributes:
        who: whom messages name as the one who answers.
        key_env: variable of the key that was sent; None where there was none.
        timeout_s: how long it was waited for.
    """

    model: str
    key_env: str | None
    timeout_s: float
    who: str


@dataclass(frozen=True)
class Refusal:
    """What a server says that answers with a status of its own.

    Attributes:
        code: HTTP status.
        said: what it says, for a message.
        wait_s: seconds that it asks to wait; None where it does not say.
        of_key, of_model, of_credit: whether it refuses the key, knows no such model, or wants to be paid first.
    """

    code: int
    said: str
    wait_s: float | None = None
    of_key: bool = False
    of_model: bool = False
    of_credit: bool = False


@dataclass(frozen=True)
class Failure:
    """Why a request failed, and what a person can do.

    Attributes:
        error: what is raised when it is not sent again.
        may_pass: whether sending it again can help.
        wait_s: how long the server asks to wait before that; None where it does not say.
    """

    reason: str
    what_to_do: str
    error: type[Exception]
    may_pass: bool = True
    wait_s: float | None = None


def failure_of(error: Exception, sent: Sent, asker: Asker) -> Failure:
    """What an expected error that is no `Refusal` says of a request."""
    import httpx2

    later = f"{asker.again} later"
    if isinstance(error, httpx2.TimeoutException):
        return Failure(f"no answer within {sent.timeout_s:g} s", later, asker.error)
    if isinstance(error, httpx2.RequestError):
        said = f"{type(error).__name__}: {one_line(str(error))}"
        return Failure(f"the connection failed ({said})", later, asker.error)
    if isinstance(error, WrongAnswer):
        what_to_do = error.what_to_do or f"name another model{asker.instead}"
        return Failure(str(error), what_to_do, asker.error, may_pass=error.may_pass)
    said = f"the answer is not what {sent.who}'s interface promises ({one_line(str(error))})"
    return Failure(said, later, asker.error)


def one_line(text: str) -> str:
    """What a server says, fit for a message.

    >>> one_line("Quota exceeded.\\n* Please retry"), one_line("<!DOCTYPE html><title>502</title>")
    ('Quota exceeded. * Please retry', 'an HTML page')
    """
    return "an HTML page" if kind_of(text.encode()) == "an HTML page" else " ".join(text.split())


def refused(refusal: Refusal, sent: Sent, asker: Asker) -> Failure:
    """What a refusal says of a request."""
    said = f"{refusal.code} {refusal.said}".strip()
    if refusal.of_key:
        check = f"check {sent.key_env}" if sent.key_env else f"name its variable in the {asker.noun}'s key_env"
        return Failure(f"{sent.who} refuses the key ({said})", check, InputError, may_pass=False)
    if refusal.of_credit:
        advice = f"pay there; {asker.again}"
        return Failure(f"{sent.who} has no credit left for this key ({said})", advice, InputError, may_pass=False)
    if refusal.of_model:
        advice = f"name another one in the {asker.noun}'s settings"
        return Failure(f"{sent.who} has no model {sent.model} ({said})", advice, InputError, may_pass=False)
    if refusal.code not in (408, 409, 429) and refusal.code < 500:
        advice = f"check the {asker.noun}'s settings"
        return Failure(f"{sent.who} refuses the request ({said})", advice, asker.error, may_pass=False)
    wait_s = refusal.wait_s
    if wait_s is None or wait_s <= LONGEST_WAIT_S:
        return Failure(f"{sent.who} is busy ({said})", f"{asker.again} later", asker.error, wait_s=wait_s)
    when = f"{asker.again} in {wait_s / 60:.0f} minutes"
    return Failure(f"{sent.who} asks to wait for {wait_s:.0f} s ({said})", when, asker.error, may_pass=False)


def asked_wait_s(headers: Mapping[str, str], said: str = "") -> float | None:
    """Seconds that a server asks to wait: in the header made for it, as a number or a date; else as it `said`.

    >>> asked_wait_s({"retry-after": "12"}), asked_wait_s({}, "1.5"), asked_wait_s({})
    (12.0, 1.5, None)
    """
    written = headers.get("retry-after", said)
    if re.fullmatch(r"\d+(\.\d+)?", written):
        return float(written)
    try:  # a date is held against the server's own clock where it tells it
        now = datetime.datetime.now(datetime.UTC)
        sent = email.utils.parsedate_to_datetime(headers["date"]) if headers.get("date") else now
        return max((email.utils.parsedate_to_datetime(written) - sent).total_seconds(), 0.0)
    except (ValueError, TypeError):  # TypeError: one of the dates is without a time zone
        return None
