"""Where the home is, how it is made, and what is said where it has moved or cannot be written."""

import os
import shutil
from pathlib import Path

import pytest
from dotenv import dotenv_values

from valuesassets.records import home
from valuesassets.records.errors import StorageError
from valuesassets.records.places import storage_root

TOLD = []


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    """The package as pip installs it, outside any checkout; nothing is set, and the working folder is empty."""
    for name in (home.VARIABLE, "VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(home, "PACKAGES", tmp_path / "site-packages")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    TOLD.clear()
    return tmp_path / "work"


def ready(**options):
    home.ready_home("demo_survey", "demo_survey", TOLD.append, **options)


def checkout(folder: Path) -> Path:
    for name in home.FOUND_BY:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_without_a_home_it_is_a_new_folder_here_which_looking_does_not_make(installed):
    assert home.home_folder() == installed / home.NEW_HOME
    assert storage_root() == installed / home.NEW_HOME / "storage"
    assert list(installed.iterdir()) == []


def test_the_first_command_that_stores_makes_and_names_it_and_later_ones_do_not(installed):
    ready()
    folder = installed / home.NEW_HOME
    assert {path.name for path in folder.iterdir()} == {
        "storage",
        "dagster.yaml",
        "workspace.yaml",
        ".env",
        home.MARKER,
    }
    assert [str(folder) in line for line in TOLD] == [True]
    ready()
    assert len(TOLD) == 1


def test_it_is_the_nearest_one_upwards(installed, monkeypatch):
    for folder in ("outer", "outer/inner"):
        (installed / folder / "below").mkdir(parents=True)
        home.make_home(installed / folder, "demo_survey", "demo_survey")
    monkeypatch.chdir(installed / "outer" / "inner" / "below")
    assert home.home_folder() == installed / "outer" / "inner"
    monkeypatch.chdir(installed / "outer" / "below")
    assert home.home_folder() == installed / "outer"


def test_a_checkout_is_a_home_and_nothing_is_written_into_it(installed, monkeypatch):
    root = checkout(installed / "checkout")
    before = sorted(root.rglob("*"))
    (root / "docs").mkdir()
    monkeypatch.chdir(root / "docs")
    ready()
    assert home.home_folder() == root
    assert sorted(root.rglob("*")) == sorted([*before, root / "docs"])


def test_the_checkout_that_the_package_is_part_of_is_the_home_elsewhere(installed, monkeypatch):
    monkeypatch.setattr(home, "PACKAGES", checkout(installed.parent / "checkout"))
    assert home.home_folder() == installed.parent / "checkout"


def test_variables_come_first(installed, monkeypatch):
    home.make_home(installed, "demo_survey", "demo_survey")
    monkeypatch.setenv(home.VARIABLE, "elsewhere")
    assert home.home_folder() == installed / "elsewhere"
    monkeypatch.setenv("VALUESASSETS_STORAGE", "/stored")
    monkeypatch.setenv("DAGSTER_HOME", "/dagster")
    assert (storage_root(), home.dagster_home()) == (Path("/stored"), Path("/dagster"))
    ready()
    assert (TOLD, (installed / "elsewhere").exists()) == ([], False)


def test_no_file_is_overwritten(installed):
    folder = installed / home.NEW_HOME
    folder.mkdir()
    for name in ("dagster.yaml", "workspace.yaml", ".env"):
        (folder / name).write_text("# mine\n", encoding="utf-8")
    ready()
    for name in ("dagster.yaml", "workspace.yaml", ".env"):
        assert (folder / name).read_text(encoding="utf-8") == "# mine\n"


def test_its_env_names_absolute_folders_also_with_blanks_and_quotes(installed):
    folder = installed / "it's a home"
    home.make_home(folder, "demo_survey", "demo_survey")
    values = dotenv_values(folder / ".env")
    assert values["DAGSTER_HOME"] == str(folder)
    assert values["VALUESASSETS_DAGSTER"] == str(folder / "storage" / "demo_survey" / "dagster")
    assert values["PYTHONSAFEPATH"] == "1"


def test_other_lines_of_its_env_stay(installed):
    home.make_home(installed, "demo_survey", "demo_survey")
    with open(installed / ".env", "a", encoding="utf-8") as stream:
        stream.write("GEMINI_API_KEY='secret'\n")
    home.write_environment(installed, "other.toml", "other")
    values = dotenv_values(installed / ".env")
    assert (values["GEMINI_API_KEY"], values["VALUESASSETS_STUDY"]) == ("secret", "other.toml")


def test_a_home_that_moved_is_one_line_which_says_how_to_repair_it(installed):
    ready()
    shutil.move(installed / home.NEW_HOME, installed / "moved")
    os.environ[home.VARIABLE] = str(installed / "moved")
    try:
        with pytest.raises(StorageError) as error:
            ready()
    finally:
        del os.environ[home.VARIABLE]
    (line,) = str(error.value).splitlines()
    assert line.endswith(f"`valuesassets init --repair {installed / 'moved'}` writes where it is now")
    assert str(installed / home.NEW_HOME) in line


def test_a_link_to_a_home_is_no_move(installed, monkeypatch):
    ready()
    (installed / "link").symlink_to(installed / home.NEW_HOME)
    monkeypatch.setenv(home.VARIABLE, str(installed / "link"))
    ready()


def test_a_read_only_home_is_one_line_but_may_be_looked_at(installed, monkeypatch):
    ready()
    monkeypatch.setattr(home.os, "access", lambda *_: False)  # root may write everywhere
    ready(is_written=False)
    with pytest.raises(StorageError) as error:
        ready()
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{installed / home.NEW_HOME}: this home is read-only for you; name another with")


def test_a_home_whose_storage_was_deleted_begins_anew(installed):
    ready()
    shutil.rmtree(installed / home.NEW_HOME / "storage")
    ready()
    assert (installed / home.NEW_HOME / "storage").is_dir()


def test_a_home_that_cannot_be_made_is_one_line(installed, monkeypatch):
    (installed / "file").touch()
    monkeypatch.setenv(home.VARIABLE, str(installed / "file"))
    with pytest.raises(StorageError, match=r"file: cannot be made here: .*; name another home with"):
        ready()


def test_messages_name_make_in_a_checkout_alone(installed, monkeypatch):
    assert home.command_to("make ui", "valuesassets ui") == "valuesassets ui"
    root = checkout(installed / "checkout")
    (root / "Makefile").touch()
    monkeypatch.chdir(root)
    assert home.command_to("make ui", "valuesassets ui") == "make ui"
