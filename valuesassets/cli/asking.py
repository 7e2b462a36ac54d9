"""How a command asks a model: the one way for all commands, for models on this machine and behind APIs."""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from filelock import FileLock, Timeout

from valuesassets.cli.homes import ready
from valuesassets.cli.inputs import name_of_model, require_folder_place
from valuesassets.cli.options import LoadedModelOptions, ModelOptions
from valuesassets.cli.outputs import progress_bar
from valuesassets.library.answering import replies_of
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.extras import require
from valuesassets.records.files import sha256_json
from valuesassets.records.places import KNOWN_READINGS, storage_root
from valuesassets.records.settings.endpoints import Endpoint, load_endpoint
from valuesassets.records.settings.prompting import AS_TEXT, Prompting, load_prompting
from valuesassets.records.trials import Answer, Reading, Record, Trial

if TYPE_CHECKING:
    from valuesassets.models.loaded_model import LoadedModel, OpenedModel
    from valuesassets.remote.asking import RemoteAnswers

CHAT = Prompting(style="chat")


@dataclass(frozen=True)
class Replies:
    """What a model replied to trials.

    Attributes:
        model: its name in tables.
        records: one for each thing that was asked, but for those that a budget did not reach.
        description: how they came about, as it goes into a file's metadata.
        asking: what has put the trials to the model.
        result: what came of asking; None where every reply was known.
    """

    model: str
    records: Sequence[Record]
    description: dict[str, Any]
    asking: Any
    result: Any = None

    @property
    def readings(self) -> list[Reading]:
        """The replies of trials that are read by labels or spans."""
        return [record for record in self.records if isinstance(record, Reading)]


@dataclass(frozen=True)
class ChosenModel:
    """The model that a command's options name.

    Attributes:
        options: as they were given.
        name: of the model in tables.
        prompting: how it is shown trials.
        has_prompting: whether the options say so; else a model with a chat template is asked as bare text.
        endpoint: where it is, where that is behind an API.
        folder: keeps its replies.
    """

    options: LoadedModelOptions
    name: str
    prompting: Prompting
    has_prompting: bool
    endpoint: Endpoint | None
    folder: Path

    def open(self, prompting: Prompting | None = None) -> "OpenedModel":
        """Configuration and tokenizer of a model on this machine; `prompting` is how it is shown trials, where the
        options do not say it."""
        from valuesassets.models.loading import open_model

        each = self.options
        prompting = prompting or self.prompting
        return open_model(
            each.model,
            each.revision,
            each.dtype,
            each.device,
            each.offline,
            prompting=prompting,
            adapter=each.adapter,
            adapter_revision=each.adapter_revision,
        )

    def ask(
        self,
        trials: Sequence[Trial],
        title: str = "asking the model",
        opened: "OpenedModel | None" = None,
        is_drawn: bool = False,
    ) -> Replies:
        """Put trials to the model and print what a person should know of its replies; with --dry-run print the plan.

        Args:
            title: of the progress bar.
            opened: the model, where it was opened before.
            is_drawn: whether trials ask for random draws: an API is then asked as far as the budget reaches, no request
                is sent twice for comparison, and no other command may ask the same model at the same time.

        Raises:
            typer.Exit: after the plan was printed.
            InputError, ScoringError, TokenizerError, EndpointError, BudgetSpent: nothing can be asked.
        """
        is_drawn = is_drawn and self.endpoint is not None
        with _alone(self.folder, self.options.model) if is_drawn else contextlib.nullcontext():
            asking, load = self._put(trials, is_drawn) if self.endpoint else self._put_here(trials, opened)
            store = asking.open_known(self.folder, print)
            if self.options.dry_run or is_drawn:
                print(f"{self.options.model}: {asking.plan(store)}")
            if self.options.dry_run:
                raise typer.Exit
            more = {"needs_all": False} if is_drawn else {}
            records, description, result = replies_of(asking, load, store, title, progress_bar, not is_drawn, **more)
        in_order = json.loads(json.dumps(description, sort_keys=True))  # so that files are equal, known before or not
        for caution in asking.cautions(in_order):
            print(f"{self.name}: {caution}")
        return Replies(self.name, records, in_order, asking, result)

    def _put_here(
        self, trials: Sequence[Trial], opened: "OpenedModel | None"
    ) -> tuple[Any, "Callable[[Any], LoadedModel]"]:
        """Trials as they are put to a model on this machine, and what loads its weights."""
        from valuesassets.models.asking import Asking
        from valuesassets.models.loading import load_weights

        ready = opened or self.open()
        if opened is None and self.prompting.is_chat:
            print(f"{self.name}: asked in a chat, by its own template")
        elif opened is None and not self.has_prompting and ready.has_template:
            print(
                f"{self.name}: asked as bare text, though it comes with a chat template; a model that was made for "
                "chats answers more often in one: --chat (base models may have a template too)"
            )
        return Asking(ready, trials), lambda _: load_weights(ready)

    def _put(self, trials: Sequence[Trial], is_drawn: bool) -> tuple[Any, Callable[[Any], Any]]:
        """Trials as they are put to a model behind an API, and what sends them there."""
        from valuesassets.remote.asking import RemoteAsking

        assert self.endpoint is not None  # noqa: S101
        asking = RemoteAsking(self.options.model, self.endpoint, self.prompting, trials, is_compared=not is_drawn)
        return asking, asking.connect


