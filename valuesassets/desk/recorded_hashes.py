"""`python -m valuesassets.desk.recorded_hashes FOLDER`: SHA-256 of a study's files as its runs wrote them, as JSON.

A process of its own: commands do without Dagster, which has the history.
"""

import json
import os
import sys
from pathlib import Path

from valuesassets.desk.database import open_instance
from valuesassets.desk.staleness import all_hashes
from valuesassets.records.errors import StorageError


def main(folder: Path) -> int:
    """Print the hashes."""
    try:
        with open_instance(os.environ["VALUESASSETS_DAGSTER"], is_migrated=False) as instance:
            print(json.dumps({str(file): digest for file, digest in all_hashes(instance, folder).items()}))
    except StorageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
