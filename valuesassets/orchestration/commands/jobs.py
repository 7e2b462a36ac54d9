"""Jobs that people start by name in the UI; none of them needs settings."""

from collections.abc import Iterable, Sequence
from typing import Any

import dagster as dg

from valuesassets.dagster_internals.graph import AssetGraph, graph_of
from valuesassets.desk.run_names import ANALYSE, DEMO, WHOLE_STUDY
from valuesassets.orchestration.commands.study_process import materialise_parts, require_all
from valuesassets.orchestration.following.automation import SENSOR, analyses_of, steps_of
from valuesassets.orchestration.grid.probe_grid import probe_grid_job
from valuesassets.orchestration.instruments import SURVEY, Instrument
from valuesassets.orchestration.partitions import cell_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.instruments import named
from valuesassets.records.study import Study

WHAT_FAILS = """\
Parts that fail are listed at the end of the run with their reasons. All other parts are made, and launching the job
again skips them. Cancelling the run stops the current parts and loses no finished ones."""


def study_jobs(
    study: Study, assets: Sequence[dg.AssetsDefinition], instruments: Iterable[Instrument] = (SURVEY,)
) -> list[Any]:
    """The jobs of a study: the whole study, and for each instrument its grid, analyses, a cell, and its own jobs."""
    jobs, graph = [whole_study_job(study, instruments)], graph_of(assets)
    for instrument in instruments:
        jobs += named(instrument.jobs)(study) if instrument.jobs else []
        jobs += [analyse_job(instrument), cell_job(study, instrument, graph), probe_grid_job(study, graph, instrument)]
    return jobs


def analyse_job(instrument: Instrument) -> Any:
    """The job that makes the analyses and the report of an instrument."""
    return dg.define_asset_job(
        instrument.called(ANALYSE),
        selection=analyses_of(instrument.name),
        description=f"""Make all analyses and the report of `{instrument.name}` again from the existing cells, with \
people's answers where the study compares with people.

This is one run of a few minutes. Missing cells are no error; the results name them. Afterwards look at \
`{instrument.name}/report`.

While the sensor `{SENSOR}` is on, the same happens automatically when cells arrive.""",
    )


def cell_job(study: Study, instrument: Instrument, graph: AssetGraph) -> Any:
    """The job that asks one cell of an instrument and derives its answers."""
    cells = cell_partitions(study, instrument)
    derived = [key for key in steps_of(graph, instrument.name, "cell") if graph.get(key).partitions_def == cells]
    return dg.define_asset_job(
        instrument.called("probe_cell"),
        selection=[instrument.asked, *derived],
        description=f"Ask one model in one {instrument.part} and derive its answers: choose the cell. "
        f"Afterwards look at {', '.join(f'`{key.to_user_string()}`' for key in derived or [instrument.asked])}.",
    )


def parts_job(study: Study, name: str, description: str, only: Sequence[str] = ()) -> dg.JobDefinition:
    """A job that materialises missing and stale parts of a study, or of some assets or groups."""

    @dg.op(name=f"make_{name}", out=dg.Out(dg.Nothing))  # ops of different jobs need different names
    def materialise(context: dg.OpExecutionContext, storage: dg.ResourceParam[Storage]):
        """Materialise missing and stale parts, each in its own run."""
        require_all(materialise_parts(context, study, storage, only))

    @dg.job(name=name, description=f"{description}\n\n{WHAT_FAILS}")
    def parts():
        materialise()

    return parts


def whole_study_job(study: Study, instruments: Iterable[Instrument] = (SURVEY,)) -> dg.JobDefinition:
    """The job for a whole study: `demo` if its models are trained here, `whole_study` if they are real."""
    is_demo = all(family.kind == "reference" for family in study.families.values())
    reports = ", ".join(f"`{instrument.name}/report`" for instrument in instruments)
    duration = (
        "It takes minutes for six languages, most of them to train and test the models"
        if is_demo
        else "It takes hours to days for the models; the first run of a study also downloads their weights"
    )
    return parts_job(
        study,
        DEMO if is_demo else WHOLE_STUDY,
        f"""Make all missing and stale parts of *{study.title}*, from the questionnaires to the report, as \
`valuesassets run` does.

{duration}, and seconds if nothing is stale. The run's log shows the progress; each part has its own run in the list of
runs. Afterwards look at {reports}, which begins with the supported claims.""",
    )
