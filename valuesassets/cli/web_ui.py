"""The command `ui`: the web UI over a study and the pages beside it."""

import ipaddress
from typing import Annotated

import typer

from valuesassets.cli.homes import ready
from valuesassets.cli.inputs import open_study
from valuesassets.cli.systems import require_posix

HIGHEST_PORT = 65_535


def parse_port(text: str | int) -> int:
    """A port's number, from 1 on: 0 would be a port that nobody knows."""
    try:
        port = int(text)
    except ValueError:
        port = 0
    if not 1 <= port <= HIGHEST_PORT:
        raise typer.BadParameter(f"port {str(text)[:40]}: a number from 1 to {HIGHEST_PORT} was expected, such as 3010")
    return port


def parse_host(text: str) -> str:
    """An IPv4 address that servers listen on."""
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise typer.BadParameter(
            f"{text[:40]}: an IPv4 address of this machine was expected, such as 0.0.0.0 for all that it has"
        ) from None


def ui(
    port: Annotated[int, typer.Option(parser=parse_port, metavar="PORT", help="Port of the UI.")] = 3000,
    pages_port: Annotated[
        int | None,
        typer.Option(
            parser=parse_port, metavar="PORT", help="Port of the pages beside it; the one after --port if left out."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            parser=parse_host,
            metavar="ADDRESS",
            help="Address to listen on; another one lets other machines in, and asks for no password.",
        ),
    ] = "127.0.0.1",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Start and change nothing; may run beside another UI.")
    ] = False,
    migrate: Annotated[
        bool, typer.Option("--migrate", help="Bring an older database of Dagster up to date first.")
    ] = False,
    module: Annotated[str, typer.Option(hidden=True, help="Module of another graph.")] = "valuesassets.definitions",
) -> None:
    """Serve the web UI of the study that VALUESASSETS_STUDY names, on this machine only, until Ctrl-C."""
    require_posix("ui")
    from valuesassets.desk.supervisor import serve_ui
    from valuesassets.desk.ui_settings import UiSettings, shown_study

    pages = port + 1 if pages_port is None else pages_port
    if pages == port:
        raise typer.BadParameter(f"--pages-port {pages}: another port than --port was expected")
    if pages > HIGHEST_PORT:
        raise typer.BadParameter(f"--port {port}: no port comes after it; give --pages-port, or a lower one")
    open_study(shown_study())
    ready(is_written=not read_only)
    serve_ui(UiSettings.from_environment(module, port, pages, read_only, host), migrate)
