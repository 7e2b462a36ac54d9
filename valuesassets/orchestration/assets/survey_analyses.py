"""The survey's analyses: what can be trusted, statistics, distances, the map and the report. All unpartitioned."""

from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.frame_types import (
    CULTURAL_MAP_FRAME,
    HUMAN_DISTRIBUTIONS_FRAME,
    ITEM_STATISTICS_FRAME,
)
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.questions import Question
from valuesassets.records.study import Study

Probes = dict[tuple[str, str], pd.DataFrame]
Frames = dict[str, pd.DataFrame]


def analysis_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From answer distributions to the report; a partial grid gives partial analyses that say what is missing."""
    group = "analyses"

    @declare(
        study,
        "survey",
        group,
        checks=[checks.CELLS_CAN_BE_TRUSTED.spec("quality_report")],
        many=["probe_distributions"],
        io_manager_key="frames",
        kinds={"parquet"},
    )
    def quality_report(probe_distributions: Probes) -> dg.MaterializeResult[Frames]:
        """Which cells and questions can be trusted, which not and why, and what is missing."""
        from valuesassets.instruments.survey.quality_report import report_quality

        quality = report_quality(concatenated(probe_distributions), study.cells(), study.thresholds)
        cells, questions = quality.cells, quality.questions
        doubtful = cells[cells.is_missing | cells.is_flagged][["model", "language", "reason"]].to_dict("records")
        dropped = questions[questions.is_dropped][["question_id", "reason"]].to_dict("records")
        return dg.MaterializeResult(
            value=quality.frames(),
            metadata={"cells": table_of(cells.to_dict("records"))},
            check_results=[checks.CELLS_CAN_BE_TRUSTED.result(doubtful + dropped, len(cells) + len(questions))],
        )

    @declare(
        study,
        "survey",
        group,
        many=["aligned_questions"],
        io_manager_key="frame",
        dagster_type=HUMAN_DISTRIBUTIONS_FRAME,
        kinds={"parquet"},
    )
    def human_distributions(aligned_questions: dict[str, list[Question]]) -> Any:
        """Weighted answers of respondents per country; in the demo synthetic ones, drawn from the plants."""
        from valuesassets.instruments.survey.human_distributions import derive_human_distributions

        return derive_human_distributions(study, aligned_questions)

    @declare(
        study,
        "survey",
        group,
        many=["probe_distributions"],
        io_manager_key="frame",
        dagster_type=ITEM_STATISTICS_FRAME,
        kinds={"parquet"},
    )
    def item_statistics(probe_distributions: Probes, quality_report: Frames) -> Any:
        """Expected value, entropy, mode and concentration of every usable answer distribution."""
        from valuesassets.instruments.survey.item_statistics import derive_item_statistics

        return derive_item_statistics(usable(probe_distributions, quality_report))

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def distances(probe_distributions: Probes, quality_report: Frames) -> Frames:
        """Jensen-Shannon distance and W1 between every two cells, and the plane that MDS lays them on."""
        from valuesassets.instruments.survey.distances import derive_distances

        return derive_distances(usable(probe_distributions, quality_report), study.seed).frames()

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def human_comparison(
        probe_distributions: Probes, quality_report: Frames, human_distributions: pd.DataFrame
    ) -> Frames:
        """How far each cell's answers are from its own country's, beside the null baselines."""
        from valuesassets.instruments.survey.human_comparison import derive_human_comparison

        answers = usable(probe_distributions, quality_report)
        return derive_human_comparison(answers, human_distributions, study).frames()

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def mono_vs_multi(probe_distributions: Probes, quality_report: Frames, human_distributions: pd.DataFrame) -> Frames:
        """Own-country advantage of the monolingual against the multilingual family, paired by language."""
        from valuesassets.instruments.survey.mono_vs_multi import derive_mono_vs_multi

        answers = usable(probe_distributions, quality_report)
        return derive_mono_vs_multi(answers, human_distributions, study).frames()

    @declare(
        study,
        "survey",
        group,
        many=["probe_distributions"],
        io_manager_key="frame",
        dagster_type=CULTURAL_MAP_FRAME,
        kinds={"png"},
    )
    def cultural_map(
        context: dg.AssetExecutionContext,
        storage: Storage,
        probe_distributions: Probes,
        quality_report: Frames,
        human_distributions: pd.DataFrame,
    ) -> Any:
        """Models and countries on the Inglehart-Welzel axes, with the points of answers that carry no content."""
        from valuesassets.figures.cultural_map import draw_cultural_map
        from valuesassets.figures.style import png_base64, save_figure
        from valuesassets.instruments.survey.cultural_map import place_on_map

        answers = usable(probe_distributions, quality_report)
        points = place_on_map(answers, human_distributions, study)
        figure = draw_cultural_map(points)
        path = storage.path(context.asset_key, None, "png")
        save_figure(figure, path.with_suffix(""))
        return dg.MaterializeResult(
            value=points,
            metadata={
                "figure": dg.MetadataValue.path(str(path)),
                "picture": dg.MetadataValue.md(f"![map](data:image/png;base64,{png_base64(figure)})"),
            },
        )

    return [
        quality_report,
        human_distributions,
        item_statistics,
        distances,
        human_comparison,
        mono_vs_multi,
        cultural_map,
    ]


def concatenated(probes: Probes) -> pd.DataFrame:
    """All cells in one frame; an empty one with the right columns where there are none."""
    from valuesassets.records.schemas import PROBE_DISTRIBUTIONS

    frames = [frame.astype(object) for frame in probes.values()]
    if not frames:
        return PROBE_DISTRIBUTIONS.empty_table().to_pandas()
    return pd.concat(frames, ignore_index=True).infer_objects()


def usable(probes: Probes, quality: Frames) -> pd.DataFrame:
    """The answers that every analysis may rest on: the missing-values rule, applied in one place."""
    from valuesassets.instruments.survey.quality_report import QualityReport, usable_answers

    return usable_answers(concatenated(probes), QualityReport(**quality))