def choose_model(options: LoadedModelOptions, chat: Prompting = CHAT) -> ChosenModel:
    """The model that options name, all of them seen to be sound before any work begins.

    Args:
        chat: how trials are shown with --chat, and behind an API that has chats.

    Raises:
        InputError: a file on prompting or on an endpoint cannot be used, or they do not fit together.
        StorageError: the folder of replies cannot be written.
    """
    folder = options.known_folder or storage_root() / KNOWN_READINGS
    require_folder_place(folder, "name another with --known")
    chosen = _choose(options, chat, folder)
    if options.known_folder is None and not options.dry_run:
        ready()
    return chosen


def _choose(options: LoadedModelOptions, chat: Prompting, folder: Path) -> ChosenModel:
    if not isinstance(options, ModelOptions):
        require(options.model, "models")
        return ChosenModel(options, name_of_weights(options), AS_TEXT, False, None, folder)
    if options.chat and options.prompting is not None:
        raise typer.BadParameter("--chat and --prompting: both say how trials are shown; leave one out")
    endpoint = choose_endpoint(options)
    if endpoint is None:
        name = name_of_weights(options)
    else:
        name = options.model
        if options.revision is not None or options.dtype != "auto" or options.device != "auto" or options.offline:
            raise typer.BadParameter(
                "--revision, --dtype, --device, --offline: for a model that is loaded here; leave them out"
            )
        if options.adapter is not None or options.adapter_revision is not None:
            raise typer.BadParameter("--adapter, --adapter-revision: for a model that is loaded here; leave them out")
    require(options.model, endpoint.provider if endpoint else "models")
    is_chat = options.chat or (endpoint is not None and endpoint.api == "chat")
    prompting = load_prompting(options.prompting) if options.prompting else chat if is_chat else AS_TEXT
    if endpoint is not None:
        try:
            endpoint.check(prompting)
        except ValueError as error:
            raise InputError(f"--prompting: {error}") from None
    return ChosenModel(options, name, prompting, options.chat or options.prompting is not None, endpoint, folder)


def name_of_weights(options: LoadedModelOptions) -> str:
    """The name in tables of a model that is loaded here, with its adapter's, if it has one."""
    name = name_of_model(options.model, options.revision)
    if options.adapter is None:
        if options.adapter_revision is not None:
            raise typer.BadParameter("--adapter-revision: is that of an --adapter; name one, or leave it out")
        return name
    return f"{name}+{name_of_model(options.adapter, options.adapter_revision, '--adapter-revision')}"


def choose_endpoint(options: ModelOptions) -> Endpoint | None:
    """Where a model behind an API is, None where it is loaded on this machine; InputError where the file of --endpoint,
    or what single options say, cannot be used."""
    from valuesassets.records.faults import validated

    limits = {"concurrency": options.concurrency, "budget_requests": options.budget_requests}
    limits = {name: value for name, value in limits.items() if value is not None}
    names_server = options.base_url is not None or options.api_key_env is not None or options.provider != "openai"
    if options.endpoint is not None:
        if names_server:
            raise typer.BadParameter(
                "--base-url, --api-key-env, --provider: stand in the file of --endpoint; leave them out"
            )
        keys = load_endpoint(options.endpoint).model_dump(exclude_unset=True)
        return validated(Endpoint, keys | limits, InputError, str(options.endpoint))
    if not names_server:
        if limits:
            raise typer.BadParameter(
                "--concurrency, --budget-requests: for a model behind an API; name its --base-url, or leave them out"
            )
        return None
    server = {"provider": options.provider, "base_url": options.base_url, "key_env": options.api_key_env}
    return validated(Endpoint, server | {"concurrency": 8} | limits, InputError, options.base_url or options.provider)


def ask_reference(name: str, loaded: "LoadedModel", trials: Sequence[Trial], title: str) -> list[Record]:
    """The replies of a model that was trained for a calibration, with a progress bar."""
    from valuesassets.library.calibrating import ask_reference as ask_trained

    return ask_trained(name, loaded, trials, title, progress_bar)


def costs_of_draws(replies: Replies, endpoint: Endpoint | None) -> dict[tuple[str, int], tuple[Answer, dict[str, Any]]]:
    """By trial and number of the draw an answer, and behind an API the tokens of its prompt and its price in USD."""
    answers = [record for record in replies.records if isinstance(record, Answer)]
    if endpoint is None:
        return {(answer.trial_id, answer.sample): (answer, {}) for answer in answers}
    remote: RemoteAnswers = replies.result
    costs = ({"prompt_tokens": u.prompt_tokens or None, "cost_usd": u.cost_usd(endpoint.prices)} for u in remote.used)
    return {(answer.trial_id, answer.sample): (answer, cost) for answer, cost in zip(answers, costs, strict=True)}


def lock_name(model: str) -> str:
    """The file that a command holds while it asks a model."""
    return f"{sha256_json(model)[:16]}.lock"


@contextlib.contextmanager
def _alone(folder: Path, model: str) -> Iterator[None]:
    """A block in which no other command asks a model for replies that are kept in a folder: both would pay for them."""
    lock = FileLock(folder / lock_name(model))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise StorageError(
            f"{folder}: another run keeps answers of {model} here and is still asking; wait for it, or name "
            "another folder with --known"
        ) from None
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()
