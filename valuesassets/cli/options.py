"""Bundles of options that several commands share, written once as a dataclass whose fields are options."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer


@dataclass(frozen=True)
class LoadedModelOptions:
    """Which model a command asks that is loaded on this machine."""

    model: Annotated[str, typer.Option(help="Model to ask: hub id, folder, GGUF file or index:NAME.")]
    revision: Annotated[
        str | None, typer.Option(help="Commit or tag of a model on the hub; its main branch if left out.")
    ] = None
    adapter: Annotated[
        str | None, typer.Option(help="LoRA adapter to put on the model: hub id or folder, as peft saves it.")
    ] = None
    adapter_revision: Annotated[
        str | None, typer.Option(help="Commit or tag of an adapter on the hub; its main branch if left out.")
    ] = None
    dtype: Annotated[
        Literal["float32", "bfloat16", "auto"],
        typer.Option(help="Number type of the weights; auto: bfloat16 on a GPU, as they are stored on a CPU."),
    ] = "auto"
    device: Annotated[
        Literal["cpu", "cuda", "auto"], typer.Option(help="Where to compute; auto: on a GPU where there is one.")
    ] = "auto"
    offline: Annotated[
        bool, typer.Option("--offline", help="Take the model from this machine's cache and download nothing.")
    ] = False
    known_folder: Annotated[
        Path | None,
        typer.Option(
            "--known",
            readable=False,
            help="Folder that keeps the model's replies, so that nothing is asked twice; that of studies if left out.",
        ),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print how much would be asked; ask nothing and load no weights.")
    ] = False


@dataclass(frozen=True)
class ModelOptions(LoadedModelOptions):
    """Which model a command asks, on this machine or behind an API, and how it is shown the questions."""

    model: Annotated[
        str, typer.Option(help="Model to ask: hub id, folder, GGUF file or index:NAME; behind an API its name there.")
    ]
    chat: Annotated[
        bool, typer.Option("--chat", help="Ask in a chat, by the model's own template; else as bare text.")
    ] = False
    prompting: Annotated[
        Path | None,
        typer.Option(readable=False, help="How questions are shown (TOML): keys of `[families.X.prompting]`."),
    ] = None
    endpoint: Annotated[
        Path | None,
        typer.Option(
            readable=False, help="Where a model behind an API is, and prices (TOML): keys of `[families.X.endpoint]`."
        ),
    ] = None
    base_url: Annotated[
        str | None, typer.Option(help="Address of a server that has the model, such as http://127.0.0.1:8000/v1.")
    ] = None
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the server's key; never the key itself.")
    ] = None
    provider: Annotated[Literal["openai", "gemini"], typer.Option(help="Whose interface the server has.")] = "openai"
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests at the same time; 8 if left out.")] = None
    budget_requests: Annotated[
        int | None,
        typer.Option(min=1, help="Most requests to the model, those of earlier runs included; no limit if left out."),
    ] = None


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its bundles as single options, which is what typer understands.

    Every parameter whose type is a dataclass is a bundle.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    bundles: dict[str, Any] = {
        name: each.annotation for name, each in parameters.items() if is_dataclass(each.annotation)
    }

    @wraps(command)
    def run(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{field.name: values.pop(field.name) for field in fields(bundle)})
        command(**values)

    def options() -> Iterator[inspect.Parameter]:
        for name, parameter in parameters.items():
            if name in bundles:
                yield from _fields_as_parameters(bundles[name])
            else:
                yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    run.__signature__ = inspect.Signature(list(options()))  # type: ignore[attr-defined]
    run.__annotations__ = {}  # typer would look for the bundles in them
    return run


def _fields_as_parameters(bundle: Any) -> Iterator[inspect.Parameter]:
    types = get_type_hints(bundle, include_extras=True)
    for name, parameter in inspect.signature(bundle).parameters.items():
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=types[name])
