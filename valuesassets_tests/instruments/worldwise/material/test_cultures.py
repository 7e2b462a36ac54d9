"""Cultures: files and their faults."""

import pytest

from valuesassets.instruments.worldwise.material.cultures import asked_personas, persona_code, read_cultures
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldwise.made_dilemmas import JAPAN, NETHERLANDS, write

BAD = {
    "an array": ([JAPAN], '{file}: an array found, an object such as {"JPN": {...}} was expected; mend it'),
    "nothing": ({}, '{file}: an empty object found, an object such as {"JPN": {...}} was expected; mend it'),
    "a name": (
        {"JPN": "Japan"},
        "{file}: JPN: text found, an object of name, place, demonym, names was expected",
    ),
    "a control": (
        {"placebo": JAPAN},
        "{file}: placebo: is the name of a control, which is asked anyway; leave it out or rename it",
    ),
    "no place": (
        {"JPN": {key: value for key, value in JAPAN.items() if key != "place"}},
        "{file}: JPN: key 'place' is missing; add it",
    ),
    "a misspelt key": (
        {"JPN": JAPAN | {"demonyms": "Japanese"}},
        "{file}: JPN: unknown key 'demonyms' (did you mean 'demonym'?)",
    ),
    "a code inside": (
        {"JPN": JAPAN | {"code": "J"}},
        "{file}: JPN: unknown key 'code'; the key before the object is its code",
    ),
    "one name": (
        {"JPN": JAPAN | {"names": "Japan"}},
        '{file}: JPN: key \'names\': an array was expected (found "Japan"); write ["Japan"]',
    ),
    "no names": (
        {"JPN": JAPAN | {"names": []}},
        "{file}: JPN: key 'names': at least one entry was expected (found [])",
    ),
    "an empty name": (
        {"JPN": JAPAN | {"name": " "}},
        "{file}: JPN: key 'name': text that is not empty was expected (found \" \")",
    ),
    "a code with a comma": (
        {"J,P": JAPAN},
        "{file}: J,P: key 'code': a name of up to 100 letters, digits, _, . and - was expected (found \"J,P\")",
    ),
    "a language in words": (
        {"JPN": JAPAN | {"language": "Japanese"}},
        "{file}: JPN: key 'language': an ISO 639-3 code such as deu was expected (found \"Japanese\")",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_said_in_one_line(case, tmp_path):
    content, line = BAD[case]
    file = write(tmp_path / "cultures.json", content)
    with pytest.raises(InputError) as caught:
        read_cultures(file)
    assert str(caught.value) == line.replace("{file}", str(file))


def test_the_controls_are_asked_after_the_cultures_of_a_file(tmp_path):
    file = write(tmp_path / "cultures.json", {"NLD": NETHERLANDS, "JPN": JAPAN | {"language": "jpn"}})
    cultures = read_cultures(file)
    assert [(each.code, each.language, each.names) for each in cultures] == [
        ("NLD", None, ("Netherlands",)),
        ("JPN", "jpn", ("Japan", "Japanese", "Tokyo")),
    ]
    assert [persona_code(each) for each in asked_personas(cultures)] == ["NLD", "JPN", "placebo", "unprompted"]
