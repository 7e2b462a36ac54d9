"""The documentation as a site: every page, every link, every anchor; MkDocs itself says what is broken."""

import html
import re
import shutil
import subprocess
import sys

import pytest

from valuesassets.desk.pages.site_hooks import DECISION, anchor
from valuesassets_tests.needs import REPOSITORY


def build(folder, site):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    built = build(REPOSITORY, site)
    assert built.returncode == 0, built.stderr
    return site


@pytest.mark.slow
def test_every_page_is_in_the_site_and_every_link_and_anchor_leads_somewhere(site):
    pages = {page.relative_to(REPOSITORY / "docs").with_suffix("") for page in (REPOSITORY / "docs").rglob("*.md")}
    built = {page.relative_to(site).with_suffix("") for page in site.rglob("*.html")}
    assert pages <= built
    assert {"index", "CHANGELOG", "CONTRIBUTING", "search"} <= {page.as_posix() for page in built}


@pytest.mark.slow
def test_readme_decisions_tables_and_pictures_are_there(site):
    front = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="images/cultural_map.png"' in front
    assert "decisions/001-code-versions-from-sources.html" in front
    decision = (site / "decisions" / "001-code-versions-from-sources.html").read_text(encoding="utf-8")
    assert f"</h1>\n<p><em>{DECISION.strip('*')}</em></p>" in decision
    for page in ("review", "alignment"):
        assert "<table>" in (site / f"{page}.html").read_text(encoding="utf-8")
    assert "| an embedder" not in (site / "alignment.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_notebooks_are_pages_with_texts_code_and_the_file_itself(site):
    notebooks = sorted((REPOSITORY / "docs" / "notebooks").glob("*.py"))
    assert notebooks
    for notebook in notebooks:
        page = (site / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        script = notebook.read_text(encoding="utf-8")
        title = re.findall(r"^# # (.+)$", script, re.MULTILINE)
        assert [html.unescape(each) for each in re.findall(r"<h1[^>]*>(.*?)</h1>", page)] == title
        headings = [html.unescape(re.sub("<.*?>", "", each)) for each in re.findall(r"<h2[^>]*>(.*?)</h2>", page)]
        assert headings == re.findall(r"^# ## (.+)$", script, re.MULTILINE)
        n_code = len(re.findall(r"^# %%(?! \[markdown\])", script, re.MULTILINE))
        assert page.count('<code class="language-python">') == n_code
        assert f'href="{notebook.name}"' in page
        assert (site / "notebooks" / notebook.name).read_text(encoding="utf-8") == script


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        for loaded in re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"', page.read_text(encoding="utf-8")):
            assert not loaded.startswith(("http", "//")), (page.name, loaded)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("[gone](gone.md)", "gone.md"),
        ("[gone](map.md#gone)", "gone"),
        ("![gone](images/gone.png)", "gone.png"),
    ],
)
@pytest.mark.slow
def test_a_broken_link_fails_the_build(tmp_path, fault, said):
    for name in (
        "docs",
        "README.md",
        "CHANGELOG.md",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "mkdocs.yml",
        "valuesassets/desk/pages",
    ):
        copied = tmp_path / "project" / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy)(REPOSITORY / name, copied)
    with open(tmp_path / "project" / "docs" / "review.md", "a", encoding="utf-8") as page:
        page.write(f"\n{fault}\n")
    built = build(tmp_path / "project", tmp_path / "site")
    assert built.returncode != 0
    assert said in built.stderr


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("The review page", "the-review-page"),
        ("In `storage/`: what, and where?", "in-storage-what-and-where"),
        ("survey/model_weights", "surveymodel_weights"),
        ("Größe – Écoles", "größe--écoles"),
    ],
)
def test_headings_are_named_as_github_names_them(heading, name):
    assert anchor(heading) == name
