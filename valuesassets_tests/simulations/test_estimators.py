"""Worlds of known truth from the command line."""

import pytest

from valuesassets_tests.cli.commands import read_json, refuse, succeed
from valuesassets_tests.simulations.__main__ import run


@pytest.mark.slow
def test_worlds_of_one_analysis_alone_are_printed_and_written(tmp_path):
    written = tmp_path / "worlds.json"
    said = succeed(
        "estimators", "--only", "awareness", "--count", 2, "--processes", 1, "--output", written, program=run
    )
    assert "How often intervals hold a planted slope" in said
    told = read_json(written)
    assert set(told) == {"awareness"}
    assert {row["permuted"] for row in told["awareness"]["rejections"]} == {"levels", "groups"}


def test_an_analysis_that_has_no_worlds_is_refused_in_a_line():
    said = refuse("estimators", "--only", "nothing", code=2, program=run)
    assert "answers or draws or awareness or psych or robustness or dilemmas was expected" in said


@pytest.mark.slow
def test_worlds_of_dilemmas_are_among_them(tmp_path):
    said = succeed(
        "estimators",
        "--only",
        "dilemmas",
        "--count",
        2,
        "--processes",
        1,
        "--output",
        tmp_path / "worlds.json",
        program=run,
    )
    assert "How often intervals hold what was planted" in said
    assert set(read_json(tmp_path / "worlds.json")["dilemmas"]) == {"rejections", "coverage"}
