"""Anchors are countries: as published, as a file says, personas one after the other; and which countries are asked."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.material.countries import (
    Anchor,
    anchor_countries,
    asked_countries,
    load_countries,
    of_countries,
    read_own_countries,
)
from valuesassets.instruments.cultural_robustness.material.language_files import Line
from valuesassets.instruments.cultural_robustness.material.questions import all_questions, read_questions
from valuesassets.records.errors import InputError, MissingData, QuestionError
from valuesassets_tests.instruments.cultural_robustness.made_files import write_folder

PUBLISHED = [
    *("AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HU", "IE", "IT", "LV", "LT", "LU"),
    *("MT", "NL", "PL", "PT", "RO", "SK", "SI", "ES", "SE", "IS", "LI", "NO", "TR", "UA", "AL", "BA", "GE", "MK"),
]


def anchors_of(question, numbers):
    return [Line(f"f: line {number}", "eng", "specific", f"{question}-{number}", {}) for number in numbers]


def test_the_bundled_order_is_that_of_the_published_questions():
    assert [anchor.country for anchor in load_countries().anchors.values()] == PUBLISHED


def test_thirty_six_anchors_are_countries_and_three_times_as_many_are_personas():
    anchors = anchor_countries([*anchors_of("1", range(1, 37)), *anchors_of("7", range(1, 109))], load_countries())
    assert anchors["1", 7] == Anchor("DK")
    assert [anchors["7", number] for number in (1, 36, 37, 72, 73, 108)] == [
        Anchor("AT", 1), Anchor("MK", 1), Anchor("AT", 2), Anchor("MK", 2), Anchor("AT", 3), Anchor("MK", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("numbers", [range(1, 36), range(1, 38), range(2, 37), range(1, 73), range(1, 145), [36], [5]])
def test_other_numbers_of_anchors_need_a_file(numbers):
    with pytest.raises(QuestionError, match=r"^f: line \d+: anchor \d+ of question 4 has no country: .*36 or 108 are"):
        anchor_countries(anchors_of("4", numbers), load_countries())


def given_countries(tmp_path, content):
    (tmp_path / "c.csv").write_text(content)
    return load_countries(tmp_path / "c.csv")


def test_a_file_may_name_personas_itself(tmp_path):
    countries = given_countries(tmp_path, "country,anchor,persona\nAT,4,1\nAT,9,2\nNA,2,1\n")
    anchors = anchor_countries([*anchors_of("1", [4, 9, 2]), *anchors_of("2", [4, 2])], countries)
    assert anchors["1", 9] == Anchor("AT", 2)
    assert anchors["2", 2] == Anchor("NA")


def test_a_file_without_personas_goes_round_for_each(tmp_path):
    countries = given_countries(tmp_path, "anchor,country\n1,AT\n2,GR\n")
    anchors = anchor_countries(anchors_of("1", range(1, 9)), countries)
    assert [anchors["1", number] for number in (1, 2, 3, 8)] == [
        Anchor("AT", 1), Anchor("GR", 1), Anchor("AT", 2), Anchor("GR", 4)
    ]  # fmt: skip
    with pytest.raises(QuestionError, match="anchor 3 of question 1 has no country: it has 3 anchors, 2 are known of"):
        anchor_countries(anchors_of("1", range(1, 4)), countries)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("anchor,land\n1,AT\n", "line 1: anchor, land found, a header anchor,country was expected"),
        ("anchor,country\n1,AT\n\n1,GR\n", "line 4: anchor 1 stands there twice"),
        ("anchor,country\n1,AT\n2,AT\n", "line 3: anchor 2 is AT, as is anchor 1"),
        ("anchor,country\n1,Austria\n", "line 2: 'Austria' is no country; write its ISO 3166 code"),
        ("anchor,country\n1,UK\n", "line 2: 'UK' is no country"),
        ("anchor,country\nfirst,AT\n", "line 2: anchor 'first' found, a whole number from 1 was expected"),
        ("anchor,country\n0,AT\n", "line 2: anchor '0' found"),
        ("anchor,country\n1,AT,2\n", "line 2: 3 fields found, 2 were expected"),
        ("anchor,country,persona\n1,AT,old\n", "line 2: persona 'old' found"),
        ("anchor,country,persona\n1,AT,1\n2,GR,\n", "some anchors have a persona and some have none"),
        ("anchor,country\n", "no anchor below its header"),
    ],
)
def test_a_line_of_the_file_that_cannot_serve_is_named(tmp_path, content, message):
    with pytest.raises(QuestionError) as error:
        given_countries(tmp_path, content)
    assert str(error.value).startswith(f"{tmp_path / 'c.csv'}: ")
    assert message in str(error.value)


def test_anchors_without_a_file_are_named_with_their_line(tmp_path):
    folder = write_folder(tmp_path, countries=None)
    with pytest.raises(QuestionError) as error:
        read_questions(folder)
    assert str(error.value).startswith(
        f"{folder / 'deu_specific.jsonl'}: line 1: anchor 1 of question 1 has no country"
    )
    assert "countries.csv (anchor,country[,persona])" in str(error.value)
    write_folder(tmp_path / "other", {})
    english = read_questions(folder, tmp_path / "other" / "countries.csv")["eng"]
    assert english["country"].dropna().unique().tolist() == ["AT", "GR"]


def published(personas=1):
    numbers = range(1, 36 * personas + 1)
    return pd.DataFrame({"anchor": [None, *numbers], "country": [None, *PUBLISHED * personas]}).astype(
        {"anchor": "Int64"}
    )


@given(st.integers(0, 99), st.integers(3, 40), st.sets(st.sampled_from([*PUBLISHED, "RU", "IN"]), max_size=3))
@pytest.mark.slow
def test_so_many_countries_are_asked_as_said_own_ones_among_them_in_their_order(seed, anchors, own):
    countries = asked_countries(published(3), own, anchors, seed)
    assert len(countries) == min(anchors, 36)
    assert countries == [country for country in PUBLISHED if country in countries]
    assert own & set(PUBLISHED) <= set(countries)
    assert countries == asked_countries(published(3), sorted(own), anchors, seed)


def test_another_seed_asks_other_countries_and_no_number_asks_all():
    drawn = {tuple(asked_countries(published(), ["GR"], 6, seed)) for seed in range(9)}
    assert len(drawn) > 1
    assert asked_countries(published(), ["GR"]) == PUBLISHED


def test_more_own_countries_than_anchors_are_refused():
    with pytest.raises(MissingData, match="anchors = 2: the languages' own countries are 3"):
        asked_countries(published(), ["AT", "GR", "IE"], 2)


def test_questions_without_a_country_stay_whichever_countries_are_asked(tmp_path):
    questions = of_countries(all_questions(read_questions(write_folder(tmp_path))), ["GR"])
    assert questions["anchor"].value_counts(dropna=False).to_dict() == {pd.NA: 18, 2: 18}


def test_own_countries_are_read_by_any_code_of_a_language(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("language,country\nel,GR\nua,UA\ndeu,AT\n")
    assert read_own_countries(path) == {"ell": "GR", "ukr": "UA", "deu": "AT"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("language,country\nel,GR\nell,CY\n", "line 3: ell stands there twice"),
        ("language,country\nxx,GR\n", "line 2: 'xx' is no code of a language"),
        ("language,country\nel,EL\n", "line 2: 'EL' is no country"),
        ("language\nel\n", "line 1: language found, a header language,country was expected"),
    ],
)
def test_a_line_of_own_countries_that_cannot_serve_is_named(tmp_path, content, message):
    path = tmp_path / "own.csv"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_own_countries(path)
    assert str(error.value).startswith(f"{path}: {message}")
