"""Parts: cultures and controls, each in the language of the dilemmas."""

from valuesassets.instruments.worldwise.material.cultures import persona_of
from valuesassets.instruments.worldwise.material.parts import parts
from valuesassets.records.study import load_study


def test_every_culture_and_control_is_a_part_that_is_asked_in_english():
    names = parts(load_study("demo_worldwise"))
    assert [part.name for part in names] == ["ORVA", "TESK", "MULD", "KYPP", "placebo", "unprompted"]
    assert {part.language for part in names} == {"eng"}


def test_a_part_asks_its_cultures_persona_and_a_control_itself():
    cultures = load_study("demo_worldwise").worldwise.cultures
    assert [persona_of(part, cultures) for part in ("placebo", "unprompted")] == ["placebo", "unprompted"]
    persona = persona_of("MULD", cultures)
    assert (persona.code, persona.place, persona.language) == ("MULD", "the Muldane Isles", None)
