"""Mutations are slow to try; that each still fits the sources and names tests that are there is quick to see."""

import ast

import pytest

from valuesassets_tests.mutations.mutants import load_mutants
from valuesassets_tests.needs import REPOSITORY

MUTANTS = load_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutation_fits_its_file_and_leaves_it_python(mutant):
    ast.parse(mutant.applied_to((REPOSITORY / mutant.file).read_text(encoding="utf-8")))


def test_the_tests_that_mutations_must_fail_are_there():
    named = {test.partition("::")[::2] for mutant in MUTANTS for test in mutant.tests}
    lacking = [
        f"{file}::{name}"
        for file, name in sorted(named)
        if not (REPOSITORY / file).exists()
        or (name and f"\ndef {name.partition('[')[0]}(" not in (REPOSITORY / file).read_text(encoding="utf-8"))
    ]
    assert lacking == []
