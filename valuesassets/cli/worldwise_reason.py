"""The command `worldwise reason`: what a model writes to dilemmas, loaded here or behind an API."""

import contextlib
import fcntl
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from valuesassets.cli.asking import (
    AsChat,
    Device,
    Dtype,
    KnownFolder,
    Offline,
    PromptingFile,
    Revision,
    known_folder,
)
from valuesassets.cli.inputs import name_of_model, require_file_place
from valuesassets.cli.outputs import print_cautions, progress_bar
from valuesassets.cli.worldwise_inputs import CulturesFile, ScenariosFile, Wordings, parse_wordings, read_material
from valuesassets.records.bundled import BUNDLED
from valuesassets.records.errors import InputError, MissingData, StorageError
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.endpoints import Endpoint, load_endpoint
from valuesassets.records.settings.prompting import AS_TEXT, Prompting, load_prompting
from valuesassets.records.trials import Answer, Trial

FORMS = ("decide", "open", "advocate")
CHAT = Prompting(style="chat", answer_prefix="none")
Counts = Mapping[str, float | None]
Said = dict[tuple[str, int], tuple[Answer, Counts]]
"""By trial and number of the draw, an answer and what it took; one that a budget did not reach is not there."""


def reason(
    model: Annotated[str, typer.Option(help="Hub id, folder or GGUF file; behind an API its name there.")],
    scenarios: ScenariosFile,
    output: Annotated[Path, typer.Option(help="Reasons (parquet).")],
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
    forms: Annotated[str, typer.Option(help="One or more of decide,open,advocate.")] = "decide,open",
    draws: Annotated[int, typer.Option(min=1, help="Answers to each prompt and order.")] = 4,
    temperature: Annotated[float, typer.Option(min=0, help="Of the draws.")] = 0.7,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an answer.")] = 300,
    values: Annotated[
        str, typer.Option(help="Values that may be ticked (CSV): value,axis,pole; or: bundled.")
    ] = BUNDLED,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    base_url: Annotated[str | None, typer.Option(help="Address of a server that has the model.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Variable that holds the key; never the key itself.")] = None,
    provider: Annotated[Literal["openai", "gemini"], typer.Option(help="Whose interface the server has.")] = "openai",
    endpoint: Annotated[
        Path | None, typer.Option(readable=False, help="All of it, and prices, in a file (TOML).")
    ] = None,
    known: KnownFolder = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests at the same time; 8 if left out.")] = None,
    budget_requests: Annotated[
        int | None, typer.Option(min=1, help="Most requests, those of earlier runs too.")
    ] = None,
    chat: AsChat = False,
    prompting: PromptingFile = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    offline: Offline = False,
) -> None:
    """Have a model decide and give reasons in every dilemma, as each culture and the two controls; none is dropped."""
    from valuesassets.instruments.worldwise.reason_trials import asked_of, write_reason_trials
    from valuesassets.instruments.worldwise.reasons import Written, derive_reasons, written
    from valuesassets.instruments.worldwise.tables import REASONS
    from valuesassets.instruments.worldwise.value_names import read_value_names
    from valuesassets.records.parquet import write_frame
    from valuesassets.records.readouts import Generate

    require_file_place(output, "a parquet file")
    asked_forms, numbers = _parse_forms(forms), parse_wordings(wordings)
    reached = _endpoint(endpoint, base_url, api_key_env, provider, concurrency, budget_requests)
    if reached is not None and (revision is not None or dtype != "auto" or device != "auto" or offline or chat):
        raise typer.BadParameter(
            "--revision, --dtype, --device, --offline, --chat: for a model that is loaded here; leave them out"
        )
    shown = _prompting(prompting, reached, is_chat=chat)
    answers = known_folder(known)
    found, personas = read_material(scenarios, cultures)
    listed = list(read_value_names(values)["value"])
    readout = Generate(max_tokens=max_tokens, temperature=temperature, samples=draws, seed=seed)
    trials = write_reason_trials(found, personas, listed, readout, asked_forms, numbers, "advocate" in asked_forms)
    if reached is not None:
        with _alone(answers, model):
            said, described = _behind_api(model, reached, shown or CHAT, trials, answers)
    else:
        shown = shown or (CHAT if chat else AS_TEXT)
        said, described = _loaded_here(model, revision, dtype, device, offline, shown, trials, answers)
    asked = asked_of(trials, found, listed)
    rows = []
    for trial in trials:
        for draw in range(draws):
            answer, counts = said.get((trial.trial_id, draw), (None, {}))
            unsaid = Written(draw, failure="the budget did not reach it; raise it and run it again", is_asked=False)
            rows.append((asked[trial.trial_id], unsaid if answer is None else written(answer, **counts)))
    reasons = derive_reasons(rows)
    reasons.attrs["file_metadata"] = described
    write_frame(output, reasons, REASONS)
    counted = ", ".join(f"{n} {status}" for status, n in Counter(reasons["status"]).most_common())
    print(f"{len(reasons)} answers in {output}: {counted}")
    if not len(said):
        raise MissingData(f"{model}: nothing was asked: the budget is used up; raise it and run it again")


