"""Jobs that people start by name, beside the assets that they materialise by a click."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from valuesassets.orchestration.probe_grid import probe_grid_job
from valuesassets.records.study import Study


def study_jobs(study: Study, assets: Sequence[dg.AssetsDefinition]) -> list[Any]:
    """Backfill these: one language's questionnaire up to its prompts, or one cell from reading to distribution.

    A study on Slurm has `probe_grid` beside them, which asks for many cells at once.
    """
    prepare = ["extracted_questions", "questionnaire_pdf"]
    are_all_planted = all(family.kind == "reference" for family in study.families.values())
    probe = ["readings", "probe_distributions"] + (["calibration"] if are_all_planted else [])
    return [
        dg.define_asset_job(
            "extract_language",
            selection=[dg.AssetKey(["survey", name]) for name in prepare],
            description="Fetch one language's questionnaire and extract its questions.",
        ),
        dg.define_asset_job(
            "probe_cell",
            selection=[dg.AssetKey(["survey", name]) for name in probe],
            description="Ask one model in one language and derive its answer distributions.",
        ),
        *([probe_grid_job(study, assets)] if study.slurm is not None else []),
    ]
