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
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.report import Beside, report_asset
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import model_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.frames import records, rows
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Study

OF_MODELS = ("language_pairs", "clustering", "answer_quality", "country_profiles", "language_groups")
"""Assets of which each model has its own."""
Frames = dict[str, pd.DataFrame]


def score_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Everything that is measured of each model, every analysis, and the page."""
    analyses = partial(declare, study, CULTURAL_ROBUSTNESS, "analyses", step="analysis")
    of_a_model = partial(analyses, partitions_def=model_partitions(study))
    of_all = partial(analyses, many=[*OF_MODELS, "questions"])
    measured = partial(
        of_a_model,
        many=["answers"],
        everywhere=["questions"],
        entries=("languages",),
        stamp=sha256_json(CulturalRobustness.of(study).usable_share),
    )
    calibration = partial(declare, study, CULTURAL_ROBUSTNESS, "calibration", step="analysis")
    calibration = partial(calibration, many=[*OF_MODELS, "questions"], entries=("families", "languages"))
    declared = {"language_pairs": measured, "calibration": calibration} | dict.fromkeys(OF_A_MODEL, of_a_model)
    judged = {
        "embedder_report": {checks.EMBEDDER_KNOWS_THE_LANGUAGES: _unknown_languages},
        "calibration": {checks.PLANTS_ARE_RECOVERED: _unrecovered},
    }
    offer = partial(_offered, study)
    measured_first, *others = [
        analysis_asset(declared.get(name, of_all), study, name, analysis, offer, judged.get(name, {}))
        for name, analysis in ({"language_pairs": MEASURED} | analyses_of(study)).items()
    ]
    published = of_a_model(
        line=own_lines.scores_line, io_manager_key="csv", reads=("seed",), modules=[".published.columns"]
    )(clustering)
    page = report_asset(
        study,
        CULTURAL_ROBUSTNESS,
        page_analyses(study),
        partial(_beside_analyses, study),
        takes=("question_report", "language_pairs"),
        many=OF_MODELS,
        reads=("title", "by_plan", "inference"),
        entries=("families",),
    )
    return [measured_first, published, *others, page, bundle_asset(study, CULTURAL_ROBUSTNESS)]


def clustering(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    vectors: pd.DataFrame,
    question_vectors: pd.DataFrame,
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
