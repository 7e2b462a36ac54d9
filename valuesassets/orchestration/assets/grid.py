"""The assets of every instrument between its trials and its answers: the preflight of its models, their readings."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare, sources
from valuesassets.orchestration.code_versions import homes
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.shown import link_to
from valuesassets.orchestration.grid.cells import (
    WEIGHTS,
    generate_cell,
    readings_job,
    score_cell,
    score_job,
    written_job,
)
from valuesassets.orchestration.grid.drawn_cells import (
    DRAWN_TEXTS,
    DRAWN_TRIALS,
    PREFLIGHT_DRAWS,
    count_draws,
    draws_of,
    take_draws,
    write_drawn_trials,
)
from valuesassets.orchestration.grid.left_out import overrides_of, why_no_trials
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.grid.shown_records import flat_report, show_readings, version_checks
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import cell_of, cell_partitions, model_partitions
from valuesassets.orchestration.record_checks import checks_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_json
from valuesassets.records.instruments import named
from valuesassets.records.jobs import GenerateCell, GenerateJob, ScoreCell, ScoreJob
from valuesassets.records.parquet import (
    read_readings,
    read_trials,
    reading_rows,
    table_metadata,
    trial_rows,
    write_table,
)
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import READINGS, TRIALS
from valuesassets.records.trials import Trial


def grid_assets(study: Study, instrument: Instrument, directional: str = "") -> list[dg.AssetsDefinition]:
    """From the trials of an instrument to the readings of its cells; `directional` names, as `module:name`, the items
    to which every sane model answers more in one direction."""
    return [preflight_asset(study, instrument, directional), readings_asset(study, instrument)]


def models_first(study: Study, instrument: Instrument) -> list[dg.AssetKey]:
    """The assets that models come from, before they can be asked."""
    return [*([instrument.key("reference_models")] if study.has_reference_models else []), WEIGHTS]


def preflight_asset(study: Study, instrument: Instrument, directional: str) -> dg.AssetsDefinition:
    """The trial run of each family."""

    @declare(
        study,
        instrument,
        "models",
        docs="scoring",
        line=lines.preflight_line,
        picture=pictures.draw_preflight,
        checks=[checks.PREFLIGHT_PASSES, checks.PREFLIGHT_IS_PLAUSIBLE],
        partitions_def=model_partitions(study),
        everywhere=["trials"],
        deps=models_first(study, instrument),
        io_manager_key="json",
        kinds={"pytorch"},
        pool="node",
        reads=("preflight", "thresholds"),
        modules=[
            "valuesassets.answers.preflight",
            *([directional.partition(":")[0]] if directional else []),
            *drawing_modules(study, instrument),
        ],
        wiring=sources(asked_cell, _job_of, answered_file, preflight_version, _tables, _report),
    )
    def preflight(
        context: dg.AssetExecutionContext, storage: Storage, trials: dict[str, list[Trial]]
    ) -> dg.MaterializeResult[dict[str, Any]]:
        """Ten questions in each part that a family is asked in, in every order, before GPU hours are spent."""
        from valuesassets.answers.preflight import judge_preflight, left_out_parts

        derivation = import_module(homes(instrument.package, "preflight")[0])
        name = context.partition_key
        overrides, folder = overrides_of(study, instrument, name), storage.job_folder(context.asset_key, name)
        leaning = named(directional) if directional else {}
        parts = {cell.part: trials[cell.part.name] for cell in cells_of_family(study, instrument, name, trials)}
        chosen = {
            part.name: derivation.choose_preflight_trials(written, study.preflight.questions, leaning)
            for part, written in parts.items()
            if written
        }
        cells = [
            asked_cell(study, storage, instrument, Cell(name, part), folder, chosen[part.name])
            for part in parts
            if chosen.get(part.name)
        ]
        log: dict[str, Any] = {}
        if cells:
            job = _job_of(study, storage, name, cells)
            log["log"] = link_to(storage, run_node_job(context, job, study, storage, name))
        answered = {path.stem: path for path in (answered_file(study, cell, folder) for cell in cells)}
        verdict, failing, doubtful = judge_preflight(
            name,
            chosen,
            {part: read_readings(path) for part, path in answered.items()},
            {part: _report(table_metadata(path)) for part, path in answered.items()},
            study.thresholds,
            overrides,
            leaning,
            {part.name: why_no_trials(written) for part, written in parts.items() if not written},
            derivation.examine_preflight,
        )
        n_gates = sum(finding["is_gate"] for finding in verdict["findings"])
        left_out = left_out_parts(verdict, overrides)
        is_warning = len(left_out) < len(parts)
        version = preflight_version(study, storage, instrument, name, left_out, is_warning)
        whole_log = {"whole_log": log["log"]} if log else {}
        return dg.MaterializeResult(
            value=verdict,
            metadata=whole_log | {title: table_of(rows) for title, rows in _tables(verdict).items() if rows},
            data_version=version,
            check_results=[
                checks.PREFLIGHT_PASSES.result(failing, n_gates, is_warning, **log),
                checks.PREFLIGHT_IS_PLAUSIBLE.result(doubtful, len(verdict["findings"]) - n_gates, **log),
            ],
        )

    return preflight


def asked_cell(
    study: Study, storage: Storage, instrument: Instrument, cell: Cell, folder: Path, trials: Sequence[Trial]
) -> ScoreCell | GenerateCell:
    """The part of a preflight's job that asks one cell, its trials written into a folder.

    It is read apart from the grid: a cell's last bits shall not depend on what its preflight asked.
    """
    path, draws = folder / f"{cell.part}.trials.parquet", draws_of(study, instrument, cell.family)
    write_table(path, trial_rows(trials), TRIALS)
    if draws is None:
        readings = folder / f"{cell.part}.parquet"
        return score_cell(study, storage, cell.family, cell.language, path, readings, str(cell), instrument)
    drawn, texts = folder / f"{cell.part}.{DRAWN_TRIALS}", folder / f"{cell.part}.{DRAWN_TEXTS}.parquet"
    write_drawn_trials(drawn, trials, study, draws, cell.family, PREFLIGHT_DRAWS)
    return generate_cell(study, storage, cell, instrument, str(cell), drawn, texts, is_drawn=True)


def _job_of(
    study: Study, storage: Storage, family: str, cells: Sequence[ScoreCell | GenerateCell]
) -> ScoreJob | GenerateJob:
    """The job that asks these cells of a family, which are all of one kind. Draws behind an API are kept for the grid,
    since they are paid for."""
    drawn = [cell for cell in cells if isinstance(cell, GenerateCell)]
    if drawn:
        is_paid = study.families[family].endpoint is not None
        return written_job(study, family, drawn, storage.known_readings if is_paid else None)
    return score_job(study, family, [cell for cell in cells if isinstance(cell, ScoreCell)])


def answered_file(study: Study, cell: ScoreCell | GenerateCell, folder: Path) -> Path:
    """The readings of a cell that a preflight has asked; those of draws are counted first."""
    if isinstance(cell, ScoreCell):
        return cell.readings
    part = cell.name.partition("/")[2]
    readings = folder / f"{part}.parquet"
    counted = count_draws(study, part, read_trials(folder / f"{part}.trials.parquet"), cell.answers)
    write_table(readings, reading_rows(counted), READINGS, table_metadata(cell.answers))
    return readings


def preflight_version(
    study: Study,
    storage: Storage,
    instrument: Instrument,
    family: str,
    left_out: Iterable[str],
    is_any_asked: bool,
) -> dg.DataVersion:
    """The data version of a preflight: whether any part is asked, and which parts with readings no longer are.

    A finding about one part makes no other part's cell stale, unless it takes back what was read before.
    """
    stored = storage.files(instrument.key("readings"), "parquet")
    version = [is_any_asked, study.preflight.override]
    version += [part for part in sorted(left_out) if f"{family}/{part}" in stored]
    return dg.DataVersion(sha256_json(version)[:16])


def _tables(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of a preflight's verdict, by title, as the UI shows them."""
    return {name: verdict[name] for name in ("findings", "wordings")} | {
        "cells": [{"part": part} | row for part, row in verdict["parts"].items()],
        "tokenizers": [{"part": part} | flat_report(report) for part, report in verdict["tokenizers"].items()],
    }


