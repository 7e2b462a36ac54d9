"""`[families.<name>.endpoint]`: how a model behind an API is reached. The API key is only in the environment."""

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.records.faults import validated
from valuesassets.records.files import read_toml
from valuesassets.records.settings.kinds import ModelPlace, Positive, Record, Seconds, unit
from valuesassets.records.settings.prompting import Prompting

GOOGLE = "https://generativelanguage.googleapis.com"
GEMINI_KEY = "GEMINI_API_KEY"
ADDRESSES = {"gemini": GOOGLE, "openai": "https://api.openai.com/v1"}
KEYS = {"gemini": GEMINI_KEY, "openai": "OPENAI_API_KEY"}
ASKED = {"api", "route", "top", "max_width", "tokenizer", "parameters", "omit"}

Price = Annotated[float, pydantic.Field(ge=0), unit("US dollars per million tokens")]


class Prices(Record):
    """Prices of a model behind an API; without them its cost is unknown."""

    input: Price
    """Price of tokens sent."""
    output: Price
    """Price of tokens received, including thoughts."""


class Connection(Record):
    """How requests reach a model behind an API, with timeouts and retries."""

    base_url: str | None = None
    """Address of Gemini (https); Google's own if left out."""
    timeout_s: Seconds = 300.0
    """Longest time to wait for an answer."""
    attempts: Positive = 5
    """Number of times that a request is sent before it counts as failed."""

    @pydantic.field_validator("base_url")
    @classmethod
    def _key_travels_encrypted(cls, base_url: str | None) -> str | None:
        address = urlsplit(GOOGLE if base_url is None else base_url)
        is_encrypted = address.scheme == "https" and bool(address.hostname)
        if is_encrypted or (address.scheme == "http" and is_loopback(address.geturl())):
            return base_url
        raise ValueError(f"an https address was expected (found {base_url}): the key travels with every request")

    @property
    def address(self) -> str:
        """The address for requests."""
        return self.base_url or GOOGLE

    @property
    def host(self) -> str:
        """The server's name, with the port if the address has one."""
        address = urlsplit(self.address)
        return f"{address.hostname}:{address.port}" if address.port else str(address.hostname)


