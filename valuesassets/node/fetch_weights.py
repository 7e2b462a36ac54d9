"""The job that fetches models: reads hub ids, fills this machine's cache of the hub."""

from dataclasses import asdict
from typing import Any

from valuesassets.models.adapter_files import Adapter, fetch_adapter, plan_adapter
from valuesassets.models.fetching import FetchedModel, PlannedModel
from valuesassets.models.hub_cache import GIB, cache_folder, free_bytes, remove_leftovers, require_space
from valuesassets.models.model_sources import fetch_model, plan_model
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError, ValuesAssetsError
from valuesassets.records.jobs import FetchWeightsJob
from valuesassets.records.seals import write_record


def do(job: FetchWeightsJob, progress: Progress) -> None:
    """Fetch every model of a job, and write the summary last.

    All models are checked before the first download. If a model fails, the others are still fetched.

    Raises:
        ModelError, StorageError: why the only model failed; StorageError also if the disk is too small for all.
        JobError: why each failed model failed, once the others are fetched.
    """
    planned, fetched = list[tuple[PlannedModel, PlannedModel | None]](), []
    errors: list[ValuesAssetsError] = []
    for entry in job.models:
        try:
            plan = plan_model(entry.model, entry.revision, job.offline)
            lora = plan_adapter(entry.adapter, entry.adapter_revision, job.offline) if entry.adapter else None
        except ValuesAssetsError as error:
            errors.append(error)
            progress.say(str(error))
            continue
        planned.append((plan, lora))
        for each in filter(None, (plan, lora)):
            _say_plan(each, progress)
    total = sum(_lacking(*pair) for pair in planned)
    require_space(total, int(job.leave_free_gib * GIB))
    n_before = 0
    for plan, lora in planned:
        try:
            fetched.append(_fetch(plan, lora, n_before, total, progress))
        except ValuesAssetsError as error:
            errors.append(error)
            progress.say(str(error))
        n_before += _lacking(plan, lora)
    if errors and len(job.models) == 1:
        raise errors[0]
    if errors:
        raise JobError(f"{len(errors)} of {len(job.models)} models were not fetched: {' | '.join(map(str, errors))}")
    summary = {"cache": str(cache_folder()), "free_gib": round(free_bytes() / GIB, 2)}
    write_record(job.summary, summary | {"models": fetched})


def _say_plan(plan: PlannedModel, progress: Progress) -> None:
    if plan.gguf is None and not plan.is_whole and (removed := remove_leftovers(plan.model)):
        progress.say(f"{plan.model}: {removed / GIB:.2f} GiB that an interrupted download left are removed")
    if plan.gguf is None:
        progress.say(f"{plan.model} {plan.commit or '(folder)'}: {plan.lacking / GIB:.2f} GiB to download")
    else:
        progress.say(f"{plan.model} (GGUF): {plan.becoming / GIB:.2f} GiB to be made of it")


def _lacking(plan: PlannedModel, lora: PlannedModel | None) -> int:
    return plan.lacking + (lora.lacking if lora is not None else 0)


def _fetch(
    plan: PlannedModel, lora: PlannedModel | None, n_before: int, total: int, progress: Progress
) -> dict[str, Any]:
    """Fetch a model, and the adapter for it if there is one; their entry in the summary."""

    def tell(grown: int) -> None:
        progress.say(f"{plan.model}: {(n_before + grown) / GIB:.2f} of {total / GIB:.2f} GiB")

    model = fetch_model(plan, tell, progress.say)
    source = "was there" if model.was_there else "downloaded" if model.gguf is None else "converted"
    progress.say(f"{model.model}: {source}, {model.size / GIB:.2f} GiB in {model.files} files")
    if lora is None:
        return _entry(model)
    adapter = fetch_adapter(lora)
    progress.say(f"{adapter.name}: adapter, {'was there' if lora.lacking == 0 else 'downloaded'}")
    return _entry(model) | _adapter_entry(model, adapter, lora.revision)


def _entry(model: FetchedModel) -> dict[str, Any]:
    return asdict(model) | {"folder": str(model.folder)}


def _adapter_entry(model: FetchedModel, adapter: Adapter, revision: str | None) -> dict[str, Any]:
    named = {"adapter": adapter.name, "adapter_revision": revision, "adapter_commit": adapter.commit}
    return named | {"adapter_folder": str(adapter.folder), "stamp": adapter.weights_id(model.stamp)}
