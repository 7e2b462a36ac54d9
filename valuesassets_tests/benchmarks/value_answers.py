"""Time and memory of reading a whole file of WVS-7: `python -m valuesassets_tests.benchmarks.value_answers`."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import Design, plant_people
from valuesassets_tests.benchmarks.respondents import memory_mib
from valuesassets_tests.people.synthetic_files import save

PEOPLE = 94_000
FORMATS = ("csv", "parquet", "sav")
MEASURE = "valuesassets_tests.benchmarks.value_answers"


def whole_design() -> Design:
    """All questions, countries, settlements and codes of education."""
    countries = tuple(sorted(load_backgrounds().continents))
    return Design(tuple(load_value_questions()), countries, (1, 2), tuple(range(9)))


def measure(path: Path) -> None:
    """Read a file, write its data set, print what it took; in a process of its own, as a peak is never forgotten."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak of the imports
    before, started = memory_mib("VmRSS"), time.perf_counter()
    dataset = read_participants(path)
    peak, seconds = memory_mib("VmHWM"), time.perf_counter() - started
    full = derive_dataset_statistics(dataset)["splits"].iloc[0]
    started = time.perf_counter()
    write_dataset(dataset, path.with_suffix(".made"))
    print(
        f"{full['participants']:,} people, {full['examples']:,} examples of a {path.suffix} file of "
        f"{path.stat().st_size / 2**20:.0f} MiB: read in {seconds:.1f} s, {peak - before:.0f} MiB more at the peak; "
        f"written in {time.perf_counter() - started:.1f} s"
    )


if __name__ == "__main__":
    if len(sys.argv) == 2:
        measure(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            people = plant_people(PEOPLE, 1, whole_design(), n_shared_ids=5, n_repeated_rows=2)
            for ending in FORMATS:
                path = save(people, Path(folder) / f"wvs.{ending}")
                subprocess.run([sys.executable, "-m", MEASURE, path], check=True)
