"""The report of an instrument: one page with what can be claimed, every figure, and where each number comes from."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
from PIL import Image

from valuesassets.orchestration.assets.analyses import GROUP
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, link_to, picture_from
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.partitions import own_partition
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_file
from valuesassets.records.parquet import table_metadata
from valuesassets.records.plugins import packages_of
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis


@dataclass(frozen=True)
class Beside:
    """What a report shows besides the tables of its assets.

    Attributes:
        tables: by name; a table replaces those of the asset of its name.
        origins: a record for each file, besides readings, that the tables come from.
        part_name, has_planted_people: see `reporting.run.Run`.
    """

    tables: Mapping[str, Any] = field(default_factory=dict)
    origins: Sequence[Mapping[str, Any]] = ()
    part_name: str = ""
    has_planted_people: bool = False


Gather = Callable[[dg.AssetExecutionContext, Storage, Mapping[str, Any]], Beside]


def report_asset(
    study: Study,
    instrument: Instrument,
    analyses: Mapping[str, Analysis],
    gather: Gather = lambda context, storage, inputs: Beside(),
    *,
    takes: Sequence[str] = (),
    many: Sequence[str] = (),
    deps: Sequence[str] = (),
    pictured: str | None = None,
    docs: str = "",
    group: str = GROUP,
    **options: Any,
) -> dg.AssetsDefinition:
    """The page that a study ends in, in the words of `instruments/<instrument>/report/report.py`.

    Args:
        gather: gives what the page shows besides, of the context, the storage and the asset's inputs.
        takes: assets of the instrument that it takes besides the analyses.
        many: inputs that are given as a dict of the partitions that exist.
        deps: assets that are read from their files, besides readings.
        pictured: the analysis whose figure represents the page in the UI.
        options: what is declared besides, see `declare`.
    """

    def report(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> dg.MaterializeResult[str]:
        """One self-contained page: what can be claimed and what not, every figure, and where each point comes from."""
        from valuesassets.reporting.report import render_report
        from valuesassets.reporting.run import Run, reading_origin, software_versions

        beside = gather(context, storage, inputs)
        readings = _identities(study, instrument, storage, own_partition(context))
        run = Run(
            study,
            {name: _refused_or(value) for name, value in inputs.items()} | dict(beside.tables),
            analyses,
            versions=software_versions(readings.values()),
            packages=packages_of([instrument.name]),
            provenance=[*beside.origins, *_human_files(study), *map(reading_origin, readings, readings.values())],
            part_name=beside.part_name,
            has_planted_people=beside.has_planted_people,
        )
        words: Any = import_module(f"{instrument.package}.report.report")
        page = render_report(run, words)
        opened = storage.path(context.asset_key, own_partition(context), "html")
        summary = f"{len(readings)} of {len(instrument.cells(study))} cells; one page of {len(page) / 2**20:.1f} MiB"
        metadata = {SUMMARY: summary, "open": link_to(storage, opened)}
        drawn = storage.path(instrument.key(pictured), None, "png") if pictured else None
        if drawn is not None and drawn.exists():
            metadata[PICTURE] = picture_from(small_png(drawn))
        return dg.MaterializeResult(value=page, metadata=metadata)

    return declare(
        study,
        instrument,
        group,
        docs=docs,
        step="analysis",
        inputs=[*takes, *analyses],
        many=many,
        modules=[module for analysis in analyses.values() for module in analysis.modules],
        wiring=repr(analyses),
        deps=[instrument.key(name) for name in (*deps, instrument.asks)],
        io_manager_key="html",
        **({"reads": what_a_report_reads(study, instrument), "entries": ("families", "languages")} | options),
    )(report)


def _identities(
    study: Study, instrument: Instrument, storage: Storage, partition: str | None
) -> dict[str, dict[str, str]]:
    """The metadata of the files of the study's cells, by cell; of a partition only the cells of its part."""
    cells = {str(cell) for cell in instrument.cells(study)}
    files = storage.files(instrument.asked, "parquet")
    return {
        name: table_metadata(path)
        for name, path in files.items()
        if name in cells and (partition is None or name.endswith(f"/{partition}"))
    }


def _refused_or(value: Any) -> Any:
    """The tables of an analysis, or the reason why the data do not allow it."""
    from valuesassets.reporting.parts import Refused

    is_refused = isinstance(value, Mapping) and isinstance(value.get("refused"), pd.DataFrame)
    return Refused(str(value["refused"]["reason"].iloc[0])) if is_refused else value


def what_a_report_reads(study: Study, instrument: Instrument) -> tuple[str, ...]:
    """Tables and keys of the study file that make the report of one instrument stale."""
    others = {*study.instrument_keys()} - {instrument.study_key}
    return tuple({*type(study).model_fields} - {"name", "owners", "languages", "families", "slurm"} - others)


def _human_files(study: Study) -> list[dict[str, str]]:
    files = [*(file.path for file in study.human.files), *([study.human.means] if study.human.means else [])]
    return [
        {"what": "human data", "source": each.name, "sha256": sha256_file(each)} for each in files if each.is_file()
    ]


def small_png(path: Path) -> str:
    """A figure's file as a small PNG in base64, for the UI."""
    buffer = io.BytesIO()
    with Image.open(path) as figure:
        width = 1100
        small = figure.convert("RGB").resize((width, round(figure.height * width / figure.width)))
    small.quantize(64).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
