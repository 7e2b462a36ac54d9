"""Reference models of any instrument: what they learn from, the job that trains them, and what the UI shows of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import dagster as dg

from valuesassets.desk.staleness import folder_metadata
from valuesassets.orchestration.assets.declaring import declare, sources
from valuesassets.orchestration.first_look.pictures import draw_losses
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, picture_of
from valuesassets.orchestration.grid.cells import model_folder
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_json
from valuesassets.records.jobs import PhantomPlan, TrainReferenceJob
from valuesassets.records.parquet import write_table
from valuesassets.records.seals import read_record
from valuesassets.records.study import Cell, Study
from valuesassets.records.table import Table
from valuesassets.records.tables import PLANTED_TEXTS

Plant = Callable[[Sequence[Cell], Mapping[str, Any]], tuple[Iterable[Mapping[str, Any]], Mapping[str, object]]]
"""What a family learns from: the rows of a table, and what the metadata of its file say."""


def reference_models_asset(
    study: Study, instrument: Instrument, skill: str, plant: Plant, table: Table = PLANTED_TEXTS, **options: Any
) -> dg.AssetsDefinition:
    """The asset `reference_models` of an instrument; the hashes of its models are its data version.

    Args:
        skill: what the models are trained to do, as in `answer as planted`.
        plant: gives, of a family's cells and of the asset's inputs, what the family learns from.
        table: what `plant` gives rows of: `PLANTED_TEXTS` or `PLANTED_TRANSCRIPTS`.
        options: what is declared besides, see `declare`.
    """

    def reference_models(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> dg.MaterializeResult:
        folder, cells = storage.job_folder(context.asset_key, None), trained_cells(study, instrument, inputs)
        plans: list[PhantomPlan] = []
        for family, group in groupby(cells, attrgetter("family")):
            path, cells_of_family = folder / f"{family}.parquet", list(group)
            rows, described = plant(cells_of_family, inputs)
            write_table(path, rows, table, described)
            languages: dict[Path, list[str]] = {}
            for cell in cells_of_family:
                model = model_folder(study, storage, family, cell.language, instrument)
                languages.setdefault(model, []).append(cell.language)
            plans += [
                PhantomPlan(**{table.name: path}, languages=tuple(dict.fromkeys(codes)), folder=model)
                for model, codes in languages.items()
            ]
        steps, summary = study.phantom.steps, folder / "summary.json"
        job = TrainReferenceJob(phantoms=tuple(plans), steps=steps, seed=study.seed, summary=summary)
        log = run_node_job(context, job, study, storage, cells[0].family)
        models = read_record(summary)["phantoms"]
        largest = max(model["largest_loss"] for model in models)
        metadata = {
            SUMMARY: f"{len(models)} models trained to {skill}, largest loss {largest:.4f}",
            "models": table_of(models),
            PICTURE: picture_of(draw_losses(models)),
        }
        written = folder_metadata(storage.folder.joinpath(*context.asset_key.path))
        version = sha256_json([model["hash"] for model in models])[:16]
        return dg.MaterializeResult(
            metadata=metadata | written | shown_log(storage, log), data_version=dg.DataVersion(version)
        )

    reference_models.__doc__ = (
        f"The reference models: tiny, trained here to {skill}; folders of known hash are skipped."
    )
    wiring = sources(plant)
    declared = declare(study, instrument, "calibration", kinds={"pytorch"}, pool="node", wiring=wiring, **options)
    return declared(reference_models)


def trained_cells(study: Study, instrument: Instrument, inputs: Mapping[str, Any]) -> list[Cell]:
    """The cells of an instrument whose models are trained here, family by family, without those that lack trials where
    the asset takes `trials`; MissingData where there are none."""
    cells = [cell for cell in instrument.cells(study) if study.families[cell.family].kind == "reference"]
    if "trials" in inputs:
        cells = [cell for cell in cells if inputs["trials"].get(cell.part.name)]
    if not cells:
        raise MissingData("there are no trials yet for reference models to answer; materialise trials first")
    return cells
