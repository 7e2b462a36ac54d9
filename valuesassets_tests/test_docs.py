"""What the documents name is there: files, make targets, commands; and they speak of the project alone."""

import re
import subprocess

import pytest
import yaml

from valuesassets.cli.command_table import EARLIER_GROUPS, PROGRAM
from valuesassets_tests.needs import REPOSITORY

PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
NAMES = [page.relative_to(REPOSITORY).as_posix() for page in PAGES]
MOST_WORDS = 25
"""Of an entry of the changelog."""
COMMANDS = {name for name in PROGRAM if name not in EARLIER_GROUPS}


@pytest.fixture(params=PAGES, ids=NAMES)
def page(request):
    return request.param


def test_every_link_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_what_stands_in_a_list_is_indented_as_the_site_needs_it(page):
    """The site takes four blanks for a part of a list, and no code between marks there; less tears the list apart."""
    without_code = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^ +```.*", without_code, flags=re.MULTILINE) == []
    assert re.findall(r"\n\n {1,3}\S.*", without_code) == []


def test_every_path_in_code_marks_is_there(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:valuesassets|valuesassets_tests|docs|slurm_runner)/[\w/.]+)`", text):
        assert (REPOSITORY / path).exists(), path


def test_every_command_and_make_target_exists(page):
    text = page.read_text(encoding="utf-8")
    for command in re.findall(r"(?:^|`)valuesassets ([a-z][a-z_-]*)\b", text, re.MULTILINE):
        assert command in COMMANDS, command
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_decision_says_context_choice_and_consequences():
    decisions = [page for page in PAGES if page.parent.name == "decisions"]
    assert len(decisions) >= 5
    for page in decisions:
        text = page.read_text(encoding="utf-8")
        assert re.match(rf"# {page.name[:3]}: ", text), page.name
        assert all(f"**{part}.**" in text for part in ("Context", "Choice", "Consequences")), page.name


def test_an_entry_of_the_changelog_is_one_line_of_at_most_25_words():
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = [line for line in text.partition("\n## ")[2].split("\n")[1:] if line and not line.startswith("#")]
    assert len(lines) > 100
    for line in lines:
        assert line.startswith("- "), f"an entry is one line: {line}"
        n_words = len(re.sub(r"\]\([^)]*\)", "]", line).split()) - 1
        assert n_words <= MOST_WORDS, f"{n_words} words; write {MOST_WORDS} at most: {line}"


def test_hooks_before_a_commit_use_what_is_installed_and_exist():
    settings = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for hook in settings["repos"][0]["hooks"]:
        assert hook["language"] == "system"
        program, *arguments = hook["entry"].split()
        assert program in (".venv/bin/ruff", ".venv/bin/python")
        if arguments[:2] == ["-m", "pytest"] or program.endswith("ruff"):
            continue
        assert (REPOSITORY / arguments[1].replace(".", "/")).with_suffix(".py").is_file()
    assert [repository["repo"] for repository in settings["repos"]] == ["local"]


def test_no_file_names_a_place_on_the_machine_it_was_written_on():
    listed = subprocess.run(
        ["git", "grep", "-lIE", r"/(work|home|root|Users)/[a-z]", "--", "."],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 128:
        pytest.skip("not a git checkout")
    assert listed.stdout.split() == ["valuesassets_tests/test_docs.py"] or listed.stdout == ""
