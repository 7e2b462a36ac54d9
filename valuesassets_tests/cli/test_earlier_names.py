"""Names that commands and bundled studies had before are accepted, and a line says the new one."""

import pytest

from valuesassets.cli.command_table import EARLIER_GROUPS, GONE, PROGRAM
from valuesassets.records.study import EARLIER_NAMES, load_study, stored_study, study_path
from valuesassets_tests.cli.commands import run, succeed


@pytest.mark.parametrize(
    ("earlier", "name", "words"),
    [
        ("psych", "psych-tasks", ("check", "--help")),
        ("psych_tasks", "psych-tasks", ("check", "--help")),
        ("robustness", "cultural-robustness", ("questions", "--questions", "bundled")),
        ("cultural_robustness", "cultural-robustness", ("questions", "--questions", "bundled")),
    ],
)
def test_a_group_by_its_earlier_name_does_the_same_and_a_line_says_the_new_one(earlier, name, words):
    done = run(earlier, *words)
    assert done.returncode == 0
    assert done.stdout == succeed(name, *words).replace(f"valuesassets {name} ", f"valuesassets {earlier} ", 1)
    assert done.stderr == f"valuesassets {earlier} is now called valuesassets {name}; use the new name\n"


def test_earlier_names_of_groups_are_in_no_help():
    listed = [line.split()[0] for line in succeed("--help").splitlines() if line.strip()]
    assert {"psych-tasks", "cultural-robustness"} <= {*listed}
    assert not {"psych", "psych_tasks", "robustness", "cultural_robustness"} & {*listed}
    assert {name for name, entry in PROGRAM.items() if entry.hidden} == {*EARLIER_GROUPS, *GONE}


@pytest.mark.parametrize("earlier", EARLIER_NAMES)
def test_a_study_by_its_earlier_name_is_the_same_study_and_a_line_says_the_new_one(earlier):
    name = EARLIER_NAMES[earlier]
    assert load_study(earlier) == load_study(name)
    assert load_study(name).name == name
    done = run("study", earlier)
    assert (done.returncode, done.stdout) == (0, succeed("study", name))
    assert done.stderr == f"{earlier} is now called {name}; the old name is accepted in this release\n"


def test_a_study_that_was_run_by_its_earlier_name_keeps_its_folder(tmp_path):
    study = load_study("demo_survey")
    assert stored_study(study, tmp_path).name == "demo_survey"
    (tmp_path / "demo").mkdir()
    assert stored_study(study, tmp_path) == study.model_copy(update={"name": "demo"})
    assert stored_study(load_study("demo_worldwise"), tmp_path).name == "demo_worldwise"
    done = run("study", "demo_survey", VALUESASSETS_STORAGE=tmp_path)
    assert done.stderr == f"demo_survey was called demo when it was first run: its files stay in {tmp_path / 'demo'}\n"
    done = run("study", "demo", VALUESASSETS_STORAGE=tmp_path)
    assert done.stderr == (
        "demo is now called demo_survey; the old name is accepted in this release; its files stay in "
        f"{tmp_path / 'demo'}\n"
    )
    (tmp_path / "demo_survey").mkdir()
    assert stored_study(study, tmp_path) == study


def test_a_study_file_of_ones_own_keeps_the_name_that_it_has(tmp_path):
    (tmp_path / "storage" / "demo_survey").mkdir(parents=True)
    bundled = study_path("demo_worldvaluesbench").read_text(encoding="utf-8")
    own = bundled.replace('name = "demo_worldvaluesbench"', 'name = "demo"')
    (tmp_path / "mine.toml").write_text(own, encoding="utf-8")
    done = run("study", tmp_path / "mine.toml", VALUESASSETS_STORAGE=tmp_path / "storage")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("demo: WorldValuesBench with planted people")
