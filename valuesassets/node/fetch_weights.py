"""The job that fetches models: reads hub ids, fills this machine's cache of the hub."""

from dataclasses import asdict

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
    planned, fetched = [], []
    errors: list[ValuesAssetsError] = []
    for entry in job.models:
        try:
            plan = plan_model(entry.model, entry.revision, job.offline)
        except ValuesAssetsError as error:
            errors.append(error)
            progress.say(str(error))
            continue
        planned.append(plan)
        if plan.gguf is None and not plan.is_whole and (removed := remove_leftovers(plan.model)):
            progress.say(f"{plan.model}: {removed / GIB:.2f} GiB that an interrupted download left are removed")
        if plan.gguf is None:
            progress.say(f"{plan.model} {plan.commit or '(folder)'}: {plan.lacking / GIB:.2f} GiB to download")
        else:
            progress.say(f"{plan.model} (GGUF): {plan.becoming / GIB:.2f} GiB to be made of it")
    total = sum(plan.lacking for plan in planned)
    require_space(total, int(job.leave_free_gib * GIB))
    n_before = 0
    for plan in planned:
        try:
            fetched.append(_fetch(plan, n_before, total, progress))
        except ValuesAssetsError as error:
            errors.append(error)
            progress.say(str(error))
        n_before += plan.lacking
    if errors and len(job.models) == 1:
        raise errors[0]
    if errors:
        raise JobError(f"{len(errors)} of {len(job.models)} models were not fetched: {' | '.join(map(str, errors))}")
    summary = {"cache": str(cache_folder()), "free_gib": round(free_bytes() / GIB, 2)}
    write_record(
        job.summary, summary | {"models": [asdict(model) | {"folder": str(model.folder)} for model in fetched]}
    )


def _fetch(plan: PlannedModel, n_before: int, total: int, progress: Progress) -> FetchedModel:
    def tell(grown: int) -> None:
        progress.say(f"{plan.model}: {(n_before + grown) / GIB:.2f} of {total / GIB:.2f} GiB")

    model = fetch_model(plan, tell, progress.say)
    source = "was there" if model.was_there else "downloaded" if model.gguf is None else "converted"
    progress.say(f"{model.model}: {source}, {model.size / GIB:.2f} GiB in {model.files} files")
    return model
