"""What follows by itself when cells arrive, and what does not: the real conditions and sensor on a toy graph."""

import datetime
import os
import subprocess

import dagster as dg
import pytest
from dagster._core.definitions import data_version
from dagster._core.definitions.sensor_definition import SensorType
from dagster._core.instance import InstanceRef

from valuesassets.definitions import build_definitions
from valuesassets.desk import staleness
from valuesassets.desk.run_names import COMMAND_TAG, RUN_STUDY
from valuesassets.desk.run_process import RunProcess
from valuesassets.desk.staleness import StaleCache, Staleness
from valuesassets.orchestration.assets.declaring import NODE_JOBS
from valuesassets.orchestration.commands.run_study import run_study
from valuesassets.orchestration.following.automation import PATIENCE, SENSOR
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.toy_survey import ANALYSES, CELLS, ToySurvey, key

# Dagster's own: its sensors ask for runs of multi-partitions with tags that it calls non-compliant.
pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")

FOLLOWING = {"probe_distributions", "calibration"}


@pytest.fixture
def survey(request, tmp_path):
    """On an instance that is kept in memory; with `stored` as its parameter, in files as a user's is."""
    is_stored = getattr(request, "param", None) == "stored"
    with dg.instance_for_test(temp_dir=str(tmp_path)) if is_stored else dg.DagsterInstance.ephemeral() as instance:
        yield ToySurvey(instance)


@pytest.fixture
def analysed(survey):
    """One cell has arrived and was analysed."""
    survey.arrive(CELLS[0])
    survey.make(*FOLLOWING, partition=CELLS[0])
    survey.make(*ANALYSES)
    assert survey.tick() == []
    return survey


@pytest.mark.parametrize("survey", ["stored"], indirect=True)
@pytest.mark.slow
def test_arriving_readings_are_followed_cell_by_cell_and_then_by_all_analyses_in_one_run(survey):
    assert survey.tick() == []
    survey.arrive(*CELLS[:2])
    asked = survey.follow()
    assert sorted(asked, key=str) == sorted([(FOLLOWING, cell) for cell in CELLS[:2]], key=str)
    assert survey.follow() == [(ANALYSES, None)]
    assert survey.made[-1] == ("report", None)
    assert survey.tick() == []


@pytest.mark.slow
def test_a_cell_that_arrives_later_makes_only_what_rests_on_it_again(analysed):
    analysed.arrive(CELLS[3])
    assert analysed.follow() == [(FOLLOWING, CELLS[3])]
    assert analysed.follow() == [(ANALYSES - {"respondents"}, None)]
    assert analysed.follow() == []


@pytest.mark.slow
def test_analyses_follow_the_cells_of_a_grid_that_dagster_finds_too_large_to_look_at(analysed, monkeypatch):
    for module in (data_version, staleness):
        monkeypatch.setattr(module, "SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD", 3)
    analysed.arrive(CELLS[3])
    assert analysed.follow() == [(FOLLOWING, CELLS[3])]
    assert not Staleness(analysed.repository.asset_graph, analysed.instance).of([key("respondents")], None)
    assert Staleness(analysed.repository.asset_graph, analysed.instance).of([key("distances")], None)
    assert analysed.follow() == [(ANALYSES - {"respondents"}, None)]
    assert analysed.follow() == []


@pytest.mark.slow
def test_the_first_look_of_a_server_asks_for_no_cell_by_itself(tmp_path, monkeypatch):
    named = {
        "module": "valuesassets.dagster_internals.storage",
        "class": "SqliteStorage",
        "config": {"base_dir": str(tmp_path)},
    }
    ref = InstanceRef.from_dir(str(tmp_path), overrides={"storage": {"custom": named}})
    with dg.DagsterInstance.from_ref(ref) as instance:
        survey = ToySurvey(instance)
        survey.arrive(*CELLS)
        for cell in CELLS:
            survey.make(*FOLLOWING, partition=cell)
        survey.make(*ANALYSES)
        looks, made = [], staleness._materialisations
        monkeypatch.setattr(StaleCache, "_known", {})
        monkeypatch.setattr(
            staleness, "_materialisations", lambda key, *rest, **more: looks.append(rest[0]) or made(key, *rest, **more)
        )
        assert survey.tick() == []
        assert {*looks} <= {None}
        survey.arrive(CELLS[1])
        assert survey.tick() == [(FOLLOWING, CELLS[1])]
        assert {*looks} == {None, CELLS[1]}


@pytest.mark.slow
def test_readings_that_are_made_again_and_say_the_same_start_nothing(analysed):
    analysed.said -= 1
    analysed.arrive(CELLS[0])
    assert analysed.tick() == []


@pytest.mark.slow
def test_nothing_is_done_again_after_a_run_of_the_whole_study(survey, monkeypatch):
    assert list(run_study(survey.definitions, survey.instance)) == []
    monkeypatch.setattr(RunProcess, "find", lambda *_: None)  # as once the command has ended
    assert survey.tick() == []


