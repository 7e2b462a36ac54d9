"""A study with both instruments; as a program, the command that its jobs start (`valuesassets/definitions.py`)."""

import sys
from collections.abc import Mapping
from pathlib import Path

from valuesassets.definitions import build_definitions
from valuesassets.orchestration import instruments
from valuesassets.orchestration.commands import study_command
from valuesassets.records.settings.cells import Family
from valuesassets.records.settings.measuring import Preflight
from valuesassets.records.settings.slurm import SlurmSettings
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.small_study import write_small_study
from valuesassets_tests.toy_instrument.settings import Toy, ToyStudy
from valuesassets_tests.toy_instrument.wiring import TOY

TASKS = {"dilemmas": "eng", "riddles": "fra"}
BOTH = (*instruments.INSTRUMENTS, TOY)


def toy_study(
    folder: Path, has_toy: bool = True, slurm: SlurmSettings | None = None, tasks: Mapping[str, str] = TASKS
) -> ToyStudy:
    """Two languages, two tasks or others, and one model, to lie in `folder/tiny`, for all of them."""
    study = load_study(str(write_small_study(folder, steps=1)))
    family = Family(kind="huggingface", model_type="multi", model_id=str(folder / "tiny"), dtype="float32")
    changed = {"families": {"tiny": family}, "preflight": Preflight(override="random weights"), "slurm": slurm}
    told = {name: getattr(study, name) for name in type(study).model_fields} | changed
    return ToyStudy(**told, toy=Toy(tasks=dict(tasks)) if has_toy else None)


if __name__ == "__main__":
    instruments.INSTRUMENTS, study_command.study_of_json = BOTH, ToyStudy.model_validate_json
    sys.exit(study_command.main(build_definitions))
