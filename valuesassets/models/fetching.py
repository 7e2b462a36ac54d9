"""Downloads models from the hub into this machine's cache, and explains its refusals."""

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
from valuesassets.models.hub_cache import cache_folder, model_home, watched_growth
from valuesassets.models.model_files import (
    COMMIT,
    HUB_ID,
    MODEL_PARTS,
    PICKLES,
    Parts,
    cached_snapshot,
    find_lack,
    find_model,
    is_needed,
    is_offline,
    weight_files,
)
from valuesassets.records.errors import ModelError, StorageError, ValuesAssetsError
from valuesassets.records.files import sha256_file, sha256_json, write_text

CARD = "README.md"
"""The model card, which names a model's languages; a model is whole without it."""
TOKEN = "HF_TOKEN in the environment"  # noqa: S105
FULL = (errno.ENOSPC, errno.EDQUOT)
EMBEDDER_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")
"""Files downloaded of an embedder, also from its subfolders: no pickles, no code, no copy for another runtime."""


@dataclass(frozen=True)
class PlannedModel:
    """A model, whether it is whole on this machine, and how many bytes have yet to be downloaded.

    Attributes:
        commit: the commit that the revision stands for; None for a folder and for a GGUF file.
        lacking: bytes to download.
        becoming: bytes that a GGUF file will take once it is converted; 0 where it is.
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
    """A model that is whole on this machine, for a job's summary.

    Attributes:
        stamp: identifies the weights: a commit, a GGUF file's hash, or a hash of the folder (`_stamp_folder`).
        size: bytes of all its files.
        gguf: the GGUF file that its folder was made from, if any; `gguf_stamp` is size and time of that file's parts.
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
    """Find what the cache lacks of a model, without a download.

    The hub is not asked about a folder, nor offline, nor about a commit that is whole in the cache.

    Raises:
        ModelError, TokenizerError: no such model, folder, revision or access, no answer, or no weights in safetensors.
    """
    folder = find_model(model, revision, offline)
    if Path(model).is_dir():
        return PlannedModel(model, revision, None)
    return plan_repository(model, revision, offline, folder, MODEL_PARTS)


def plan_repository(model: str, revision: str | None, offline: bool, cached: Path | None, parts: Parts) -> PlannedModel:
    """Find what the cache lacks of a hub repository with these parts; `cached` is its folder there, if it is whole."""
    if cached is not None and (is_offline(offline) or cached.name == revision):
        return PlannedModel(model, revision, cached.name)
    with _hub_in_one_line(model, revision):
        is_commit = revision is not None and COMMIT.fullmatch(revision)
        # The library's `resolve_revision` would silently use an older commit of the branch if the hub does not answer.
        commit = revision if is_commit else str(HfApi().model_info(model, revision=revision).sha)
        if find_lack(model, commit, parts) is None:
            return PlannedModel(model, revision, commit)
        listed = snapshot_download(
            model, revision=commit, allow_patterns=[*parts.needed], ignore_patterns="*/*", dry_run=True
        )
        lack = parts.find_lack({file.filename for file in listed})
        if lack is not None:
            names = HfApi().list_repo_files(model, revision=commit)
            pickles = sorted(name for name in names if any(Path(name).match(pattern) for pattern in PICKLES))
            pickle = f" (found {pickles[0]}, a pickle, which can run code)" if pickles else ""
            raise ModelError(
                f"{model}: {lack}{pickle} in its repository on the hub at {revision or 'main'}; name another revision "
                "or model, or save it with save_pretrained and name the folder"
            )
    lacking = sum(file.file_size or 0 for file in listed if file.will_download)
    return PlannedModel(model, revision, commit, is_whole=False, lacking=lacking)


def fetch_model(planned: PlannedModel, tell: Callable[[int], None] = lambda _: None) -> FetchedModel:
    """Download the missing files of a model; `tell` gets the bytes so far, once a second. Complete files stay.

    Raises:
        ModelError, StorageError: the download broke off, was refused, or filled the disk.
    """
    model, revision, commit = planned.model, planned.revision, planned.commit
    if commit is None:
        folder = Path(model)
        origin = read_origin(folder)
        stamp = weights_id(origin.sha256) if origin else _stamp_folder(folder)
    else:
        folder, stamp = download(model, revision, commit, planned.is_whole, MODEL_PARTS, tell), commit
    return as_fetched(planned, folder, stamp)


