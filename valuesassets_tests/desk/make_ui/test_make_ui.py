"""The UI as `make ui` starts it: what it says, and how it ends."""

import http.client
import json
import os
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from slurm_runner.files import tail
from valuesassets.records.pages import PAGES_VARIABLE
from valuesassets_tests.desk.make_ui import gated_cells
from valuesassets_tests.desk.make_ui.started_ui import (
    CELLS,
    SERVERS,
    get,
    graph_is_there,
    instance_of,
)
from valuesassets_tests.desk.web_ui import (
    PLACE,
    ask_graphql,
    free_ports,
    is_ready,
    server_pids,
    ui_process,
)
from valuesassets_tests.waiting import wait_until

GUESTS = """mutation ($backfill: LaunchBackfillParams!, $run: ExecutionParams!,
        $event: ReportRunlessAssetEventsParams!, $wiped: [PartitionsByAssetSelector!]!) {
    launchPartitionBackfill(backfillParams: $backfill) { __typename }
    launchRun(executionParams: $run) { __typename }
    reportRunlessAssetEvents(eventParams: $event) { __typename }
    wipeAssets(assetPartitionRanges: $wiped) { __typename }
    reloadWorkspace { __typename }
}"""
"""What a guest may not do."""
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc"),
    pytest.mark.slow,
]


def test_it_says_where_the_ui_and_the_pages_are_and_how_to_stop(ui):
    said = ui.said()
    assert f"the UI:      {ui.address}\n" in said
    assert f"the pages:   http://127.0.0.1:{ui.pages_port}  (report," in said
    assert "Ctrl-C stops both" in said
    assert get(f"{ui.address}/server_info")[0] == 200
    status, text = get(f"http://127.0.0.1:{ui.pages_port}/")
    assert status == 200
    assert f'"{ui.address}/"' in text


def through_another_address(port, host):
    """The status that a server gives to who comes by another address of this machine, and by what name."""
    with closing(http.client.HTTPConnection("127.0.0.2", port, timeout=30)) as connection:
        connection.request("GET", "/", headers={"Host": host})
        return connection.getresponse().status


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an address of this machine on Linux")
def test_a_ui_that_listens_everywhere_warns_and_still_answers_to_its_own_name_alone(own):
    ui = own
    with ui.up("--read-only", "--host", "0.0.0.0"):  # noqa: S104
        (warning,) = (line for line in ui.said().splitlines() if line.startswith("warning: "))
        assert warning.startswith(f"warning: --host 0.0.0.0: whoever reaches port {ui.port} or {ui.pages_port} ")
        assert f"the UI:      {ui.address}  (read-only)\n" in ui.said()
        for port, refused in ((ui.port, 403), (ui.pages_port, 400)):
            assert through_another_address(port, f"127.0.0.1:{port}") == 200
            assert through_another_address(port, f"elsewhere.example:{port}") == refused


def test_the_graph_is_told_where_the_pages_are(ui):
    told = Path(f"/proc/{ui.servers()['code_server']}/environ").read_bytes().split(b"\0")
    assert f"{PAGES_VARIABLE}=http://127.0.0.1:{ui.pages_port}".encode() in told


def test_only_this_machine_reaches_the_servers(ui):
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            address, port = line.split()[1].split(":")
            if int(port, 16) in (ui.port, ui.pages_port):
                assert address == "0100007F"


def test_a_second_one_over_the_same_instance_is_refused_and_the_first_goes_on(ui):
    before = ui.servers()
    log = ui.folder / "second.log"
    ports = [str(port) for port in free_ports(2)]
    with ui_process(ui.environment, log, "--port", ports[0], "--pages-port", ports[1]) as second:
        assert second.wait(300) == 1
    (line,) = log.read_text().splitlines()
    assert f"another UI is up at {ui.address} (process" in line
    assert ui.servers() == before


