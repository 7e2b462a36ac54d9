"""The commands that ran simulations, which are no more (`command_table.GONE`)."""

from valuesassets.records.errors import InputError


def say_where_simulations_are() -> None:
    """Say where simulations are."""
    raise InputError("simulations are no command of valuesassets any more; give `make simulations` in a checkout")
