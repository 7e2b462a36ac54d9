"""The personas that models are asked as: cultures, and two controls, a persona from nowhere and none."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import pydantic

from valuesassets.instruments.worldwise.material.dimensions import PLACEBO, UNPROMPTED
from valuesassets.records.errors import InputError
from valuesassets.records.faults import kind_of_value, validated
from valuesassets.records.files import read_json
from valuesassets.records.settings.kinds import FAMILY_NAME, LanguageCode
from valuesassets.records.settings.worldwise import CONTROLS, AskedCulture


class Culture(AskedCulture):
    """A culture, and the country that its persona is from."""

    code: Annotated[str, pydantic.Field(pattern=FAMILY_NAME)]
    """Its name in tables: ISO 3166 alpha-3 where it has one."""
    language: LanguageCode | None = None
    """ISO 639-3; by default that of the dilemmas."""


Persona = Culture | Literal["placebo", "unprompted"]
"""A person of a culture, a person from nowhere, or no persona."""
CONTROL_PERSONAS: tuple[Persona, ...] = (PLACEBO, UNPROMPTED)


def persona_code(persona: Persona) -> str:
    """The persona's name in tables: the culture's code, or the control's name."""
    return persona.code if isinstance(persona, Culture) else persona


def read_cultures(path: Path) -> list[Culture]:
    """The cultures of a JSON file, `{"JPN": {"name", "place", "demonym", "names"[, "language"]}}`, in its order.

    Raises:
        InputError: the file is no such object, a key is missing, unknown or of the wrong kind, or a culture has the
            name of a control.
    """
    content = read_json(path, InputError)
    if not isinstance(content, dict) or not content:
        kind = "an empty object" if content == {} else kind_of_value(content)
        raise InputError(f'{path}: {kind} found, an object such as {{"JPN": {{...}}}} was expected; mend it')
    return [_culture(code, entry, f"{path}: {code}") for code, entry in content.items()]


def _culture(code: str, entry: object, where: str) -> Culture:
    if code in CONTROLS:
        raise InputError(f"{where}: is the name of a control, which is asked anyway; leave it out or rename it")
    if not isinstance(entry, dict):
        raise InputError(
            f"{where}: {kind_of_value(entry)} found, an object of name, place, demonym, names was expected"
        )
    if "code" in entry:
        raise InputError(f"{where}: unknown key 'code'; the key before the object is its code")
    return validated(Culture, {"code": code} | entry, InputError, where)


def persona_of(part: str, cultures: Mapping[str, AskedCulture]) -> Persona:
    """The persona of a part of a study: a culture, or the control of this name."""
    controls: dict[str, Persona] = {persona_code(persona): persona for persona in CONTROL_PERSONAS}
    return controls[part] if part in controls else Culture(code=part, **cultures[part].model_dump())


def asked_personas(cultures: Sequence[Culture]) -> list[Persona]:
    """All cultures, then the two controls."""
    return [*cultures, *CONTROL_PERSONAS]
