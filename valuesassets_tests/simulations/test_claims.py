"""Worlds that try claims, from the command line."""

import pytest

from valuesassets_tests.cli.commands import read_json, refuse, succeed
from valuesassets_tests.simulations import claims
from valuesassets_tests.simulations.__main__ import run


@pytest.mark.slow
def test_the_worlds_of_one_finding_are_printed_and_written(tmp_path):
    written = tmp_path / "simulations.json"
    said = succeed("claims", "--only", "n", "--count", 2, "--processes", 1, "--output", written, program=run)
    assert "a pull to a place differs by language (finding N), 2 simulations" in said
    rows = read_json(written)
    assert {row["finding"] for row in rows} == {"N"}
    assert set(rows[0]) == {
        *("claim", "finding", "instrument", "world", "kind", "n_worlds", "rejected", "withheld", "coverage")
    }


def test_words_of_no_world_are_refused_with_the_names_of_all():
    said = refuse("claims", "--only", "no such world", code=2, program=run)
    assert "no simulation has that letter or these words" in said
    assert "families follow their countries (no letter)" in said


def test_what_every_claim_rests_on_is_said():
    said = {claim for module in claims.modules() for claim in module.BASES}
    assert said == {claim for simulation in claims.every_simulation() for claim in simulation.kinds}


@pytest.mark.slow
def test_the_levels_of_claims_are_a_page(tmp_path):
    succeed("claims", "--only", "g", "--count", 2, "--processes", 1, "--page", tmp_path / "levels.md", program=run)
    page = (tmp_path / "levels.md").read_text(encoding="utf-8")
    assert page.startswith("# How often claims are right\n")
    assert "| each language has ways of its own, which are no country's | null | 2 |" in page
    assert "Questions are independent." in page
