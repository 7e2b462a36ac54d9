"""A home's dagster.yaml: its lines for Postgres, and each fault of it in one line before anything is started."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from valuesassets.cli.homes import ready
from valuesassets.desk.instance_settings import require_instance_settings
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.home import VARIABLE, make_home
from valuesassets_tests.desk.web_ui import free_ports
from valuesassets_tests.needs import REPOSITORY

SHIPPED = (REPOSITORY / "dagster.yaml").read_text(encoding="utf-8")
IN_POSTGRES = re.sub("(?m)^# ?", "", SHIPPED[SHIPPED.index("# storage:") : SHIPPED.index("\nlocal_artifact_storage:")])
PASSWORD = "VALUESASSETS_DB_PASSWORD"
OPEN = """
import sys
from valuesassets.desk.database import open_instance
from valuesassets.records.errors import StorageError
try:
    with open_instance("here", False) as instance:
        print(type(instance.run_storage).__name__, instance.get_runs_count())
except StorageError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def home(tmp_path):
    """A home whose dagster.yaml has the lines for Postgres in place of those for SQLite."""
    make_home(tmp_path, "demo_survey", "demo_survey")
    settings = yaml.safe_load(SHIPPED) | yaml.safe_load(IN_POSTGRES)
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return tmp_path


def test_the_lines_for_postgres_are_those_of_the_containers_but_for_the_server():
    (own,) = yaml.safe_load(IN_POSTGRES)["storage"]["postgres"].values()
    containers = yaml.safe_load((REPOSITORY / "containers" / "dagster.yaml").read_text(encoding="utf-8"))
    (theirs,) = containers["storage"]["postgres"].values()
    assert {name for name in theirs if own[name] != theirs[name]} == {"hostname", "db_name"}
    assert own.keys() == theirs.keys()


def test_the_settings_of_a_home_need_nothing_but_its_folders(tmp_path):
    make_home(tmp_path, "demo_survey", "demo_survey")
    require_instance_settings(tmp_path, {"VALUESASSETS_DAGSTER": str(tmp_path)})
    with pytest.raises(StorageError, match="its storage takes VALUESASSETS_DAGSTER, which"):
        require_instance_settings(tmp_path, {})


def test_a_password_that_is_not_set_is_named_with_the_file_to_write_it_into(home):
    with pytest.raises(StorageError, match=f"takes {PASSWORD}, .* write the line {PASSWORD}=... into {home / '.env'}"):
        require_instance_settings(home, {})
    require_instance_settings(home, {PASSWORD: "secret"})


def test_a_missing_extra_is_named(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "dagster_postgres", None)
    with pytest.raises(InputError) as refusal:
        require_instance_settings(home, {PASSWORD: "secret"})
    path = home / "dagster.yaml"
    assert (
        str(refusal.value)
        == f'{path}: storage in Postgres: needs dagster_postgres; pip install "valuesassets[postgres]"'
    )


def test_a_file_that_is_no_yaml_is_named_with_its_line(home):
    (home / "dagster.yaml").write_text("storage:\n  postgres: [\n", encoding="utf-8")
    with pytest.raises(StorageError, match=f"{home / 'dagster.yaml'}, line 3: is no valid YAML"):
        require_instance_settings(home, {})


def test_lines_that_a_user_wrote_into_env_hold_where_the_environment_does_not_say_otherwise(home, monkeypatch):
    monkeypatch.setattr(os, "environ", os.environ | {VARIABLE: str(home), "KEY": "of the shell"})
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with (home / ".env").open("a", encoding="utf-8") as file:
        file.write(f"{PASSWORD}='of the file'\nKEY=of the file\n")
    ready()
    assert os.environ[PASSWORD] == "of the file"
    assert os.environ["KEY"] == "of the shell"
    assert "DAGSTER_HOME" not in os.environ


@contextmanager
def postgres_server(port):
    """A server of Postgres on this machine, with an empty database; it refuses to run as root."""
    programs = Path(shutil.which("postgres") or pytest.skip("needs postgres (Debian: postgresql)")).resolve().parent
    user = "postgres" if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        shutil.chown(folder, user) if user else None
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"

        def command(program, *arguments):
            subprocess.run([programs / program, *arguments], check=True, capture_output=True, user=user, cwd=folder)

        data, log = f"{folder}/data", f"{folder}/log"
        command("initdb", "-D", data, "-A", "trust", "-U", "valuesassets")
        command("pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")
        try:
            command("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "valuesassets", "my_study")
            yield
        finally:
            command("pg_ctl", "-D", data, "-m", "immediate", "stop")


def opened(home):
    """How a process ends that opens Dagster's instance, and what it says."""
    environment = os.environ | {"DAGSTER_HOME": str(home), "VALUESASSETS_DAGSTER": str(home), PASSWORD: "secret"}
    done = subprocess.run(
        [sys.executable, "-c", OPEN], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_the_history_is_in_postgres_and_a_server_that_is_down_is_one_line(home):
    (port,) = free_ports(1)
    path = home / "dagster.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("5432", str(port)), encoding="utf-8")
    with postgres_server(port):
        assert opened(home) == (0, "PostgresRunStorage 0\n")
    code, line = opened(home)
    assert (code, line.count("\n")) == (1, 1)
    assert line.startswith(f"{path}: the database of its storage cannot be opened: connection to server")
    assert "Connection refused; start its server" in line


@pytest.mark.slow
def test_a_key_that_dagster_does_not_know_is_one_line(home):
    path = home / "dagster.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("db_name", "dbname"), encoding="utf-8")
    code, line = opened(home)
    assert (code, line.count("\n")) == (1, 1)
    assert f'{path}: Dagster does not accept it: Received unexpected config entry "dbname"' in line
