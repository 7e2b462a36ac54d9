"""Versions that are raised by hand: an edit of what they stand for is noticed."""

import ast
import json

import pytest

from valuesassets_tests.models.pin_versions import PINS, VERSIONS, _without_docstrings, _written, current_pins, faults

SOURCE = '''
"""About."""
LIMIT = 0.8
"""Of what."""


def share(x):
    """A share."""
    return x / LIMIT  # of the limit
'''


@pytest.fixture
def pins():
    return current_pins()


def test_no_source_has_changed_since_its_version_was_pinned():
    assert faults(json.loads(PINS.read_text(encoding="utf-8"))) == []


def written(source):
    return _written(_without_docstrings(ast.parse(source)))


def test_comments_docstrings_and_layout_change_nothing_and_code_does():
    same = SOURCE.replace("A share.", "Another.").replace("# of the", "#").replace("x / LIMIT", "(x /  LIMIT)")
    assert written(same.replace('"""Of what."""', "")) == written(SOURCE)
    assert written(SOURCE.replace("0.8", "0.9")) != written(SOURCE)
    assert written(SOURCE.replace("x / LIMIT", "LIMIT / x")) != written(SOURCE)


EVERY_MODEL = {"SCORER_VERSION", "SPANS_VERSION", "GENERATOR_VERSION"}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("spelling/trie.py", EVERY_MODEL),
        ("models/loading.py", EVERY_MODEL),
        ("models/spans/strategies.py", {"SPANS_VERSION"}),
        ("models/keyed_draws.py", {"GENERATOR_VERSION"}),
        ("models/known_vectors.py", {"EMBEDDER_VERSION"}),
        ("models/reference_training.py", {"PHANTOM_VERSION"}),
        ("models/follower_fit.py", {"FOLLOWER_VERSION"}),
        ("spelling/prompt_tokenizer.py", {*EVERY_MODEL, "PHANTOM_VERSION", "FOLLOWER_VERSION"}),
    ],
)
def test_a_changed_source_is_named_for_each_version_it_concerns_with_what_to_do(pins, file, names):
    path = f"valuesassets/{file}"
    pins["sources"][path] = "0" * 16
    found = faults(pins)
    assert len(found) == len(names)
    for name in names:
        (fault,) = [fault for fault in found if name in fault]
        assert fault.startswith(f"{path} changed, {name} in {VERSIONS[name][0]} is still {VERSIONS[name][1]}. If ")
        assert "raise it and run `python -m valuesassets_tests.models.pin_versions`" in fault


def test_a_source_that_is_reached_anew_is_named(pins):
    del pins["sources"]["valuesassets/models/spans/open_spans.py"]
    (fault,) = faults(pins)
    assert fault.startswith("valuesassets/models/spans/open_spans.py changed, SPANS_VERSION")


def test_a_raised_version_asks_to_be_pinned(pins):
    pins["versions"]["SCORER_VERSION"] = "0"
    assert "0 is pinned: run" in faults(pins)[0]
