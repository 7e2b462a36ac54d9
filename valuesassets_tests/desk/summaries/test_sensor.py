"""Backfills that end, on a real instance: each is told once, whenever and however the daemon comes to look."""

import http.server
import json
import re
import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.storage.tags import BACKFILL_ID_TAG

from valuesassets.desk.summaries.notices import VARIABLE
from valuesassets.desk.summaries.sensor import SENSOR, backfill_sensor
from valuesassets.orchestration.resources import Storage
from valuesassets_tests.loopback import LoopbackServer
from valuesassets_tests.orchestration.toy_survey import CELLS, LANGUAGES, ToySurvey, key

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in Dagster's backfills, in what Apprise imports


class Backfills:
    """A survey whose backfills end as they are told to, and the sensor that looks at them."""

    def __init__(self, instance, folder):
        self.instance, self.survey = instance, ToySurvey(instance)
        self.storage = Storage(root=str(folder), study="toy")
        self.cursor = None

    def begin(self, name, partitions, assets):
        self.instance.add_backfill(
            PartitionBackfill.from_asset_partitions(
                name,
                self.survey.repository.asset_graph,
                partitions,
                list(map(key, assets)),
                time.time(),
                {},
                self.instance,
                all_partitions=False,
                title=None,
                description=None,
                run_config=None,
            )
        )
        return name

    def run(self, name, partition, *assets):
        """One of its runs."""
        self.survey.make(*assets, partition=partition, tags={BACKFILL_ID_TAG: name})

    def end(self, name, status=BulkActionStatus.COMPLETED_SUCCESS):
        backfill = self.instance.get_backfill(name)
        self.instance.update_backfill(backfill.with_status(status).with_end_timestamp(backfill.backfill_timestamp + 90))

    def look(self):
        """One look of the sensor: the lines that it logs."""
        sensor = backfill_sensor(Path(self.storage.root), self.storage.study)
        context = dg.build_sensor_context(self.instance, cursor=self.cursor, repository_def=self.survey.repository)
        found = sensor.evaluate_tick(context)
        self.cursor = found.cursor
        return [line for line in found.skip_message.split(" | ") if line != "no backfill has ended"]

    def page(self, name):
        return (self.storage.folder / "summaries" / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture
def backfills(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("VALUESASSETS_UI", "http://ui.example:3000/")
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield Backfills(instance, tmp_path)


@pytest.mark.slow
def test_a_backfill_of_cells_is_told_with_what_failed_why_and_what_to_do(backfills):
    backfills.look()
    name = backfills.begin("abcdefgh", CELLS, ["readings", "probe_distributions"])
    backfills.run(name, CELLS[0], "readings", "probe_distributions")
    backfills.survey.failing = {"probe_distributions"}
    backfills.run(name, CELLS[1], "readings", "probe_distributions")
    assert backfills.look() == []
    backfills.end(name, BulkActionStatus.COMPLETED_FAILED)
    (line,) = backfills.look()
    page = "http://127.0.0.1:3001/storage/toy/summaries/abcdefgh.html"
    assert line == f"backfill abcdefgh ended with failures in 90 s: 3 done, 1 failed, 4 not made; {page}"
    told = backfills.page(name)
    title = re.search("<title>(.*)</title>", told)[1]
    assert re.fullmatch(r"readings, probe_distributions, .* UTC: 3 done, 1 failed, 4 not made", title)
    assert told.count('class="done" title="reference-mono/eng: done"') == 2
    assert 'class="failed" title="reference-mono/deu: failed"' in told
    assert 'class="not made" title="reference-multi/deu: not made"' in told
    assert "probe_distributions is broken" in told
    assert "<td>probe_distributions</td>" in told
    (failed,) = [run for run in backfills.instance.get_runs() if run.status is dg.DagsterRunStatus.FAILURE]
    assert f'href="http://ui.example:3000/runs/{failed.run_id}"' in told
    assert 'href="http://ui.example:3000/runs/b/abcdefgh"' in told
    assert "Re-execute from failure" in told


@pytest.mark.slow
def test_a_grid_of_cells_of_which_not_all_were_asked_for_is_told_with_its_gaps(backfills):
    backfills.look()
    name = backfills.begin("diagonal", [CELLS[0], CELLS[3]], ["readings"])
    backfills.run(name, CELLS[0], "readings")
    backfills.end(name)
    (line,) = backfills.look()
    assert ": 1 done, 1 not made;" in line
    assert 'title="reference-mono/eng: done"' in backfills.page(name)
    assert 'title="reference-multi/eng: not requested"' in backfills.page(name)


@pytest.mark.slow
def test_a_backfill_of_languages_that_went_well_says_so(backfills):
    backfills.look()
    name = backfills.begin("languages", list(LANGUAGES), ["trials"])
    for language in LANGUAGES:
        backfills.run(name, language, "trials")
    backfills.end(name)
    (line,) = backfills.look()
    assert "completed in 90 s: 2 done;" in line
    assert "Everything that was requested exists" in backfills.page(name)
    assert "✓ eng" in backfills.page(name)


@pytest.mark.slow
def test_what_was_tried_again_with_success_is_no_failure(backfills):
    backfills.look()
    name = backfills.begin("retried", ["eng"], ["trials"])
    backfills.survey.failing = {"trials"}
    backfills.run(name, "eng", "trials")
    backfills.survey.failing = set()
    backfills.run(name, "eng", "trials")
    backfills.end(name)
    (line,) = backfills.look()
    assert ": 1 done;" in line
    assert "is broken" not in backfills.page(name)


@pytest.mark.slow
def test_a_cancelled_backfill_names_what_is_left(backfills):
    backfills.look()
    name = backfills.begin("stopped", list(LANGUAGES), ["trials"])
    backfills.run(name, "eng", "trials")
    backfills.end(name, BulkActionStatus.CANCELED)
    (line,) = backfills.look()
    assert line.startswith("backfill stopped cancelled in 90 s: 1 done, 1 cancelled;")


@pytest.mark.slow
def test_a_failed_check_is_named_with_what_is_wrong(backfills):
    backfills.look()
    name = backfills.begin("checked", [CELLS[0]], ["readings"])
    backfills.survey.doubtful = "the batch <b>matters</b>"
    backfills.run(name, CELLS[0], "readings")
    backfills.end(name)
    (line,) = backfills.look()
    assert "1 done; 1 check failed" in line
    assert "batches_do_not_matter" in backfills.page(name)
    assert "the batch &lt;b&gt;matters&lt;/b&gt;" in backfills.page(name)


@pytest.mark.slow
def test_each_is_told_once_also_after_a_restart_and_those_before_the_first_look_never(backfills):
    old = backfills.begin("old", ["eng"], ["trials"])
    backfills.end(old)
    going_on = backfills.begin("going_on", ["eng"], ["trials"])
    assert backfills.look() == ["backfills that end from now on are summarised"]
    quick = backfills.begin("quick", ["eng"], ["trials"])  # begins and ends while nobody looks
    for name in (going_on, quick):
        backfills.end(name)
    before = backfills.cursor
    assert [line.split()[1] for line in backfills.look()] == ["going_on", "quick"]
    assert backfills.look() == []
    backfills.cursor = before  # the daemon died before it could remember
    assert backfills.look() == []
    assert not (backfills.storage.folder / "summaries" / "old.html").exists()


@pytest.mark.slow
def test_one_that_cannot_be_told_hides_no_other_and_does_not_come_again(backfills, monkeypatch):
    backfills.look()
    for name in ("first", "second"):
        backfills.end(backfills.begin(name, ["eng"], ["trials"]))
    told = "valuesassets.desk.summaries.looking.gather_summary"
    real = __import__("valuesassets.desk.summaries.looking", fromlist=["gather_summary"]).gather_summary

    def stumbling(backfill, *rest):
        if backfill.backfill_id == "first":
            raise KeyError("what")
        return real(backfill, *rest)

    monkeypatch.setattr(told, stumbling)
    first, second = backfills.look()
    assert first == "backfill first: no summary could be written: 'what'"
    assert second.startswith("backfill second ended with failures")
    assert backfills.look() == []


@pytest.mark.slow
def test_several_that_end_at_once_make_one_notice_and_a_dead_address_repeats_nothing(backfills, monkeypatch):
    taken = []

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    backfills.look()
    for name in ("first", "second"):
        backfills.end(backfills.begin(name, ["eng"], ["trials"]))
    server = LoopbackServer(Hook)
    monkeypatch.setenv(VARIABLE, f"json://127.0.0.1:{server.port}/s3cr3t json://127.0.0.1:9/s3cr3t")
    with server.serving():
        lines = backfills.look()
        assert lines[-1] == "1 of 2 notices sent; address 2 (json) was not reached"
        assert backfills.look() == []
    (notice,) = taken
    assert notice["title"] == "toy: 2 backfills have ended"
    assert "summaries/first.html" in notice["message"]
    assert "summaries/second.html" in notice["message"]
    assert "s3cr3t" not in "".join(lines) + (backfills.cursor or "") + backfills.page("first")


def test_the_sensor_is_on_from_the_start(tmp_path):
    sensor = backfill_sensor(tmp_path, "toy")
    assert (sensor.name, sensor.default_status) == (SENSOR, dg.DefaultSensorStatus.RUNNING)
