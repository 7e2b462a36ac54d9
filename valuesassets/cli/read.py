"""The command `read`: any file of trials put to any model, without a graph."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.asking import (
    AsChat,
    AskedModel,
    Device,
    Dtype,
    KnownFolder,
    Offline,
    PromptingFile,
    Revision,
    asked_model,
    known_folder,
)
from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.outputs import print_cautions, progress_bar
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.settings.endpoints import load_endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial

if TYPE_CHECKING:
    from valuesassets.models.asking import Asking
    from valuesassets.remote.asking import RemoteAsking


def read(
    model: Annotated[str, typer.Option(help="Hub id, folder or GGUF file; with --endpoint its name there.")],
    trials: Annotated[Path, typer.Option(readable=False, help="Trials, all of one readout (parquet).")],
    output: Annotated[Path, typer.Option(help="Readings, or answers where the model is to write (parquet).")],
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    offline: Offline = False,
    chat: AsChat = False,
    prompting: PromptingFile = None,
    endpoint: Annotated[
        Path | None,
        typer.Option(readable=False, help="Where a model behind an API is (TOML): keys of `[families.X.endpoint]`."),
    ] = None,
    known: KnownFolder = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be asked; read no weights.")] = False,
) -> None:
    """Put a file of trials to a model and write what comes back; what could not be read is a row with its reason."""
    from valuesassets.records.parquet import read_trials

    asked = read_trials(trials)
    if not asked:
        raise InputError(f"{trials}: no trials in it; name a file that has some")
    require_file_place(output, "a parquet file")
    if output.exists() and output.samefile(trials):
        raise InputError(f"{output}: is the file of trials; choose another name for what comes back")
    store_folder = known_folder(known)
    who = asked_model(model, revision, dtype, device, offline, chat, prompting)
    if endpoint is not None:
        if revision is not None or dtype != "auto" or device != "auto" or offline:
            raise typer.BadParameter(
                "--revision, --dtype, --device, --offline: for a model that is loaded; leave them out"
            )
        asking, load = _behind_api(model, endpoint, who.prompting, asked)
    else:
        asking, load = _loaded_here(who, asked)
    store: Any = asking.open_known(store_folder, print)
    if dry_run:
        print(f"{model}: {asking.plan(store)}")
        return
    recalled = asking.recall(store)
    if recalled is None:
        with progress_bar("asking the model") as tick:
            result, described = asking.ask(load(store), tick, store)
        recalled = result.records, described
    records, described = recalled
    print_cautions(model, asking, described)
    asking.write(output, records, described)
    unread = [record for record in records if record.status is not Status.OK]
    first = f", first {unread[0].trial_id}: {unread[0].reason}" if unread else ""
    if len(unread) == len(records):
        raise MissingData(f"{model}: none of {len(records)} {asking.things} could be made{first}; see {output}")
    print(f"{len(records)} {asking.things} in {output}" + (f", {len(unread)} of them without{first}" if first else ""))


def _loaded_here(who: AskedModel, trials: list[Trial]) -> "tuple[Asking, Callable[[Any], Any]]":
    """Trials as they are put to a model that is loaded, and what loads it."""
    from valuesassets.models.asking import Asking
    from valuesassets.models.loading import load_weights

    opened = who.opened()
    return Asking(opened, trials), lambda _: load_weights(opened)


def _behind_api(
    model: str, path: Path, shown: Prompting, trials: list[Trial]
) -> "tuple[RemoteAsking, Callable[[Any], Any]]":
    """Trials as they are put to a model behind an API, and what sends them there."""
    from valuesassets.remote.asking import RemoteAsking

    endpoint = load_endpoint(path)
    try:
        endpoint.check(shown)
    except ValueError as error:
        raise InputError(f"--prompting: {error}") from None
    asking = RemoteAsking(model, endpoint, shown, trials)
    return asking, asking.connect
