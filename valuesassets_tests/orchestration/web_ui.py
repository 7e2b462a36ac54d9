"""A real webserver and daemon over a study, and a real browser before it."""

import json
import os
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
WORKSPACE = REPOSITORY / "workspace.yaml"


@contextmanager
def serving(environment: Mapping[str, str], log: Path, workspace: Path = WORKSPACE) -> Iterator[str]:
    """The address of `dagster dev` in an environment."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["-m", "dagster", "dev", "--workspace", str(workspace), "--host", "127.0.0.1", "--port", str(port)]
    with open(log, "wb") as stream:
        server = subprocess.Popen(
            [sys.executable, *command],
            cwd=REPOSITORY,
            env=environment,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(address), said=partial(tail, log))
        yield address
    finally:
        # A process group of its own: `dagster dev` does not take its children with it when it is killed.
        os.killpg(server.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            server.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@contextmanager
def browsing(address: str) -> Iterator[Any]:
    """A page of Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1700, "height": 1100}, base_url=address)
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def shot(page: Any, name: str) -> None:
    """A picture of the page, kept as evidence."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(1500)
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
    place = {"repositoryLocationName": "valuesassets", "repositoryName": "__repository__", "pipelineName": job}
    params = {"selector": place, "runConfigData": run_config, "mode": "default"}
    return ask_graphql(address, launch, params=params)["launchPipelineExecution"]["run"]["runId"]


def launch_backfill(address: str, asset: dg.AssetKey, partitions: Sequence[str]) -> str:
    """Have a run for each partition of an asset; gives the backfill's id."""
    launch = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
        ... on LaunchBackfillSuccess { backfillId } } }"""
    params = {"assetSelection": [{"path": asset.path}], "partitionNames": list(partitions)}
    return ask_graphql(address, launch, params=params)["launchPartitionBackfill"]["backfillId"]


def _answers(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{address}/server_info", timeout=5) as answer:  # noqa: S310
        return answer.status == 200
    return False