class Endpoint(Connection):
    """A model behind an API; its key is in an environment variable, never in a file."""

    provider: Literal["gemini", "openai"]
    """The interface: Gemini's, or OpenAI's, which most servers and providers have (vLLM, llama.cpp, Ollama)."""
    base_url: str | None = None
    """Address without the operation's name, https, or http on this machine; the provider's own if left out."""
    key_env: str | None = None
    """Name of the environment variable that holds the key. If left out: `GEMINI_API_KEY` or `OPENAI_API_KEY`, and no
    key for a server on this machine."""
    api: Literal["chat", "completions"] = "chat"
    """Whether prompts are sent as chat turns or as bare text (`completions`, only with OpenAI's interface)."""
    route: Literal["auto", "token_ids", "echo", "top_logprobs", "sampled"] = "auto"
    """How probabilities are obtained: for exact tokens (`token_ids`), for texts sent with the prompt (`echo`), for the
    likeliest tokens only (`top_logprobs`), or not at all (`sampled`); `auto` tries them in this order, once."""
    top: Annotated[int, pydantic.Field(ge=1)] = 20
    """Number of likeliest tokens to request; most providers show at most 20."""
    max_width: Annotated[float, pydantic.Field(gt=0, le=1)] = 0.05
    """Widest interval of a label's share where not all tokens are shown; a wider one is `unresolved`."""
    tokenizer: ModelPlace | None = None
    """Folder or hub id of the model's tokenizer; the routes `token_ids` and `echo` need it."""
    concurrency: Positive = 4
    """Number of requests at the same time."""
    requests_per_minute: Positive | None = None
    """Most requests per minute."""
    tokens_per_minute: Positive | None = None
    """Most tokens per minute, sent and received."""
    prices: Prices | None = None
    """Prices of the model; needed with `budget_usd`."""
    budget_usd: Annotated[float, pydantic.Field(gt=0), unit("US dollars")] | None = None
    """Most money for this model, including earlier runs with the same store."""
    budget_tokens: Positive | None = None
    """Most tokens sent and received, including earlier runs with the same store."""
    budget_requests: Positive | None = None
    """Most requests, including earlier runs with the same store."""
    parameters: dict[str, Any] = pydantic.Field(default_factory=dict)
    """Further fields of every request's body, by the server's names; they override ours."""
    omit: tuple[str, ...] = ()
    """Fields that are left out of the body because the server refuses them, such as `seed`."""

    @pydantic.field_validator("key_env")
    @classmethod
    def _is_a_name(cls, key_env: str | None) -> str | None:
        if key_env is not None and not re.fullmatch("[A-Z_][A-Z0-9_]*", key_env):  # not shown: it may be the key itself
            raise ValueError(f"the name of a variable was expected, such as {GEMINI_KEY}; the key itself is its value")
        return key_env

    @pydantic.model_validator(mode="after")
    def _keys_fit(self) -> Self:
        if self.provider == "gemini" and self.api == "completions":
            raise ValueError("api = 'completions' is OpenAI's; Gemini has chats alone: leave it out")
        exact = self.route in ("token_ids", "echo")
        if exact and (self.provider == "gemini" or self.api == "chat"):
            raise ValueError(
                f"route = '{self.route}' reads behind bare text; it needs provider = 'openai' and api = 'completions'"
            )
        if exact and self.tokenizer is None:
            raise ValueError(f"route = '{self.route}' needs tokenizer, the folder or hub id of the model's; add it")
        if self.budget_usd is not None and self.prices is None:
            raise ValueError("budget_usd needs prices, what a million tokens cost; add them, or say budget_tokens")
        if self.prices is not None and self.budget_usd is None:
            raise ValueError("prices need budget_usd, which is missing; say how much may be spent")
        return self

    @property
    def address(self) -> str:
        """The address for requests."""
        return self.base_url or ADDRESSES[self.provider]

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key; None where none is needed."""
        if self.key_env is None and self.provider == "openai" and is_loopback(self.address):
            return None
        return self.key_env or KEYS[self.provider]

    @property
    def shows_probabilities(self) -> bool:
        """Whether probabilities are requested; whether the model shows any is known only after a request."""
        return self.route != "sampled"

    @property
    def asked(self) -> dict[str, Any]:
        """The settings that answers depend on: server and kind of request, not timeouts and budgets."""
        return {"host": self.host, **self.model_dump(mode="json", include=ASKED, exclude_defaults=True)}

    def check(self, prompting: Prompting) -> None:
        """Require that the API can show prompts as `prompting` says.

        Raises:
            ValueError: it cannot.
        """
        if self.api == "completions" and prompting.is_chat:
            raise ValueError("api = 'completions' takes bare text; say style = 'text' in prompting, or api = 'chat'")
        if self.api == "chat" and not prompting.is_chat:
            raise ValueError(f"{self.provider} shows every prompt as a chat; say style = 'chat' in prompting")
        if prompting.template_arguments or prompting.template_date:
            raise ValueError(
                f"template_arguments and template_date are for a template, {self.provider} shows none; leave them out"
            )


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine.

    >>> is_loopback("http://127.0.0.1:8080"), is_loopback(GOOGLE)
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def load_endpoint(path: Path) -> Endpoint:
    """The endpoint in a TOML file, which has the keys of `[families.<name>.endpoint]` at its top level.

    A path in the file counts from the folder of the file, as it does in a study file.

    Raises:
        InputError: the file is faulty; names file, key and reason.
    """
    content: dict[str, Any] = read_toml(path, "a file on an endpoint (TOML)", InputError)
    return validated(Endpoint, content, InputError, str(path), context={"folder": path.absolute().parent})
