"""What a page of somebody else, open in the same browser, can have the UI's server do: nothing."""

import http.client
import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from valuesassets.desk.web_ui.guard import why_refused
from valuesassets_tests.desk.make_ui import gated_cells
from valuesassets_tests.desk.web_ui import ask_graphql, chromium, serving
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment

ASSET = gated_cells.cells.key.path
FORGE = (
    "mutation { reportRunlessAssetEvents(eventParams: {eventType: ASSET_MATERIALIZATION, "
    f'assetKey: {{path: {json.dumps(ASSET)}}}, partitionKeys: ["forged"]}}) {{ __typename }} }}'
)
REPORT = f"/report_asset_materialization/{'/'.join(ASSET)}?partition=forged"
COUNT = """query ($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
    assetMaterializations(limit: 1000) { timestamp } } } }"""
JSON, TEXT, FORM = "application/json", "text/plain", "application/x-www-form-urlencoded"

ATTACKS = {
    "a picture": "new Image().src = `${ui}/graphql?query=${encodeURIComponent(forge)}`; await wait(900)",
    "a script": "add('script', {src: `${ui}/graphql?query=${encodeURIComponent(forge)}`}); await wait(900)",
    "a style sheet": "add('link', {rel: 'stylesheet', href: `${ui}/graphql?query=${encodeURIComponent(forge)}`}); "
    "await wait(900)",
    "a request without answer, by GET": "await fetch(`${ui}/graphql?query=${encodeURIComponent(forge)}`, "
    "{mode: 'no-cors'})",
    "a text": "await fetch(`${ui}/graphql`, {method: 'POST', mode: 'no-cors', body: JSON.stringify({query: forge})})",
    "a text that claims to be JSON": "await fetch(`${ui}/graphql`, {method: 'POST', mode: 'no-cors', "
    "headers: {'Content-Type': 'text/plain; x=application/json'}, body: JSON.stringify({query: forge})})",
    "the query in the address of a POST": "await fetch(`${ui}/graphql?query=${encodeURIComponent(forge)}`, "
    "{method: 'POST', mode: 'no-cors'})",
    "JSON": "await fetch(`${ui}/graphql`, {method: 'POST', headers: {'Content-Type': 'application/json'}, "
    "body: JSON.stringify({query: forge})})",
    "JSON with cookies": "await fetch(`${ui}/graphql`, {method: 'POST', credentials: 'include', "
    "headers: {'Content-Type': 'application/json'}, body: JSON.stringify({query: forge})})",
    "a beacon": "navigator.sendBeacon(`${ui}/graphql`, JSON.stringify({query: forge})); await wait(900)",
    "a form": "form(`${ui}/graphql`, 'POST', 'application/x-www-form-urlencoded', {query: forge}); await wait(900)",
    "a form of plain text": "form(`${ui}/graphql`, 'POST', 'text/plain', {query: forge}); await wait(900)",
    "a form with a file": "form(`${ui}/graphql`, 'POST', 'multipart/form-data', {query: forge}); await wait(900)",
    "a form by GET": "form(`${ui}/graphql`, 'GET', 'application/x-www-form-urlencoded', {query: forge}); "
    "await wait(900)",
    "a report by a form": "form(`${ui}${report}`, 'POST', 'text/plain', {}); await wait(900)",
    "a report without a body": "await fetch(`${ui}${report}`, {method: 'POST', mode: 'no-cors'})",
    "a report as a text": "await fetch(`${ui}${report}`, {method: 'POST', mode: 'no-cors', body: '{}'})",
    "a window": "window.open(`${ui}/graphql?query=${encodeURIComponent(forge)}`); await wait(900)",
    "a frame": "add('iframe', {src: `${ui}/graphql?query=${encodeURIComponent(forge)}`}); await wait(900)",
    "a prefetch": "add('link', {rel: 'prefetch', href: `${ui}/graphql?query=${encodeURIComponent(forge)}`}); "
    "await wait(900)",
    "a WebSocket": """await new Promise(done => {
        const socket = new WebSocket(ui.replace('http', 'ws') + '/graphql', 'graphql-ws');
        socket.onopen = () => {
            socket.send(JSON.stringify({type: 'connection_init', payload: {}}));
            socket.send(JSON.stringify({type: 'start', id: '1', payload: {query: forge}}));
            setTimeout(done, 900);
        };
        socket.onerror = done;
    })""",
}
SCRIPT = """async ([ui, forge, report]) => {
    const wait = time => new Promise(done => setTimeout(done, time));
    const add = (kind, given) => document.body.append(Object.assign(document.createElement(kind), given));
    const form = (action, method, enctype, fields) => {
        const made = Object.assign(document.createElement('form'), {action, method, enctype, target: 'nowhere'});
        for (const [name, value] of Object.entries(fields))
            made.append(Object.assign(document.createElement('input'), {name, value, type: 'hidden'}));
        add('iframe', {name: 'nowhere'});
        document.body.append(made);
        made.submit();
    };
    try { %s } catch (refused) { }
}"""


