"""What other packages' instruments add to the command line: a group of commands each, and a line for each fault."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from typer.main import get_group

from valuesassets.cli.command_table import PROGRAM, group_name
from valuesassets.cli.groups import Entry, Group, plain_typer
from valuesassets.records.instruments import Instrument
from valuesassets.records.plugins import installed, object_of


@dataclass(frozen=True)
class PluginGroup(Group):
    """The commands of an instrument of another package: `COMMANDS` in its module, functions by name."""

    instrument: Instrument = field(kw_only=True)

    def build(self, path: str, name: str) -> Any:
        """The group, whose module is imported now; StudyError where it cannot be."""
        from valuesassets.cli.options import spread

        group = plain_typer(name=name, help=self.line, no_args_is_help=True)
        group.callback()(_no_options)  # so that one command alone is called by its name too
        for each, function in object_of(self.instrument, f"{self.instrument.commands}:COMMANDS").items():
            group.command(each)(spread(function))
        return get_group(group)


def whole_program() -> dict[str, Entry | Group]:
    """All commands by name, with those of other packages' instruments; a command of this package keeps its name."""
    groups = {group_name(name): each for name, each in installed().instruments.items() if each.commands}
    lines = {name: f"Commands of {each.name}, an instrument of another package." for name, each in groups.items()}
    plugins = {name: PluginGroup(lines[name], {}, name, instrument=each) for name, each in groups.items()}
    return PROGRAM | {name: each for name, each in plugins.items() if name not in PROGRAM}


def fault_lines() -> Iterator[str]:
    """Why instruments of other packages, or their commands, cannot be used; a line each."""
    yield from installed().faults.values()
    for name, each in installed().instruments.items():
        if each.commands and group_name(name) in PROGRAM:
            package = installed().packages[name]
            yield f"instrument {name} of {package}: valuesassets has a command of this name; its own are left out"


def _no_options() -> None:
    """Take no options of the group itself."""
