"""`Instrument`: the record of an instrument, of this package or of another one; modules are named by strings.

Nothing is imported here that takes time, so that a package may give its record to every command.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from valuesassets.records.study import Part, Study

API = 1
"""The version of what instruments of other packages rest on: this record, and the functions that their pages name."""


@dataclass(frozen=True)
class Instrument:
    """One instrument of a study.

    Attributes:
        name: first word of its assets' keys, folder of its files, and its command.
        settings: `module:class`, its table in the study file; a study with this table runs the instrument.
        wiring: `module:function`; the function returns its assets in a study.
        package: the package that derives its assets.
        part: name of the second dimension of its partitions, beside `model`.
        parts: `module:function`; the function returns its parts in a study. The module imports no derivation.
        jobs: `module:function`; the function returns the jobs in a study that only this instrument has.
        is_named_everywhere: whether names of its groups and jobs contain its name; the survey's do not.
        checks: names of checks in `orchestration/record_checks.py` on its cells' records.
        asks: the asset of its cells: `readings` of probabilities, or `answers` that models write.
        chat_trials: the asset with the trials for chat models; others are asked `trials`.
        answer_pages: the asset that writes a page for each cell, `<model>/<part>.html`, with prompts and answers.
        scale: `module:function`, which gives the places of the codes of each ordinal question; families with `draws`
            are asked for written answers in the instruments that have one.
        table: the key of its table in the study file; its name if empty.
        commands: the module with `COMMANDS`, its commands by name; empty if it has none.
        about: what it measures, in a line.
        docs: address of its documentation, of an instrument of another package.
        api: the version of this record that it was written for.
    """

    name: str
    settings: str
    wiring: str
    package: str
    part: str = "language"
    parts: str = "valuesassets.records.study:language_parts"
    jobs: str = ""
    is_named_everywhere: bool = True
    checks: tuple[str, ...] = ()
    asks: Literal["readings", "answers"] = "readings"
    chat_trials: str = "trials"
    answer_pages: str = ""
    scale: str = ""
    table: str = ""
    commands: str = ""
    about: str = ""
    docs: str = ""
    api: int = API

    @property
    def study_key(self) -> str:
        """The key of its table in the study file."""
        return self.table or self.name

    def parts_of(self, study: "Study") -> "tuple[Part, ...]":
        """Its parts in a study, in the order of tables and pages."""
        return tuple(named(self.parts)(study))


def named(place: str) -> Any:
    """The object that `module:name` names.

    >>> named("valuesassets.records.instruments:API")
    1
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
