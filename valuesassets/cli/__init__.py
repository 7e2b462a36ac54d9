"""`valuesassets ...`: the library without Dagster. Heavy imports wait until a command needs them."""

from valuesassets.records.garbage import collect_seldom

__all__ = ["main"]


def main() -> None:
    """The program `valuesassets`."""
    collect_seldom()
    from valuesassets.cli.app import main as run

    run()
