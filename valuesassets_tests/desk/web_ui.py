"""A real webserver and daemon over a study, and a real browser before it."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from slurm_runner.files import tail
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.waiting import wait_until

SHOTS = REPOSITORY / "storage" / "evidence" / "shots"
GRAPH = "valuesassets.definitions"
WITHOUT_FOLDERS = r"""() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const above = /(?:\/(?!pages\b)[\w.-]+)+?(?=\/(?:storage|\.venv|\w+\.overrides)\b)/g;
    while (texts.nextNode()) texts.currentNode.nodeValue = texts.currentNode.nodeValue.replace(above, "…");
}"""
PLACE = {"repositoryLocationName": "valuesassets", "repositoryName": "__repository__"}
"""Where the UI finds the study's assets, jobs and sensors."""
SCREEN = {"width": 1700, "height": 1100}
PORTS = range(10_000, 17_000)
"""Below those of clusters (`slurm_runner/cluster.py`), and those that Linux gives to connections (from 32,768 on): what
is free when it is looked for is free when it is taken."""
READY, STOPPING = "Ctrl-C stops both", "\nstopping\n"


@contextmanager
def serving(environment: Mapping[str, str], log: Path, module: str = GRAPH) -> Iterator[str]:
    """The address of the UI that `make ui` starts, in an environment."""
    port, pages_port = free_ports(2)
    ports = ("--port", str(port), "--pages-port", str(pages_port))
    with ui_process(environment, log, *ports, "--module", module) as server:
        wait_until(lambda: is_ready(server, log), said=partial(tail, log))
        yield f"http://127.0.0.1:{port}"


@contextmanager
def ui_process(environment: Mapping[str, str], log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """`valuesassets ui`, stopped as by Ctrl-C in the end; what it says goes to a log."""
    with open(log, "ab") as stream:
        server = subprocess.Popen(
            [sys.executable, "-m", "valuesassets.cli", "ui", *arguments],
            cwd=REPOSITORY,
            env=environment,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        yield server
    finally:
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            server.send_signal(signal.SIGINT)
            server.wait(60)
        server.kill()  # the servers that it has started end with it
        server.wait()


def is_ready(server: subprocess.Popen[bytes], log: Path) -> bool:
    """Whether a UI has said that it is up."""
    said = log.read_text(encoding="utf-8")
    assert server.poll() is None, said
    return said.count(READY) > said.count(STOPPING)


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on, of those that no connection is given by chance."""
    free: list[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        with closing(socket.socket()) as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            free.append(port)
        if len(free) == number:
            return free
    raise AssertionError("no ports are free")


def ui_pid(environment: Mapping[str, str]) -> int:
    """The process that watches over the servers of a UI."""
    return json.loads((Path(environment["VALUESASSETS_DAGSTER"]) / "ui.json").read_text(encoding="utf-8"))["pid"]


def server_pids(environment: Mapping[str, str], watcher: int | None = None) -> dict[str, int]:
    """The processes of a UI's servers, by the last word of their module; `watcher` for one that looks on."""
    found = {}
    watcher = watcher or ui_pid(environment)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            command = (process / "cmdline").read_bytes().decode().split("\0")
            if parent == watcher and command[1:2] == ["-m"]:
                found[command[2].rpartition(".")[2]] = int(process.name)
    return found


def kill_everything(environment: Mapping[str, str]) -> None:
    """Kill -9 a UI: the one that watches, its servers, their runs."""
    watcher = ui_pid(environment)
    os.kill(watcher, signal.SIGSTOP)  # it would start again what dies before it
    for pid in server_pids(environment).values():
        os.killpg(pid, signal.SIGKILL)
    os.kill(watcher, signal.SIGKILL)


def launched(kind: Any) -> Any:
    """Debian's Chromium, started; Playwright names the kind of browser."""
    return kind.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a page, for all tests of a module: its start costs more than most of what is done in it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launched(playwright.chromium)
        yield browser
        browser.close()


@contextmanager
def ui_browser(address: str) -> Iterator[Any]:
    """A browser before a UI, for all tests of a module: what it has fetched of the UI's programs stays fetched."""
    with chromium() as browser, browser.new_context(viewport=SCREEN, base_url=address) as context:
        yield context


@contextmanager
def page_in(browser: Any, address: str) -> Iterator[Any]:
    """A page of a `ui_browser`, in which the UI remembers nothing of the pages before."""
    with browser.new_page() as page:
        origin = {"origin": address, "storageTypes": "all"}
        browser.new_cdp_session(page).send("Storage.clearDataForOrigin", origin)
        page.set_default_timeout(60_000)
        yield page


@contextmanager
def browsing(address: str) -> Iterator[Any]:
    """A page in a browser of its own."""
    with ui_browser(address) as browser, page_in(browser, address) as page:
        yield page


@contextmanager
def page_of_file(browser: Any, file: Path, **size: int) -> Iterator[Any]:
    """A page opened from its file; in the end nothing was asked of any network and nothing was complained of.

    Args:
        size: width and height of the screen, in pixels.
    """
    asked: list[str] = []
    said: list[str] = []
    home = file.parent.as_uri()
    with browser.new_context(viewport=size) as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        yield page
    assert [url for url in asked if not url.startswith(("data:", home))] == []
    assert said == []


def shot(page: Any, name: str) -> None:
    """A picture of the page, kept where EVIDENCE=1 asks for it; where folders lie here is cut off its texts."""
    if os.environ.get("EVIDENCE") != "1":
        return
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(1500)
    page.evaluate(WITHOUT_FOLDERS)
    page.screenshot(path=SHOTS / f"{name}.png")


def graphql(page: Any, query: str, **variables: Any) -> Any:
    """The answer to a query, asked from a page."""
    return page.request.post("/graphql", data={"query": query, "variables": variables}).json()["data"]


def ask_graphql(address: str, query: str, **variables: Any) -> Any:
    """The answer to a query, asked without a browser."""
    asked = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(f"{address}/graphql", asked, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)["data"]


def launch_job(address: str, job: str, **run_config: Any) -> str:
    """Launch a job; gives the run's id."""
    launch = """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
        ... on LaunchRunSuccess { run { runId } } } }"""
    params = {"selector": PLACE | {"pipelineName": job}, "runConfigData": run_config, "mode": "default"}
    return ask_graphql(address, launch, params=params)["launchPipelineExecution"]["run"]["runId"]


def launch_backfill(address: str, asset: dg.AssetKey, partitions: Sequence[str], *more: dg.AssetKey) -> str:
    """Have a run for each partition of an asset, and of more of the same partitions; gives the backfill's id."""
    launch = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
        ... on LaunchBackfillSuccess { backfillId } } }"""
    params = {"assetSelection": [{"path": each.path} for each in (asset, *more)], "partitionNames": list(partitions)}
    return ask_graphql(address, launch, params=params)["launchPartitionBackfill"]["backfillId"]


def stop_sensor(address: str, name: str) -> None:
    """Switch a sensor off, as by a click."""
    listed = """query ($place: RepositorySelector!) { sensorsOrError(repositorySelector: $place) {
        ... on Sensors { results { name id } } } }"""
    stop = "mutation ($id: String!) { stopSensor(id: $id) { __typename } }"
    sensors = ask_graphql(address, listed, place=PLACE)["sensorsOrError"]["results"]
    (found,) = [each["id"] for each in sensors if each["name"] == name]
    assert ask_graphql(address, stop, id=found)["stopSensor"]["__typename"] == "StopSensorMutationResult"
