"""Models out of the hub into this machine's cache: what is lacking there, its download, and why the hub refused it."""

import contextlib
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
from huggingface_hub import HfApi, constants, errors, snapshot_download
from huggingface_hub.utils import disable_progress_bars
from huggingface_hub.utils import logging as hub_logging

from valuesassets.models.gguf_files import GgufFile, find_gguf
from valuesassets.models.gguf_folders import GgufOrigin, read_origin, weights_id
from valuesassets.models.hub_cache import cache_folder, model_home, told_of_growth
from valuesassets.models.model_files import (
    COMMIT,
    HUB_ID,
    NEEDED,
    PICKLES,
    cached_snapshot,
    find_lack,
    find_lack_of_part,
    find_model,
    is_needed,
    is_offline,
    weight_files,
)
from valuesassets.records.errors import ModelError, StorageError, ValuesAssetsError
from valuesassets.records.files import sha256_file, sha256_json, write_text

CARD = "README.md"
"""The model card: it says which languages a model serves, and no model is less whole without it."""
TOKEN = "HF_TOKEN in the environment"  # noqa: S105
FULL = (errno.ENOSPC, errno.EDQUOT)
EMBEDDER_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")
"""What is read of an embedder, whose parts lie in folders: no pickles, no code, no second copy for another runtime."""


@dataclass(frozen=True)
class PlannedModel:
    """A model, whether all of it is on this machine, and how many bytes are to be downloaded where it is not.

    `commit` is what the revision stands for; None for a folder and for a GGUF file, which becomes `becoming` bytes
    where it is yet to be converted.
    """

    model: str
    revision: str | None
    commit: str | None
    is_whole: bool = True
    lacking: int = 0
    becoming: int = 0
    gguf: GgufFile | None = None


@dataclass(frozen=True)
class FetchedModel:
    """A model that is whole on this machine, as it goes into a job's summary.

    Attributes:
        stamp: names the weights: the commit, the hash of a GGUF file, or one over a folder's files (`_stamp_folder`).
        size: bytes of all its files.
        gguf: the file that its folder was made from, where it was; `gguf_stamp` is size and time of its parts.
    """

    model: str
    revision: str | None
    commit: str | None
    stamp: str
    folder: Path
    size: int
    files: int
    was_there: bool
    gguf: GgufOrigin | None = None
    gguf_stamp: list[list[int]] | None = None


def plan_model(model: str, revision: str | None = None, offline: bool = False) -> PlannedModel:
    """What is lacking of a model in this machine's cache; nothing is downloaded.

    The hub is not asked about a folder, offline, or where a commit is named and whole in the cache.

    Raises:
        ModelError, TokenizerError: no such model, folder, revision or access, no answer, or no weights in safetensors.
    """
    folder = find_model(model, revision, offline)
    if Path(model).is_dir():
        return PlannedModel(model, revision, None)
    if folder is not None and (is_offline(offline) or folder.name == revision):
        return PlannedModel(model, revision, folder.name)
    _be_quiet()
    with _hub_in_one_line(model, revision):
        is_commit = revision is not None and COMMIT.fullmatch(revision)
        # Not the library's `resolve_revision`: without an answer it takes what the branch was when it was last asked.
        commit = revision if is_commit else str(HfApi().model_info(model, revision=revision).sha)
        if find_lack(model, commit) is None:
            return PlannedModel(model, revision, commit)
        listed = snapshot_download(
            model, revision=commit, allow_patterns=[*NEEDED], ignore_patterns="*/*", dry_run=True
        )
        lack = find_lack_of_part({file.filename for file in listed})
        if lack is not None:
            names = HfApi().list_repo_files(model, revision=commit)
            pickles = sorted(name for name in names if any(Path(name).match(pattern) for pattern in PICKLES))
            found = f" (found {pickles[0]}, a pickle, which can run code)" if pickles else ""
            raise ModelError(
                f"{model}: {lack}{found} in its repository on the hub at {revision or 'main'}; name another revision "
                "or model, or save it with save_pretrained and name the folder"
            )
    lacking = sum(file.file_size or 0 for file in listed if file.will_download)
    return PlannedModel(model, revision, commit, is_whole=False, lacking=lacking)


def fetch_model(planned: PlannedModel, tell: Callable[[int], None] = lambda _: None) -> FetchedModel:
    """Download what is lacking of a model; whole files stay whatever happens to the others.

    Args:
        tell: is called with the bytes downloaded so far, once a second while there is something new.

    Raises:
        ModelError, StorageError: the download broke off, was refused, or filled the disk.
    """
    model, revision, commit = planned.model, planned.revision, planned.commit
    if commit is None:
        folder = Path(model)
        origin = read_origin(folder)
        stamp = weights_id(origin.sha256) if origin else _stamp_folder(folder)
    else:
        home = model_home(model)
        folder, stamp = home / "snapshots" / commit, commit
        if not planned.is_whole:
            _be_quiet()
            with _hub_in_one_line(model, revision), told_of_growth(home / "blobs", tell):
                snapshot_download(model, revision=commit, allow_patterns=[*NEEDED], ignore_patterns="*/*")
            lack = find_lack(model, commit)
            if lack is not None:
                raise ModelError(f"{model}: {lack} after its download at {commit}; name another revision")
        if commit != revision and cached_snapshot(model, revision) != folder:
            # What a branch stood for is what an offline reader of this cache asks.
            write_text(home / "refs" / (revision or constants.DEFAULT_REVISION), commit)
    return as_fetched(planned, folder, stamp)


