"""An instrument that cannot fail proves nothing: every mutation of it is caught, by the calibration or by a test.

Each mutation is made in a copy of the sources. Fresh processes import the copy and calibrate it on a phantom that the
sound sources trained, or, where a calibration cannot see it, run the tests named beside it. What each came to is
written to storage/evidence/mutations.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from valuesassets.records.files import write_text
from valuesassets.records.study import load_study
from valuesassets_tests.mutations.copies import Copies
from valuesassets_tests.mutations.mutants import Mutant, load_mutants
from valuesassets_tests.needs import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.mutations]
MUTANTS = load_mutants()
TABLE = REPOSITORY / "storage" / "evidence" / "mutations.md"
LIMITS = load_study("demo_survey").phantom
ERRORS = {
    "W1": ("w1_unit_error_mean", LIMITS.max_w1_unit),
    "P_valid": ("p_valid_error_mean", LIMITS.max_p_valid_error),
    "position bias": ("position_bias_error_mean", LIMITS.max_position_bias_error),
}
SAMPLED_CODE = "sampl"
"""In the names of the files that only the second channel runs through."""


@dataclass(frozen=True)
class Asked:
    """What the sound copy said, and what is still to come of the mutated ones."""

    sound: Mapping[str, Any]
    sound_tests: Mapping[str, Any]
    mutated: Mapping[str, Any]
    lines: dict[str, str]


@pytest.fixture(scope="module")
def asked(request, tmp_path_factory):
    """Every mutation that was selected, being tried, once the sound copy has been found to be sound."""
    chosen = {
        item.callspec.params["mutant"].name
        for item in request.session.items
        if getattr(item, "module", None) is request.module and hasattr(item, "callspec")
    }
    mutants = [mutant for mutant in MUTANTS if mutant.name in chosen]
    copies = Copies(tmp_path_factory.mktemp("mutations"))
    try:
        sound = copies.calibrate(None, is_sampled=True)
        mutated = {mutant.name: copies.test(mutant, mutant.tests) for mutant in mutants if mutant.tests}
        sound_tests = copies.test_soundness(list(mutated.values()))
        assert off_types(sound.result()) == set()
        for mutant in mutants:
            if not mutant.tests:
                mutated[mutant.name] = copies.calibrate(mutant, SAMPLED_CODE in mutant.file)
        lines: dict[str, str] = {}
        yield Asked(sound.result(), sound_tests.result(), mutated, lines)
        if len(lines) == len(MUTANTS):
            write_table([lines[mutant.name] for mutant in MUTANTS], sound.result())
    finally:
        copies.close()


def test_the_sound_copy_is_recovered_in_both_channels(asked):
    types = {row["response_type"] for row in asked.sound["rows"]}
    assert {"all", "binary", "likert3", "likert4", "likert5", "likert10", "categorical", "frequency", "action"} == types
    assert all(row["is_recovered"] and row["n_sampled"] == row["n"] for row in asked.sound["rows"])


def test_the_sound_copy_passes_the_tests_that_mutations_must_fail(asked):
    assert (asked.sound_tests["code"], asked.sound_tests["failed"]) == (0, {})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutation_is_caught(mutant, asked):
    found = asked.mutated[mutant.name].result()
    assert "broken" not in found, f"the mutation breaks the program, which proves nothing: {found['broken']}"
    if mutant.tests:
        assert found["code"] == 1, f"survived: {mutant.tests} pass"
        asked.lines[mutant.name] = line(
            mutant, "test", " ".join(f"`{test}`: {m}" for test, m in found["failed"].items())
        )
    elif mutant.error and ("error" in found or not mutant.off):
        assert mutant.error in found.get("error", ""), found
        asked.lines[mutant.name] = line(mutant, "calibration, refused", found["error"])
    else:
        off = off_types(found)
        assert set(mutant.off) <= off, f"survived: off are {sorted(off)}"
        assert not set(mutant.fine) & off
        asked.lines[mutant.name] = line(mutant, "calibration, off", describe(found))


def off_types(found: Mapping[str, Any]) -> set[str]:
    assert "rows" in found, found
    return {row["response_type"] for row in found["rows"] if not row["is_recovered"]}


def describe(found: Mapping[str, Any]) -> str:
    """The response types that are off, with each error above its limit; of both channels."""
    said = []
    for row in found["rows"]:
        if row["is_recovered"]:
            continue
        above = [f"{name} {row[column]:.3f}" for name, (column, limit) in ERRORS.items() if row[column] > limit]
        above += [
            f"{name} of sampled answers {row[f'sampled_{column}']:.3f}"
            for name, (column, limit) in ERRORS.items()
            if row[f"sampled_{column}"] > row[f"sampled_{column.removesuffix('_mean')}_bound"]
        ]
        tail = row["averaged_w1_unit_error_p95"]
        above += [f"95th percentile of averaged W1 {tail:.3f}"] if tail > ERRORS["W1"][1] else []
        unread = [f"{row['n_unreadable']} of {row['n']} unread"] if row["n_unreadable"] else []
        said.append(f"{row['response_type']}: {', '.join([*unread, *above])}")
    fine = sorted({row["response_type"] for row in found["rows"]} - off_types(found))
    return "; ".join(said) + (f". Recovered: {', '.join(fine)}" if fine else "")


def line(mutant: Mutant, caught_by: str, looked_like: str) -> str:
    said = " ".join(looked_like.split()).replace("|", "\\|")
    return f"| {mutant.name} | {mutant.file} | {caught_by} | {said[:400]} |"


def write_table(lines: list[str], sound: Mapping[str, Any]) -> None:
    whole = next(row for row in sound["rows"] if row["response_type"] == "all")
    limits = ", ".join(f"{name} {limit:g}" for name, (_, limit) in ERRORS.items())
    errors = ", ".join(f"{name} {whole[column]:.4f}" for name, (column, _) in ERRORS.items())
    head = [
        "# Mutations and what caught them",
        "",
        f"{len(lines)} mutations. Limits of the calibration (mean errors): {limits}. The sound sources: {errors}.",
        "",
        "| mutation | file | caught by | what it looked like |",
        "|---|---|---|---|",
    ]
    write_text(TABLE, "\n".join([*head, *lines, ""]))
