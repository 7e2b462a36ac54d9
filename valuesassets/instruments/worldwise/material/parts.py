"""The parts of a worldwise study: its cultures and two controls, all asked in English."""

from valuesassets.records.settings.worldwise import LANGUAGE, Worldwise
from valuesassets.records.study import Part, Study


def parts(study: Study) -> list[Part]:
    """One part for each culture, then one for each control."""
    return [Part(name, LANGUAGE) for name in Worldwise.of(study).parts]
