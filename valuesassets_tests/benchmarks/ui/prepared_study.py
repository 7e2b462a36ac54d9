"""`demo_survey_22`, its models trained for few steps only, with all that its cells rest on."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import dagster as dg

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import QUIET, waves
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.parquet import answer_rows, read_trials, write_table
from valuesassets.records.study import Study, load_study, study_path
from valuesassets.records.tables import SAMPLED_ANSWERS
from valuesassets_tests.benchmarks.evidence import Tell
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment

NAME = "grid"
CHANGED = {'name = "demo_survey_22"': f'name = "{NAME}"', "steps = 300": "steps = 2"}
OVERRIDE = """
[preflight]
questions = 2
override = "models of few training steps: what is measured is what the UI costs"
"""
CELL = ("readings", "probe_distributions", "calibration")
"""What one run makes of a cell."""
ABOVE = {
    "questionnaire_pdf",
    "extracted_questions",
    "master_questions",
    "aligned_questions",
    "trials",
    "reference_models",
    "preflight",
}
"""What a cell rests on, but for `sampled_answers`: a model of few steps does not know where to stop."""
WRITTEN = {" 1": 9, " 2": 1}
"""What every model is said to have written to every prompt."""
FAMILIES = 2
WHOLE = "prepared"
"""A file that says that a folder's study is whole."""


def prepare_study(folder: Path, cells: int, tell: Tell) -> tuple[Study, dict[str, str]]:
    """A study with `cells` cells ready to be read, and its environment; a folder that has it is left as it is."""
    study_file = folder / f"{NAME}.toml"
    environment = study_environment(folder, study_file)
    if not (folder / WHOLE).exists():
        study_file.write_text(_study_text(cells), encoding="utf-8")
        tell(f"questionnaires, reference models and preflight of {cells} cells, in {folder}")
        # In a process of its own: what it has imported and allocated is nobody's affair.
        command = [sys.executable, "-m", __name__, str(study_file), environment["VALUESASSETS_STORAGE"]]
        subprocess.run(command, env=environment, cwd=REPOSITORY, check=True)
        (folder / WHOLE).touch()
    return load_study(str(study_file)), environment


def _study_text(cells: int) -> str:
    text = study_path("demo_survey_22").read_text(encoding="utf-8")
    for old, new in CHANGED.items():
        assert old in text
        text = text.replace(old, new)
    head, *languages = text.split("\n[languages.")
    kept = languages[: cells // FAMILIES]
    english = next(each for each in languages if each.startswith("eng]"))  # the language of the master list
    kept = kept if english in kept else [*kept[:-1], english]
    return "\n[languages.".join([head, *kept]) + OVERRIDE


def _materialise_inputs(study: Study, storage: Path) -> None:
    """Everything above the cells, in this process."""
    definitions = build_definitions(study, storage)
    job = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.get() as instance:
        for wave in waves(definitions.get_repository_def().asset_graph):
            keys = [key for key in wave.keys if key.path[-1] in ABOVE]
            for partition in wave.partitions if keys else []:
                job.execute_in_process(
                    run_config=QUIET, instance=instance, partition_key=partition, asset_selection=keys
                )
        _make_up_answers(study, Storage(root=str(storage), study=study.name), instance)


def _make_up_answers(study: Study, storage: Storage, instance: dg.DagsterInstance) -> None:
    written = SURVEY.key("sampled_answers")
    for family, language in study.cells():
        trials = read_trials(storage.path(SURVEY.key("trials"), language, "parquet"))
        rows = answer_rows(trials, [Counter(WRITTEN)] * len(trials))
        write_table(storage.path(written, cell_key(family, language), "parquet"), rows, SAMPLED_ANSWERS)
    instance.report_runless_asset_event(dg.AssetMaterialization(written))


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    _materialise_inputs(load_study(sys.argv[1]), Path(sys.argv[2]))
