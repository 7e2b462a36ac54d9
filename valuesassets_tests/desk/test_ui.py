"""What a user does in the web UI, done in a real browser against a real webserver and daemon."""

import csv
import json
import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from valuesassets.orchestration.following.automation import SENSOR
from valuesassets.records.files import read_json
from valuesassets.studies.questionnaires import render
from valuesassets.studies.questionnaires.content import load_form
from valuesassets_tests.desk.clicks import (
    launch,
    materialise,
    materializations,
    materialize_dialog,
    new_partitions,
    partition_dialog,
)
from valuesassets_tests.desk.web_ui import (
    PLACE,
    SCREEN,
    graphql,
    launched,
    serving,
    shot,
    stop_sensor,
)
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm
from valuesassets_tests.orchestration.small_study import THREE_LANGUAGES, copied
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ui")


@pytest.fixture(scope="module")
def ui(folder, small_study):
    """The address of a UI over a copy of the small study."""
    with serving(copied(small_study, folder), folder / "ui.log") as address:
        stop_sensor(address, SENSOR)  # nothing here is about what follows by itself
        yield address


def backfills(page):
    """How backfills have ended, or not yet, the latest first."""
    query = "{ partitionBackfillsOrError { ... on PartitionBackfills { results { status } } } }"
    return [each["status"] for each in graphql(page, query)["partitionBackfillsOrError"]["results"]]


def last_run(page, cell):
    """The id of the latest run of a cell."""
    query = """query ($tags: [ExecutionTag!]) { runsOrError(filter: {tags: $tags}, limit: 1) {
        ... on Runs { results { runId } } } }"""
    tags = [{"key": "dagster/partition", "value": cell}]
    return graphql(page, query, tags=tags)["runsOrError"]["results"][0]["runId"]


def run_status(page, run):
    query = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
    return graphql(page, query, id=run)["runOrError"]["status"]


