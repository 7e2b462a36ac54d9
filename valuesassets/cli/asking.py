"""Which model a command asks, and how it is shown what it is asked: one bundle of options for all of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from valuesassets.cli.inputs import name_of_model, require_folder_place
from valuesassets.records.places import KNOWN_READINGS, storage_root
from valuesassets.records.settings.prompting import AS_TEXT, Prompting, load_prompting

if TYPE_CHECKING:
    from valuesassets.models.loaded_model import OpenedModel

ModelName = Annotated[str, typer.Option("--model", help="Hub id, folder, GGUF file or index:NAME.")]
Revision = Annotated[str | None, typer.Option("--revision", help="Commit or tag of the hub.")]
Dtype = Annotated[Literal["float32", "bfloat16", "auto"], typer.Option("--dtype", help="Weights in memory.")]
Device = Annotated[Literal["cpu", "cuda", "auto"], typer.Option("--device", help="Where to compute.")]
Offline = Annotated[bool, typer.Option("--offline", help="Take the model from this machine's cache only.")]
AsChat = Annotated[bool, typer.Option("--chat", help="Ask in a chat, by the model's own template.")]
PromptingFile = Annotated[
    Path | None,
    typer.Option("--prompting", readable=False, help="How trials are shown (TOML): keys of `[families.X.prompting]`."),
]
KnownFolder = Annotated[
    Path | None,
    typer.Option(
        "--known",
        readable=False,
        help="Folder that keeps what the model has said, so that it is not asked again; unless given, that of studies.",
    ),
]
CHAT = Prompting(style="chat")


@dataclass(frozen=True)
class AskedModel:
    """A model as a command's options name it.

    Attributes:
        model: hub id, folder, GGUF file or model of the package index.
        name: as tables call it.
        prompting: how it is shown trials.
        is_told: whether the options say how; else a model with a template is asked as bare text, and is told of.
    """

    model: str
    name: str
    revision: str | None
    dtype: str
    device: str
    offline: bool
    prompting: Prompting
    is_told: bool

    def opened(self) -> "OpenedModel":
        """Configuration and tokenizer; how it is asked is printed where it could be asked in a chat."""
        from valuesassets.models.loading import open_model

        opened = open_model(self.model, self.revision, self.dtype, self.device, self.offline, prompting=self.prompting)
        if self.prompting.is_chat:
            print(f"{self.name}: asked in a chat, by its own template")
        elif not self.is_told and opened.has_template:
            print(
                f"{self.name}: asked as bare text, though it comes with a chat template; a model that was made for "
                "chats answers more often in one: --chat (base models may have a template too)"
            )
        return opened


def asked_model(
    model: str, revision: str | None, dtype: str, device: str, offline: bool, chat: bool, prompting: Path | None
) -> AskedModel:
    """The model that options name.

    Raises:
        InputError: the file on prompting cannot be used.
    """
    name = name_of_model(model, revision)
    if chat and prompting is not None:
        raise typer.BadParameter("--chat and --prompting: both say how trials are shown; leave one out")
    shown = load_prompting(prompting) if prompting is not None else CHAT if chat else AS_TEXT
    return AskedModel(model, name, revision, dtype, device, offline, shown, chat or prompting is not None)


def known_folder(known: Path | None) -> Path:
    """The folder that keeps what a model has said, for this run and later ones: the given one, or that of all studies.

    Raises:
        StorageError: nothing can be written there.
    """
    chosen = known or storage_root() / KNOWN_READINGS
    require_folder_place(chosen, "name another with --known")
    return chosen
