"""What is known of people: names, labels, continents and levels."""

import csv
import json
from typing import Any

import pytest

from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF, FACTORS, load_backgrounds
from valuesassets.records.errors import StudyError
from valuesassets.records.places import STUDIES
from valuesassets_tests.needs import shared_file

KNOWN = load_backgrounds()
OF_WVS7 = """AD AR AM AU BD BO BR CA CL CN CO CY CZ EC EG ET DE GB GR GT HK IN ID IR IQ JP JO KZ KE KG LB LY MO MY MV MX
MN MA MM NL NZ NI NG PK PE PH PR RO RU RS SG SK KR TW TJ TH TN TR UA US UY UZ VE VN ZW"""
"""Countries of WVS-7 v5 and v6; Northern Ireland, a sample of its own, has no code of ISO's."""


@pytest.fixture(scope="module")
def codebook() -> dict[str, Any]:
    return json.loads(shared_file("data", "wvb", "codebook.json").read_text())


def test_there_are_42_attributes_each_with_a_name_of_its_own():
    assert len({attribute.id for attribute in KNOWN.attributes}) == 42
    assert len({attribute.name for attribute in KNOWN.attributes}) == 42
    assert all(attribute.labels for attribute in KNOWN.attributes if attribute.kind == "codes")


def test_every_country_of_the_survey_has_a_continent_and_a_name():
    with (STUDIES / "facts" / "iso_countries.csv").open() as file:
        number = {row["alpha2"]: int(row["numeric"]) for row in csv.DictReader(file)}
    country = KNOWN.attribute("B_COUNTRY")
    for code in [909, *(number[alpha2] for alpha2 in OF_WVS7.split())]:
        assert KNOWN.continents[code] in FACTORS["continent"]
        assert country.labels[code]
    assert {country.labels[code] for code in (158, 344, 446, 630, 826, 909)} == {
        *("Taiwan", "Hong Kong", "Macao", "Puerto Rico", "Great Britain", "Northern Ireland")
    }


def test_every_level_is_reached_by_a_code_and_every_code_reaches_one():
    assert set(KNOWN.continents.values()) == set(FACTORS["continent"])
    assert set(KNOWN.settlement.values()) == set(FACTORS["settlement"])
    assert set(KNOWN.education.values()) == set(FACTORS["education"])
    assert sorted(KNOWN.education) == sorted(KNOWN.attribute(ATTRIBUTE_OF["education"]).labels) == list(range(9))
    assert sorted(KNOWN.settlement) == sorted(KNOWN.attribute(ATTRIBUTE_OF["settlement"]).labels)


def test_an_unknown_attribute_is_told_in_one_line():
    with pytest.raises(StudyError, match=r"^attributes: Q291 unknown; name some of A_YEAR to Q290$"):
        KNOWN.attribute("Q291")


def test_labels_of_a_users_codebook_fill_gaps_and_replace_none():
    named = KNOWN.named_by({"N_TOWN": {20001: "a town"}, "Q260": {1: "other words"}})
    assert named.attribute("N_TOWN").labels == {20001: "a town"}
    assert named.attribute("Q260") == KNOWN.attribute("Q260")
    assert KNOWN.attribute("N_TOWN").labels == {}


@pytest.mark.published
def test_continents_are_those_of_the_benchmark(codebook):
    with shared_file("data", "wvb", "country2continent.csv").open() as file:
        continent = {row["Country"]: row["Continent"] for row in csv.DictReader(file)}
    names = {int(code): name for code, name in codebook["B_COUNTRY"]["choices"].items() if int(code) > 0}
    compared = [code for code in KNOWN.continents if names.get(code) in continent]
    assert len(compared) >= 80
    assert {code: KNOWN.continents[code] for code in compared} == {c: continent[names[c]] for c in compared}


@pytest.mark.published
def test_closed_lists_have_the_codebooks_codes_and_numbers_that_both_name_agree(codebook):
    for attribute in KNOWN.attributes:
        if attribute.kind == "codes" and attribute.id != "B_COUNTRY":
            codes = {int(code) for code in codebook[attribute.id]["choices"] if int(code) >= 0}
            assert set(attribute.labels) == codes, attribute.id
        for code, label in attribute.labels.items():
            theirs = codebook[attribute.id]["choices"].get(str(code), "")
            digits = [part for part in theirs.replace(",", "").split() if part.isdecimal()]
            assert not digits or digits[0] in label.replace(",", ""), (attribute.id, code, theirs, label)


@pytest.mark.published
def test_levels_are_those_of_the_benchmark_but_for_the_code_that_its_labels_lose(codebook):
    with shared_file("data", "wvb", "education2level.csv").open() as file:
        level = {row["Education"]: row["Level"].lower().replace(" ", "_") for row in csv.DictReader(file)}
    choices = {code: codebook["Q275"]["choices"][str(code)] for code in KNOWN.education}
    ours = {code: name.replace("none", "no_education") for code, name in KNOWN.education.items()}
    theirs = {code: level.get(label) for code, label in choices.items()}
    assert [code for code, name in theirs.items() if name is None] == [7]
    assert {code: name for code, name in ours.items() if code != 7} == {c: n for c, n in theirs.items() if c != 7}
