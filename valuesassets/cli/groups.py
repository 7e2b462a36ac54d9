"""Groups of commands that stand in a table: a command is imported when it is called, or when its own help is shown."""

import sys
from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

EXAMPLES = [block.splitlines() for block in Path(__file__).with_name("examples.txt").read_text("utf-8").split("\n\n")]
"""Two examples of each command, without the program's name; the first begins with the command's own words."""
ANY_WORDS = {"ignore_unknown_options": True, "allow_extra_args": True}


@dataclass(frozen=True)
class Entry:
    """A command of the table.

    Attributes:
        place: module and function, as `module:function`.
        line: first paragraph of the function's docstring, as lists of commands show it.
        is_gone: whether it is a command that is no more: it is in no list, takes any words, and says what to do.
    """

    place: str
    line: str
    is_gone: bool = False

    @property
    def hidden(self) -> bool:
        """Whether lists of commands leave it out."""
        return self.is_gone

    def build(self, path: str, name: str) -> Any:
        """The command, imported now.

        Args:
            path: the words before its name.
        """
        alone = plain_typer(add_completion=False)
        settings: dict[str, Any] = (
            {"context_settings": ANY_WORDS} if self.is_gone else {"epilog": epilog(f"{path} {name}".strip())}
        )
        alone.command(name, hidden=self.hidden, **settings)(function_at(self.place))
        return get_command(alone)


@dataclass(frozen=True)
class Group:
    """A group of commands of the table.

    Attributes:
        line: its help, as lists of commands show it.
        entries: its commands by name.
        path: words before a command's name in its examples; the group's own name, where commands stand in it alone.
        default: place of what runs where no command is named, as `module:function`; help is shown if left out.
        new_name: of a group by an earlier name, the name of today; it is in no list, and a line says the new name.
    """

    line: str
    entries: Mapping[str, Entry]
    path: str
    default: str | None = None
    new_name: str | None = None

    @property
    def hidden(self) -> bool:
        """Whether lists of commands leave it out."""
        return self.new_name is not None

    def build(self, path: str, name: str) -> Any:
        """The group, of whose commands none is imported."""
        settings = {"invoke_without_command": True} if self.default else {"no_args_is_help": True}
        group = table_typer(self.entries, self.path, name=name, help=self.line, hidden=self.hidden, **settings)
        if self.default:
            group.callback(epilog=epilog(name))(function_at(self.default))
        if self.new_name is not None:
            group.callback()(_saying(name, self.new_name))
        return get_group(group)


class LazyCommands(UserDict[str, Any]):
    """Commands by name, each built of its entry when it is looked up."""

    def __init__(self, entries: Mapping[str, Entry | Group], path: str) -> None:
        super().__init__(entries)
        self.path = path

    def __getitem__(self, name: str) -> Any:
        """The command of a name; KeyError where there is none."""
        if isinstance(entry := self.data[name], Entry | Group):
            self.data[name] = entry.build(self.path, name)
        return self.data[name]


class PlainGroup(TyperGroup):
    """Commands that are listed with the whole first paragraph of their help.

    Help is shown as it is written: rich would take words in brackets for markup, and cut long ones off.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words after the group's own; where there are none, the help is printed as it is, and the exit is 2."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """The commands that are listed, each with the first paragraph of its help."""
        listed = [(name, each) for name, each in self.commands.items() if not each.hidden]
        return [(name, (each.help or "").partition("\n\n")[0]) for name, each in listed]


class TableGroup(PlainGroup):
    """Commands that stand in a table and are imported when they are called."""

    entries: ClassVar[Mapping[str, Entry | Group]] = {}
    path: ClassVar[str] = ""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = LazyCommands(self.entries, self.path)

    def lines(self) -> list[tuple[str, str]]:
        """The commands that are listed, each with its line in the table."""
        return [(name, entry.line) for name, entry in self.entries.items() if not entry.hidden]


def plain_typer(**settings: Any) -> typer.Typer:
    """A group of commands whose help is shown as it is written."""
    return typer.Typer(**{"cls": PlainGroup, "rich_markup_mode": None} | settings)


def table_typer(entries: Mapping[str, Entry | Group], path: str, **settings: Any) -> typer.Typer:
    """A group of the commands of a table; `path` holds the words before their names."""
    return plain_typer(cls=type("OwnGroup", (TableGroup,), {"entries": entries, "path": path}), **settings)


def function_at(place: str) -> Any:
    """The function at a place `module:function`, imported now, with the fields of its bundles as options."""
    from valuesassets.cli.options import spread

    module, _, name = place.partition(":")
    return spread(getattr(import_module(module), name))


def epilog(command: str) -> str:
    """The end of a command's help: its examples, a line each."""
    words = command.split()
    examples = next(lines for lines in EXAMPLES if lines[0].split()[: len(words)] == words)
    return "\n".join(["\b", "Examples:", *(f"  valuesassets {example}" for example in examples)])


def _saying(earlier: str, name: str) -> Any:
    def say_new_name() -> None:
        print(f"valuesassets {earlier} is now called valuesassets {name}; use the new name", file=sys.stderr)

    return say_new_name