def download(
    model: str, revision: str | None, commit: str, is_whole: bool, parts: Parts, tell: Callable[[int], None]
) -> Path:
    """Download what the cache lacks of a commit of a hub repository; its folder there. Errors as `fetch_model`."""
    home = model_home(model)
    folder = home / "snapshots" / commit
    if not is_whole:
        with _hub_in_one_line(model, revision), watched_growth(home / "blobs", tell):
            snapshot_download(model, revision=commit, allow_patterns=[*parts.needed], ignore_patterns="*/*")
        lack = find_lack(model, commit, parts)
        if lack is not None:
            raise ModelError(f"{model}: {lack} after its download at {commit}; name another revision")
    if commit != revision and cached_snapshot(model, revision, parts.config) != folder:
        # An offline reader of this cache looks up the commit of the branch here.
        write_text(home / "refs" / (revision or constants.DEFAULT_REVISION), commit)
    return folder


def as_fetched(planned: PlannedModel, folder: Path, stamp: str) -> FetchedModel:
    """Describe a model that is whole in a folder."""
    files_here = [path for path in folder.iterdir() if is_needed(path.name) or path.suffix == ".safetensors"]
    sizes = [path.stat().st_size for path in {*files_here, *weight_files(folder)}]
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
    """The folder with a model's card, downloaded for a hub model; ModelError or StorageError if that fails."""
    if Path(model).is_dir():
        return Path(model)
    if (gguf := find_gguf(model)) is not None:
        return gguf.parts[0].parent
    with _hub_in_one_line(model, revision):
        return Path(snapshot_download(model, revision=revision, allow_patterns=[CARD]))


def fetch_embedder(model: str, revision: str | None = None) -> str:
    """The folder of a sentence-transformers model, downloaded if needed; ModelError or StorageError if that fails."""
    if Path(model).exists() or not HUB_ID.fullmatch(model):
        return str(Path(model).absolute())
    with _hub_in_one_line(model, revision):
        return snapshot_download(model, revision=revision, allow_patterns=[*EMBEDDER_FILES])


def _stamp_folder(folder: Path) -> str:
    """Hash over a folder's configuration, and the size and time of its weights' files.

    Hashing the weights themselves would take an hour for a grid's folders. Readings are stored under that hash anyway:
    a change that the stamp misses gives no wrong reading, and one that it only suspects costs none.
    """
    files = sorted({*folder.glob("*.safetensors"), *weight_files(folder)})
    stats = {path.relative_to(folder).as_posix(): path.stat() for path in files}
    weights = {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}
    return sha256_json([sha256_file(folder / "config.json"), weights])


@contextlib.contextmanager
def _hub_in_one_line(model: str, revision: str | None) -> Iterator[None]:
    """Turn any error of the hub's library into one line, without its address, which may be signed."""
    hub_logging.set_verbosity_error()  # its warnings show such addresses too
    disable_progress_bars()
    try:
        yield
    except ValuesAssetsError:
        raise
    except Exception as error:  # its library, httpx2 and hf_xet raise types of their own
        raise _translate(error, model, revision) from error


def _translate(error: BaseException, model: str, revision: str | None) -> ModelError | StorageError:
    """Our error for the first of an error and its causes that is known."""
    cause: BaseException | None = error
    while cause is not None:
        message = _reason(cause, revision)
        if message is not None:
            return ModelError(f"{model}: {message}")
        code, why = getattr(cause, "errno", None), getattr(cause, "strerror", None)
        is_full = code in FULL or "No space left" in str(cause)
        if is_full or (isinstance(cause, OSError) and code is not None):
            return StorageError(
                f"{model}: {cache_folder()}: {'the disk is full' if is_full else f'cannot be written: {why}'}; free "
                "space there or set HF_HOME to another folder, then run it again: whole files are kept"
            )
        cause = cause.__cause__ or cause.__context__
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
