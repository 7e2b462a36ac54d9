"""What `make ui` says, in one line, where it cannot work, before it has started anything."""

import json
import os
import socket
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
from filelock import FileLock

from valuesassets.records.study import study_path
from valuesassets_tests.cli.commands import refuse
from valuesassets_tests.desk.web_ui import free_ports
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment


@pytest.fixture
def environment(tmp_path):
    return study_environment(tmp_path, "demo_survey") | {"PYTHONPATH": str(REPOSITORY)}


@pytest.fixture
def ports():
    return free_ports(2)


def refuse_ui(environment, ports, *more, code=1):
    """The line in which the command refuses to start."""
    port, pages = ports
    return refuse("ui", "--port", port, "--pages-port", pages, *more, code=code, **environment)


@contextmanager
def listening():
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_faulty_study_file_is_named(environment, ports, tmp_path):
    study = tmp_path / "s.toml"
    study.write_text(study_path("demo_survey").read_text(encoding="utf-8") + "\n[thresholdz]\n", encoding="utf-8")
    line = refuse_ui(environment | {"VALUESASSETS_STUDY": str(study)}, ports)
    assert line.startswith(str(study))
    assert "thresholdz" in line


def test_a_taken_port_is_named_with_another(environment, ports):
    with listening() as port:
        line = refuse_ui(environment, (port, ports[1]))
    assert line.startswith(f"port {port}, for the UI: is taken; ")
    assert line.endswith(f"`make ui PORT={port + 10}`")


def test_a_taken_port_of_the_pages_is_named(environment, ports):
    with listening() as port:
        line = refuse_ui(environment, (ports[0], port), "--read-only")
    assert line.startswith(f"port {port}, for the pages: is taken")
    assert f"`make ui READ_ONLY=1 PORT={ports[0] + 10}`" in line


def test_an_address_that_this_machine_lacks_is_named(environment, ports):
    line = refuse_ui(environment, ports, "--host", "192.0.2.1")
    assert line == "--host 192.0.2.1: this machine has no such address; 0.0.0.0 stands for all that it has"


def test_a_name_in_place_of_an_address_is_refused(environment, ports):
    line = refuse_ui(environment, ports, "--host", "localhost", code=2)
    assert "localhost: an IPv4 address of this machine was expected, such as 0.0.0.0 for all that it has" in line


def test_a_second_ui_over_the_same_database_is_told_where_the_first_is(environment, ports):
    folder = environment["VALUESASSETS_DAGSTER"]
    with FileLock(f"{folder}/ui.lock"):
        with open(f"{folder}/ui.json", "w", encoding="utf-8") as about:
            json.dump({"pid": 4711, "address": "http://127.0.0.1:3000", "run_folder": "none"}, about)
        line = refuse_ui(environment, ports)
    assert "another UI is up at http://127.0.0.1:3000 (process 4711)" in line
    assert f"`make ui READ_ONLY=1 PORT={ports[0] + 10}`" in line


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--port", "three"), "port three: a number from 1 to 65535"),
        (("--port", "0"), "port 0: a number from 1"),
        (("--port", "99999"), "port 99999: a number from 1"),
        (("--port", "-1"), "port -1: a number from 1"),
        (("--port", "3000", "--pages-port", "3000"), "another port than --port"),
        (("--port", "65535"), "no port comes after it"),
        (("--prot", "3000"), "--prot"),
        (("3000",), "3000"),
    ],
)
def test_an_argument_that_makes_no_sense_is_named(environment, given, said):
    line = refuse("ui", *given, code=2, **environment)
    assert said in line
    assert line.endswith("see `valuesassets ui --help`")


def test_a_file_where_a_folder_should_be_is_named(environment, ports, tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER"):
        line = refuse_ui(environment | {name: str(tmp_path / "file")}, ports)
        assert line.startswith(f"{tmp_path / 'file'}: cannot be written: a file stands in its place")
        assert name in line


@pytest.mark.parametrize("home", ["relative", "/nowhere"])
def test_a_dagster_home_without_settings_is_named(environment, ports, home):
    assert f"DAGSTER_HOME={home}" in refuse_ui(environment | {"DAGSTER_HOME": home}, ports)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_ours_is_named(environment, ports, tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o500)
    line = refuse_ui(environment | {"VALUESASSETS_DAGSTER": str(tmp_path / "theirs")}, ports)
    assert "you may not write there" in line


@contextmanager
def mounted(folder, options):
    """A disk in memory; the test is skipped where none can be mounted."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting a disk takes root on Linux")
@pytest.mark.parametrize("name", ["VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER"])
@pytest.mark.parametrize(
    ("options", "said"),
    [("ro,size=1m", "the disk is mounted read-only; make it"), ("size=16k", "the disk is full; free some space")],
)
def test_a_disk_that_takes_no_files_is_named(environment, ports, tmp_path, name, options, said):
    disk = tmp_path / "disk"
    with mounted(disk, options):
        line = refuse_ui(environment | {name: str(disk)}, ports)
    assert line.startswith(f"{disk}: cannot be written: {said}")
    assert line.endswith(f"set {name} to another folder")