def _parse_forms(forms: str) -> list[str]:
    named = forms.split(",")
    if len(set(named)) < len(named) or not {*named} <= {*FORMS}:
        raise typer.BadParameter(f"--forms {forms[:40]}: some of {','.join(FORMS)} was expected, each once")
    return named


def _endpoint(
    path: Path | None,
    base_url: str | None,
    key_env: str | None,
    provider: str,
    concurrency: int | None,
    budget_requests: int | None,
) -> Endpoint | None:
    """Where a model behind an API is; None where it is loaded here."""
    from valuesassets.records.faults import validated

    given = {"concurrency": concurrency, "budget_requests": budget_requests}
    said = {name: value for name, value in given.items() if value is not None}
    if path is not None:
        if base_url is not None or key_env is not None or provider != "openai":
            raise typer.BadParameter(
                "--base-url, --api-key-env, --provider: stand in the file of --endpoint; leave them out"
            )
        return validated(Endpoint, load_endpoint(path).model_dump(exclude_unset=True) | said, InputError, str(path))
    if base_url is None and key_env is None and provider == "openai":
        if said:
            raise typer.BadParameter(
                "--concurrency, --budget-requests: for a model behind an API; name its --base-url, or leave them out"
            )
        return None
    fields = {"provider": provider, "base_url": base_url, "key_env": key_env, "concurrency": 8} | said
    return validated(Endpoint, fields, InputError, base_url or provider)


def _prompting(path: Path | None, endpoint: Endpoint | None, *, is_chat: bool) -> Prompting | None:
    """How trials are shown where a file says it."""
    if path is None:
        return None
    if is_chat:
        raise typer.BadParameter("--chat and --prompting: both say how trials are shown; leave one out")
    shown = load_prompting(path)
    try:
        if endpoint is not None:
            endpoint.check(shown)
    except ValueError as error:
        raise InputError(f"--prompting: {error}") from None
    return shown


def lock_name(model: str) -> str:
    """The file that a run holds while it asks a model."""
    return f"{sha256_json(model)[:16]}.lock"


@contextlib.contextmanager
def _alone(folder: Path, model: str) -> Iterator[None]:
    """A block in which no other run asks a model for answers that are kept in a folder: both would pay for them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = (folder / lock_name(model)).open("w")
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror}") from error
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(
                f"{folder}: another run keeps answers of {model} here and is still asking; wait for it, or name "
                "another folder with --known"
            ) from None
        yield


def _behind_api(
    model: str, endpoint: Endpoint, shown: Prompting, trials: Sequence[Trial], folder: Path
) -> tuple[Said, dict[str, object]]:
    """What a model behind an API writes, as far as the budget reaches; what was answered before is not asked for."""
    from valuesassets.remote.asking import RemoteAsking

    # Draws differ anyway: none is sent twice for comparison.
    asking = RemoteAsking(model, endpoint, shown, trials, is_compared=False)
    known = asking.open_known(folder, print)
    print(f"{model}: {asking.plan(known)}")
    with progress_bar("asking the model") as tick:
        result, described = asking.ask(asking.connect(known), tick, known, needs_all=False)
    print_cautions(model, asking, described)
    said: Said = {}
    for record, used in zip(result.records, result.used, strict=True):
        assert isinstance(record, Answer)  # noqa: S101
        counts = {"prompt_tokens": used.prompt_tokens or None, "cost_usd": used.cost_usd(endpoint.prices)}
        said[record.trial_id, record.sample] = record, counts
    return said, described


def _loaded_here(
    model: str,
    revision: str | None,
    dtype: str,
    device: str,
    offline: bool,
    prompting: Prompting,
    trials: list[Trial],
    folder: Path,
) -> tuple[Said, dict[str, Any]]:
    """What a model writes that is loaded here."""
    from valuesassets.models.asking import Asking
    from valuesassets.models.loading import load_weights, open_model

    name_of_model(model, revision)
    opened = open_model(model, revision, dtype, device, offline, prompting=prompting)
    asking = Asking(opened, trials)
    store = asking.open_known(folder, print)
    with progress_bar("writing reasons") as tick:
        result, described = asking.ask(load_weights(opened), tick, store)
    print_cautions(model, asking, described)
    return {(each.trial_id, each.sample): (each, {}) for each in result.records if isinstance(each, Answer)}, described
