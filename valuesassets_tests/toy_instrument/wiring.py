"""The toy as a graph, and its entry in the list of instruments."""

from functools import partial

import dagster as dg
import pandas as pd

from valuesassets.orchestration.assets.analyses import analysis_asset, offer_inputs
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.grid import grid_assets
from valuesassets.orchestration.assets.report import Beside, report_asset
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.partitions import cell_of, cell_partitions, part_partitions
from valuesassets.records.study import Cell, Study
from valuesassets.records.trials import Reading, Trial
from valuesassets_tests.toy_instrument import tables  # noqa: F401  # declares them
from valuesassets_tests.toy_instrument.analyses import ANALYSES
from valuesassets_tests.toy_instrument.settings import ToyStudy

PACKAGE = "valuesassets_tests.toy_instrument"
TOY = Instrument(
    "toy",
    settings=f"{PACKAGE}.settings:Toy",
    wiring=f"{PACKAGE}.wiring:toy_assets",
    part="task",
    parts=f"{PACKAGE}.material.parts:parts",
    package=PACKAGE,
    checks=("every_span_is_read",),
)


def toy_assets(study: ToyStudy) -> list[dg.AssetsDefinition]:
    """From tasks to a page."""
    group, docs = "tasks", "prompts"
    prompts = declare(
        study,
        TOY,
        group,
        docs=docs,
        reads=("toy",),
        partitions_def=part_partitions(study, TOY),
        io_manager_key="trials",
    )(trials)
    answered = declare(
        study,
        TOY,
        group,
        docs=docs,
        reads=(),
        step="cell",
        partitions_def=cell_partitions(study, TOY),
        io_manager_key="frame",
    )(answers)
    declared = partial(declare, study, TOY, group, step="analysis", many=["answers"])
    analysed = [
        analysis_asset(declared, study, name, analysis, partial(offer_inputs, study))
        for name, analysis in ANALYSES.items()
    ]

    def beside(context: object, storage: object, inputs: object) -> Beside:
        return Beside({"cells": TOY.cells(study)})

    report = report_asset(study, TOY, ANALYSES, beside, docs=docs, group=group, reads=("title",))
    return [prompts, *grid_assets(study, TOY), answered, *analysed, report]


def trials(context: dg.AssetExecutionContext, study: Study) -> list[Trial]:
    """The prompts of a task."""
    from valuesassets_tests.toy_instrument.trials.trials import write_trials

    return write_trials(TOY.part_of(study, context.partition_key))


def answers(
    context: dg.AssetExecutionContext, study: Study, trials: list[Trial], readings: list[Reading]
) -> pd.DataFrame:
    """What a model says in a task."""
    from valuesassets_tests.toy_instrument.answers.answers import derive_answers

    family, task = cell_of(context)
    return derive_answers(trials, readings, Cell(family, TOY.part_of(study, task)))
