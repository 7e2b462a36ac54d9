"""The server of the pages: its addresses and their answers, which are all read-only."""

import os
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from valuesassets.desk.pages.front import documents, study_pages, study_titles
from valuesassets.records.home import command_to
from valuesassets.records.pages import PUBLISHED, is_published, pages_address
from valuesassets.records.templates import template

HOSTS = ["127.0.0.1", "localhost"]
"""Names of this server; another name means that a foreign page has led the browser here (DNS rebinding)."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
}
OWN_PAGES = (
    "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Content security policy of the pages that are made here."""
NOT_SHOWN = "Only pages, pictures and logs are shown here: answers, questionnaires and prompts stay on the disk."
NO_DOCUMENT = (
    "The documentation has no such page. If it has no pages at all, it is being built: reload in a few seconds, or "
    "start the UI again."
)
TYPES = {".csv": "text/csv; charset=utf-8", ".log": "text/plain; charset=utf-8"}
"""Media types of endings that machines disagree on."""


class WholeFiles(StaticFiles):
    """Files that are read whole before they are sent, so that changes meanwhile do no harm."""

    def file_response(self, full_path, stat_result: os.stat_result, scope: Scope, status_code: int = 200) -> Response:
        """The file with the media type of its ending."""
        path = Path(full_path)
        answer = super().file_response(path, stat_result, scope, status_code)
        kind = TYPES.get(path.suffix, answer.media_type)
        return Response(path.read_bytes(), status_code, HEADERS, kind)


class PublishedFiles(WholeFiles):
    """The storage folder, which shows only published files, also through links on the disk."""

    def get_path(self, scope: Scope) -> str:
        """The requested path, without any normalisation."""
        return scope["path"].removeprefix(f"{scope['root_path']}/")

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """The file behind a path.

        Raises:
            HTTPException: the file is not shown, or does not exist yet; says which.
        """
        parts = path.split("/")
        is_plain = all(part not in ("", ".", "..") and "\\" not in part and part.isprintable() for part in parts)
        if not is_plain or not is_published(PurePosixPath(path)):
            raise HTTPException(404, NOT_SHOWN)
        try:
            real, status = super().lookup_path(path)
        except OSError:
            real, status = "", None
        root = os.path.realpath(str(self.directory))
        if status is not None and not is_published(PurePosixPath(real).relative_to(root)):
            raise HTTPException(404, NOT_SHOWN)
        if status is None:
            asset = "/".join(parts[1:3]) if parts[1] not in PUBLISHED else parts[1]
            raise HTTPException(
                404, f"{path} does not exist yet: materialise {asset} in the UI, then reload this page."
            )
        return real, status


class Documentation(WholeFiles):
    """The site of MkDocs; `review` and `review.md` mean `review.html`."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """The file behind a path.

        Raises:
            HTTPException: there is none.
        """
        names = [path, f"{path.removesuffix('.md')}.html", f"{path.removesuffix('README')}index.html"]
        for name in names:
            real, status = super().lookup_path("index.html" if path in (".", "README") else name)
            if status is not None and Path(real).is_file():
                return real, status
        raise HTTPException(404, NO_DOCUMENT)


def pages_app(storage: Path, ui_port: int, site: Path) -> Starlette:
    """The server of the pages: the published files of the storage folder, the documentation of the folder `site`, and
    links to the UI at its port."""

    def front(request: Request) -> Response:
        ui = f"http://{request.url.hostname}:{ui_port}/"
        studies, titles = study_pages(storage), study_titles(storage)
        demo = command_to("make demo", "valuesassets demo")
        return _page(request, "front", studies=studies, titles=titles, documents=documents(), ui=ui, demo=demo)

    def missing(request: Request, error: Exception) -> Response:
        message = error.detail if isinstance(error, HTTPException) and error.detail != "Not Found" else ""
        message = message or "There is no such page; the front page lists all pages."
        return _page(request, "missing", status=404, message=message)

    def refused(request: Request, error: Exception) -> Response:
        return PlainTextResponse("These pages can only be read.\n", 405, HEADERS | {"Allow": "GET, HEAD"})

    own_name = urlsplit(pages_address()).hostname
    return Starlette(
        routes=[
            Route("/", front),
            Mount("/storage", PublishedFiles(directory=storage, check_dir=False)),
            Mount("/docs", Documentation(directory=site, check_dir=False)),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[*HOSTS, *filter(None, [own_name])], www_redirect=False)
        ],
        exception_handlers={404: missing, 405: refused},
    )


def _page(request: Request, name: str, status: int = 200, **values: object) -> Response:
    html = template("valuesassets.desk.pages", name).render(address=str(request.url.path), **values)
    return HTMLResponse(html, status, HEADERS | {"Content-Security-Policy": OWN_PAGES})
