"""The parts of the instrument: the sets of a study, each in its language."""

from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Part, Study


def parts(study: Study) -> tuple[Part, ...]:
    """A part for each set, in the order of the study file."""
    return tuple(Part(name, asked_set.language) for name, asked_set in WorldValuesBench.of(study).sets.items())
