"""Help as it is written: rich would take words in brackets for markup, and cut long ones off."""

from typing import Any

import typer
from typer.core import TyperGroup


class PlainGroup(TyperGroup):
    """Commands that are listed with the whole first paragraph of their help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, (each.help or "").partition("\n\n")[0]) for name, each in commands if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def plain_typer(**settings: Any) -> typer.Typer:
    """A group of commands whose help is shown as it is written."""
    return typer.Typer(cls=PlainGroup, rich_markup_mode=None, **settings)
