"""WorldValuesBench as a graph, third part: people and models of a set side by side, and every score of them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration.assets import worldvaluesbench_checks as checks
from valuesassets.orchestration.assets import worldvaluesbench_lines as own_lines
from valuesassets.orchestration.assets.analyses import saved_figures
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.pages import shown_page
from valuesassets.orchestration.assets.worldvaluesbench_stamps import stamp_of
from valuesassets.orchestration.instruments import WORLDVALUESBENCH
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS
from valuesassets.orchestration.partitions import part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.frames import records, rows
from valuesassets.records.parquet import read_frame, table_metadata
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

HOME, DOCS = "valuesassets.instruments.worldvaluesbench", "worldvaluesbench"
Frames = dict[str, pd.DataFrame]
COMPARED = ("participants", "value_answers", "probe_samples", "rating_distributions")
"""What every score is made from."""


def score_assets(study: Study) -> list[dg.AssetsDefinition]:
    """What people of each group answer, and how models compare; of a partial grid the models that are there."""
    settings = WorldValuesBench.of(study)
    is_planted = study.is_planted or settings.answers == "planted"
    declared = partial(
        declare,
        study,
        WORLDVALUESBENCH,
        "analyses",
        docs=DOCS,
        step="analysis",
        partitions_def=part_partitions(study, WORLDVALUESBENCH),
        inputs=COMPARED,
        many=["rating_distributions"],
        modules=(f"{HOME}.set_ratings", f"{HOME}.pictures"),
        stamp=stamp_of(study, "min_group", "ratings", "slopes", "wordings"),
        entries=("families",),
    )

    def gathered(context: dg.AssetExecutionContext, inputs: Mapping[str, Any]) -> Any:
        """People and models of a set side by side."""
        from valuesassets.instruments.worldvaluesbench.set_ratings import gather_set

        return gather_set(study, context.partition_key, *(inputs[name] for name in COMPARED))

    def drawn(
        context: dg.AssetExecutionContext, storage: Storage, frames: Mapping[str, pd.DataFrame]
    ) -> dict[str, Any]:
        """The figures that an asset's tables allow, beside them and in the UI."""
        from valuesassets.instruments.worldvaluesbench.pictures import draw_pictures

        place = storage.path(context.asset_key, None, "png").parent
        folder = place / context.partition_key if len(settings.sets) > 1 else place
        return saved_figures(folder, draw_pictures(frames, is_planted, level=study.inference.level))

    @declared(line=own_lines.groups_line, io_manager_key="frame", reads=())
    def human_groups(context: dg.AssetExecutionContext, **inputs: Any) -> Any:
        """What people of each group answer, as counted and drawn towards groups of the same levels."""
        from valuesassets.instruments.worldvaluesbench.human_groups import derive_human_groups

        found = gathered(context, inputs)
        return derive_human_groups(found.compared, found.dataset)

    @declared(
        line=own_lines.scores_line,
        checks=[checks.RATINGS_ARE_COMPLETE, checks.BLIND_RATINGS_ARE_BLIND],
        io_manager_key="frames",
        reads=("inference", "seed"),
    )
    def benchmark_scores(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """The benchmark's own score of pooled answers, one of complete pairs, and those of answers nobody gave."""
        from valuesassets.instruments.worldvaluesbench.rating_checks import check_independent_of_groups, check_usable
        from valuesassets.instruments.worldvaluesbench.set_ratings import score_set

        found = gathered(context, inputs)
        usable, independent = check_usable(found.probe), check_independent_of_groups(found.probe, seed=study.seed)
        attributes = settings.sets[context.partition_key].attributes
        scored = score_set(found, study.seed, attributes, study.inference.level)
        return dg.MaterializeResult(
            value=scored,
            metadata=drawn(context, storage, scored | {"benchmark_scores": scored["scores"]}),
            check_results=[
                sentence.result(records(rows(found_rows, ~found_rows["passes"].astype(bool))), len(found_rows))
                for sentence, found_rows in (
                    (checks.RATINGS_ARE_COMPLETE, usable),
                    (checks.BLIND_RATINGS_ARE_BLIND, independent),
                )
            ],
        )

    @declared(line=own_lines.distances_line, io_manager_key="frame", reads=("seed",))
    def group_distances(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """How far each model is from each group of people, beside what a perfect model would be by chance."""
        from valuesassets.instruments.worldvaluesbench.group_distances import derive_group_distances
        from valuesassets.instruments.worldvaluesbench.set_ratings import of_models_and_controls

        found = of_models_and_controls(gathered(context, inputs), study.seed, derive_group_distances)
        return dg.MaterializeResult(value=found, metadata=drawn(context, storage, {"group_distances": found}))

    @declared(line=own_lines.awareness_line, io_manager_key="frames", reads=("inference", "seed", "thresholds"))
    def awareness(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """The share of people's moves between groups that each model makes, with intervals, by factor and question."""
        from valuesassets.instruments.worldvaluesbench.set_ratings import awareness_of_set

        found = awareness_of_set(gathered(context, inputs), study)
        shown = {"awareness": found["factors"], "group_means": found["group_means"]}
        return dg.MaterializeResult(value=found, metadata=drawn(context, storage, shown))

    @declared(
        line=own_lines.readouts_line,
        checks=[checks.READOUTS_AGREE],
        inputs=(*COMPARED, "decoded_ratings"),
        many=["rating_distributions", "decoded_ratings"],
        io_manager_key="frames",
        reads=("inference", "seed"),
    )
    def readout_comparison(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """One prompt read in several ways: how far apart they are, and what every score becomes under each."""
        from valuesassets.instruments.worldvaluesbench.readout_comparison import (
            beyond_chance,
            derive_readout_comparison,
        )
        from valuesassets.instruments.worldvaluesbench.set_ratings import score_readout

        read, decoded = inputs["rating_distributions"], inputs["decoded_ratings"]
        cells = {cell[0]: (read[cell], decoded[cell]) for cell in read if cell in decoded}
        if not cells:
            reason = "no model has both been read and left to write; materialise decoded_ratings"
            refused = {"refused": pd.DataFrame({"reason": [reason]})}
            return dg.MaterializeResult(value=refused, check_results=[checks.READOUTS_AGREE.result([], 0)])
        score = partial(score_readout, study, *(inputs[each] for each in COMPARED[:3]))
        found = derive_readout_comparison(cells, score, study.seed)
        results = [checks.READOUTS_AGREE.result(beyond_chance(found["readouts"]), len(found["readouts"]))]
        shown = drawn(context, storage, {"readout_comparison": found["readouts"]})
        return dg.MaterializeResult(value=found, metadata=shown, check_results=results)

    return [human_groups, benchmark_scores, group_distances, awareness, readout_comparison, report_of_set(study)]


def report_of_set(study: Study) -> dg.AssetsDefinition:
    """The page that a set ends in."""
    settings, key = WorldValuesBench.of(study), WORLDVALUESBENCH.key

    @declare(
        study,
        WORLDVALUESBENCH,
        "analyses",
        docs=DOCS,
        step="analysis",
        partitions_def=part_partitions(study, WORLDVALUESBENCH),
        deps=[key("readings"), *([key("calibration")] if study.has_reference_models else [])],
        ins={
            "preflight": dg.AssetIn(
                key("preflight"), metadata=DICT_OF_PARTITIONS, partition_mapping=dg.AllPartitionMapping()
            )
        },
        reads=("title", "by_plan", "phantom", "thresholds", "inference"),
        entries=("families",),
        modules=(f"{HOME}.pictures",),
        stamp=stamp_of(study, "answers", "ratings"),
        io_manager_key="html",
    )
    def report(
        context: dg.AssetExecutionContext,
        storage: Storage,
        dataset_statistics: Frames,
        human_groups: pd.DataFrame,
        benchmark_scores: Frames,
        group_distances: pd.DataFrame,
        awareness: Frames,
        readout_comparison: Frames,
        preflight: dict[str, Any],
    ) -> Any:
        """One self-contained page: what can be claimed, awareness first, then the benchmark's own score."""
        from valuesassets.instruments.worldvaluesbench.model_gates import model_gates, model_rows, weaknesses
        from valuesassets.instruments.worldvaluesbench.page_tables import calibration_gates, origins, page_tables
        from valuesassets.instruments.worldvaluesbench.pictures import draw_pictures
        from valuesassets.instruments.worldvaluesbench.report import render_worldvaluesbench
        from valuesassets.reporting.page_parts import Page
        from valuesassets.reporting.run import software_versions

        name, cells = context.partition_key, {str(cell) for cell in WORLDVALUESBENCH.cells(study)}
        frames = page_tables(dataset_statistics, human_groups, benchmark_scores, group_distances, awareness)
        frames |= {"readout_comparison": readout_comparison["readouts"]} if "readouts" in readout_comparison else {}
        is_planted = study.is_planted or settings.answers == "planted"
        readings, calibrated = (
            {cell: path for cell, path in storage.files(key(noun), "parquet").items() if cell in cells}
            for noun in ("readings", "calibration")
        )
        identities = {cell: table_metadata(path) for cell, path in readings.items() if cell.endswith(f"/{name}")}
        page = Page(
            f"{study.name}/{name}",
            study.title,
            is_planted,
            origins(study, identities),
            software_versions(identities.values()),
            study.by_plan,
        )
        gates = calibration_gates(
            {cell: read_frame(path, TABLES["calibration"]) for cell, path in calibrated.items()}, study.phantom
        )
        there = [cell.partition("/")[0] for cell in identities]
        gates += model_gates(study, frames, preflight, there, list(settings.slopes))
        frames["models"] = pd.DataFrame(model_rows(study, frames, preflight, there))
        weak = weaknesses(study, frames, preflight, there)
        figures = draw_pictures(frames, is_planted, level=study.inference.level)
        text = render_worldvaluesbench(
            frames,
            page,
            figures,
            gates,
            weaknesses=weak,
            inference=study.inference,
            least_reliability=study.thresholds.reliability,
        )
        return shown_page(context, storage, text)

    return report
