"""The tutorials of the documentation are done as a reader does them, in an empty folder.

What a page's blocks mean is told by what stands around them:

- a line with only a file's name in code marks and a colon, as "`my_study.toml`:", says what the next block is;
- a block without a language has commands, one on each line (a backslash at its end goes on), and `#` begins a remark;
- a block of the language `text` has lines which the commands before it print, in this order; ` ...` ends a beginning;
- a block of the language `toml` without a name has lines for a real model: its tables take the place of the study's;
- a path in code marks that begins with `storage/` is there in the end.
"""

import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest
import tomlkit

from valuesassets.instruments import INSTRUMENTS
from valuesassets_tests.cli.commands import run
from valuesassets_tests.needs import REPOSITORY

PAGES = sorted((REPOSITORY / "docs" / "tutorials").glob("*.md"))
VARIABLES = ("HOME", "STORAGE", "DAGSTER", "STUDY")
BLOCK = re.compile(r"(?:^`(?P<file>[\w/.]+)`:\n\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
STORED = re.compile(r"`(storage/[\w/.-]+)`")
REPORT = re.compile(r"storage/\w+/\w+/report/\w+\.html")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in; no variable names a home, a study or a storage."""
    for name in (*(f"VALUESASSETS_{name}" for name in VARIABLES), "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def do(page):
    """Write the files of a page, give its commands and hold against them what the page says."""
    blocks = [match.groupdict() for match in BLOCK.finditer(page)]
    for block in blocks:
        if block["file"]:
            write(Path(block["file"]), block["text"])
    printed = ""
    for block in blocks:
        if block["file"] is None and not block["language"]:
            printed = "".join(map(give, commands(block["text"])))
        elif block["language"] == "text":
            require_lines(block["text"], printed)
    missing = [path for path in STORED.findall(page) if not Path(path).exists()]
    assert not missing, f"the page names {missing}, which no command has written"


def commands(text):
    """The commands of a block, as words."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def give(words):
    """What a command prints, which must succeed; `> FILE` writes it there."""
    if words[0] == "python":
        runpy.run_path(words[1], run_name="__main__")
        return ""
    words, target = (words[:-2], words[-1]) if ">" in words else (words, None)
    assert words[0] == "valuesassets", words
    done = run(*words[1:])
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    if target:
        write(Path(target), done.stdout)
    return done.stdout + done.stderr


def require_lines(quoted, printed):
    """Require that quoted lines were printed, in their order."""
    rest = iter([line.strip() for line in printed.splitlines()])
    for line in filter(None, map(str.strip, quoted.splitlines())):
        is_there = any(is_quoted(line, each) for each in rest)
        assert is_there, f"not printed, or not at this place: {line}\n{printed}"


def is_quoted(line, printed):
    """Whether a quoted line is a printed one, or its beginning where it ends in ` ...`."""
    return printed.startswith(line.removesuffix("...")) if line.endswith(" ...") else printed == line


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_tutorial_leads_to_its_report(page):
    text = page.read_text(encoding="utf-8")
    assert any(REPORT.fullmatch(path) for path in STORED.findall(text)), "the page names no report"
    do(text)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_lines_for_a_real_model_make_a_sound_study(page, folder):
    blocks = [match.groupdict() for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    files = {block["file"]: block["text"] for block in blocks if block["file"]}
    (changes,) = (tomllib.loads(block["text"]) for block in blocks if not block["file"] and block["language"] == "toml")
    planted = tomllib.loads(files["my_study.toml"])
    study = {name: value for name, value in planted.items() if name not in ("phantom", "inference")} | changes
    for name, text in (files | {"my_study.toml": tomlkit.dumps(study), "WVS.sav": ""}).items():
        write(Path(name), text)
    assert f"family {next(iter(changes['families']))}: " in give(["valuesassets", "study", "my_study.toml"])


def test_every_instrument_has_a_tutorial():
    assert {page.stem for page in PAGES} == {each.name for each in INSTRUMENTS}


SMALL = """
`questions/eng.csv`:

```csv
id,text,item,options
happy,Are you happy?,,yes | no
```

```
valuesassets extract questions/eng.csv --language eng \\
    --output eng.json     # a remark
```

```text
1 questions, 0 of them ...
```
"""


def test_a_sound_page_is_done_in_the_folder(folder):
    do(SMALL)
    assert (folder / "eng.json").is_file()


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("valuesassets extract", "valuesassets extrcat", "No such command 'extrcat'"),
        ("`questions/eng.csv`:", "a table of questions:", "questions/eng.csv: no such file"),
        ("happy,Are you happy?", "happy,", "questions/eng.csv: row 2"),
        ("1 questions, 0", "1 questions, 1", "not printed"),
    ],
)
def test_a_page_with_a_fault_fails(right, wrong, message):
    assert right in SMALL
    with pytest.raises(AssertionError, match=re.escape(message)):
        do(SMALL.replace(right, wrong))


def test_a_report_that_is_not_written_fails():
    with pytest.raises(AssertionError, match="which no command has written"):
        do(f"{SMALL}\nThe report is `storage/mine/survey/report/report.html`.\n")
