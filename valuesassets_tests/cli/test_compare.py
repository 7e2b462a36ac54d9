"""`compare` as a command: two storages of one study, a page, and what cannot be compared."""

import pytest

from valuesassets_tests.cli.commands import refuse, succeed
from valuesassets_tests.reporting.made_storage import add_the_rest, write_storage


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    add_the_rest(write_storage(folder / "one"))
    write_storage(folder / "two", tilts={"reference-multi": 1.0}, revision="b" * 40, cue="\nYour answer:")
    return folder


@pytest.mark.slow
def test_what_was_planted_between_two_storages_stands_in_the_terminal_and_on_a_page_that_fetches_nothing(
    stored, tmp_path
):
    page = tmp_path / "page.html"
    said = succeed("compare", stored / "one" / "small", stored / "two" / "small", "--output", page)
    assert "cells that only one has, or whose readings were made differently: 4\n" in said
    assert "languages or parts whose prompts differ: 2\n" in said
    assert "2 of 4 cells differ in their mean answer over questions; most reference-multi " in said
    text = page.read_text(encoding="utf-8")
    assert "one/small and two/small, side by side" in text
    assert all(each in text for each in ("a" * 40, "b" * 40, "Your answer:", "there is no map"))
    assert "content=\"default-src 'none'; img-src data:;" in text


@pytest.mark.slow
def test_two_runs_that_are_alike_are_said_to_be(stored, tmp_path):
    small = stored / "one" / "small"
    said = succeed("compare", small, small, "--output", tmp_path / "page.html")
    assert said.count(": 0\n") == 2
    assert "0 of 4 cells differ" in said
    assert "0 of 4 points on the map have moved; the farthest by 0.000." in said


@pytest.mark.slow
def test_a_folder_without_a_study_and_an_output_that_is_something_else_are_each_one_line(stored, tmp_path):
    small, page = stored / "one" / "small", tmp_path / "page.html"
    said = refuse("compare", small, tmp_path, "--output", page)
    assert said.startswith(f"{tmp_path}: nothing of a study is stored in {tmp_path}; run the study first")
    page.write_bytes(b"PAR1")
    assert "is there already and not an HTML page" in refuse("compare", small, small, "--output", page)
