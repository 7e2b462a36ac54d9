"""WorldValuesBench as a graph, third part: people and models of a set side by side, every analysis, and the page."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldvaluesbench.analyses import ANALYSES, COMPARED
from valuesassets.orchestration.assets.analyses import analysis_asset, offer_inputs
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.report import Beside, report_asset
from valuesassets.orchestration.assets.worldvaluesbench import checks
from valuesassets.orchestration.assets.worldvaluesbench.stamps import stamp_of
from valuesassets.orchestration.instruments import WORLDVALUESBENCH
from valuesassets.orchestration.partitions import own_partition, part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.frames import records, rows
from valuesassets.records.parquet import read_frame
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES
from valuesassets.reporting.analyses import FigureRules

Offered = Mapping[str, Callable[[], Any]]
Failing = tuple[list[dict[str, Any]], int]


def score_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every analysis of a set, with the models that have answered so far; and its page."""
    declared = partial(
        declare,
        study,
        WORLDVALUESBENCH,
        "analyses",
        step="analysis",
        partitions_def=part_partitions(study, WORLDVALUESBENCH),
        many=["rating_distributions", "decoded_ratings"],
        stamp=stamp_of(study, "min_group", "ratings", "slopes", "wordings"),
        entries=("families",),
    )
    judged = {
        "benchmark_scores": {checks.RATINGS_ARE_COMPLETE: _incomplete, checks.BLIND_RATINGS_ARE_BLIND: _not_blind},
        "readout_comparison": {checks.READOUTS_AGREE: _beyond_chance},
    }
    rules = FigureRules(is_planted(study), study.inference, study.thresholds)
    assets = [
        analysis_asset(declared, study, name, analysis, partial(_offered, study), judged.get(name, {}), rules)
        for name, analysis in ANALYSES.items()
    ]
    page = report_asset(
        study,
        WORLDVALUESBENCH,
        ANALYSES,
        partial(_beside_analyses, study),
        takes=("dataset_statistics", "preflight"),
        everywhere=["preflight"],
        deps=("calibration",) * study.has_reference_models,
        partitions_def=part_partitions(study, WORLDVALUESBENCH),
        reads=("title", "by_plan", "phantom", "thresholds", "inference"),
        entries=("families",),
        stamp=stamp_of(study, "answers", "ratings"),
    )
    return [*assets, page]


def is_planted(study: Study) -> bool:
    """Whether models' or people's answers are made up."""
    return study.is_planted or WorldValuesBench.of(study).answers == "planted"


def _offered(study: Study, *, storage: Storage, inputs: Mapping[str, Any], partition: str | None) -> Offered:
    """The arguments that a derivation may take, by the name of its parameter."""

    @cache
    def gathered() -> Any:
        """People and models of a set side by side."""
        from valuesassets.instruments.worldvaluesbench.measures.set_ratings import gather_set

        return gather_set(study, str(partition), *(inputs[name] for name in COMPARED))

    return offer_inputs(study, storage=storage, inputs=inputs, partition=partition) | {
        "gathered": gathered,
        "seed": lambda: study.seed,
        "attributes": lambda: WorldValuesBench.of(study).sets[str(partition)].attributes,
        "level": lambda: study.inference.level,
    }


def _incomplete(tables: object, offered: Offered) -> Failing:
    """The models whose ratings are not complete."""
    from valuesassets.instruments.worldvaluesbench.measures.rating_checks import check_usable

    return _not_passing(check_usable(offered["gathered"]().probe))


def _not_blind(tables: object, offered: Offered) -> Failing:
    """The models that were given no background and move with it all the same."""
    from valuesassets.instruments.worldvaluesbench.measures.rating_checks import check_independent_of_groups

    return _not_passing(check_independent_of_groups(offered["gathered"]().probe, seed=offered["seed"]()))


def _not_passing(checked: pd.DataFrame) -> Failing:
    return records(rows(checked, ~checked["passes"].astype(bool))), len(checked)


def _beyond_chance(tables: Mapping[str, pd.DataFrame], offered: Offered) -> Failing:
    """The readouts that are further from the exact one than expected by chance."""
    from valuesassets.instruments.worldvaluesbench.measures.readout_comparison import beyond_chance

    return beyond_chance(tables["readouts"]), len(tables["readouts"])


def _beside_analyses(
    study: Study, context: dg.AssetExecutionContext, storage: Storage, inputs: Mapping[str, Any]
) -> Beside:
    """What the page of a set shows besides its analyses: its calibration, who was read, and the files of answers."""
    from valuesassets.instruments.worldvaluesbench.report.model_gates import file_origins

    name, cells = own_partition(context), {str(cell) for cell in WORLDVALUESBENCH.cells(study)}
    readings, calibrated = (
        {cell: path for cell, path in storage.files(WORLDVALUESBENCH.key(noun), "parquet").items() if cell in cells}
        for noun in ("readings", "calibration")
    )
    tables = {
        "calibrated": {cell: read_frame(path, TABLES["calibration"]) for cell, path in calibrated.items()},
        "families": [cell.partition("/")[0] for cell in readings if cell.endswith(f"/{name}")],
        "made_up": list(WorldValuesBench.of(study).slopes),
    }
    return Beside(tables, file_origins(study), str(name), is_planted(study))
