"""The wheel: the same bytes each time, with all that the program needs where there is no checkout."""

import email
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from valuesassets_tests.needs import REPOSITORY

pytest.importorskip("hatchling", reason="needs hatchling; make .venv/installed-dev installs it")
pytestmark = pytest.mark.slow


def build(folder, kind, target):
    """The package that is built from the sources in a folder, without a look at the package index."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (path,) = target.iterdir()
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return build(REPOSITORY, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(REPOSITORY, "wheel", tmp_path_factory.mktemp("wheel"))


def test_the_same_bytes_come_from_the_source_package(source, wheel, tmp_path):
    shutil.unpack_archive(source, tmp_path / "unpacked")
    (folder,) = (tmp_path / "unpacked").iterdir()
    again = build(folder, "wheel", tmp_path / "again"), build(folder, "sdist", tmp_path / "second")
    assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in again] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, source)
    ]


def test_documentation_settings_and_types_are_in_it_and_tests_are_not(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    pages = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "docs").rglob("*.*")}
    beside = {"mkdocs.yml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "dagster.yaml"}
    assert {f"valuesassets/documentation/{name}" for name in pages | beside} <= names
    assert {"valuesassets/py.typed", "slurm_runner/py.typed", "valuesassets/cli/new_home/study.toml"} <= names
    assert {name.partition("/")[0] for name in names} == {
        "valuesassets",
        "slurm_runner",
        "valuesassets-0.1.0.dist-info",
    }


def test_links_of_the_package_page_lead_somewhere_from_anywhere(wheel):
    page = email.message_from_bytes(zipfile.ZipFile(wheel).read("valuesassets-0.1.0.dist-info/METADATA"))
    links = re.findall(r"\]\(([^)]+)\)", str(page.get_payload()))
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    assert page.get_all("Classifier")
    assert len(page.get_all("Project-URL") or []) == 4


def test_in_an_empty_folder_a_home_is_made_and_nothing_is_written_beside_the_package(wheel, tmp_path):
    """The wheel unpacked, as pip does it; other packages are this environment's."""
    installed, folder = tmp_path / "site-packages", tmp_path / "empty"
    shutil.unpack_archive(wheel, installed, "zip")
    folder.mkdir()
    (folder / "calendar.py").write_text("raise RuntimeError('hostile')", encoding="utf-8")
    before = sorted(installed.rglob("*"))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("VALUESASSETS", "DAGSTER"))
    }
    environment |= {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-m", "valuesassets.cli", "run", "demo_survey", "--only", "master_questions"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    home = folder / "valuesassets_home"
    assert done.stderr.startswith(f"{home}: is the new home")
    assert (home / "storage" / "demo_survey" / "survey" / "master_questions").is_dir()
    assert done.stdout.endswith("to see all of it in the web UI: valuesassets ui\n")
    assert sorted(installed.rglob("*")) == before
    assert {path.name for path in folder.iterdir()} == {"calendar.py", "valuesassets_home"}


def test_the_documentation_is_built_into_the_home(wheel, tmp_path):
    installed = tmp_path / "site-packages"
    shutil.unpack_archive(wheel, installed, "zip")
    script = (
        "from valuesassets.desk.pages.documentation import build_missing_site, site_folder\n"
        "build_missing_site(site_folder()); print(site_folder())"
    )
    environment = os.environ | {"PYTHONPATH": str(installed), "VALUESASSETS_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(tmp_path / "site"), done.stderr
    assert "cultural_map.png" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "site" / "CHANGELOG.html").is_file()
