"""Jobs that people start by name, beside the assets that they materialise by a click. None needs a setting."""

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
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import named

WHAT_FAILS = """\
What fails is listed at the end of the run, each part with its reason; the others are made all the same, and what is
whole is skipped when the job is launched again. Cancelling the run stops what it is making and loses nothing before."""


def study_jobs(
    study: Study, assets: Sequence[dg.AssetsDefinition], instruments: Iterable[Instrument] = (SURVEY,)
) -> list[Any]:
    """All of a study; of each instrument its grid, its analyses, one cell to be backfilled, and its own jobs."""
    jobs, graph = [whole_study_job(study, instruments)], graph_of(assets)
    for instrument in instruments:
        jobs += named(instrument.jobs)(study) if instrument.jobs else []
        jobs += [analyse_job(instrument), cell_job(study, instrument, graph), probe_grid_job(study, graph, instrument)]
    return jobs


def analyse_job(instrument: Instrument) -> Any:
    """What follows the cells of an instrument."""
    return dg.define_asset_job(
        instrument.called(ANALYSE),
        selection=analyses_of(instrument.name),
        description=f"""Make every analysis and the report of `{instrument.name}` anew, from the cells that are there; \
where people are compared with, their side too.

One run, some minutes. Missing cells are named in the results, they are no error. Afterwards look at \
`{instrument.name}/report`.

The same happens by itself when cells arrive, while the sensor `{SENSOR}` is on.""",
    )


def cell_job(study: Study, instrument: Instrument, graph: AssetGraph) -> Any:
    """One cell of an instrument: what its model is asked, and what that says."""
    cells = cell_partitions(study, instrument)
    said = [key for key in steps_of(graph, instrument.name, "cell") if graph.get(key).partitions_def == cells]
    return dg.define_asset_job(
        instrument.called("probe_cell"),
        selection=[instrument.asked, *said],
        description=f"Ask one model in one {instrument.part} and derive what it answers: choose the cell. "
        f"Afterwards look at {', '.join(f'`{key.to_user_string()}`' for key in said or [instrument.asked])}.",
    )


def parts_job(study: Study, name: str, description: str, only: Sequence[str] = ()) -> dg.JobDefinition:
    """A job that materialises what is missing or stale of a study, or of some assets and groups of them."""

    @dg.op(name=f"make_{name}", out=dg.Out(dg.Nothing))  # two jobs may not have two ops of one name
    def materialise(context: dg.OpExecutionContext, storage: dg.ResourceParam[Storage]):
        """Materialise what is missing or stale, each part in a run of its own."""
        require_all(materialise_parts(context, study, storage, only))

    @dg.job(name=name, description=f"{description}\n\n{WHAT_FAILS}")
    def parts():
        materialise()

    return parts


def whole_study_job(study: Study, instruments: Iterable[Instrument] = (SURVEY,)) -> dg.JobDefinition:
    """All of a study: `demo` where its models are trained here, `whole_study` where they are real."""
    is_demo = all(family.kind == "reference" for family in study.families.values())
    reports = ", ".join(f"`{instrument.name}/report`" for instrument in instruments)
    duration = (
        "Minutes for six languages, most of them for the models that are trained and tried"
        if is_demo
        else "Hours to days, which the models take; on a study's first run also the download of their weights"
    )
    return parts_job(
        study,
        DEMO if is_demo else WHOLE_STUDY,
        f"""Everything of *{study.title}* that is missing or stale, from the questionnaires to the report: \
what `valuesassets run` does.

{duration}; seconds where nothing is stale. The run's log says what is being made and how far it is; each part is a run
of its own in the list of runs. Afterwards look at {reports}: it begins with what can be claimed.""",
    )
