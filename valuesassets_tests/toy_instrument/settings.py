"""The toy's table of the study file."""

from valuesassets.records.settings.kinds import InstrumentTable
from valuesassets.records.study import Study


class Toy(InstrumentTable):
    """Which tasks there are, and the language of each."""

    tasks: dict[str, str]
    """The language of each task, by the task's name."""


class ToyStudy(Study):
    """A study that may have the toy's table."""

    toy: Toy | None = None
