"""An instrument of another package, from its template through a study to its removal; no line of this one changes."""

import re
import zipfile

import pytest

from valuesassets_tests.cli.commands import run_in_own_process
from valuesassets_tests.plugin import ENTRY, register, write_plugin

PLANTED = {"dilemmas": 0.59, "habits": 0.50}
"""Mean probability of yes that the template's reference model learns, a tenth of which goes to what is shown first."""


@pytest.fixture(scope="module")
def tides(tmp_path_factory):
    """The package, its example run once."""
    folder = write_plugin(tmp_path_factory.mktemp("plugin"))
    return folder, run_example(folder)


def command(folder, *words):
    """A command in a process of its own, in which the package is installed."""
    storage = folder.parent / "storage"
    places = {"VALUESASSETS_STORAGE": str(storage), "VALUESASSETS_DAGSTER": "", "VALUESASSETS_STUDY": ""}
    return run_in_own_process(*words, PYTHONPATH=str(folder), **places)


def run_example(folder):
    return command(folder, "run", folder / "example.toml")


def remade_parts(done):
    """What a run has made, and nothing failed."""
    assert done.returncode == 0, done.stdout + done.stderr
    parts = re.findall(r"^\d+ of \d+: (.*)$", done.stderr, re.MULTILINE)
    assert f"{len(parts)} made, of which 0 failed" in done.stderr
    return parts


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.slow
def test_its_example_runs_to_its_report_and_finds_what_was_planted(tides):
    folder, done = tides
    assert {"trials habits", "reference_models", "leanings", "report"} <= {*remade_parts(done)}
    (sentence,) = re.findall(r"reference: says yes with probability (.*)\.$", done.stdout, re.MULTILINE)
    probability = {task: float(value) for value, task in re.findall(r"([\d.]+) in (\w+)", sentence)}
    assert probability == pytest.approx(PLANTED, abs=0.03)
    assert "Does the instrument work? Yes" in done.stdout
    assert (folder.parent / "storage/tides_example/tides/report/report.html").is_file()
    assert done.stderr.count("tides") == 0  # no fault is told


@pytest.mark.slow
def test_its_package_is_named_with_its_version_where_ours_is(tides):
    folder, _ = tides
    page = (folder.parent / "storage/tides_example/tides/report/report.html").read_text(encoding="utf-8")
    assert "The instrument is of the package valuesassets-tides 0.1.0." in page
    assert "@software{valuesassets-tides,\n  title   = {valuesassets-tides},\n  version = {0.1.0},\n}" in page
    assert re.search(r">valuesassets-tides</th>\s*<td[^>]*>0\.1\.0<", page)
    done = command(folder, "bundle", folder / "example.toml", "--output", folder.parent / "bundle.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder.parent / "bundle.zip") as bundle:
        citation, reproduce = (bundle.read(name).decode() for name in ("CITATION.cff", "REPRODUCE.md"))
    assert citation.endswith('  - type: software\n    title: "valuesassets-tides"\n    version: 0.1.0\n')
    assert "made with valuesassets 0.1.0 and valuesassets-tides 0.1.0 on Python" in reproduce


@pytest.mark.slow
def test_a_shell_is_offered_what_it_has_stored_and_its_keys(tides):
    folder, _ = tides

    def offered(line):
        variables = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_VALUESASSETS_COMPLETE": "complete_bash"}
        storage = str(folder.parent / "storage")
        return run_in_own_process(PYTHONPATH=str(folder), VALUESASSETS_STORAGE=storage, **variables).stdout.split()

    example = folder / "example.toml"
    assert offered(f"valuesassets run {example} --only ti") == ["tides/"]
    assert {"tides/leanings", "tides/report", "tides/trials"} <= {*offered(f"valuesassets run {example} --only tides/")}
    assert offered("valuesassets study --explain tides.ta") == ["tides.tasks"]


@pytest.mark.slow
def test_what_is_remade_is_what_changed_and_nothing_else(tides):
    folder, _ = tides
    package = folder / "valuesassets_tides"
    assert remade_parts(run_example(folder)) == []
    change(package / "measures" / "leanings.py", '"""A row for each cell', '"""One row for each cell')
    assert remade_parts(run_example(folder)) == ["leanings", "report"]
    change(package / "measures" / "means.py", ".mean()", ".median()")
    assert remade_parts(run_example(folder)) == ["leanings", "report"]


@pytest.mark.slow
def test_a_derivation_that_breaks_fails_alone_and_in_one_line(tides):
    folder, _ = tides
    helper = folder / "valuesassets_tides" / "measures" / "means.py"
    sound = helper.read_text()
    helper.write_text("import nothing_there\n" + sound)
    done = run_example(folder)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("failed")]
    assert (done.returncode, line) == (1, "failed leanings: ModuleNotFoundError: No module named 'nothing_there'")
    helper.write_text(sound)


@pytest.mark.slow
def test_a_graph_that_breaks_ends_its_own_study_in_a_line_and_no_other(tides):
    folder, _ = tides
    wiring = folder / "valuesassets_tides" / "wiring.py"
    sound = wiring.read_text()
    wiring.write_text("import nothing_there\n" + sound)
    first, last = run_example(folder).stderr.splitlines()
    assert first.startswith(
        "instrument tides: valuesassets_tides.wiring of valuesassets-tides 0.1.0 cannot be imported"
    )
    assert last.startswith("study tides_example: a run failed")
    assert command(folder, "study", "demo_survey").stderr == ""
    wiring.write_text(sound)


@pytest.mark.slow
def test_a_package_that_is_removed_leaves_its_files_and_a_line(tides):
    folder, _ = tides
    entries = register(folder, "valuesassets-tides", tides=ENTRY) / "entry_points.txt"
    entries.write_text("")
    done = run_example(folder)
    advice = "no installed instrument has this table; install its package, or remove it"
    assert (done.returncode, done.stderr) == (1, f"{folder / 'example.toml'}: [tides]: {advice}\n")
    assert command(folder, "ls", "tables").returncode == 0
    assert (folder.parent / "storage/tides_example/tides/report/report.html").is_file()
