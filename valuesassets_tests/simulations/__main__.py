"""`python -m valuesassets_tests.simulations estimators` and `... claims`: what `make simulations` runs."""

from valuesassets.cli.app import main
from valuesassets.cli.groups import plain_typer
from valuesassets_tests.simulations.claims import claims
from valuesassets_tests.simulations.estimators import estimators

PROGRAM = "python -m valuesassets_tests.simulations"
app = plain_typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
app.command()(estimators)
app.command()(claims)


def run() -> None:
    """Run one of the commands, which end like those of `valuesassets`."""
    main(app, PROGRAM)


if __name__ == "__main__":
    run()
