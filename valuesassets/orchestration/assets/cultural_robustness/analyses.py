"""Cultural robustness as a graph, third part: the analyses of languages and countries, and the page."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.cultural_robustness.analyses import MEASURED, OF_A_MODEL, analyses_of, page_analyses
from valuesassets.instruments.cultural_robustness.report import lines as own_lines
from valuesassets.orchestration.assets.analyses import analysis_asset, offer_inputs
from valuesassets.orchestration.assets.bundle import bundle_asset
from valuesassets.orchestration.assets.cultural_robustness import checks
from valuesassets.orchestration.assets.cultural_robustness.answers import all_languages
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.report import Beside, report_asset
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS, table_of
from valuesassets.orchestration.partitions import model_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.frames import records, rows
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Study

HOME, DOCS = "valuesassets.instruments.cultural_robustness", "cultural_robustness"
OF_MODELS = ("language_pairs", "clustering", "answer_quality", "country_profiles", "language_groups")
"""Assets of which each model has its own."""
Frames = dict[str, pd.DataFrame]


def score_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Everything that is measured of each model, every analysis, and the page."""
    declared = partial(declare, study, CULTURAL_ROBUSTNESS, step="analysis")
    of_a_model = partial(declared, "analyses", partitions_def=model_partitions(study))
    judged = {
        "embedder_report": {checks.EMBEDDER_KNOWS_THE_LANGUAGES: _unknown_languages},
        "calibration": {checks.PLANTS_ARE_RECOVERED: _unrecovered},
    }
    assets = []
    for name, analysis in analyses_of(study).items():
        group = "calibration" if name == "calibration" else "analyses"
        of_all = partial(declared, group, many=[*OF_MODELS, "questions"])
        if name == "calibration":
            of_all = partial(of_all, entries=("families", "languages"))
        kind = of_a_model if name in OF_A_MODEL else of_all
        assets.append(analysis_asset(kind, study, name, analysis, partial(_offered, study), judged.get(name, {})))
    return [
        measured_asset(study),
        clustering_asset(study),
        *assets,
        page_asset(study),
        bundle_asset(study, CULTURAL_ROBUSTNESS),
    ]


def measured_asset(study: Study) -> dg.AssetsDefinition:
    """All that is measured of one model."""
    key, settings = CULTURAL_ROBUSTNESS.key, CulturalRobustness.of(study)
    declared = partial(
        declare,
        study,
        CULTURAL_ROBUSTNESS,
        "analyses",
        step="analysis",
        partitions_def=model_partitions(study),
        ins={"answers": dg.AssetIn(key("answers"), input_manager_key="answers", metadata=DICT_OF_PARTITIONS)}
        | all_languages("questions"),
        entries=("languages",),
        stamp=sha256_json(settings.usable_share),
    )
    return analysis_asset(declared, study, "language_pairs", MEASURED, partial(_offered, study))


def clustering_asset(study: Study) -> dg.AssetsDefinition:
    """Published scores of one model."""

    @declare(
        study,
        CULTURAL_ROBUSTNESS,
        "analyses",
        docs=DOCS,
        step="analysis",
        partitions_def=model_partitions(study),
        line=own_lines.scores_line,
        io_manager_key="csv",
        reads=("seed",),
        modules=(f"{HOME}.published.columns",),
    )
    def clustering(
        context: dg.AssetExecutionContext, storage: Storage, vectors: pd.DataFrame, question_vectors: pd.DataFrame
    ) -> Any:
        """Published scores, each beside what translations of the questions give; and their files of clusters."""
        from valuesassets.instruments.cultural_robustness.published.clustering import write_clustering
        from valuesassets.instruments.cultural_robustness.published.columns import published_scores

        name = context.partition_key
        both = pd.concat([vectors, question_vectors], ignore_index=True)
        published = published_scores(both, name, seed=study.seed)
        folder = storage.path(context.asset_key, name, "csv").with_suffix("")
        files = write_clustering(folder, published.clustered, name)
        return dg.MaterializeResult(
            value=published.scores,
            metadata={"files": table_of([{"file": str(path.relative_to(folder))} for path in files])},
        )

    return clustering


def page_asset(study: Study) -> dg.AssetsDefinition:
    """The page that the instrument ends in."""
    return report_asset(
        study,
        CULTURAL_ROBUSTNESS,
        page_analyses(study),
        partial(_beside_analyses, study),
        takes=("question_report", "language_pairs"),
        many=OF_MODELS,
        docs=DOCS,
        reads=("title", "by_plan", "inference"),
        entries=("families",),
    )


def _offered(
    study: Study, *, storage: Storage, inputs: Mapping[str, Any], partition: str | None
) -> Mapping[str, Callable[[], Any]]:
    """The arguments that a derivation may take, by the name of its parameter."""
    measured = inputs.get("language_pairs", {})
    of_one = {"measured": lambda: measured, "language_pairs": lambda: measured["language_pairs"]}
    return (
        offer_inputs(study, storage=storage, inputs=inputs, partition=partition)
        | {"family": lambda: partition}
        | (of_one if partition is not None else {})
    )


def _unknown_languages(report: pd.DataFrame, offered: object) -> tuple[list[dict[str, Any]], int]:
    """The languages that the embedder does not know."""
    return records(rows(report, report["status"] == "unknown_language")), len(report)


def _unrecovered(facts: pd.DataFrame, offered: object) -> tuple[list[dict[str, Any]], int]:
    """The planted facts that are not recovered."""
    return records(rows(facts, ~facts["is_recovered"].astype(bool))), len(facts)


def _beside_analyses(
    study: Study, context: dg.AssetExecutionContext, storage: Storage, inputs: Mapping[str, Any]
) -> Beside:
    """The tables of all models in one each, the cells that are asked for, and where the pages of answers are."""
    from valuesassets.instruments.cultural_robustness.report.report import tables_of_models

    quality: dict[str, pd.DataFrame] = inputs["answer_quality"]
    pages = {
        model: {code: f"../answer_quality/{model}/{code}.html" for code in dict.fromkeys(judged["language"])}
        for model, judged in quality.items()
    }
    cells = [{"model": cell.family, "language": cell.language} for cell in CULTURAL_ROBUSTNESS.cells(study)]
    tables = tables_of_models(inputs["language_pairs"], quality)
    return Beside(tables | {"answer_pages": pages, "cells": pd.DataFrame(cells)})