def processes(argument):
    """The processes on this machine that were given an argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if argument.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def test_the_lineage_shows_every_asset_of_the_survey(page):
    shown = {
        "questionnaires": ("questionnaire_pdf", "aligned_questions", "trials"),
        "models": ("preflight", "readings", "probe_distributions"),
        "calibration": ("calibration", "negative_controls"),
        "people": ("respondents", "human_distributions", "human_means"),
        "analyses": ("reliability", "cultural_map", "report"),
    }
    page.set_viewport_size({"width": 2600, "height": 1400})  # the graph draws what is in view
    for group, names in shown.items():
        page.goto(f"/asset-groups/?expanded=global@global:{group}")
        page.get_by_text(names[-1], exact=True).first.wait_for()
        for name in names:
            assert page.get_by_text(name, exact=True).count() > 0, name
    page.set_viewport_size({"width": 1700, "height": 900})
    page.goto("/asset-groups")
    page.get_by_text("questionnaires", exact=True).last.wait_for()
    page.get_by_text("fetching statuses").first.wait_for(state="detached")
    shot(page, "asset_graph")


def test_a_cell_shows_its_numbers_and_its_picture(page):
    page.goto("/assets/survey/probe_distributions?view=partitions&partition=fra%7Creference-mono")
    page.get_by_text("median_p_valid").wait_for()
    shot(page, "probe_cell")
    page.get_by_text("[Show Markdown]").first.click()
    page.locator("img[src^='data:image/png']").first.wait_for()
    shot(page, "probe_cell_picture")


def test_a_calibrated_cell_shows_what_came_back_and_how_hard_it_was(page):
    page.goto("/assets/survey/calibration?view=partitions&partition=fra%7Creference-mono")
    page.get_by_text("hardness").first.wait_for()
    page.get_by_text("[Show Markdown]").first.click()
    page.locator("img[src^='data:image/png']").first.wait_for()
    shot(page, "calibrated_cell")


def test_a_failed_check_names_what_to_look_at(page):
    page.goto("/assets/survey/calibration?view=checks&checkDetail=plants_are_recovered")
    page.get_by_text("failing_rows").first.wait_for()
    page.get_by_text("Failed").first.wait_for()
    shot(page, "failed_check")


def test_a_click_materialises_one_language(page):
    assert materialise(page, "survey/questionnaire_pdf", "fra", "materialise_one_language") == ["fra"]
    page.goto("/runs")
    page.get_by_text("Success").first.wait_for()
    shot(page, "materialised_one_language")


def test_a_run_goes_on_when_the_browser_is_closed(page, ui, browser):
    before = materializations(page, "survey/trials")
    other = launched(browser.browser.browser_type)
    elsewhere = other.new_page(viewport=SCREEN, base_url=ui)
    launch(elsewhere, materialize_dialog(elsewhere, "survey/trials", "eng"))
    other.close()
    wait_until(lambda: new_partitions(page, "survey/trials", before) == ["eng"], every=0.5)


def test_a_backfill_of_three_cells_of_which_one_fails_is_mended_by_running_that_one_again(page, folder):
    """The weights of one model are out of reach while three cells are asked for."""
    weights = folder / "storage/small/survey/reference_models/reference-mono/fra/model.safetensors"
    out_of_reach = weights.rename(weights.with_suffix(".away"))
    cells = {language: f"{language}|reference-mono" for language in THREE_LANGUAGES}
    before, earlier = materializations(page, "survey/readings"), backfills(page)
    dialog = materialize_dialog(page, "survey/readings", "reference-mono")
    dialog.get_by_role("button", name="All", exact=True).first.click()
    shot(page, "backfill_three_cells")
    launch(page, dialog)
    wait_until(lambda: backfills(page) == ["COMPLETED_FAILED", *earlier], 240)
    assert new_partitions(page, "survey/readings", before) == [cells["deu"], cells["eng"]]
    page.goto("/assets/survey/readings?view=partitions&partition=fra%7Creference-mono")
    page.get_by_text("reference-mono").first.wait_for()
    shot(page, "backfill_one_failed")
    page.goto(f"/runs/{last_run(page, cells['fra'])}")
    page.get_by_text("weights in safetensors were expected, found none").first.wait_for()
    shot(page, "failed_cell")
    summaries = folder / "storage/small/summaries"
    wait_until(lambda: list(summaries.glob("*.html")))
    page.goto(f"/pages/storage/small/summaries/{next(summaries.glob('*.html')).name}")
    page.get_by_text("weights in safetensors were expected, found none").first.wait_for()
    shot(page, "backfill_summary")

    out_of_reach.rename(weights)
    before = materializations(page, "survey/readings")
    dialog = materialize_dialog(page, "survey/readings")
    for every in dialog.get_by_role("button", name="All", exact=True).all():
        every.click()
    dialog.get_by_text("Backfill only failed and missing partitions within selection").click()
    shot(page, "rerun_failed_only")
    launch(page, dialog)
    wait_until(lambda: new_partitions(page, "survey/readings", before), 240)
    assert new_partitions(page, "survey/readings", before) == [cells["fra"]]
    page.goto("/runs?view=backfills")
    page.get_by_text(re.compile("Completed|Failed")).first.wait_for()
    shot(page, "backfills")


def test_a_running_cell_is_cancelled_and_what_was_there_stays(page, folder):
    readings = folder / "storage/small/survey/readings/reference-multi/eng.parquet"
    as_it_was = readings.read_bytes()
    launch(page, partition_dialog(page, "survey/readings", "eng|reference-multi"))
    job = str(folder / "storage/small/jobs/survey/readings/reference-multi/eng/job.json")
    wait_until(lambda: processes(job), every=0.02)
    node = processes(job)[0]
    os.kill(node, signal.SIGSTOP)  # so that it is not done before anybody can cancel it
    run = last_run(page, "eng|reference-multi")
    page.goto(f"/runs/{run}")
    page.get_by_role("button", name="Terminate").first.click()
    page.get_by_role("dialog").wait_for()
    shot(page, "cancel_running_cell")
    os.kill(node, signal.SIGCONT)
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Terminate")).click()
    wait_until(lambda: run_status(page, run) == "CANCELED")
    page.goto(f"/runs/{run}")
    page.get_by_text("Canceled").first.wait_for()
    shot(page, "cancelled_cell")
    wait_until(lambda: not processes(job))
    assert readings.read_bytes() == as_it_was


@pytest.mark.parametrize(
    ("config", "field"),
    [({"recources": {}}, "recources"), ({"resources": {"storage": {"config": {"root": "/etc"}}}}, "root")],
)
def test_a_launch_with_an_unknown_field_is_refused_by_its_name_and_starts_nothing(page, config, field):
    launch = """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) { __typename
        ... on RunConfigValidationInvalid { errors { message } } } }"""
    runs = "{ runsOrError { ... on Runs { results { runId } } } }"
    asked = {"selector": PLACE | {"pipelineName": "extract_and_align"}, "runConfigData": config, "mode": "default"}
    before = graphql(page, runs)
    answer = graphql(page, launch, params=asked)["launchPipelineExecution"]
    assert answer["__typename"] == "RunConfigValidationInvalid"
    assert f'unexpected config entry "{field}"' in answer["errors"][0]["message"]
    assert graphql(page, runs) == before


def test_the_report_and_the_map_are_opened_from_their_assets(page):
    page.goto("/assets/survey/cultural_map")
    page.get_by_text("cells placed").first.wait_for()
    page.get_by_text("[Show Markdown]").last.click()
    page.locator("img[src^='data:image/png']").first.wait_for()
    shot(page, "map_opened")
    page.goto("/assets/survey/report")
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile("report.html")).first.click()
    report = opened.value
    report.get_by_text("What can be claimed").first.wait_for()
    shot(report, "report_opened")


def render_misprinted(language, path, codes, monkeypatch):
    """A bundled form with other variable codes before some of its questions."""

    def misprinted():
        for asked in load_form():
            row = json.loads(
                re.sub(r'"(v\d+)"', lambda found: f'"{codes.get(found[1], found[1])}"', asked.model_dump_json())
            )
            yield type(asked).model_validate(row)

    monkeypatch.setattr(render, "load_form", lambda: tuple(misprinted()))
    render.render(language, path)


def test_a_question_that_alignment_misses_is_seen_and_settled(page, folder, monkeypatch):
    """The form prints another variable's code before the question on satisfaction with life."""
    survey = folder / "storage" / "small" / "survey"
    render_misprinted("fra", survey / "questionnaire_pdf" / "fra.pdf", {"v39": "v38"}, monkeypatch)
    assert materialise(page, "survey/extracted_questions", "fra") == ["fra"]
    assert materialise(page, "survey/aligned_questions", "fra") == ["fra"]
    checks = "/assets/survey/aligned_questions?view=checks&checkDetail=master_questions_are_covered&partition=fra"
    page.goto(checks)
    page.get_by_text("failing_rows").first.wait_for()
    page.get_by_text("not found in this language's questionnaire").first.wait_for()
    shot(page, "failed_alignment_check")
    with open(survey / "aligned_questions" / "fra.alignment.csv", encoding="utf-8") as table:
        (row,) = [row for row in csv.DictReader(table) if row["question_id"] == "v38"]
    assert row["status"] == "beyond"
    overrides = folder / "small.overrides" / "fra.toml"
    overrides.parent.mkdir(exist_ok=True)
    overrides.write_text(f'["{row["mark"]}"]\nreason = "misprinted"\nid = "v39"\n', encoding="utf-8")
    assert materialise(page, "survey/extracted_questions", "fra") == ["fra"]
    assert materialise(page, "survey/aligned_questions", "fra") == ["fra"]
    page.goto(checks)
    page.get_by_text("Succeeded").first.wait_for()
    shot(page, "settled_alignment_check")
    aligned = {question["id"]: question for question in read_json(survey / "aligned_questions" / "fra.json")}
    assert aligned["v39"]["is_id_settled"] is True
    overrides.unlink()


