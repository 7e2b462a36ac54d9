"""The report of an instrument: one page with what can be claimed, every figure, and where each number comes from."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
from PIL import Image

from valuesassets.orchestration.assets.analyses import GROUP, concatenated
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.code_versions import PACKAGE
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, link_to, picture_from
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_file
from valuesassets.records.parquet import stored_frame, table_metadata
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis

Own = Callable[[Storage, Mapping[str, Any]], tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
MANY = ("preflight", "probe_distributions")


def report_asset(
    study: Study,
    instrument: Instrument,
    analyses: Mapping[str, Analysis],
    own: Own,
    takes: Sequence[str] = (),
    many: Sequence[str] = (),
    deps: Sequence[str] = (),
    pictured: str | None = None,
) -> dg.AssetsDefinition:
    """The page that a study ends in, in the words of `instruments/<instrument>/report.py`.

    Args:
        own: gives, of the storage and of what the asset takes, what only this instrument shows, by name, and where that
            comes from.
        takes: assets of the instrument, besides its answers, their quality and its analyses.
        many: those of them that are given as a dict of the partitions that exist.
        deps: assets that are read from their files.
        pictured: the analysis whose figure stands for the page in the UI.
    """
    keys = {name: instrument.key(name) for name in ("calibration", "negative_controls", "readings", *deps)}
    planted = ["calibration"] * study.has_reference_models + ["negative_controls"] * bool(study.control_families)

    def report(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> dg.MaterializeResult[str]:
        """One self-contained page: what can be claimed and what not, every figure, and where each point comes from."""
        from dataclasses import replace

        from valuesassets.reporting.parts import Refused
        from valuesassets.reporting.report import render_report, within_study
        from valuesassets.reporting.run import Run, reading_origin, software_versions

        words: Any = import_module(f"{instrument.home or f'{PACKAGE}.instruments.{instrument.name}'}.report")
        cells = {f"{model}/{language}" for model, language in study.cells()}
        readings = {name: path for name, path in storage.files(keys["readings"], "parquet").items() if name in cells}
        identities = {name: table_metadata(path) for name, path in readings.items()}
        shown, origins = own(storage, inputs)
        untried = Refused("no language's prompts were answered by another language's model yet")
        tried = storage.path(keys["negative_controls"], None, "parquet")
        refused = {
            name: Refused(str(inputs[name]["refused"].reason[0])) for name in analyses if "refused" in inputs[name]
        }
        run = Run(
            study,
            {
                **inputs,
                "probe_distributions": concatenated(inputs["probe_distributions"]),
                "calibration": _calibration(study, storage.files(keys["calibration"], "parquet"), cells),
                "negative_controls": stored_frame(tried) if tried.exists() else untried,
                **_self_calibration(study, inputs.get("self_calibration", {})),
                **refused,
                **shown,
            },
            analyses,
            versions=software_versions(identities.values()),
            provenance=[*origins, *_human_files(study), *map(reading_origin, identities, identities.values())],
        )
        run = within_study(run, words)
        page = render_report(replace(run, gates=words.gates(run)), words)
        metadata = {
            SUMMARY: f"{len({*inputs['probe_distributions']} & {*study.cells()})} of {len(cells)} cells; one page of "
            f"{len(page) / 2**20:.1f} MiB",
            "open": link_to(storage, storage.path(context.asset_key, None, "html")),
        }
        drawn = storage.path(instrument.key(pictured), None, "png") if pictured else None
        if drawn is not None and drawn.exists():
            metadata[PICTURE] = picture_from(small_png(drawn))
        return dg.MaterializeResult(value=page, metadata=metadata)

    return declare(
        study,
        instrument,
        GROUP,
        docs="report",
        step="analysis",
        inputs=[*MANY, "quality_report", *takes, *analyses],
        many=[*MANY, *many],
        modules=[module for analysis in analyses.values() for module in analysis.modules],
        reads=what_a_report_reads(instrument),
        entries=("families", "languages"),
        wiring=repr(analyses),
        deps=[keys[name] for name in (*planted, *deps, "readings")],
        io_manager_key="html",
    )(report)


def what_a_report_reads(instrument: Instrument) -> tuple[str, ...]:
    """Tables and keys of the study file that the report of one instrument goes stale with."""
    others = {*Study.instrument_keys()} - {instrument.settings}
    return tuple({*Study.model_fields} - {"name", "owners", "languages", "families", "slurm"} - others)


def _calibration(study: Study, calibrated: Mapping[str, Path], cells: set[str]) -> Any:
    """What was planted beside what came back, and how that is to be judged; or that there is nothing."""
    from valuesassets.reporting.parts import Refused

    compared = [stored_frame(path) for name, path in calibrated.items() if name in cells]
    if not compared:
        return Refused("no reference model was calibrated, so nothing says how exact the readings are")
    return _judged(study, pd.concat(compared, ignore_index=True))


def _self_calibration(study: Study, frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """What a study without reference families found out on a model of its own, where it did."""
    if "comparison" not in frames:
        return {}
    found: dict[str, Any] = {"calibration": _judged(study, frames["comparison"])}
    return found | ({"negative_controls": frames["controls"]} if len(frames["controls"]) else {})


def _judged(study: Study, comparison: pd.DataFrame) -> dict[str, pd.DataFrame]:
    from valuesassets.answers.calibration import describe_hardness, summarise_recovery

    recovery, hardness = summarise_recovery(comparison, study.phantom), describe_hardness(comparison)
    return {"comparison": comparison, "recovery": recovery, "hardness": hardness}


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
