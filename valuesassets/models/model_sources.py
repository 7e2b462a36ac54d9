"""Gets models from any source: a folder, the hub, or a GGUF file, which is converted once."""

from collections.abc import Callable

from valuesassets.models import fetching
from valuesassets.models.fetching import FetchedModel, PlannedModel
from valuesassets.models.gguf_conversion import convert, needed_bytes, require_convertible
from valuesassets.models.gguf_files import find_gguf
from valuesassets.models.gguf_folders import weights_id
from valuesassets.models.model_files import find_model


def plan_model(model: str, revision: str | None = None, offline: bool = False) -> PlannedModel:
    """Find what this machine lacks of a model, without a download or conversion; errors as `fetching.plan_model`."""
    gguf = find_gguf(model)
    if gguf is None:
        return fetching.plan_model(model, revision, offline)
    if find_model(model) is not None:
        return PlannedModel(model, revision, None, gguf=gguf)
    require_convertible(gguf)
    return PlannedModel(model, revision, None, is_whole=False, becoming=needed_bytes(gguf), gguf=gguf)


def fetch_model(
    planned: PlannedModel,
    tell: Callable[[int], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> FetchedModel:
    """Download a model (`tell`), or convert its GGUF file (`say`); errors as `fetching.fetch_model` and `convert`."""
    if planned.gguf is None:
        return fetching.fetch_model(planned, tell)
    return fetching.as_fetched(planned, convert(planned.gguf, say), weights_id(planned.gguf.sha256))
