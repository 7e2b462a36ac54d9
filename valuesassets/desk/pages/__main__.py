"""`python -m valuesassets.desk.pages PORT UI_PORT ADDRESS`: serves the pages where the UI listens."""

import os
import sys
import threading
from pathlib import Path

import uvicorn

from valuesassets.desk.pages.documentation import build_missing_site, site_folder
from valuesassets.desk.pages.server import pages_app
from valuesassets.desk.server_process import end_with_parent

port, ui_port, host = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
end_with_parent()
threading.Thread(target=build_missing_site, args=[site_folder()], daemon=True).start()
app = pages_app(Path(os.environ["VALUESASSETS_STORAGE"]), ui_port, site_folder())
uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False, timeout_graceful_shutdown=2)
