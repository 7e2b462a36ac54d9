"""Dilemmas: what a file may hold, the one line of what it may not, and the project's own."""

import json
from collections import Counter

import pytest

from valuesassets.instruments.worldwise.material.country_scores import country_codes
from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.instruments.worldwise.material.scenarios import (
    Scenario,
    find_doubts,
    read_scenarios,
    scenario_rows,
    scenarios_of,
)
from valuesassets.instruments.worldwise.tables import SCENARIOS
from valuesassets.records.errors import QuestionError
from valuesassets.records.parquet import read_frame, write_table
from valuesassets.records.places import load_facts
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, dilemmas, write

ONE = "scenario 1 (IVR-x1)"
TWO = "scenario 2 (IVR-x2)"
TEXT = DILEMMAS[0]["situation"]
BAD = {
    "not JSON": (
        "[{",
        "{file}: line 1, column 3: not JSON (Expecting property name enclosed in double quotes); mend the file there",
    ),
    "an object": ({}, "{file}: an object found, an array of scenarios was expected; mend it"),
    "empty": ([], "{file}: an empty array found, at least 2 scenarios were expected; add some"),
    "a number in it": ([3], "{file}: scenario 1: a number found, an object was expected; mend it"),
    "no axis": (dilemmas(axis=None), "{file}: " + ONE + ": key 'axis' is missing; add it"),
    "unknown axis": (
        dilemmas(axis="LTOWVS"),
        "{file}: " + ONE + ": key 'axis': one of IDV, PDI, MAS, UAI, LTO, IVR was expected (found \"LTOWVS\")",
    ),
    "no id": (dilemmas(id=None), "{file}: scenario 1: key 'id' is missing; add it"),
    "a number for an id": (dilemmas(id=7), "{file}: scenario 1: key 'id': text in quotes was expected (found 7)"),
    "an id with a blank": (
        dilemmas(id="x 1"),
        "{file}: scenario 1 (x 1): key 'id': a name of up to 100 letters, digits, _, . and - was expected "
        '(found "x 1")',
    ),
    "doubled id": (
        dilemmas({}, {"id": "IVR-x1"}),
        "{file}: scenario 2: id IVR-x1 is that of scenario 1; rename one",
    ),
    "doubled text": (
        dilemmas({}, {"situation": f" {TEXT.upper()}", "question": "What do  you do?"}),
        "{file}: " + TWO + ": its text is that of IVR-x1; keep one",
    ),
    "empty situation": (
        dilemmas(situation="  "),
        "{file}: " + ONE + ": key 'situation': text that is not empty was expected (found \"  \")",
    ),
    "empty option": (
        dilemmas(low=""),
        "{file}: " + ONE + ": key 'low': text that is not empty was expected (found \"\")",
    ),
    "an option that is a list": (
        dilemmas(high=["Go."]),
        "{file}: " + ONE + ": key 'high': text in quotes was expected (found [\"Go.\"])",
    ),
    "an option of two lines": (
        dilemmas(high="Go.\nDance."),
        "{file}: " + ONE + ": key 'high': one line was expected, several were found; write the option in one",
    ),
    "equal options": (
        dilemmas(low="go and  hear the band."),
        "{file}: " + ONE + ': both options are "Go and hear the band."; write two that differ',
    ),
    "unknown language": (
        dilemmas(language="english"),
        "{file}: " + ONE + ": key 'language': an ISO 639-3 code such as eng was expected (found \"english\")",
    ),
    "two faults": (
        dilemmas(domain=None, question=None),
        "{file}: " + ONE + ": key 'domain' is missing; add it; key 'question' is missing; add it",
    ),
    "one on its axis": (
        dilemmas(axis="UAI"),
        "{file}: IVR-x1 is the only scenario on UAI, at least 2 were expected; add one or leave it out",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_said_in_one_line(case, tmp_path):
    content, line = BAD[case]
    file = write(tmp_path / "dilemmas.json", content)
    with pytest.raises(QuestionError) as caught:
        read_scenarios(file)
    assert str(caught.value) == line.replace("{file}", str(file))


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path):
    with pytest.raises(QuestionError, match=r"none\.json: no such file; check the path"):
        read_scenarios(tmp_path / "none.json")


def test_further_keys_are_kept_through_the_table_and_back(tmp_path):
    file = write(tmp_path / "dilemmas.json", dilemmas(source="café", year=2020, language="en"))
    scenarios = read_scenarios(file)
    assert json.loads(scenarios[0].more or "") == {"source": "café", "year": 2020}
    assert (scenarios[0].language, scenarios[1].more) == ("eng", None)
    write_table(tmp_path / "s.parquet", scenario_rows(scenarios), SCENARIOS)
    assert scenarios_of(read_frame(tmp_path / "s.parquet", SCENARIOS)) == scenarios


def test_the_bundled_dilemmas_are_eight_per_axis_over_six_domains_and_without_a_doubt():
    scenarios = read_scenarios()
    assert Counter(each.axis for each in scenarios) == dict.fromkeys(AXES, 8)
    for axis in AXES:
        assert len({each.domain for each in scenarios if each.axis == axis}) == 6
    assert find_doubts(scenarios) == []


def test_no_pole_of_the_bundled_dilemmas_is_told_by_its_length():
    for axis in AXES:
        pairs = [(len(each.high), len(each.low)) for each in read_scenarios() if each.axis == axis]
        assert all(max(pair) < 1.35 * min(pair) for pair in pairs)
        assert abs(sum(high - low for high, low in pairs)) / len(pairs) < 2


def doubts(**changed):
    return find_doubts([Scenario(**(DILEMMAS[0] | changed)), Scenario(**DILEMMAS[1])])


def test_a_sound_dilemma_raises_none():
    assert doubts() == []


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"high": "Go.", "low": "Stay in."}, "option low has 8 characters, the other 3: more than 2 times as many"),
        ({"high": "Go there.", "low": "Stay"}, "option high has 9 characters, the other 4: more than 2 times as many"),
        ({"situation": "A band from Norway plays."}, "names a country: Norway"),
        ({"question": "Is this how the U.S.A. dances?"}, "names a country: U.S.A."),
        ({"high": "Go and hear the Norwegians."}, "names a country: Norwegians"),
        ({"high": "Be Indulgent, and dance."}, "has a word of the axis: Indulgent"),
        ({"situation": "What would Hofstede say?"}, "has a word of the axis: Hofstede"),
        ({"situation": "Is it IVR?"}, "has a word of the axis: IVR"),
        ({"language": "deu"}, "is in deu, the lines around it are English"),
    ],
)
def test_each_fault_is_named(changed, what):
    assert doubts(**changed) == [("IVR-x1", what)]


@pytest.mark.parametrize(
    "changed",
    [
        {"high": "Go out.", "low": "Stay at home."},
        {"situation": "A band from Indiana plays turkey in the straw."},
        {"situation": "The outcome is uncertain."},
    ],
)
def test_what_only_looks_alike_is_none(changed):
    assert doubts(**changed) == []


def test_every_country_of_the_matrix_and_of_the_map_is_known_and_its_regions_are_no_countries():
    of_matrix = [name for _, name, alpha3 in country_codes() if alpha3]
    named = {"Norway", "Korea South", "South Korea", *of_matrix, *load_facts("iw_coordinates.csv")["name"]}
    assert [name for name in named if not doubts(situation=f"A band from {name} plays.")] == []
    assert doubts(situation="A band from Arab countries plays, one from Africa East too.") == []


def test_what_tells_a_culture_of_the_study_is_a_doubt_and_is_none_without_it():
    scenario = Scenario(**DILEMMAS[0] | {"situation": "The ferry to Port Averil is late."})
    assert find_doubts([scenario]) == []
    assert find_doubts([scenario], ["Averil", "Kyppish"]) == [(scenario.id, "names a country: Averil")]
