"""`python -m valuesassets.desk.recorded_hashes FOLDER`: the SHA-256 that runs recorded for a study's files, as JSON.

It is a separate process, because it needs Dagster's history and commands do not import Dagster.
"""

import json
import os
import sys
from pathlib import Path

from valuesassets.desk.database import open_instance
from valuesassets.desk.staleness import all_hashes
from valuesassets.records.errors import StorageError


def main(folder: Path) -> int:
    """Print the recorded hashes."""
    try:
        with open_instance(os.environ["VALUESASSETS_DAGSTER"], is_migrated=False) as instance:
            print(json.dumps({str(file): digest for file, digest in all_hashes(instance, folder).items()}))
    except StorageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