@pytest.mark.slow
def test_a_run_that_makes_the_cell_and_what_follows_at_once_is_not_followed(survey):
    survey.make("readings", *FOLLOWING, partition=CELLS[0])
    survey.make(job="analyse")
    assert [name for name, _ in survey.made][:3] == ["readings", "probe_distributions", "calibration"]
    assert survey.tick() == []


@pytest.mark.slow
def test_a_failed_analysis_is_tried_again_only_when_another_cell_has_arrived(analysed):
    analysed.failing = {"distances"}
    analysed.arrive(CELLS[1])
    assert analysed.follow() == [(FOLLOWING, CELLS[1])]
    assert analysed.follow() == [({"quality_report", "distances", "report"}, None)]
    assert analysed.tick() == []
    assert analysed.tick() == []
    analysed.failing = set()
    analysed.make("distances")
    assert analysed.follow() == [({"report"}, None)]
    analysed.arrive(CELLS[2])
    assert analysed.follow() == [(FOLLOWING, CELLS[2])]
    assert analysed.follow() == [({"quality_report", "distances", "report"}, None)]


@pytest.mark.slow
def test_a_failed_cell_is_not_tried_again_and_hinders_no_analysis_of_the_others(survey):
    survey.failing = {"probe_distributions"}
    survey.arrive(CELLS[0])
    assert survey.follow() == [(FOLLOWING, CELLS[0])]
    assert survey.tick() == []
    survey.failing = set()
    survey.arrive(CELLS[1])
    assert survey.follow() == [(FOLLOWING, CELLS[1])]
    assert survey.follow() == [(ANALYSES, None)]


@pytest.mark.slow
def test_new_code_alone_starts_nothing(analysed):
    analysed.load(code_version="2")
    assert analysed.tick() == []
    analysed.arrive(CELLS[1])
    assert analysed.tick() == [(FOLLOWING, CELLS[1])]


@pytest.mark.slow
def test_analyses_wait_for_cells_in_the_making_but_no_cell_waits_longer_than_half_an_hour(survey):
    survey.arrive(CELLS[0])
    going_on = survey.start("readings")
    assert survey.follow() == [(FOLLOWING, CELLS[0])]
    assert survey.tick() == []

    def asked_after(waited):
        now = datetime.datetime.now(datetime.UTC) + waited
        found = dg.evaluate_automation_conditions(survey.definitions, survey.instance, evaluation_time=now)
        return found.total_requested

    assert asked_after(PATIENCE - datetime.timedelta(seconds=60)) == 0
    assert asked_after(PATIENCE + datetime.timedelta(seconds=1)) == len(ANALYSES)
    survey.end(going_on)
    assert survey.tick() == [(ANALYSES, None)]


@pytest.mark.parametrize("job", ["demo", "probe_grid"])
def test_a_job_that_makes_everything_part_by_part_is_not_raced(survey, job):
    survey.arrive(CELLS[0])
    run = survey.start(job=job)
    assert survey.tick() == []
    survey.end(run)
    assert survey.tick() == [(FOLLOWING, CELLS[0])]


@pytest.mark.slow
def test_no_second_analysis_begins_beside_one_even_where_cells_have_waited(survey):
    survey.arrive(CELLS[0])
    survey.follow()
    run = survey.start(job="analyse")
    later = datetime.datetime.now(datetime.UTC) + 2 * PATIENCE
    found = dg.evaluate_automation_conditions(survey.definitions, survey.instance, evaluation_time=later)
    assert found.total_requested == 0
    survey.end(run)
    assert survey.tick() == []  # a try that failed


def test_a_command_is_not_raced_between_its_runs_as_long_as_its_process_lives(survey):
    command = subprocess.Popen(["sleep", "600"])
    try:
        run = survey.start("trials")
        process = RunProcess.find(run.run_id, command.pid)
        survey.instance.add_run_tags(run.run_id, process.tags() | {COMMAND_TAG: RUN_STUDY})
        survey.end(run)
        survey.arrive(CELLS[0])
        assert survey.tick() == []
    finally:
        os.kill(command.pid, 9)
        command.wait()
    assert survey.tick() == [(FOLLOWING, CELLS[0])]


@pytest.mark.parametrize("study", ["demo_survey", "evs2017"])
def test_nothing_that_costs_money_or_hours_ever_starts_by_itself(tmp_path, study):
    graph = build_definitions(load_study(study), tmp_path).get_repository_def().asset_graph
    followers = {node.key.path[-1] for node in graph.asset_nodes if node.automation_condition is not None}
    assert followers & {*NODE_JOBS, "questionnaire_pdf", "extracted_questions", "trials", "master_questions"} == set()
    assert {"probe_distributions", "quality_report", "cultural_map", "report", "human_means"} <= followers


def test_the_sensor_is_on_from_the_start_and_looks_at_those_assets_alone(tmp_path):
    repository = build_definitions(load_study("demo_survey"), tmp_path).get_repository_def()
    (sensor,) = [each for each in repository.sensor_defs if each.sensor_type is SensorType.AUTOMATION]
    assert sensor.name == SENSOR
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    graph = repository.asset_graph
    conditioned = {node.key for node in graph.asset_nodes if node.automation_condition is not None}
    assert sensor.asset_selection.resolve(graph) == conditioned
