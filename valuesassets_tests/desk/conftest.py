"""A browser before a module's own UI; a code server that holds its one asset's run until it is let go, and the
instance that its runs are kept in."""

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget

from valuesassets_tests.desk import held_asset
from valuesassets_tests.desk.web_ui import page_in, ui_browser
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment


@pytest.fixture(scope="module")
def browser(ui):
    """A browser before the UI of a module (its fixture `ui`, the address)."""
    with ui_browser(ui) as browser:
        yield browser


@pytest.fixture
def page(browser, ui):
    """A page of it, in which the UI remembers nothing."""
    with page_in(browser, ui) as page:
        yield page


@pytest.fixture
def environment(tmp_path):
    named = {held_asset.GATE: str(tmp_path / "gate"), "PYTHONPATH": str(REPOSITORY)}
    return study_environment(tmp_path, Path("demo_survey")) | named


@pytest.fixture
def instance(environment, monkeypatch):
    """An instance with the settings of dagster.yaml."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as made:
        yield made


@pytest.fixture
def workspace(tmp_path):
    """A file that names the code location of `held_asset`."""
    path = tmp_path / "workspace.yaml"
    module = {"module_name": held_asset.__name__, "working_directory": str(REPOSITORY), "location_name": "held"}
    path.write_text(f"load_from: [{{python_module: {module}}}]", encoding="utf-8")
    return path


@pytest.fixture
def server(instance, workspace, monkeypatch):
    """What talks to a code server of `held_asset`."""
    monkeypatch.setattr(dg.DagsterInstance, "wait_for_local_code_server_processes_on_shutdown", True)
    with WorkspaceProcessContext(instance, WorkspaceFileTarget([str(workspace)])) as server:
        yield server
