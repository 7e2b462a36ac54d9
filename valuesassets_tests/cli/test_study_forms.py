"""What `study` and `run` say of files with questions: two for a language, names of no language, entries not asked."""

import pytest

from valuesassets_tests.cli.commands import refuse, run, succeed
from valuesassets_tests.cli.test_studies import GERMAN, OWN
from valuesassets_tests.instruments.survey.material.forms.exchange.test_qsf import question, survey

TABLE = "id,text,item,options\nv,Well?,,yes | no\n"
IGNORED = "my_survey.qsf: not asked, since its name is no language of the study; rename it to "


@pytest.fixture
def folder(tmp_path):
    """The folder of a study with a table of questions in English."""
    for name in ("tables", "models/eng"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tables" / "eng.csv").write_text(TABLE)
    (tmp_path / "own.toml").write_text(OWN)
    return tmp_path


def form(folder, name):
    quoting = question("sure", "You said ${q://QID0/ChoiceGroup/SelectedChoices}. Are you sure?")
    written = survey(folder, question("happy"), quoting, question("job", kind="TE", selector="SL"))
    return written.replace(folder / "tables" / name)


@pytest.mark.parametrize("command", ["study", "run"])
def test_two_files_for_a_language_are_refused_before_anything_runs(folder, command):
    form(folder, "eng.qsf")
    line = refuse(command, folder / "own.toml")
    assert line == f"{folder / 'tables' / 'eng.csv'}: eng.qsf is there as well; leave one of them"


def test_a_form_whose_name_is_no_language_is_named_with_the_name_it_needs(folder):
    form(folder, "my_survey.qsf")
    assert f"{IGNORED}eng.qsf, and take eng.csv away\n" in succeed("study", folder / "own.toml")
    (folder / "own.toml").write_text(OWN + GERMAN)
    (folder / "models" / "deu").mkdir()
    (folder / "tables" / "deu.csv").write_text(TABLE)
    assert f"{IGNORED}<language>.qsf, such as eng.qsf\n" in succeed("study", folder / "own.toml")


def test_a_run_names_what_it_ignores(folder, monkeypatch):
    form(folder, "my_survey.qsf")
    monkeypatch.setattr("valuesassets.cli.studies.require_index_models", lambda study: exit(3))
    done = run("run", folder / "own.toml")
    assert done.stdout.startswith(IGNORED)


def test_a_file_of_another_language_is_said_to_need_one(folder):
    (folder / "tables" / "fra.csv").write_text(TABLE)
    (folder / "tables" / "notes.txt").write_text("not a form")
    line = succeed("study", folder / "own.toml")
    assert "fra.csv: not asked, since its name is no language of the study; add [languages.fra] to ask it\n" in line
    assert "notes.txt" not in line


def test_study_says_how_much_of_a_form_is_asked(folder):
    form(folder, "eng.qsf")
    (folder / "tables" / "eng.csv").unlink()
    (line,) = [each for each in succeed("study", folder / "own.toml").splitlines() if "entries" in each]
    assert line.startswith("3 entries of the questionnaire (eng): 1 question asked, 2 not: an open question")
    assert line.endswith("; its text quotes what each respondent answered or is called (1)")
