import os
import re
import signal
from functools import partial

import dagster as dg
import pytest

from slurm_runner.files import tail
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import cell_key
from valuesassets_tests.desk.web_ui import (
    browsing,
    graphql,
    launch_backfill,
    launch_job,
    serving,
    shot,
)
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.slurm_faults.bench import CellBench, evs_languages
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.slurm, pytest.mark.browser, pytest.mark.slow, pytest.mark.slurm_faults]
READINGS = SURVEY.key("readings")
FAILING = ["est", "lit"]
HELD = list(evs_languages())[-6:]
"""What the stand-in holds until half of a grid has been looked at: the last, so that no other is behind them."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """44 cells of a stand-in on a real cluster; it stumbles over two languages."""
    languages = list(evs_languages())
    with Cluster() as cluster:
        bench = CellBench(
            tmp_path_factory.mktemp("grid"), cluster, languages=languages, poll_seconds=1, exit_file_seconds=5
        )
        bench.behave(failing=FAILING, held=HELD)
        yield bench


@pytest.fixture(scope="module")
def environment(bench):
    return study_environment(bench.folder, bench.study_file) | bench.cluster.environment


@pytest.fixture(scope="module")
def instance(bench, environment):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        instance = dg.DagsterInstance.from_config(str(REPOSITORY))
    with instance:
        bench.report_inputs(instance)
        yield instance


@pytest.fixture(scope="module")
def address(bench, environment, instance):
    with serving(environment, bench.folder / "ui.log") as address:
        yield address


@pytest.fixture(scope="module")
def page(address):
    with browsing(address) as page:
        yield page


def statuses(page):
    """How many cells are materialised and how many failed."""
    query = """{ assetNodeOrError(assetKey: {path: ["survey", "readings"]}) { ... on AssetNode { partitionStats {
        numMaterialized numFailed numMaterializing } } } }"""
    found = graphql(page, query)["assetNodeOrError"]["partitionStats"]
    return found["numMaterialized"], found["numFailed"], found["numMaterializing"]


def test_the_grid_fills_while_one_watches_and_its_failed_cells_are_backfilled(bench, page):
    page.goto("/locations/valuesassets/jobs/probe_grid/playground")
    page.get_by_role("button", name="Launch Run").click()
    bench.until_started()
    bench.go()
    wait_until(lambda: statuses(page)[0] >= 12)
    page.goto("/assets/survey/readings?view=partitions")
    page.get_by_text("reference-multi").first.wait_for()
    shot(page, "grid_half_filled")
    materialised, _, going_on = statuses(page)
    assert 12 <= materialised < 40
    assert going_on > 0
    bench.release()
    wait_until(lambda: statuses(page) == (40, 4, 0))
    page.reload()
    page.get_by_text("reference-multi").first.wait_for()
    shot(page, "grid_two_languages_failed")
    loads = len(bench.noted("starts"))
    assert loads == 23

    run = graphql(page, "{ runsOrError(limit: 1) { ... on Runs { results { runId } } } }")
    page.goto(f"/runs/{run['runsOrError']['results'][0]['runId']}")
    page.get_by_text("4 of 44 cells could not be read").first.wait_for()
    page.get_by_text("reference-multi/lit: the model says NaN").first.wait_for()
    shot(page, "grid_run_failed")

    bench.behave()
    page.goto("/assets/survey/readings?view=partitions")
    page.get_by_text("reference-multi").first.wait_for()
    page.locator("button", has_text="Materialize").first.click()
    page.get_by_text("Partition selection").wait_for()
    dialog = page.get_by_role("dialog").first
    for every in dialog.get_by_role("button", name="All").all():
        every.click()
    dialog.get_by_text("Backfill only failed and missing partitions within selection").click()
    shot(page, "grid_backfill_dialog")
    dialog.locator("button", has_text="Launch").click()
    wait_until(lambda: statuses(page) == (44, 0, 0), said=partial(tail, bench.folder / "ui.log"))
    page.goto("/assets/survey/readings?view=partitions")
    page.get_by_text("reference-multi").first.wait_for()
    shot(page, "grid_backfilled")
    assert len(bench.noted("starts")) == loads + 4
    runs = graphql(page, "{ runsOrError(filter: {statuses: [SUCCESS]}) { ... on Runs { results { runId } } } }")
    assert len(runs["runsOrError"]["results"]) == 4


def test_runs_whose_workers_are_killed_run_again_by_themselves_and_go_on_with_their_jobs(bench, instance, address):
    def going_on():
        runs = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
        return [run for run in runs if "going on with job" in said(instance, run)]

    bench.wait()
    before, loads = times_read(instance), len(bench.noted("starts"))
    languages = ["eng", "fra", "deu"]  # one more than the pool has places
    launch_backfill(address, READINGS, [str(cell_key("reference-mono", language)) for language in languages])
    wait_until(lambda: len(bench.noted("starts")) == loads + 2, said=partial(tail, bench.folder / "ui.log"))
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        kill_worker(instance, run)
    wait_until(going_on, said=partial(tail, bench.folder / "ui.log"))
    bench.go()
    wait_until(lambda: times_read(instance) == before + len(languages), said=partial(tail, bench.folder / "ui.log"))
    assert len(bench.noted("starts")) == loads + len(languages)


def test_a_grid_over_all_cells_whose_worker_is_killed_reads_each_of_them_once(bench, instance, address):
    bench.behave(held=HELD)
    before, loads = times_read(instance), len(bench.noted("starts"))
    grid = {"submit_gpu_partitions": {"config": {"cells": ["all"]}}}
    launched = launch_job(address, "probe_grid", ops=grid)
    wait_until(lambda: times_read(instance) >= before + 8, said=partial(tail, bench.folder / "ui.log"))
    kill_worker(instance, instance.get_run_by_id(launched))
    bench.release()
    done = dg.RunsFilter(job_name="probe_grid", statuses=[dg.DagsterRunStatus.SUCCESS])
    wait_until(lambda: instance.get_runs(done), said=partial(tail, bench.folder / "ui.log"))
    assert times_read(instance) == before + 44
    assert len(bench.noted("starts")) == loads + 23
    assert instance.get_runs(done)[0].root_run_id == launched


def times_read(instance):
    """How often cells were materialised."""
    return len(instance.fetch_materializations(READINGS, limit=1000).records)


def kill_worker(instance, run):
    """Kill -9 the process that a run is executed in."""
    os.kill(int(re.search(r"Started process for run \(pid: (\d+)\)", said(instance, run))[1]), signal.SIGKILL)


def said(instance, run):
    """All that a run's log says."""
    return "\n".join(entry.message for entry in instance.all_logs(run.run_id))
