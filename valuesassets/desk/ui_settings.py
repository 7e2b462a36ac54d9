"""Settings of one UI: study, folders, ports, and whether it only looks on."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from valuesassets.desk.history import dagster_folder
from valuesassets.records.pages import PAGES_VARIABLE, UI_VARIABLE
from valuesassets.records.places import REPOSITORY
from valuesassets.records.study import DEMO, load_study, stored_study

HOST = "127.0.0.1"
"""The servers know no users: nobody on another machine reaches them."""


@dataclass(frozen=True)
class UiSettings:
    """The folders of one instance of Dagster, and the ports of one UI over it."""

    study: str  # a bundled one's name, or a file
    name: str  # of the study
    storage: Path
    dagster: Path
    home: Path
    module: str  # that holds the graph
    port: int
    pages_port: int
    is_read_only: bool

    @classmethod
    def named(cls, environment: Mapping[str, str], module: str, port: int, pages_port: int, is_read_only: bool) -> Self:
        """The folders that an environment names.

        Raises:
            StudyError: the study file is faulty.
        """
        study, home = environment.get("VALUESASSETS_STUDY") or DEMO, environment.get("DAGSTER_HOME") or REPOSITORY
        storage = Path(environment.get("VALUESASSETS_STORAGE") or REPOSITORY / "storage").absolute()
        name = stored_study(load_study(study), storage).name
        dagster = dagster_folder(name, storage, environment.get("VALUESASSETS_DAGSTER"))
        return cls(study, name, storage, dagster, Path(home), module, port, pages_port, is_read_only)

    @property
    def address(self) -> str:
        """Of the UI."""
        return f"http://{HOST}:{self.port}"

    @property
    def pages_address(self) -> str:
        """Of the pages beside it."""
        return f"http://{HOST}:{self.pages_port}"

    @property
    def logs(self) -> Path:
        """Folder of what the servers say; each read-only UI has its own."""
        logs = self.dagster / "logs"
        return logs / f"read_only_{self.port}" if self.is_read_only else logs

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """What the servers are told; an address for the pages that is set already stays, as one behind a proxy."""
        return {
            PAGES_VARIABLE: self.pages_address,
            UI_VARIABLE: self.address,
            **given,
            "VALUESASSETS_STUDY": self.study,
            "VALUESASSETS_STORAGE": str(self.storage),
            "VALUESASSETS_DAGSTER": str(self.dagster),
            "DAGSTER_HOME": str(self.home),
        }


def main() -> None:
    """Print the environment of a UI as lines of a file `.env`, with which plain Dagster commands find the folders."""
    settings = UiSettings.named(os.environ, "valuesassets.definitions", 3000, 3001, False)
    environment = settings.environment({})
    for name in ("DAGSTER_HOME", "VALUESASSETS_STUDY", "VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER"):
        print(f"{name}={environment[name]}")


if __name__ == "__main__":
    main()
