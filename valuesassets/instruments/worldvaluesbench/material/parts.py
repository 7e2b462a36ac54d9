"""The parts of the benchmark: the sets that a study asks, each in its language."""

from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Part, Study


def parts(study: Study) -> tuple[Part, ...]:
    """A part for each set, in the order of the study file."""
    return tuple(Part(name, asked.language) for name, asked in WorldValuesBench.of(study).sets.items())
