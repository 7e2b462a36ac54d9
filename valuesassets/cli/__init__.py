"""`valuesassets ...`: the library without Dagster. Heavy imports wait until a command needs them."""

from valuesassets.cli.app import main

__all__ = ["main"]
