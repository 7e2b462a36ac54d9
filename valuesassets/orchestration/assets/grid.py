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
from valuesassets.orchestration.grid.left_out import overrides_of, why_no_trials
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
from valuesassets.records.study import Cell, Study
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
        modules=["valuesassets.answers.preflight", *([directional.partition(":")[0]] if directional else [])],
    )
    def preflight(
        context: dg.AssetExecutionContext, storage: Storage, trials: dict[str, list[Trial]]
    ) -> dg.MaterializeResult[dict[str, Any]]:
        """Ten questions in each part that a family is asked in, in every order, before GPU hours are spent."""
        from valuesassets.answers.preflight import judge_preflight, left_out_parts

        own = import_module(homes(instrument.home or f"{PACKAGE}.instruments.{instrument.name}", "preflight")[0])
        name = context.partition_key
        overrides, folder = overrides_of(study, instrument, name), storage.job_folder(context.asset_key, name)
        leaning = named(directional) if directional else {}
        known = {cell.part: trials[cell.part.name] for cell in cells_of_family(study, instrument, name, trials)}
        chosen, cells = {}, {}
        for part, written in known.items():
            if not written:
                continue
            chosen[part.name] = own.choose_preflight_trials(written, study.preflight.questions, leaning)
            if not chosen[part.name]:
                continue
            # Read apart from the grid: a cell's last bits shall not depend on what its preflight asked.
            asked, readings = folder / f"{part}.trials.parquet", folder / f"{part}.parquet"
            write_table(asked, trial_rows(chosen[part.name]), TRIALS)
            cell = str(Cell(name, part))
            cells[part.name] = score_cell(study, storage, name, part.language, asked, readings, cell, instrument)
        shown: dict[str, Any] = {}
        if cells:
            job = score_job(study, name, cells.values())
            shown["whole_log"] = link_to(storage, run_node_job(context, job, study, storage, name))
        verdict, failing, doubtful = judge_preflight(
            name,
            chosen,
            {part: read_readings(cell.readings) for part, cell in cells.items()},
            {part: _report(table_metadata(cell.readings)) for part, cell in cells.items()},
            study.thresholds,
            overrides,
            leaning,
            {part.name: why_no_trials(written) for part, written in known.items() if not written},
            own.examine_preflight,
        )
        gates = sum(finding["is_gate"] for finding in verdict["findings"])
        left_out = left_out_parts(verdict, overrides)
        tables = {name: verdict[name] for name in ("findings", "wordings")} | {
            "cells": [{"part": part} | said for part, said in verdict["parts"].items()],
            "tokenizers": [{"part": part} | flat_report(found) for part, found in verdict["tokenizers"].items()],
        }
        stored = storage.files(instrument.key("readings"), "parquet")
        # What was found of one part makes no other part's cell stale, unless it takes back what was read before.
        version = [len(left_out) < len(known), study.preflight.override]
        version += [part for part in sorted(left_out) if f"{name}/{part}" in stored]
        is_warning = len(left_out) < len(known)
        log: dict[str, Any] = {"log": shown["whole_log"]} if cells else {}
        return dg.MaterializeResult(
            value=verdict,
            metadata=shown | {title: table_of(rows) for title, rows in tables.items() if rows},
            data_version=dg.DataVersion(sha256_json(version)[:16]),
            check_results=[
                checks.PREFLIGHT_PASSES.result(failing, gates, is_warning, **log),
                checks.PREFLIGHT_IS_PLAUSIBLE.result(doubtful, len(verdict["findings"]) - gates, **log),
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


def cells_of_family(study: Study, instrument: Instrument, family: str, trials: Mapping[str, Any]) -> list[Cell]:
    """The cells of a family whose trials are written, also where there are none to ask.

    Raises:
        MissingData: there are no trials yet in any of its parts.
    """
    cells = [cell for cell in instrument.cells(study) if cell.family == family and cell.part.name in trials]
    if not cells:
        raise MissingData(f"{family}: there are no trials yet in any of its languages; materialise trials first")
    return cells
