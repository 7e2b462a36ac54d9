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
from valuesassets.records.places import labelled
from valuesassets.records.seals import read_record
from valuesassets.records.study import Study

GIB = 2**30


def weights_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The asset `models/weights`, one partition per family, shared by all instruments of the study."""

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
        """A family's models, fetched whole into this machine's cache of the hub, and how they are run.

        Its data version is what readings rest on: commits, dtype, and how prompts are shown. It stays while a family
        only gains models, as it does with a new language.
        """
        name = context.partition_key
        family, before = study.families[name], fetched_weights(storage, name)
        models = tuple(
            HubModel(model=model, revision=family.revision, adapter=adapter, adapter_revision=family.adapter_revision)
            for model, adapter in study.weights(name)
        )
        fetched: dict[str, Any] = {"models": []}
        metadata: dict[str, Any] = {}
        if models:
            folder = storage.job_folder(context.asset_key, name)
            job = FetchWeightsJob(models=models, offline=family.offline, summary=folder / "summary.json")
            log = run_node_job(context, job, study, storage)
            fetched = read_record(job.summary)
            rows = [
                {"model": each["model"], "commit": each["commit"] or _kind(each), "GiB": each["size"] / GIB}
                | {"files": each["files"], "was there": each["was_there"]}
                | ({"adapter": each["adapter"]} if "adapter" in each else {})
                for each in fetched["models"]
            ]
            # The cache as text, not as a path: removed weights are no reason to fetch them again.
            entries = {"cache": fetched["cache"], "free_gib": fetched["free_gib"], "models": table_of(rows)}
            metadata = shown_log(storage, log) | entries
        is_framed = family.prompting.is_chat or family.prompting.preamble is not None
        chat = {"prompting": family.prompting.model_dump(mode="json")} if is_framed else {}
        host = {"model": family.model_id, **family.endpoint.asked} if family.endpoint else {}
        now = fetched | {"run": {"dtype": family.dtype, "bos": family.bos} | chat | host}
        version = data_version(before, now)
        value = now | {"version": version}
        return dg.MaterializeResult(value=value, metadata=metadata, data_version=dg.DataVersion(version))

    return [weights]


def _kind(fetched: dict[str, Any]) -> str:
    """What is shown in place of a commit: a folder, or a GGUF file with its quantisation."""
    return f"(GGUF, {fetched['gguf']['quantisation']})" if fetched["gguf"] else "(folder)"


def _name(fetched: dict[str, Any]) -> str:
    """The name of a model with its adapter, if it has one."""
    return labelled(fetched["model"], fetched.get("adapter"))


def data_version(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The version of a family's weights: the earlier version where no model that was fetched has changed.

    Args:
        before: what was stored of the family; empty where nothing was.
        now: its `models` with their stamps, and how they are `run`.
    """
    earlier, stamps = ({_name(each): each["stamp"] for each in record.get("models", [])} for record in (before, now))
    is_unchanged = before.get("run") == now["run"] and earlier.items() <= stamps.items()
    return before["version"] if is_unchanged else sha256_json([now["run"], sorted(stamps.items())])[:16]
