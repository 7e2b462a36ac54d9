"""The models of a study before they are loaded: their weights, fetched once, and how they are to be run."""

from typing import Any

import dagster as dg

from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.grid.cells import fetched_weights
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.instruments import MODELS
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import model_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.jobs import FetchWeightsJob, HubModel
from valuesassets.records.seals import read_record
from valuesassets.records.study import Study

GIB = 2**30


def weights_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The asset `models/weights`, one partition per family, whatever instruments the study runs."""

    @declare(
        study,
        MODELS,
        "models",
        docs="own_model",
        line=lines.weights_line,
        picture=pictures.draw_weights,
        partitions_def=model_partitions(study),
        reads=(),
        entries=("models",),
        io_manager_key="json",
        kinds={"huggingface"},
        pool="hub",
    )
    def weights(context: dg.AssetExecutionContext, storage: Storage) -> dg.MaterializeResult[dict[str, Any]]:
        """A family's models, whole in this machine's cache of the hub before any job loads them; and how they are run.

        Its data version is what readings rest on: commits, dtype, and how prompts are shown. It stays while a family
        only gains models, as it does with a new language.
        """
        name = context.partition_key
        family, before = study.families[name], fetched_weights(storage, name)
        models = tuple(HubModel(model=model, revision=family.revision) for model in study.model_ids(name))
        fetched: dict[str, Any] = {"models": []}
        shown: dict[str, Any] = {}
        if models:
            folder = storage.job_folder(context.asset_key, name)
            job = FetchWeightsJob(models=models, offline=family.offline, summary=folder / "summary.json")
            log = run_node_job(context, job, study, storage)
            fetched = read_record(job.summary)
            rows = [
                {"model": each["model"], "commit": each["commit"] or _kind(each), "GiB": each["size"] / GIB}
                | {"files": each["files"], "was there": each["was_there"]}
                for each in fetched["models"]
            ]
            # The cache as text, not as a path: removed weights are no reason to fetch them again.
            found = {"cache": fetched["cache"], "free_gib": fetched["free_gib"], "models": table_of(rows)}
            shown = shown_log(storage, log) | found
        chat = {"prompting": family.prompting.model_dump(mode="json")} if family.prompting.is_chat else {}
        host = {"model": family.model_id, **family.endpoint.asked} if family.endpoint else {}
        now = fetched | {"run": {"dtype": family.dtype, "bos": family.bos} | chat | host}
        version = data_version(before, now)
        value = now | {"version": version}
        return dg.MaterializeResult(value=value, metadata=shown, data_version=dg.DataVersion(version))

    return [weights]


def _kind(fetched: dict[str, Any]) -> str:
    """What stands in the place of a commit: that there is a folder, or a GGUF file of some quantisation."""
    return f"(GGUF, {fetched['gguf']['quantisation']})" if fetched["gguf"] else "(folder)"


def data_version(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The version of a family's weights: that of before where nothing that was there has changed.

    Args:
        before: what was stored of the family; empty where nothing was.
        now: its `models` with their stamps, and how they are `run`.
    """
    earlier, stamps = ({entry["model"]: entry["stamp"] for entry in found.get("models", [])} for found in (before, now))
    is_kept = before.get("run") == now["run"] and earlier.items() <= stamps.items()
    return before["version"] if is_kept else sha256_json([now["run"], sorted(stamps.items())])[:16]
