"""Every row of the table ends as it says: one line, the exit code, and nothing left behind.

All rows with the lines that came back are written to storage/evidence/bad_inputs.md, to be read in one go.
"""

import re

import pytest

from valuesassets_tests.bad_inputs import models, question_files, question_paths, questionnaires, studies, usage
from valuesassets_tests.bad_inputs.case import Outcome, pattern, run_case
from valuesassets_tests.needs import REPOSITORY

PARTS = {
    "Study files": studies.CASES,
    "Questionnaires: extract, align": questionnaires.CASES,
    "Question files": question_files.CASES,
    "Paths, encodings, outputs": question_paths.CASES,
    "Models: probe": models.CASES,
    "Usage, calibrate, map": usage.CASES,
}
CASES = [(part, case) for part, cases in PARTS.items() for case in cases]
EVIDENCE = REPOSITORY / "storage" / "evidence" / "bad_inputs.md"

pytestmark = pytest.mark.xdist_group("bad_inputs")  # one process sees them all, and writes them down


@pytest.fixture(scope="module")
def seen():
    """What came of each case so far; written down when all were run."""
    outcomes: dict[int, Outcome] = {}
    yield outcomes
    if len(outcomes) == len(CASES):
        EVIDENCE.parent.mkdir(parents=True, exist_ok=True)
        EVIDENCE.write_text(written_down(outcomes), encoding="utf-8")


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{part}: {case.name}" for part, case in CASES])
def test_a_bad_input_ends_in_one_line_and_leaves_nothing(number, seen, tmp_path):
    _, case = CASES[number]
    outcome = seen[number] = run_case(case, tmp_path)
    assert outcome.code == case.code, outcome.stderr
    assert outcome.stdout == ""
    (line,) = outcome.stderr.splitlines()
    assert re.fullmatch(pattern(case.message), line), line
    assert outcome.after == outcome.before


def test_there_are_many_cases_and_each_has_its_own_name():
    assert len(CASES) >= 200
    names = [(part, case.name) for part, case in CASES]
    assert len(set(names)) == len(names)


def written_down(outcomes: dict[int, Outcome]) -> str:
    """The table for people: what is wrong, the command, what came back."""
    lines = ["# Bad inputs", "", f"{len(CASES)} commands that were given something wrong, and what they said.", ""]
    for part in PARTS:
        lines += [f"## {part}", ""]
        for number, (of, case) in enumerate(CASES):
            if of == part:
                said = f"exit {outcomes[number].code}: {outcomes[number].stderr.strip()}"
                lines += [f"- **{case.name}**", f"  `valuesassets {case.command}`", f"  {said}"]
        lines.append("")
    return "\n".join(lines)
