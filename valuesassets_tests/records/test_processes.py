"""Modules of ours as processes: no file of the working folder takes the place of a library's."""

import os
import subprocess
import sys

from valuesassets.records.processes import PACKAGES, count_cores, python_module, safe_path

PRINT_CALENDAR = "import calendar; print(calendar.__file__)"


def test_a_file_of_the_working_folder_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "calendar.py").write_text("raise RuntimeError('hostile')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = python_module("calendar", "2020", "1")
    assert "January 2020" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    faulty = subprocess.run([part for part in command if part != "-P"], capture_output=True, text=True, check=False)
    assert "hostile" in faulty.stderr
    safe = [sys.executable, "-c", PRINT_CALENDAR]
    assert (
        str(tmp_path)
        not in subprocess.run(safe, env=os.environ | safe_path(), capture_output=True, text=True, check=True).stdout
    )


def test_sources_that_nobody_has_installed_are_imported_from_where_they_lie(monkeypatch):
    monkeypatch.chdir(PACKAGES)
    assert python_module("valuesassets.node", "job.json") == [sys.executable, "-m", "valuesassets.node", "job.json"]
    assert safe_path() == {}


def test_another_python_can_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert python_module("here", python="/usr/bin/python3") == ["/usr/bin/python3", "-P", "-m", "here"]


def test_cores_are_counted_where_the_system_does_not_say_which(monkeypatch):
    assert count_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert count_cores() == os.cpu_count()
