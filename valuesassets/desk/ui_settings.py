"""Settings of one UI: study, folders, ports, and whether it is read-only."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from valuesassets.desk.history import dagster_folder
from valuesassets.records.home import VARIABLE, dagster_home, home_folder, own_study
from valuesassets.records.pages import PAGES_VARIABLE, UI_VARIABLE
from valuesassets.records.places import storage_root
from valuesassets.records.processes import safe_path
from valuesassets.records.study import DEMO, load_study, stored_study

HOST = "127.0.0.1"
"""The servers have no users or passwords, so that only this machine may reach them."""


@dataclass(frozen=True)
class UiSettings:
    """The folders of one instance of Dagster, and the ports of one UI for it."""

    study: str  # name of a bundled study, or path of a file
    name: str  # the study's name
    storage: Path
    dagster: Path
    home: Path
    module: str  # the module with the graph
    port: int
    pages_port: int
    is_read_only: bool
    host: str = HOST  # the address that the servers listen on

    @classmethod
    def from_environment(cls, module: str, port: int, pages_port: int, is_read_only: bool, host: str = HOST) -> Self:
        """The settings from environment variables and the home; StudyError where the study file is faulty."""
        study, storage = shown_study(), storage_root().absolute()
        name = stored_study(load_study(study), storage).name
        dagster = dagster_folder(name, storage, os.environ.get("VALUESASSETS_DAGSTER"))
        return cls(study, name, storage, dagster, dagster_home(), module, port, pages_port, is_read_only, host)

    @property
    def is_reachable(self) -> bool:
        """Whether other machines may reach the servers."""
        return not ipaddress.IPv4Address(self.host).is_loopback

    @property
    def address(self) -> str:
        """Address of the UI."""
        return f"http://{self._name}:{self.port}"

    @property
    def pages_address(self) -> str:
        """Address of the pages beside it."""
        return f"http://{self._name}:{self.pages_port}"

    @property
    def _name(self) -> str:
        """The host in addresses: 0.0.0.0, which stands for all of a machine's addresses, is none to open."""
        return HOST if ipaddress.IPv4Address(self.host).is_unspecified else self.host

    @property
    def logs(self) -> Path:
        """Folder of the servers' logs; each read-only UI has its own."""
        logs = self.dagster / "logs"
        return logs / f"read_only_{self.port}" if self.is_read_only else logs

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Environment variables for the servers; addresses that are set already, as behind a proxy, stay."""
        return {
            PAGES_VARIABLE: self.pages_address,
            UI_VARIABLE: self.address,
            **variables,
            "VALUESASSETS_STUDY": self.study,
            "VALUESASSETS_STORAGE": str(self.storage),
            "VALUESASSETS_DAGSTER": str(self.dagster),
            "DAGSTER_HOME": str(self.home),
            VARIABLE: str(home_folder()),
            **safe_path(),
        }


def shown_study() -> str:
    """The study that the UI shows: the one that VALUESASSETS_STUDY names, else the home's own, else the
    demonstration."""
    return os.environ.get("VALUESASSETS_STUDY") or str(own_study() or DEMO)


def main() -> None:
    """Print a UI's environment as a `.env` file, with which plain Dagster commands find the folders."""
    settings = UiSettings.from_environment("valuesassets.definitions", 3000, 3001, False)
    environment = settings.environment({})
    for name in ("DAGSTER_HOME", "VALUESASSETS_STUDY", "VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER"):
        print(f"{name}={environment[name]}")


if __name__ == "__main__":
    main()
