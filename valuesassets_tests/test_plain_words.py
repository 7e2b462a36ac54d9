"""The gate of plain words sees a replaced term and a participle that are added, and says what to write."""

import ast
import tomllib

import pytest

from valuesassets_tests import plain_words
from valuesassets_tests.needs import REPOSITORY

STORED = tomllib.loads(plain_words.DICTIONARY.read_text(encoding="utf-8"))
PAGE = REPOSITORY / "docs" / "page.md"
MODULE = REPOSITORY / "valuesassets" / "instruments" / "survey" / "module.py"


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("What was foretold.", "predicted"),
        ("def simulate_worlds(): ...", "simulation"),
        ("Both can be told\n    # apart.", "distinguished"),
        ("measure_seed_scores()", "published"),
        ("It hangs on the chip.", "depends on"),
    ],
)
def test_a_replaced_term_that_is_added_fails_with_its_line_and_the_better_word(text, better):
    counts = {"terms": dict.fromkeys(STORED["terms"], 0), "participles": {}}
    places = {
        ("terms", name): list(plain_words.replaced_terms("\n" + text, PAGE, term["pattern"], term["write"]))
        for name, term in STORED["terms"].items()
    }
    lines = plain_words.complaints(counts, places)
    assert len(lines) == 2
    assert lines[1].startswith("  docs/page.md:2: ")
    assert better in lines[1]


@pytest.mark.parametrize(
    "text", ["the World Values Survey", "in the real world", "outlawed", "the random seed", "a roadmap", "worldwise"]
)
def test_ordinary_uses_are_no_replaced_terms(text):
    for term in STORED["terms"].values():
        assert not list(plain_words.replaced_terms(text, PAGE, term["pattern"], term["write"]))


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "def f(asked): ...",
        "for said in (): ...",
        "self.told = 1",
        "class A:\n    known: int",
        "def made(): ...",
    ],
)
def test_a_participle_that_is_added_as_a_name_fails(source):
    places = {("participles", plain_words.package(MODULE)): list(plain_words.participles(ast.parse(source), MODULE))}
    lines = plain_words.complaints({"participles": {}}, places)
    assert lines[0] == "participles 'valuesassets/instruments/survey': 1, where plain_words.toml allows 0"
    assert lines[1].startswith("  valuesassets/instruments/survey/module.py:")


def test_a_count_that_has_fallen_is_named_and_fails_nothing():
    places = {("terms", "law"): []}
    assert plain_words.complaints({"terms": {"law": 2}}, places) == []
    assert plain_words.lowered({"terms": {"law": 2}}, places) == ["terms 'law': 2 -> 0"]


def test_lower_counts_are_written_below_the_dictionary_that_stays(tmp_path):
    path = tmp_path / "plain_words.toml"
    path.write_bytes(plain_words.DICTIONARY.read_bytes())
    place = plain_words.Occurrence(PAGE, 1, "law", "distribution")
    plain_words.write_counts({("terms", "law"): [place], ("participles", "docs"): []}, path)
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    assert written == {"terms": STORED["terms"], "counts": {"terms": {"law": 1}, "participles": {}}}
