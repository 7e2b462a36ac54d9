"""The server of the UI: `python -m valuesassets.desk.web_ui.webserver`."""

import gc
import sys
from pathlib import Path
from urllib.parse import quote

from valuesassets.desk.server_process import end_with_parent, wait_for_code_server
from valuesassets.records.pages import IN_THE_UI, pages_address


def main(folder: str, *arguments: str) -> None:
    """Load what takes seconds while the graph is loaded, then serve."""
    end_with_parent()
    gc.disable()  # a fifth of the time goes into looking for garbage in modules
    from dagster_webserver.cli import dagster_webserver

    lead_to_pages()
    gc.enable()
    wait_for_code_server(Path(folder))
    dagster_webserver(arguments)


def lead_to_pages() -> None:
    """Have the UI's server send `/pages/...` on to the pages': an origin of its own, for what other people wrote; and
    answer its own pages alone (`guard.py`)."""
    from dagster_webserver import app
    from dagster_webserver.webserver import DagsterWebserver
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from valuesassets.desk.web_ui.guard import OwnPagesOnly

    def lead_on(request: Request) -> RedirectResponse:
        return RedirectResponse(f"{pages_address()}/{quote(request.path_params['path'])}")

    class LeadsToPages(DagsterWebserver):
        def build_middleware(self):
            return [Middleware(OwnPagesOnly), *super().build_middleware()]

        def build_routes(self):
            return [Route(f"{IN_THE_UI}/{{path:path}}", lead_on), *super().build_routes()]

    app.DagsterWebserver = LeadsToPages  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(*sys.argv[1:])
