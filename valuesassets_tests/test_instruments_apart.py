"""What is shared knows no instrument: neither by its name nor by a question of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from valuesassets.orchestration.instruments import INSTRUMENTS
from valuesassets_tests.needs import REPOSITORY

PRODUCT = REPOSITORY / "valuesassets"
OWN = ("studies/", "instruments/", "orchestration/instruments.py")
"""Where instruments are named; their wiring beside (`orchestration/assets/<name>*.py`)."""
SHARED = ("records", "measure", "answers", "people", "comparing", "figures", "reporting", "remote")
NAME = re.compile(rf"(?<![\w-])({'|'.join(each.name for each in INSTRUMENTS)})(/.*)?")
QUESTION = re.compile(r"\bv\d+\b")
A_COLUMN = "the survey and wave that a respondent took part in, not the instrument"
NAMED = {
    "cli/command_table.py": "the commands of all instruments, in a table that help reads without importing any of them",
    "cli/completion.py": "the folder of bundled psych tasks, which a shell completes",
    "cli/listing.py": "the folder of bundled psych tasks, which `ls tasks` lists",
    "cli/questionnaires.py": "the key `survey` of [questionnaires], not the instrument",
    "cli/shift.py": "the command of one of its analyses, which reads its files",
    "people/survey_file.py": A_COLUMN,
    "records/columns.py": A_COLUMN,
}
"""Files that still name an instrument, and why; the list shrinks."""
ASKED = {
    "people/variables.py": "an example in the message about a wrong range",
    "records/settings/endpoints.py": "no question: the version in OpenAI's address",
}
"""Files that still name a question, and why; the list shrinks."""


def strings(path: Path) -> Iterator[str]:
    """The string constants of a file, but for its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bodies = [body for node in ast.walk(tree) if isinstance(body := getattr(node, "body", None), list)]
    told = {id(line.value) for body in bodies for line in body if isinstance(line, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def product_files() -> Iterator[tuple[str, Path]]:
    for path in sorted(PRODUCT.rglob("*.py")):
        name = path.relative_to(PRODUCT).as_posix()
        wirings = tuple(f"orchestration/assets/{instrument.name}" for instrument in INSTRUMENTS)
        if not name.startswith((*OWN, *wirings)):
            yield name, path


@pytest.mark.slow
def test_nothing_but_an_instruments_own_files_names_it():
    naming = {name for name, path in product_files() if any(map(NAME.fullmatch, strings(path)))}
    assert naming - NAMED.keys() == set()


@pytest.mark.slow
def test_nothing_below_the_instruments_names_a_question():
    shared = ((name, path) for name, path in product_files() if name.startswith(SHARED))
    assert {name for name, path in shared if any(map(QUESTION.search, strings(path)))} - ASKED.keys() == set()


def test_a_name_in_a_string_is_found_and_one_in_prose_or_a_docstring_is_not(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""survey"""\nKEY = ["survey", "survey/report", "another survey\'s variable", "v149"]\n')
    found = list(strings(path))
    assert [text for text in found if NAME.fullmatch(text)] == ["survey", "survey/report"]
    assert [text for text in found if QUESTION.search(text)] == ["v149"]
