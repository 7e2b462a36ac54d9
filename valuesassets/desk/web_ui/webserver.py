"""The UI's webserver: `python -m valuesassets.desk.web_ui.webserver`."""

import gc
import sys
from pathlib import Path
from urllib.parse import quote

from valuesassets.desk.server_process import end_with_parent, wait_for_code_server
from valuesassets.records.pages import IN_THE_UI, pages_address


def main(folder: str, *arguments: str) -> None:
    """Import slow modules while the graph is being loaded, then serve."""
    end_with_parent()
    gc.disable()  # collecting garbage takes a fifth of the time of imports
    from dagster_webserver.cli import dagster_webserver

    redirect_to_pages()
    gc.enable()
    wait_for_code_server(Path(folder))
    dagster_webserver(arguments)


def redirect_to_pages() -> None:
    """Let the UI's server redirect `/pages/...` to the pages' server, and answer its own pages only (`guard.py`).

    The pages have their own origin, because other people wrote some of their content.
    """
    from dagster_webserver import app
    from dagster_webserver.webserver import DagsterWebserver
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from valuesassets.desk.web_ui.guard import OwnPagesOnly

    def redirect(request: Request) -> RedirectResponse:
        return RedirectResponse(f"{pages_address()}/{quote(request.path_params['path'])}")

    class GuardedWebserver(DagsterWebserver):
        def build_middleware(self):
            return [Middleware(OwnPagesOnly), *super().build_middleware()]

        def build_routes(self):
            return [Route(f"{IN_THE_UI}/{{path:path}}", redirect), *super().build_routes()]

    app.DagsterWebserver = GuardedWebserver  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(*sys.argv[1:])
