"""The job that fetches models: hub ids in, weights in this machine's cache of the hub out."""

from dataclasses import asdict

from valuesassets.models.fetching import FetchedModel, PlannedModel
from valuesassets.models.hub_cache import GIB, cache_folder, free_bytes, remove_leftovers, require_space
from valuesassets.models.model_sources import fetch_model, plan_model
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError, ValuesAssetsError
from valuesassets.records.jobs import FetchWeightsJob
from valuesassets.records.seals import write_record


def do(job: FetchWeightsJob, progress: Progress) -> None:
    """Have every model of a job whole on this machine, and write the summary last.

    All models are looked at before the first byte. One that fails does not take the others with it.

    Raises:
        ModelError, StorageError: why the only model failed; StorageError also where the disk is too small for all.
        JobError: why each of several models failed, once the others are there.
    """
    planned, fetched = [], []
    failed: list[ValuesAssetsError] = []
    for asked in job.models:
        try:
            plan = plan_model(asked.model, asked.revision, job.offline)
        except ValuesAssetsError as error:
            failed.append(error)
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
    before = 0
    for plan in planned:
        try:
            fetched.append(_fetch(plan, before, total, progress))
        except ValuesAssetsError as error:
            failed.append(error)
            progress.say(str(error))
        before += plan.lacking
    if failed and len(job.models) == 1:
        raise failed[0]
    if failed:
        raise JobError(f"{len(failed)} of {len(job.models)} models were not fetched: {' | '.join(map(str, failed))}")
    summary = {"cache": str(cache_folder()), "free_gib": round(free_bytes() / GIB, 2)}
    write_record(
        job.summary, summary | {"models": [asdict(model) | {"folder": str(model.folder)} for model in fetched]}
    )


def _fetch(plan: PlannedModel, before: int, total: int, progress: Progress) -> FetchedModel:
    def tell(grown: int) -> None:
        progress.say(f"{plan.model}: {(before + grown) / GIB:.2f} of {total / GIB:.2f} GiB")

    model = fetch_model(plan, tell, progress.say)
    how = "was there" if model.was_there else "downloaded" if model.gguf is None else "converted"
    progress.say(f"{model.model}: {how}, {model.size / GIB:.2f} GiB in {model.files} files")
    return model
