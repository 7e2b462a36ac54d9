"""Dagster's daemon, which takes runs from the queue: `python -m valuesassets.desk.web_ui.daemon`."""

import sys
from pathlib import Path

from valuesassets.dagster_internals.daemon import retry_what_has_failed, run_command
from valuesassets.desk.server_process import end_with_parent, wait_for_code_server

if __name__ == "__main__":
    end_with_parent()
    retry_what_has_failed()
    wait_for_code_server(Path(sys.argv[1]))
    run_command(sys.argv[2:])
