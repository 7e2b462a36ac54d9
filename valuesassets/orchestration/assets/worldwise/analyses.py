"""Worldwise as a graph, third part: the analyses of choices and reasons over all cells that exist, and the page."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldwise.analyses import analyses_of
from valuesassets.orchestration.assets.analyses import analysis_asset
from valuesassets.orchestration.assets.bundle import bundle_asset
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.report import report_asset
from valuesassets.orchestration.assets.worldwise import checks
from valuesassets.orchestration.assets.worldwise.answers import material_stamp
from valuesassets.orchestration.instruments import WORLDWISE
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.frames import records, rows
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study

MANY = ("choices", "reasons", "projections", "reason_vectors")
Frames = dict[str, pd.DataFrame]


def measure_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every analysis, and the page."""
    settings = Worldwise.of(study)
    judged = {
        "quality_report": {
            checks.ADVOCATES_ARE_TOLD_APART: partial(_failing, "advocates", "is_told_apart"),
            checks.REFUSALS_DO_NOT_DEPEND: partial(_rejected, "refusals", study.inference.alpha),
        },
        "reliability": {checks.CHOICES_FOLLOW_OPTIONS: _by_position},
        "alignment": {checks.PERSONAS_DIFFER: _models_without_difference},
        "recovery": {checks.PLANTED_IS_FOUND: partial(_failing, "measures", "is_within")},
    }
    stamps = {
        "stereotyping": sha256_json({name: culture.names for name, culture in settings.cultures.items()}),
        "recovery": sha256_json([material_stamp(settings, "scenarios"), list(settings.cultures)]),
    }
    assets = []
    for name, analysis in analyses_of(study).items():
        declared = partial(
            declare,
            study,
            WORLDWISE,
            "analyses",
            step="analysis",
            entries=("families",),
            many=[each for each in analysis.inputs if each in MANY],
            stamp=sha256_json([material_stamp(settings, "countries", "values", "targets"), stamps.get(name, "")]),
        )
        judges = judged.get(name, {}) if name != "quality_report" or settings.has_reasons else {}
        assets.append(analysis_asset(declared, study, name, analysis, partial(_offered, study), judges))
    planted = ("calibration",) * study.has_reference_models
    report = report_asset(
        study,
        WORLDWISE,
        analyses_of(study),
        takes=(*("axes",) * settings.has_reasons, "preflight", *planted),
        many=("preflight", *planted),
        reads=("title", "by_plan", "inference", "seed", "thresholds", "phantom"),
        entries=("families",),
    )
    return [*assets, report, bundle_asset(study, WORLDWISE)]


def _offered(
    study: Study, *, storage: Storage, inputs: Mapping[str, Any], partition: str | None
) -> Mapping[str, Callable[[], Any]]:
    """The arguments that a derivation may take, by the name of its parameter."""
    settings = Worldwise.of(study)

    def answered() -> Any:
        from valuesassets.instruments.worldwise.answers.model_answers import model_answers

        return model_answers(inputs["choices"], *(inputs.get(name) for name in MANY[1:]))

    def z() -> pd.DataFrame:
        from valuesassets.instruments.worldwise.material.country_scores import read_country_scores, standard_scores

        return standard_scores(read_country_scores(settings.countries))

    def targets() -> pd.DataFrame:
        from valuesassets.instruments.worldwise.published.targets import LARGEST, read_targets, require_targets

        if settings.targets is not None:
            table, cultures = read_targets(settings.targets), pd.DataFrame({"culture": list(settings.cultures)})
            require_targets(table, inputs["scenarios"].merge(cultures, how="cross"), settings.targets)
            return table
        return z().reindex(list(settings.cultures)).dropna().clip(-LARGEST, LARGEST)

    def values() -> pd.DataFrame:
        from valuesassets.instruments.worldwise.material.value_names import read_value_names

        return read_value_names(settings.values)

    offered = {name: partial(inputs.__getitem__, name) for name in inputs}
    return offered | {
        "answered": answered,
        "axes": lambda: inputs.get("axes"),
        "validity": lambda: inputs["axes"]["validity"] if "axes" in inputs else None,
        "how": lambda: study.inference.with_seed(study.seed),
        "names": lambda: {name: culture.names for name, culture in settings.cultures.items()},
        "study": lambda: study,
        "targets": targets,
        "values": values,
        "z": z,
    }


def _failing(table: str, holds: str, frames: Frames, offered: object) -> tuple[list[dict[str, Any]], int]:
    """The rows of a table whose column `holds` is false."""
    frame = frames[table]
    return records(rows(frame, ~frame[holds].astype(bool))), len(frame)


def _by_position(frames: Frames, offered: object) -> tuple[list[dict[str, Any]], int]:
    """Models whose choices are no evidence of what they prefer."""
    orders = frames["orders"]
    return records(rows(orders, orders["is_evidence"].isin([False])).loc[:, ["model", "reason"]]), len(orders)


def _rejected(table: str, alpha: float, frames: Frames, offered: object) -> tuple[list[dict[str, Any]], int]:
    """The rows of a table whose test rejects."""
    frame = frames[table]
    return records(rows(frame, frame["p_corrected"].astype(float) <= alpha)), len(frame)


def _models_without_difference(frames: Frames, offered: object) -> tuple[list[dict[str, Any]], int]:
    """Models and readouts that distinguish no two cultures."""
    pairs = frames["culture_pairs"]
    pairs = pairs.assign(told_apart=pairs["is_told_apart"].isin([True]))
    counts = pairs.groupby(["model", "readout"], sort=False)["told_apart"].agg(["sum", "count"]).reset_index()
    failing = counts.loc[counts["sum"] == 0].rename(columns={"sum": "told_apart", "count": "pairs"})
    return records(failing), len(counts)
