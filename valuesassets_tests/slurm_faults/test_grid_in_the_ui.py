import dagster as dg
import pytest

from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.orchestration.web_ui import browsing, graphql, serving, shot, wait_until
from valuesassets_tests.slurm_faults.bench import CellBench, evs_languages
from valuesassets_tests.slurm_runner.cluster import Cluster

pytestmark = [pytest.mark.slurm, pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("slurm")]
FAILING = ["est", "lit"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """44 cells of a stand-in on a real cluster; it stumbles over two languages."""
    languages = list(evs_languages())
    with Cluster() as cluster:
        bench = CellBench(
            tmp_path_factory.mktemp("grid"), cluster, languages=languages, poll_seconds=1, exit_file_seconds=5
        )
        bench.behave(failing=FAILING, seconds_per_cell=0.8)
        yield bench


@pytest.fixture(scope="module")
def page(bench):
    environment = study_environment(bench.folder, bench.study_file) | bench.cluster.environment
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with dg.DagsterInstance.from_config(str(REPOSITORY)) as instance:
            bench.report_inputs(instance)
    with serving(environment, bench.folder / "ui.log") as address, browsing(address) as page:
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
    wait_until(lambda: statuses(page)[0] >= 12, 120)
    page.goto("/assets/survey/readings?view=partitions")
    page.get_by_text("reference-multi").first.wait_for()
    shot(page, "grid_half_filled")
    materialised, failed, going_on = statuses(page)
    assert 12 <= materialised < 40
    assert going_on + failed + materialised == 44
    wait_until(lambda: statuses(page) == (40, 4, 0), 180)
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
    wait_until(lambda: statuses(page) == (44, 0, 0), 240, bench.folder / "ui.log")
    page.goto("/assets/survey/readings?view=partitions")
    page.get_by_text("reference-multi").first.wait_for()
    shot(page, "grid_backfilled")
    assert len(bench.noted("starts")) == loads + 4
    runs = graphql(page, "{ runsOrError(filter: {statuses: [SUCCESS]}) { ... on Runs { results { runId } } } }")
    assert len(runs["runsOrError"]["results"]) == 4