def _report(described: Mapping[str, str]) -> dict[str, Any]:
    """The report on the tokenizer, and the way spans were read, of the metadata of a file of readings."""
    road = {"road": described["road"]} if "road" in described else {}
    return json.loads(described.get("tokenizer_report", "{}")) | road


def readings_asset(study: Study, instrument: Instrument) -> dg.AssetsDefinition:
    """The answers of each cell's model, as probabilities."""

    @declare(
        study,
        instrument,
        "models",
        docs="scoring",
        checks=[checks.BATCHES_DO_NOT_MATTER, *version_checks(study), *checks_of(instrument, READINGS)],
        partitions_def=cell_partitions(study, instrument),
        deps=[instrument.key("trials"), *models_first(study, instrument)],
        kinds={"pytorch", "parquet"},
        pool="slurm",
        reads=(),
        modules=drawing_modules(study, instrument),
    )
    def readings(
        context: dg.AssetExecutionContext, storage: Storage, preflight: dict[str, Any]
    ) -> dg.MaterializeResult:
        """What the model answers to each trial: the one GPU step."""
        name, part = cell_of(context)
        cell, rounds = Cell(name, instrument.part_of(study, part)), 1
        while True:
            job = readings_job(study, storage, instrument, cell, preflight, rounds)
            log = run_node_job(context, job, study, storage, name)
            if not take_draws(study, storage, instrument, cell, rounds):
                break
            rounds += 1
        path = storage.path(context.asset_key, context.partition_key, "parquet")
        metadata, version, results = show_readings(path, log, storage, instrument, study)
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version), check_results=results)

    return readings


def drawing_modules(study: Study, instrument: Instrument) -> list[str]:
    """The modules that make readings of draws, where any family is drawn; none where probabilities are read."""
    is_drawn = any(draws_of(study, instrument, family) for family in study.families)
    return ["valuesassets.answers.drawn_answers", "valuesassets.node.generate"] if is_drawn else []


def cells_of_family(study: Study, instrument: Instrument, family: str, trials: Mapping[str, Any]) -> list[Cell]:
    """The cells of a family whose trials have been made, also those in which no question can be asked; MissingData
    where there are none."""
    cells = [cell for cell in instrument.cells(study) if cell.family == family and cell.part.name in trials]
    if not cells:
        raise MissingData(f"{family}: there are no trials yet in any of its languages; materialise trials first")
    return cells
