"""Options that the simulations share."""

from typing import Annotated

import typer

FirstSeed = Annotated[
    int, typer.Option("--seed", help="Random seed of the first simulation of a kind; the others count on.")
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, help="Processes to use; one for each processor if left out.")
]