@pytest.mark.ui_faults
def test_a_read_only_one_beside_it_changes_nothing_and_gives_up_on_a_server_that_does_not_stay_up(ui):
    before = ui.servers()
    log = ui.folder / "read_only.log"
    port, pages_port = free_ports(2)
    arguments = ("--read-only", "--port", str(port), "--pages-port", str(pages_port))
    with ui_process(ui.environment, log, *arguments, "--module", gated_cells.__name__) as looking:
        wait_until(lambda: is_ready(looking, log), said=lambda: tail(log))
        address = f"http://127.0.0.1:{port}"
        given = {
            "backfill": {"assetSelection": [{"path": CELLS.path}], "partitionNames": ["a"]},
            "run": {"selector": PLACE | {"pipelineName": "__ASSET_JOB"}, "mode": "default"},
            "event": {"eventType": "ASSET_MATERIALIZATION", "assetKey": {"path": CELLS.path}, "partitionKeys": ["a"]},
            "wiped": [{"assetKey": {"path": CELLS.path}}],
        }
        answers = ask_graphql(address, GUESTS, **given)
        assert {answer["__typename"] for answer in answers.values()} == {"UnauthorizedError"}
        report = f"{address}/report_asset_materialization/{'/'.join(CELLS.path)}?partition=a"
        assert get(report, b"{}", {"Content-Type": "application/json"})[0] == 401
        servers = server_pids(ui.environment, looking.pid)
        assert set(servers) == SERVERS - {"daemon"}
        killed = set()
        while looking.poll() is None:
            pid = server_pids(ui.environment, looking.pid).get("pages")
            if pid and pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
            time.sleep(0.1)
    assert looking.returncode == 1
    assert len(killed) == 4
    assert log.read_text().rstrip().splitlines()[-1].startswith("the pages has ended 4 times within a minute")
    assert ui.servers() == before


@pytest.mark.ui_faults
def test_an_interrupted_start_leaves_nothing(own):
    with own.starting() as server:
        wait_until(lambda: "waiting for" in own.said(), said=own.end)
        server.send_signal(signal.SIGINT)
        assert server.wait(300) == 0
    assert own.processes() == []
    assert "the UI:" not in own.said()
    assert not (own.folder / "storage" / "dagster" / "ui.json").exists()


@pytest.mark.ui_faults
def test_a_graph_that_cannot_be_loaded_is_said_and_read_again_on_a_click(own):
    own.open_gates(["fault"])
    with own.up():
        assert f"could not be loaded: ValueError: {gated_cells.FAULT}\n" in own.said()
        assert "Reload in the UI" in own.said()
        assert not graph_is_there(own)
        (own.gates / "fault").unlink()
        reload = 'mutation { reloadRepositoryLocation(repositoryLocationName: "valuesassets_tests") { __typename } }'
        assert ask_graphql(own.address, reload)["reloadRepositoryLocation"]["__typename"] == "WorkspaceLocationEntry"
        assert graph_is_there(own)
        assert "has ended" not in own.said()


@pytest.mark.ui_faults
def test_a_database_of_a_newer_dagster_is_said_in_one_line(own):
    import sqlite3

    with instance_of(own) as instance:
        assert instance.get_runs() == []
    database = sqlite3.connect(own.folder / "storage" / "dagster" / "history" / "runs.db")
    database.execute("UPDATE alembic_version SET version_num = 'f00000000000'")
    database.commit()
    database.close()
    with own.starting() as server:
        assert server.wait(120) == 1
    assert "written by a newer Dagster" in own.said().splitlines()[-1]
    assert own.processes() == []


@pytest.mark.ui_faults
def test_a_ui_that_a_shell_starts_in_the_background_is_stopped_by_sigterm(own):
    """Such a process is told to ignore Ctrl-C, and so would be its servers, which are asked to stop that way."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with own.up() as server:
            signal.signal(signal.SIGINT, before)
            server.send_signal(signal.SIGINT)
            time.sleep(1)
            assert server.poll() is None
            server.send_signal(signal.SIGTERM)
            assert server.wait(300) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert own.processes() == []


def test_logs_of_the_servers_lie_with_the_instance(ui):
    logs = Path(ui.environment["VALUESASSETS_DAGSTER"]) / "logs"
    assert {log.stem for log in logs.glob("*.log")} >= SERVERS
    assert str(logs) in ui.said()
    about = json.loads((logs.parent / "ui.json").read_text(encoding="utf-8"))
    assert about["address"] == ui.address
