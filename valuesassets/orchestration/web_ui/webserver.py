"""The server of the UI: `python -m valuesassets.orchestration.web_ui.webserver`."""

import argparse
import gc
from pathlib import Path

from valuesassets.orchestration.web_ui.waiting import wait_for_code_server
from valuesassets.ui.places import HOST
from valuesassets.ui.run_folder import RunFolder
from valuesassets.ui.with_parent import end_at_once, end_with_parent


def main() -> None:
    """Load what takes seconds while the graph is loaded, then serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("run_folder", type=lambda given: RunFolder(Path(given)))
    parser.add_argument("port")
    parser.add_argument("--read-only", action="store_true")
    asked = parser.parse_args()
    end_with_parent(end_at_once)
    gc.disable()  # a fifth of the time goes into looking for garbage in modules
    from dagster_webserver.cli import dagster_webserver

    gc.enable()
    wait_for_code_server(asked.run_folder)
    dagster_webserver(
        [
            *("--host", HOST, "--port", asked.port),
            *("--workspace", str(asked.run_folder.workspace)),
            *("--dagster-log-level", "warning"),
            *(["--read-only"] if asked.read_only else []),
        ]
    )


if __name__ == "__main__":
    main()
