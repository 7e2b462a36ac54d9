"""Doubts about dilemmas: each is found where it is, and nowhere else."""

import pytest

from valuesassets.instruments.worldwise.material.country_scores import country_codes
from valuesassets.instruments.worldwise.material.scenario_doubts import find_doubts
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.records.places import load_facts
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS


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
    told = Scenario(**DILEMMAS[0] | {"situation": "The ferry to Port Averil is late."})
    assert find_doubts([told]) == []
    assert find_doubts([told], ["Averil", "Kyppish"]) == [(told.id, "names a country: Averil")]