def as_fetched(planned: PlannedModel, folder: Path, stamp: str) -> FetchedModel:
    """A model that is whole in a folder."""
    own = [path for path in folder.iterdir() if is_needed(path.name) or path.suffix == ".safetensors"]
    sizes = [path.stat().st_size for path in {*own, *weight_files(folder)}]
    return FetchedModel(
        planned.model,
        planned.revision,
        planned.commit,
        stamp,
        folder.absolute(),
        sum(sizes),
        len(sizes),
        was_there=planned.lacking == planned.becoming == 0,
        gguf=read_origin(folder),
        gguf_stamp=planned.gguf.stamp() if planned.gguf is not None else None,
    )


def fetch_card(model: str, revision: str | None) -> Path:
    """The folder on this machine that holds a model's card, downloaded where it is of the hub.

    Raises:
        ModelError, StorageError: the hub does not give it.
    """
    if Path(model).is_dir():
        return Path(model)
    if (gguf := find_gguf(model)) is not None:
        return gguf.parts[0].parent
    _be_quiet()
    with _hub_in_one_line(model, revision):
        return Path(snapshot_download(model, revision=revision, allow_patterns=[CARD]))


def fetch_embedder(model: str, revision: str | None = None) -> str:
    """The folder of a sentence-transformers model that is on this machine, for jobs that have no network.

    Args:
        model: hub id, or a folder, which is taken as it is.

    Raises:
        ModelError, StorageError: the hub does not give it, or its cache cannot be written.
    """
    if Path(model).exists() or not HUB_ID.fullmatch(model):
        return str(Path(model).absolute())
    _be_quiet()
    with _hub_in_one_line(model, revision):
        return snapshot_download(model, revision=revision, allow_patterns=[*EMBEDDER_FILES])


def _stamp_folder(folder: Path) -> str:
    """Hash over a folder's configuration, and size and time of its weights.

    Not over the weights' bytes, an hour's reading for a grid's folders: a reading is filed under their hash anyway, so
    that a stamp which misses a change costs no wrong answer, and one which sees a change that is none costs no reading.
    """
    files = sorted({*folder.glob("*.safetensors"), *weight_files(folder)})
    stats = {path.relative_to(folder).as_posix(): path.stat() for path in files}
    weights = {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}
    return sha256_json([sha256_file(folder / "config.json"), weights])


def _be_quiet() -> None:
    """Let the library say nothing beside our lines: its warnings name signed addresses."""
    hub_logging.set_verbosity_error()
    disable_progress_bars()


@contextlib.contextmanager
def _hub_in_one_line(model: str, revision: str | None) -> Iterator[None]:
    """Whatever the hub's library raises in this block, as one line of ours; no address is repeated: some are signed.

    Raises:
        ModelError: no such model or revision, no access, no answer, or an answer that broke off.
        StorageError: the cache cannot be written, or its disk is full.
    """
    try:
        yield
    except ValuesAssetsError:
        raise
    except Exception as error:  # its library, httpx2 and hf_xet raise types of their own
        raise _of_ours(error, model, revision) from error


def _of_ours(error: BaseException, model: str, revision: str | None) -> ModelError | StorageError:
    """The first of an error and its causes that says something definite."""
    said: BaseException | None = error
    while said is not None:
        message = _reason(said, revision)
        if message is not None:
            return ModelError(f"{model}: {message}")
        code, why = getattr(said, "errno", None), getattr(said, "strerror", None)
        is_full = code in FULL or "No space left" in str(said)
        if is_full or (isinstance(said, OSError) and code is not None):
            return StorageError(
                f"{model}: {cache_folder()}: {'the disk is full' if is_full else f'cannot be written: {why}'}; free "
                "space there or set HF_HOME to another folder, then run it again: whole files are kept"
            )
        said = said.__cause__ or said.__context__
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ModelError(f"{model}: cannot be fetched: {lines[0][:200]}; run it again: whole files are kept")


def _reason(error: BaseException, revision: str | None) -> str | None:
    match error:
        case errors.GatedRepoError():
            return f"is gated and gives no access; ask for access on its page on the hub, then set {TOKEN}"
        case errors.DisabledRepoError():
            return "was disabled by the hub; choose another model"
        case errors.RepositoryNotFoundError():
            return f"there is no such model on the hub, or it is private; check its name, or set {TOKEN}"
        case errors.RevisionNotFoundError():
            return f"has no revision {revision} on the hub; name one of its branches, tags or commits"
        case errors.HFValidationError():
            return "is no id of the hub; owner/name was expected"
        case errors.HfHubHTTPError():
            status = error.response.status_code
            if status in (401, 403):
                return f"the hub refuses it ({status}); check {TOKEN} and what it may read"
            return f"the hub answers with status {status}; run it again later: whole files are kept"
        case httpx2.ProxyError():
            return "the proxy does not let us reach the hub; check HTTPS_PROXY"
        case httpx2.ConnectError() | httpx2.TimeoutException() | errors.OfflineModeIsEnabled():
            return (
                f"the hub ({constants.ENDPOINT}) cannot be reached; check the network and run it again (whole files "
                "are kept), or say offline = true where the model is whole in the cache"
            )
        case httpx2.RemoteProtocolError() | httpx2.ReadError():
            return "its download broke off; run it again: whole files are kept"
        case OSError() if str(error).startswith("Consistency check failed"):
            return "one of its files came in another size than the hub says; run it again: whole files are kept"
        case errors.FileMetadataError():
            return f"what answers at {constants.ENDPOINT} is not the hub; check the network, or HF_ENDPOINT"
        case _:
            return None
