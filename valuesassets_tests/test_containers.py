"""The files for containers go with the package: its builders, its settings, its files, ports for this machine alone."""

import json
import re
import tomllib

import yaml

from valuesassets_tests.needs import REPOSITORY

FOLDER = REPOSITORY / "containers"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def settings(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_dagster_is_set_up_as_in_a_home_but_for_its_storage():
    own, homes = settings(FOLDER / "dagster.yaml"), settings(REPOSITORY / "dagster.yaml")
    assert own.pop("storage") != homes.pop("storage")
    assert own == homes


def test_the_storage_in_postgres_is_one_that_dagster_accepts():
    from dagster._config import process_config
    from dagster._core.storage.config import pg_config

    storage = settings(FOLDER / "dagster.yaml")["storage"]["postgres"]
    variables = {"VALUESASSETS_DB_PASSWORD", "VALUESASSETS_DB_HOST"}
    named = {value["env"] for value in storage["postgres_db"].values() if isinstance(value, dict)}
    ui = settings(FOLDER / "compose.yaml")["services"]["ui"]
    assert named == variables
    assert variables < set(ui["environment"])
    plain = {key: "x" if isinstance(value, dict) else value for key, value in storage["postgres_db"].items()}
    assert process_config(pg_config(), {"postgres_db": plain}).success


def test_ports_are_published_to_this_machine_alone():
    services = settings(FOLDER / "compose.yaml")["services"]
    assert "ports" not in services["postgres"]
    ports = [port.split(":") for port in services["ui"]["ports"]]
    assert [(address, inner) for address, _, inner in ports] == [("127.0.0.1", "3000"), ("127.0.0.1", "3001")]


def test_the_image_builds_the_wheel_with_the_builders_of_the_package():
    for requirement in PROJECT["build-system"]["requires"]:
        assert requirement in DOCKERFILE
    assert 'CMD ["ui", "--host", "0.0.0.0"]' in DOCKERFILE
    assert re.search(r"^USER \d+$", DOCKERFILE, re.MULTILINE)


def test_the_image_gets_every_file_that_the_wheel_is_made_of():
    lines = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    for name in (*wheel["packages"], *wheel["force-include"], *PROJECT["project"]["license-files"], "pyproject.toml"):
        assert name in sent or (name.endswith(".md") and "*.md" in sent), name


def test_the_development_container_makes_what_the_makefile_has():
    about = json.loads((REPOSITORY / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    target = about["postCreateCommand"].removeprefix("make ").replace(".venv", "$(VENV)")
    assert f"\n{target}:" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert about["forwardPorts"] == [3000, 3001]
