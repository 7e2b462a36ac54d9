"""The parts of worldwise: the study's cultures, a persona from nowhere, and none; all asked in English."""

from valuesassets.records.settings.worldwise import LANGUAGE, Worldwise
from valuesassets.records.study import Part, Study


def parts(study: Study) -> list[Part]:
    """One part for each culture of the study, then the two controls."""
    return [Part(name, LANGUAGE) for name in Worldwise.of(study).parts]
