"""`[worldwise]` of a study file: what may stand there, and one line for what may not."""

import pytest

from valuesassets.records.errors import StudyError
from valuesassets.records.study import load_study, parse_study
from valuesassets_tests.instruments.worldwise.made_dilemmas import JAPAN, NETHERLANDS

REFERENCE = {"tiny": {"kind": "reference", "model_type": "multi"}}
HUB = {"real": {"kind": "huggingface", "model_type": "multi", "model_id": "owner/model"}}


def read(folder, families=HUB, languages=None, **table):
    content = {"name": "small", "title": "Small", "seed": 1, "families": families, "worldwise": table}
    return parse_study(content | ({"languages": languages} if languages else {}), "small.toml", folder)


def test_left_out_keys_ask_the_bundled_dilemmas_of_the_two_controls_alone(tmp_path):
    settings = read(tmp_path).worldwise
    assert (settings.scenarios, settings.wordings, settings.demand) == ("bundled", (0,), False)
    assert settings.parts == ("placebo", "unprompted")


def test_reasons_are_asked_for_where_something_places_them_and_some_form_is_named(tmp_path):
    assert not read(tmp_path).worldwise.has_reasons
    assert read(tmp_path, embedder="lexical").worldwise.has_reasons
    assert not read(tmp_path, embedder="lexical", forms=[]).worldwise.has_reasons


def test_cultures_come_before_the_controls_in_the_order_of_the_file(tmp_path):
    settings = read(tmp_path, cultures={"NLD": NETHERLANDS, "JPN": JAPAN}).worldwise
    assert settings.parts == ("NLD", "JPN", "placebo", "unprompted")
    assert settings.cultures["JPN"].names == ("Japan", "Japanese", "Tokyo")


def test_the_file_of_dilemmas_counts_from_the_study_file(tmp_path):
    (tmp_path / "mine.json").write_text("[]")
    study = read(tmp_path, scenarios="mine.json")
    assert study.worldwise.scenarios == tmp_path / "mine.json"
    assert type(study).model_validate(study.model_dump(mode="json", exclude_none=True)) == study


BAD = {
    "a form twice": (
        {"embedder": "lexical", "forms": ["open", "open"]},
        "small.toml: key 'worldwise.forms': open stands there twice; name it once",
    ),
    "a form that there is not": (
        {"forms": ["closed"]},
        "small.toml: entry 1 of 'worldwise.forms': 'decide' or 'open' was expected (found \"closed\")",
    ),
    "an embedder without a name": (
        {"embedder": " "},
        "small.toml: key 'worldwise.embedder': text that is not empty was expected (found \" \")",
    ),
    "a revision of a bag of words": (
        {"embedder": "lexical", "embedder_revision": "main"},
        "small.toml: worldwise.embedder_revision: lexical has none; leave it out, or name a model of the hub as "
        "worldwise.embedder",
    ),
    "a revision of no embedder": (
        {"embedder_revision": "main"},
        "small.toml: worldwise.embedder_revision: no embedder has none; leave it out, or name a model of the hub as "
        "worldwise.embedder",
    ),
    "no draw": ({"draws": 0}, "small.toml: key 'worldwise.draws': more than 0 was expected (found 0)"),
    "draws that are all the same": (
        {"temperature": 0},
        "small.toml: key 'worldwise.temperature': more than 0.0 was expected (found 0)",
    ),
    "a share above one": (
        {"thresholds": {"parsed": 80}},
        "small.toml: key 'worldwise.thresholds.parsed': at most 1.0 was expected (found 80)",
    ),
    "values that nothing is planted for": (
        {"families": REFERENCE, "embedder": "lexical", "values": "values.csv"},
        "small.toml: worldwise.values: reference models learn to tick the bundled values; leave it out, or the "
        "reference families",
    ),
    "a wording that there is not": (
        {"wordings": [3]},
        "small.toml: entry 1 of 'worldwise.wordings': 0, 1 or 2 was expected (found 3)",
    ),
    "a wording twice": (
        {"wordings": [1, 1]},
        "small.toml: key 'worldwise.wordings': 1 stands there twice; name it once",
    ),
    "no wording": (
        {"wordings": []},
        "small.toml: key 'worldwise.wordings': no wording is named; name one or more of 0, 1, 2",
    ),
    "a control as a culture": (
        {"cultures": {"placebo": JAPAN}},
        "small.toml: worldwise.cultures.placebo: is the name of a control, which is asked anyway; leave it out or "
        "rename it",
    ),
    "a code with a blank": (
        {"cultures": {"J P": JAPAN}},
        "small.toml: key 'worldwise.cultures.J P': a name of up to 100 letters, digits, _, . and - was expected "
        '(found "J P")',
    ),
    "no demonym": (
        {"cultures": {"JPN": {key: JAPAN[key] for key in ("name", "place", "names")}}},
        "small.toml: key 'worldwise.cultures.JPN.demonym' is missing; add it",
    ),
    "an empty place": (
        {"cultures": {"JPN": JAPAN | {"place": " "}}},
        "small.toml: key 'worldwise.cultures.JPN.place': text that is not empty was expected (found \" \")",
    ),
    "no names": (
        {"cultures": {"JPN": JAPAN | {"names": []}}},
        "small.toml: key 'worldwise.cultures.JPN.names': at least one entry was expected (found [])",
    ),
    "an unknown key": (
        {"scenario": "bundled"},
        "small.toml: unknown key 'worldwise.scenario' (did you mean 'scenarios'?)",
    ),
    "another language alone": (
        {"languages": {"jpn": {"name": "Japanese"}}},
        "small.toml: worldwise: asks in eng, which is none of the study's languages (jpn); add languages.eng",
    ),
    "wordings that nothing is planted for": (
        {"families": REFERENCE, "wordings": [0, 1]},
        "small.toml: worldwise.wordings: reference models are trained on one persona line; name one, or leave the "
        "reference families out",
    ),
    "a demand that nothing is planted for": (
        {"families": REFERENCE, "demand": True},
        "small.toml: worldwise.demand: nothing is planted for what reference models are told to hold; leave it out, or "
        "the reference families",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_in_one_line(case, tmp_path):
    table, line = BAD[case]
    (tmp_path / "values.csv").touch()
    with pytest.raises(StudyError) as caught:
        read(tmp_path, **table)
    assert str(caught.value) == line


def test_a_file_of_dilemmas_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StudyError) as caught:
        read(tmp_path, scenarios="mine.json")
    said = str(caught.value)
    assert said.startswith("small.toml: key 'worldwise.scenarios'")
    assert str(tmp_path / "mine.json") in said
    assert "\n" not in said


def test_the_demo_asks_four_cultures_that_no_country_is_called_by():
    from valuesassets.instruments.worldwise.answers.answer_texts import country_pattern

    settings = load_study("demo_worldwise").worldwise
    assert len(settings.cultures) == 4
    told = {name for culture in settings.cultures.values() for name in (culture.name, culture.demonym, *culture.names)}
    assert [name for name in told if country_pattern().search(name)] == []
