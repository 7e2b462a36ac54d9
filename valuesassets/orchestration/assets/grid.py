"""What every instrument has between its trials and its answers: the preflight of its models, and their readings."""

import json
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import dagster as dg

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.code_versions import PACKAGE, homes
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.shown import link_to
from valuesassets.orchestration.grid.cells import WEIGHTS, readings_job, score_cell, score_job
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.grid.shown_readings import flat_report, show_readings, version_checks
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS, table_of
from valuesassets.orchestration.partitions import cell_of, cell_partitions, model_partitions
from valuesassets.orchestration.record_checks import checks_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_json
from valuesassets.records.parquet import read_readings, table_metadata, trial_rows, write_table
from valuesassets.records.study import Cell, Part, Study
from valuesassets.records.tables import READINGS, TRIALS
from valuesassets.records.trials import Trial
from valuesassets.reporting.analyses import named


def grid_assets(study: Study, instrument: Instrument, directional: str = "") -> list[dg.AssetsDefinition]:
    """From the trials of an instrument to the readings of its cells.

    Args:
        directional: `module:name` of the items whose answer every sane model leans one way on.
    """
    declared = partial(declare, study, instrument, "models", docs="scoring")
    trials_key = instrument.key("trials")
    models_first = [instrument.key("reference_models")] if study.has_reference_models else []
    models_first += [WEIGHTS]

    @declared(
        line=lines.preflight_line,
        picture=pictures.draw_preflight,
        checks=[checks.PREFLIGHT_PASSES, checks.PREFLIGHT_IS_PLAUSIBLE],
        partitions_def=model_partitions(study),
        ins={"trials": dg.AssetIn(trials_key, metadata=DICT_OF_PARTITIONS, partition_mapping=dg.AllPartitionMapping())},
        deps=models_first,
        io_manager_key="json",
        kinds={"pytorch"},
        pool="node",
        reads=("preflight", "thresholds"),
        modules=[directional.partition(":")[0]] if directional else [],
    )
    def preflight(
        context: dg.AssetExecutionContext, storage: Storage, trials: dict[str, list[Trial]]
    ) -> dg.MaterializeResult[dict[str, Any]]:
        """Ten questions per model of a family, in every order, before GPU hours are spent."""
        judge = import_module(homes(instrument.home or f"{PACKAGE}.instruments.{instrument.name}", "preflight")[0])
        name = context.partition_key
        family, folder = study.families[name], storage.job_folder(context.asset_key, name)
        leaning = named(directional) if directional else {}
        parts = _first_parts(study, instrument, name, trials)
        chosen, cells = {}, {}
        for part in parts if family.model_type == "mono" else parts[:1]:
            language = part.language
            chosen[language] = judge.choose_preflight_trials(trials[part.name], study.preflight.questions, leaning)
            # Read apart from the grid: a cell's last bits shall not depend on what its preflight asked.
            asked, readings = folder / f"{language}.trials.parquet", folder / f"{language}.parquet"
            write_table(asked, trial_rows(chosen[language]), TRIALS)
            cells[language] = score_cell(study, storage, name, language, asked, readings, instrument=instrument)
        log = link_to(storage, run_node_job(context, score_job(study, name, cells.values()), study, storage, name))
        read = {code: read_readings(cell.readings) for code, cell in cells.items()}
        reports = {code: _report(table_metadata(cell.readings)) for code, cell in cells.items()}
        verdict, failing, doubtful = judge.judge_preflight(
            name, chosen, read, reports, study.thresholds, study.preflight.override, leaning
        )
        gates = sum(finding["is_gate"] for finding in verdict["findings"])
        tables = {name: verdict[name] for name in ("findings", "wordings")} | {
            "tokenizers": [{"language": code} | flat_report(found) for code, found in verdict["tokenizers"].items()]
        }
        return dg.MaterializeResult(
            value=verdict,
            metadata={"whole_log": log} | {title: table_of(rows) for title, rows in tables.items() if rows},
            # The gate is all that cells rest on: what was found of a new language makes no other language stale.
            data_version=dg.DataVersion(sha256_json([verdict["passed"], verdict["override"]])[:16]),
            check_results=[
                checks.PREFLIGHT_PASSES.result(failing, gates, log=log),
                checks.PREFLIGHT_IS_PLAUSIBLE.result(doubtful, len(verdict["findings"]) - gates, log=log),
            ],
        )

    @declared(
        checks=[checks.BATCHES_DO_NOT_MATTER, *version_checks(study), *checks_of(instrument, READINGS)],
        partitions_def=cell_partitions(study, instrument),
        deps=[trials_key, *models_first],
        kinds={"pytorch", "parquet"},
        pool="slurm",
        reads=(),
    )
    def readings(
        context: dg.AssetExecutionContext, storage: Storage, preflight: dict[str, Any]
    ) -> dg.MaterializeResult:
        """What the model answers to each trial: the one GPU step."""
        name, part = cell_of(context)
        job = readings_job(study, storage, instrument, Cell(name, instrument.part_of(study, part)), preflight)
        log = run_node_job(context, job, study, storage, name)
        metadata, version, results = show_readings(job.cells[0].readings, log, storage, instrument, study)
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version), check_results=results)

    return [preflight, readings]


def _report(described: Mapping[str, str]) -> dict[str, Any]:
    """What a file of readings says of its tokenizer, and of how spans were read."""
    road = {"road": described["road"]} if "road" in described else {}
    return json.loads(described.get("tokenizer_report", "{}")) | road


def _first_parts(study: Study, instrument: Instrument, family: str, trials: Mapping[str, Any]) -> list[Part]:
    """Of each language that a family serves, the first part with trials: a model answers in all parts of a language."""
    found: dict[str, Part] = {}
    for cell in instrument.cells(study):
        if cell.family == family and cell.part.name in trials:
            found.setdefault(cell.language, cell.part)
    if not found:
        raise MissingData(f"{family}: there are no trials yet in any of its languages; materialise trials first")
    return list(found.values())
