"""What a file of tests may cost, and what is said where it costs more."""

import json

import pytest

from valuesassets_tests import costs
from valuesassets_tests.made_tests import run_made_tests

SHARED = """
    import time

    import pytest


    def work(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass


    @pytest.fixture(scope="session")
    def made():
        work(0.4)


    @pytest.fixture(scope="module")
    def own():
        work(0.2)


    def test_one(made, own):
        pass


    def test_two(made, own):
        pass


    @pytest.mark.group("another")
    def test_three():
        pass
"""
"""A file of tests, one fixture of which is made for the whole session."""


def test_a_file_beyond_its_budget_by_more_than_half_is_named_on_any_machine(monkeypatch):
    monkeypatch.setattr(costs, "BUDGETS", {".": 4.0, "models": 10.0})
    files = {"valuesassets_tests/models/spans/test_a.py": 14.0, "valuesassets_tests/cli/test_b.py": 7.0}
    for unit in (0.05, 0.2):
        spent = [{"file": name, "cpu_s": units * unit} for name, units in files.items()]
        (line,) = costs.files_beyond_budget({"unit_cpu_s": unit, "files": spent})
        assert line.startswith("valuesassets_tests/cli/test_b.py costs 7 units")
        assert "4 are planned" in line


def test_a_doctest_has_the_budget_of_all(monkeypatch):
    monkeypatch.setattr(costs, "BUDGETS", {".": 4.0, "models": 10.0})
    assert costs.budget_of("valuesassets/models/trie.py") == 4.0
    assert costs.budget_of("valuesassets_tests/models/spans/test_spans.py") == 10.0


@pytest.mark.slow
def test_what_is_made_once_for_several_files_is_none_of_theirs(tmp_path):
    environment = {"VALUESASSETS_STORAGE": str(tmp_path), costs.PART: "suite"}
    plugins = ["costs:Costs", "forked_workers:ForkedWorkers"]
    assert run_made_tests(tmp_path, SHARED, plugins, **environment).returncode == 0
    times = json.loads((tmp_path / "evidence" / "test_times.json").read_text(encoding="utf-8"))
    (file,) = times["files"]
    assert times["tests"] == 3
    assert times["made_once"]["made"] >= 0.4
    assert 0.2 <= file["cpu_s"] < times["made_once"]["made"]
