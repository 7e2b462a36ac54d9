"""`ui`: the web UI over a study and the pages beside it."""

import os
from typing import Annotated

import typer

HIGHEST_PORT = 65_535


def parse_port(given: str | int) -> int:
    """A port as it was given; 0 would be one that nobody knows."""
    try:
        port = int(given)
    except ValueError:
        port = 0
    if not 1 <= port <= HIGHEST_PORT:
        raise typer.BadParameter(
            f"port {str(given)[:40]}: a number from 1 to {HIGHEST_PORT} was expected, such as 3010"
        )
    return port


def ui(
    port: Annotated[int, typer.Option(parser=parse_port, metavar="PORT", help="Port of the UI.")] = 3000,
    pages_port: Annotated[
        int | None,
        typer.Option(parser=parse_port, metavar="PORT", help="Port of the pages; the one after --port if not given."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Look on: nothing can be started or changed; beside another UI.")
    ] = False,
    migrate: Annotated[bool, typer.Option("--migrate", help="Bring an older database of Dagster up to date.")] = False,
    module: Annotated[str, typer.Option(hidden=True, help="Another graph.")] = "valuesassets.definitions",
) -> None:
    """Serve the web UI of the study in VALUESASSETS_STUDY, on this machine only, until Ctrl-C."""
    from valuesassets.desk.supervisor import serve_ui
    from valuesassets.desk.ui_settings import UiSettings

    pages = port + 1 if pages_port is None else pages_port
    if pages == port:
        raise typer.BadParameter(f"--pages-port {pages}: another port than --port was expected")
    if pages > HIGHEST_PORT:
        raise typer.BadParameter(f"--port {port}: no port comes after it; give --pages-port, or a lower one")
    serve_ui(UiSettings.from_environment(os.environ, module, port, pages, read_only), migrate)
