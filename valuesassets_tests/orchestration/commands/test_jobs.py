"""What the jobs that run a study part by part do, with a real process and real runs of a graph that takes no time."""

import os
import signal
import subprocess
import sys

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.run_names import PART_OF_TAG
from valuesassets.desk.run_process import RunProcess
from valuesassets.orchestration.commands.study_command import main
from valuesassets.records.study import load_study
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration import toy_command
from valuesassets_tests.waiting import wait_until


@pytest.fixture
def instance(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    with dg.instance_for_test(temp_dir=str(tmp_path)) as made:
        yield made


def said(instance, run_id):
    return [entry.user_message for entry in instance.all_logs(run_id) if not entry.is_dagster_event]


def parts(instance, run_id):
    return instance.get_runs(dg.RunsFilter(tags={PART_OF_TAG: run_id}))


@pytest.mark.slow
def test_a_job_says_how_far_it_is_names_what_failed_and_makes_the_rest_when_launched_again(
    instance, tmp_path, monkeypatch
):
    monkeypatch.setenv(toy_command.FAILING, "deu")
    first = toy_command.run_job("demo", tmp_path, instance)
    assert not first.success
    (failure,) = [event.step_failure_data.user_failure_data for event in first.all_events if event.is_step_failure]
    assert failure.description.startswith("1 part failed:\ntrials deu: deu: no lexicon\nFinished parts are kept.")
    lines = said(instance, first.run_id)
    assert [line for line in lines if " of 3: trials" in line] == ["1 of 3: trials eng", "2 of 3: trials deu"]
    assert "3 of 3: report" in lines
    assert len(parts(instance, first.run_id)) == 3
    monkeypatch.delenv(toy_command.FAILING)
    again = toy_command.run_job("demo", tmp_path, instance)
    assert again.success
    assert "2 of 3: trials deu" in said(instance, again.run_id)
    assert "1 of 3: trials eng" not in said(instance, again.run_id)


@pytest.mark.slow
def test_a_job_of_a_part_leaves_the_other_parts_alone(instance, tmp_path):
    assert toy_command.run_job("extract_and_align", tmp_path, instance).success
    assert instance.get_latest_materialization_event(dg.AssetKey(["survey", "trials"]))
    assert instance.get_latest_materialization_event(dg.AssetKey(["survey", "report"])) is None


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc")
@pytest.mark.parametrize("how", ["cancelled", "killed"])
@pytest.mark.slow
def test_what_a_job_has_started_ends_with_it(instance, tmp_path, how):
    def running():
        return instance.get_runs(
            dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED], tags={toy_command_tag: "run_study"})
        )

    toy_command_tag = "valuesassets/command"
    environment = os.environ | {toy_command.GATE: str(tmp_path / "gate")}
    command = [sys.executable, "-m", toy_command.__name__, "job", "demo", str(tmp_path)]
    with subprocess.Popen(command, env=environment, cwd=REPOSITORY) as job:
        at_once = min(2, len(os.sched_getaffinity(0)))
        wait_until(lambda: len(running()) == at_once)
        started = running()
        processes = [RunProcess.of_run(part.run_id, part.tags) for part in started]
        (whole,) = {part.tags[PART_OF_TAG] for part in started}
        if how == "cancelled":
            instance.report_run_canceling(instance.get_run_by_id(whole))
            job.send_signal(signal.SIGINT)
        else:
            job.kill()
        job.wait(300)
    wait_until(lambda: all(RunProcess.find(each.run_id, each.pid) != each for each in processes))
    ended = dg.DagsterRunStatus.CANCELED if how == "cancelled" else dg.DagsterRunStatus.FAILURE
    assert {part.run_id: part.status for part in parts(instance, whole)} == {part.run_id: ended for part in started}


def test_every_job_is_launched_without_a_setting_and_says_what_to_look_at(tmp_path):
    for study, whole in {"demo_survey": "demo", "evs2017": "whole_study"}.items():
        definitions = build_definitions(load_study(study), tmp_path)
        for name in (whole, "extract_and_align", "probe_grid", "analyse"):
            job = definitions.resolve_job_def(name)
            dg.validate_run_config(job, {})
            assert "Afterwards look at" in job.description


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            ["--only", "analysis"],
            "analysis: no such part of the study; did you mean analyses? There are the groups analyses, questionnaires",
        ),
        (["--only", "xyz"], "xyz: no such part of the study; there are the groups analyses, questionnaires"),
        (["--cells", "reference-mono/enx"], "reference-mono/enx: none of the study's cells; say <model>/<language>"),
    ],
)
def test_a_part_that_the_study_does_not_have_is_named_with_those_that_it_has(
    arguments, answer, tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(sys, "argv", [toy_command.__name__, "demo", "--storage", str(tmp_path), *arguments])
    assert main(toy_command.build) == 1
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(answer)
