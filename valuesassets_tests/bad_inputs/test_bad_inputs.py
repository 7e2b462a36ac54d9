"""Every row of the table ends as it says: one line, the exit code, and nothing left behind.

All rows with the lines that came back are written to storage/evidence/bad_inputs.md, to be read in one go.
"""

import re
from pathlib import Path

import pytest

from valuesassets.records.files import write_text
from valuesassets_tests.bad_inputs import (
    adapter_folders,
    alignments,
    answers_files,
    dilemma_files,
    exchange_forms,
    extractions,
    gguf_models,
    models,
    question_files,
    question_paths,
    question_tables,
    rating_files,
    studies,
    usage,
)
from valuesassets_tests.bad_inputs.case import pattern, run_case
from valuesassets_tests.forked_workers import folder_of_all_forks
from valuesassets_tests.needs import REPOSITORY

pytestmark = pytest.mark.limited
PARTS = {
    "Study files": studies.CASES,
    "Questionnaires: extract": extractions.CASES,
    "Tables of questions: extract, template": question_tables.CASES,
    "Forms of survey programs: extract": exchange_forms.CASES,
    "Questions of several languages: align": alignments.CASES,
    "Question files": question_files.CASES,
    "Paths, encodings, outputs": question_paths.CASES,
    "Models: probe": models.CASES,
    "GGUF files: probe": gguf_models.CASES,
    "Adapters: probe": adapter_folders.CASES,
    "Usage, calibrate, map": usage.CASES,
    "WorldValuesBench: answers": answers_files.CASES,
    "Ratings of people's answers: evaluate": rating_files.CASES,
    "Dilemmas, their material and answers: worldwise": dilemma_files.CASES,
}
CASES = [(part, case) for part, cases in PARTS.items() for case in cases]
EVIDENCE = REPOSITORY / "storage" / "evidence" / "bad_inputs.md"


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """A folder with what came of each case, shared by all test processes; the last one writes the evidence."""
    folder = folder_of_all_forks(tmp_path_factory) / "bad_inputs"
    folder.mkdir(exist_ok=True)
    yield folder
    if len(list(folder.iterdir())) == len(CASES):
        write_text(EVIDENCE, written_down(folder))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{part}: {case.name}" for part, case in CASES])
def test_a_bad_input_ends_in_one_line_and_leaves_nothing(number, said, tmp_path):
    _, case = CASES[number]
    outcome = run_case(case, tmp_path)
    write_text(said / str(number), f"exit {outcome.code}: {outcome.stderr.strip()}")
    assert outcome.code == case.code, outcome.stderr
    assert outcome.stdout == ""
    (line,) = outcome.stderr.splitlines()
    assert re.fullmatch(pattern(case.message), line), line
    assert outcome.after == outcome.before


def test_there_are_many_cases_and_each_has_its_own_name():
    assert len(CASES) >= 200
    names = [(part, case.name) for part, case in CASES]
    assert len(set(names)) == len(names)


def written_down(said: Path) -> str:
    """The table for people: what is wrong, the command, what came back."""
    lines = ["# Bad inputs", "", f"{len(CASES)} commands that were given something wrong, and what they said.", ""]
    for part in PARTS:
        lines += [f"## {part}", ""]
        for number, (of, case) in enumerate(CASES):
            if of == part:
                came_back = (said / str(number)).read_text(encoding="utf-8")
                lines += [f"- **{case.name}**", f"  `valuesassets {case.command}`", f"  {came_back}"]
        lines.append("")
    return "\n".join(lines).encode(errors="backslashreplace").decode()  # names that are no UTF-8