def test_a_bad_extraction_is_seen_reviewed_and_settled(page, folder):
    """The last of this file: it puts another form in the place of the French one."""
    survey = folder / "storage" / "small" / "survey"
    form = PaperForm(survey / "questionnaire_pdf" / "fra.pdf")
    form.question("Q1", "Est-ce que vous êtes très heureux ces jours-ci ?")
    form.options("v7", "1 – très heureux", "2 – assez heureux", "3 – pas très heureux")
    form.save()
    assert materialise(page, "survey/extracted_questions", "fra") == ["fra"]
    checks = "/assets/survey/extracted_questions?view=checks&checkDetail=questions_are_complete&partition=fra"
    page.goto(checks)
    page.get_by_text("failing_rows").first.wait_for()
    page.get_by_text("likert4 has 3 options, 4 were expected").first.wait_for()
    shot(page, "failed_extraction_check")
    assert page.get_by_text("open the review page, write corrections into the overrides file").count() > 0
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile("fra.review.html")).first.click()
    review = opened.value
    review.locator("pre").first.wait_for()
    shot(review, "review_page")
    lines = review.locator("pre").first.inner_text()
    assert lines.startswith("[v7]")
    overrides = folder / "small.overrides" / "fra.toml"
    overrides.parent.mkdir(exist_ok=True)
    labels = ("très heureux", "assez heureux", "pas très heureux", "pas du tout heureux")
    options = ", ".join(f'{{ value = {value}, label = "{label}" }}' for value, label in enumerate(labels, 1))
    mark = re.search('of = "([0-9a-f]{8})"', lines)[1]
    overrides.write_text(f'[v7]\nreason = "carte 7"\nof = "{mark}"\noptions = [{options}]\n', encoding="utf-8")
    assert materialise(page, "survey/extracted_questions", "fra") == ["fra"]
    page.goto(checks)
    page.get_by_text("Succeeded").first.wait_for()
    shot(page, "settled_extraction_check")
    assert [option["label"] for option in read_json(survey / "extracted_questions" / "fra.json")[0]["options"]] == [
        *labels
    ]