@contextmanager
def foreign_page():
    """The port of a server whose pages are nobody's business here."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>foreign</title><body>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def ui(tmp_path_factory):
    """The address of a UI over a toy graph."""
    folder = tmp_path_factory.mktemp("ui")
    (folder / "gates").mkdir()
    named = {gated_cells.GATES: str(folder / "gates"), "PYTHONPATH": str(REPOSITORY)}
    environment = study_environment(folder, Path("demo_survey")) | named
    with serving(environment, folder / "ui.log", gated_cells.__name__) as address:
        yield address


def forged(address):
    """How many materialisations there are."""
    found = ask_graphql(address, COUNT, key={"path": ASSET})
    return len(found["assetNodeOrError"]["assetMaterializations"])


def status(address, method, path, body=None, **headers):
    """The answer's status to a request that is put together by hand."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Host": place.netloc} | named)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.group("browser, psych tasks")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_foreign_page_changes_nothing_and_shows_nothing_of_the_ui_in_a_frame(ui, host):
    before = forged(ui)
    ask_graphql(ui, FORGE)
    assert forged(ui) == before + 1  # the mutation does what the attacks are after
    succeeded = []
    with foreign_page() as port, chromium() as browser, browser.new_context() as context:
        for name, attack in ATTACKS.items():
            page, before = context.new_page(), forged(ui)
            page.goto(f"http://{host}:{port}/")
            page.evaluate(SCRIPT % attack, [ui, FORGE, REPORT])
            page.wait_for_timeout(200)
            succeeded += [name] if forged(ui) != before else []
            page.close()
        page = context.new_page()
        page.goto(f"http://{host}:{port}/")
        page.evaluate("ui => document.body.append(Object.assign(document.createElement('iframe'), {src: ui}))", ui)
        page.wait_for_timeout(1500)
        assert all("Dagster" not in (frame.title() or "") for frame in page.frames[1:])
    assert succeeded == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.group("browser, psych tasks")
def test_by_hand_other_names_methods_and_bodies_are_refused_and_programs_are_answered(ui):
    query, forge = quote("{ version }"), quote(FORGE)
    body, own = json.dumps({"query": "{ version }"}), urlsplit(ui).netloc
    ask = partial(status, ui)
    refused = {
        "a rebound name": ask("POST", "/graphql", body, Host="evil.example", Content_Type=JSON),
        "no name": ask("POST", "/graphql", body, Host="", Content_Type=JSON),
        "a name like ours": ask("POST", "/graphql", body, Host="127.0.0.1.evil.example", Content_Type=JSON),
        "what is no name": ask("POST", "/graphql", body, Host="[", Content_Type=JSON),
        "what is no origin": ask("POST", "/graphql", body, Origin="http://[", Content_Type=JSON),
        "a foreign origin": ask("POST", "/graphql", body, Origin="http://evil.example", Content_Type=JSON),
        "a hidden origin": ask("POST", "/graphql", body, Origin="null", Content_Type=JSON),
        "a mutation by GET": ask("GET", f"/graphql?query={forge}"),
        "a mutation behind a query": ask("GET", f"/graphql?query={query}&query={forge}"),
        "what cannot be read by GET": ask("GET", "/graphql?query=%7B%7B"),
        "a form": ask("POST", "/graphql", f"query={forge}", Content_Type=FORM),
        "a text": ask("POST", "/graphql", body, Content_Type=TEXT),
        "GraphQL as such": ask("POST", "/graphql", FORGE, Content_Type="application/graphql"),
        "a report as a text": ask("POST", REPORT, "{}", Content_Type=TEXT),
        "a report from elsewhere": ask("POST", REPORT, Origin="http://evil.example"),
    }
    assert {name: each for name, each in refused.items() if each != 403} == {}
    answered = {
        "a program": ask("POST", "/graphql", body, Content_Type=JSON),
        "the UI": ask("POST", "/graphql", body, Content_Type=f"{JSON}; charset=utf-8", Origin=f"http://{own}"),
        "localhost": ask("POST", "/graphql", body, Content_Type=JSON, Host=f"localhost:{urlsplit(ui).port}"),
        "a query by GET": ask("GET", f"/graphql?query={query}"),
        "the page": ask("GET", "/", Sec_Fetch_Site="none"),
        "a link from elsewhere": ask(
            "GET", "/runs", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document"
        ),
    }
    assert {name: each for name, each in answered.items() if each != 200} == {}


def test_a_name_that_the_environment_gives_the_ui_is_its_own(monkeypatch):
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"lab.example")]}
    assert why_refused(scope) is not None
    monkeypatch.setenv("VALUESASSETS_UI", "https://lab.example")
    assert why_refused(scope) is None
