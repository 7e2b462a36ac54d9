"""A cell's readings as a log of inspect_ai (`.eval`), for its viewer and its function `read_eval_log`.

Source of the format: inspect_ai (UK AI Security Institute), version 2 of its log: a zip of JSON files. There
are no right answers, so targets are empty; scores are `METRICS`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from valuesassets.records.files import sha256_json, whole_file
from valuesassets.records.trials import Reading, Trial
from valuesassets.records.zips import write_zip
from valuesassets.reporting.exports.read_cells import METRICS, ReadCell, labels_of, log_probs

ID_LENGTH = 22
STEP: dict[str, Any] = {"solver": "label_probabilities", "params": {}}


def write_inspect_log(path: Path, cell: ReadCell) -> None:
    """Write the log of a cell, whole or not at all."""
    samples = [_sample(cell, *scored) for scored in cell.scored()]
    started = {"version": 2, "eval": _spec(cell), "plan": {"name": "plan", "steps": [STEP], "config": {}}}
    stats = {"started_at": cell.created, "completed_at": cell.created, "model_usage": {}}
    header = {"status": "success", **started, "results": _results(samples), "stats": stats}
    summaries = [_summary(sample) for sample in samples]
    content = {"header.json": header, "summaries.json": summaries, "_journal/start.json": started}
    content |= {f"samples/{sample['id']}_epoch_1.json": sample for sample in samples}
    with whole_file(path) as temporary:
        write_zip(temporary, {name: json.dumps(each, ensure_ascii=False).encode() for name, each in content.items()})


def _spec(cell: ReadCell) -> dict[str, Any]:
    identity = [cell.study, cell.instrument, cell.family, cell.part, dict(cell.metadata)]
    ids = {name: sha256_json([name, *identity])[:ID_LENGTH] for name in ("eval_id", "run_id", "task_id")}
    sample_ids = [trial.trial_id for trial, _ in cell.readings]
    return {
        **ids,
        "created": cell.created,
        "task": cell.task,
        "task_version": 0,
        "task_args": {},
        "dataset": {"name": cell.task, "samples": len(sample_ids), "sample_ids": sample_ids},
        "model": cell.model,
        "model_args": {name: value for name in ("revision", "dtype", "device") if (value := cell.plain(name))},
        "config": {"epochs": 1},
        "packages": {},
        "metadata": {"family": cell.family, "part": cell.part, "instrument": cell.instrument, **cell.metadata},
    }


def _sample(cell: ReadCell, trial: Trial, reading: Reading, metrics: Mapping[str, float]) -> dict[str, Any]:
    readout, logs = labels_of(trial), log_probs(reading)
    turns = [{"role": turn.role, "content": turn.text} for turn in trial.chat or ()]
    sample: dict[str, Any] = {
        "id": trial.trial_id,
        "epoch": 1,
        "input": turns or trial.prompt,
        "choices": list(readout.labels),
        "target": "",
        "messages": turns or [{"role": "user", "content": trial.prompt}],
        "output": {"model": cell.model, "choices": []},
        "scores": {name: {"value": value, "explanation": METRICS[name]} for name, value in metrics.items()},
        "metadata": {
            "question_id": trial.question_id,
            "language": trial.language,
            "order": trial.order,
            "wording": trial.wording,
            "condition": trial.condition,
            "values": list(readout.values),
            "label_probs": list(reading.label_probs or ()),
            "status": str(reading.status),
            "reading_key": reading.reading_key,
        },
    }
    if not logs:
        reason = reading.reason or str(reading.status)
        return sample | {"error": {"message": reason, "traceback": reason, "traceback_ansi": reason}}
    ranked = sorted(zip(readout.labels, logs, strict=True), key=lambda each: -each[1])
    tokens = [{"token": label, "logprob": log} for label, log in ranked]
    answer = {"role": "assistant", "content": ranked[0][0], "source": "generate"}
    logprobs = {"content": [{**tokens[0], "top_logprobs": tokens}]}
    sample["output"]["choices"] = [{"message": answer, "stop_reason": "stop", "logprobs": logprobs}]
    for score in sample["scores"].values():
        score["answer"] = ranked[0][0]
    return sample | {"messages": [*sample["messages"], answer]}


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    fields = ("id", "epoch", "input", "choices", "target", "scores")
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {name: sample[name] for name in fields} | {"completed": True} | error


def _results(samples: list[dict[str, Any]]) -> dict[str, Any]:
    scores = []
    for name in METRICS:
        values = [sample["scores"][name]["value"] for sample in samples if name in sample["scores"]]
        if values:
            mean = {"name": "mean", "value": sum(values) / len(values), "params": {}}
            scores.append({"name": name, "scorer": name, "params": {}, "metrics": {"mean": mean}})
    n_read = sum(bool(sample["scores"]) for sample in samples)
    return {"total_samples": len(samples), "completed_samples": n_read, "scores": scores}
