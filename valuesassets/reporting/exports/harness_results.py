"""Readings as results of lm-evaluation-harness: `results_*.json` for each model, `samples_*.jsonl` for each task.

Source of the format: lm-evaluation-harness 0.4 (EleutherAI), `EvaluationTracker` and `result_schema`. A task is a part
of an instrument, such as a language; a document is a trial, and a request is one of its labels. There are no right
answers, so the metrics are `METRICS`.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from valuesassets.records.files import write_json, write_text
from valuesassets.records.trials import Reading, Trial
from valuesassets.reporting.exports.read_cells import METRICS, ReadCell, labels_of, log_probs

VERSION = 1.0
FILTER = "none"


def write_harness_results(folder: Path, cells: Sequence[ReadCell]) -> list[Path]:
    """Write the files of every model into a folder of its name, and return the paths of the results files."""
    written = []
    for model, group in groupby(sorted(cells, key=lambda cell: cell.model), key=lambda cell: cell.model):
        model_cells = list(group)
        read_at = max(cell.read_at for cell in model_cells).isoformat(timespec="microseconds")
        date = read_at.partition("+")[0].replace(":", "-")
        place = folder / _sanitized(model)
        samples = {
            cell.task: [_sample(number, *scored) for number, scored in enumerate(cell.scored())] for cell in model_cells
        }
        for task, rows in samples.items():
            lines = (json.dumps(row, ensure_ascii=False) for row in rows)
            write_text(place / f"samples_{task}_{date}.jsonl", "".join(f"{line}\n" for line in lines))
        written.append(place / f"results_{date}.json")
        write_json(written[-1], _results(model, model_cells, samples))
    return written


def _results(
    model: str, cells: Sequence[ReadCell], samples: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    first = cells[0]
    model_args = {"pretrained": model, "revision": first.plain("revision"), "dtype": first.plain("dtype")}
    hashes = {
        task: _hash("".join(row["doc_hash"] + row["prompt_hash"] + row["target_hash"] for row in rows))
        for task, rows in samples.items()
    }
    return {
        "results": {task: _aggregated(task, rows) for task, rows in samples.items()},
        "group_subtasks": {task: [] for task in samples},
        "configs": {cell.task: _task_config(cell) for cell in cells},
        "versions": dict.fromkeys(samples, VERSION),
        "n-shot": dict.fromkeys(samples, 0),
        "higher_is_better": {task: {"p_valid": True, "mean_unit": None} for task in samples},
        "n-samples": {task: {"original": len(rows), "effective": len(rows)} for task, rows in samples.items()},
        "config": {
            "model": "valuesassets",
            "model_args": {name: value for name, value in model_args.items() if value},
            "model_num_parameters": int(first.plain("n_parameters") or 0),
            "model_dtype": first.plain("dtype"),
            "model_revision": first.plain("revision"),
            "model_sha": first.plain("weights_id"),
            "batch_size": None,
            "device": first.plain("device"),
            "limit": None,
            "bootstrap_iters": 0,
        },
        "git_hash": None,
        "date": max(cell.read_at for cell in cells).timestamp(),
        "task_hashes": hashes,
        "model_source": "valuesassets",
        "model_name": model,
        "model_name_sanitized": _sanitized(model),
        **dict.fromkeys(("system_instruction", "system_instruction_sha", "fewshot_as_multiturn", "chat_template")),
        "chat_template_sha": first.plain("template_sha256") or None,
    }


def _aggregated(task: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    aggregate: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(rows)}
    for name in METRICS:
        values = [row[name] for row in rows if name in row]
        if values:
            aggregate[f"{name},{FILTER}"] = fmean(values)
            error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else "N/A"
            aggregate[f"{name}_stderr,{FILTER}"] = error
    return aggregate


def _task_config(cell: ReadCell) -> dict[str, Any]:
    return {
        "task": cell.task,
        "output_type": "multiple_choice",
        "doc_to_text": "{{prompt}}",
        "doc_to_choice": "{{labels}}",
        "num_fewshot": 0,
        "metric_list": [{"metric": name, "aggregation": "mean"} for name in METRICS],
        "metadata": {"version": VERSION, "family": cell.family, "part": cell.part, "instrument": cell.instrument},
    }


def _sample(place: int, trial: Trial, reading: Reading, metrics: Mapping[str, float]) -> dict[str, Any]:
    readout, logs = labels_of(trial), log_probs(reading)
    doc = {
        "trial_id": trial.trial_id,
        "question_id": trial.question_id,
        "language": trial.language,
        "order": trial.order,
        "wording": trial.wording,
        "prompt": trial.prompt,
        "chat": [turn._asdict() for turn in trial.chat or ()],
        "labels": list(readout.labels),
        "values": list(readout.values),
        "status": str(reading.status),
    }
    answers = [[str(log), str(log == max(logs))] for log in logs]
    arguments = ({"arg_0": trial.prompt, "arg_1": label} for label in readout.labels)
    return {
        "doc_id": place,
        "doc": doc,
        "target": "",
        "arguments": {f"gen_args_{number}": each for number, each in enumerate(arguments)},
        "resps": [[each] for each in answers],
        "filtered_resps": answers,
        "filter": FILTER,
        "metrics": [*METRICS],
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(trial.prompt),
        "target_hash": _hash(""),
        **metrics,
    }


def _sanitized(model: str) -> str:
    """A model's name as the name of a folder, as in the harness."""
    return re.sub(r"[\"<>:/|\\?*\[\]]+", "__", model)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
