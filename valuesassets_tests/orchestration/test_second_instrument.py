"""A toy second instrument (`valuesassets_tests/toy_instrument/`) beside the survey, in one graph of one study."""

import dagster as dg
import pandas as pd
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import Staleness
from valuesassets.orchestration import instruments
from valuesassets.orchestration.assets.calibration import Planting, calibration_assets
from valuesassets.orchestration.commands import study_process
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.instruments import MODELS, SURVEY
from valuesassets.orchestration.io_managers import study_io_managers
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_file
from valuesassets.records.parquet import read_readings, trial_rows, write_table
from valuesassets.records.settings.slurm import SlurmSettings
from valuesassets.records.study import load_study
from valuesassets.records.tables import TRIALS
from valuesassets.records.trials import Status
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import write_small_study
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model
from valuesassets_tests.toy_instrument import study as toy
from valuesassets_tests.toy_instrument.trials.trials import DAYS, HARD_DAYS
from valuesassets_tests.toy_instrument.wiring import PACKAGE, TOY, toy_assets

PREPARED = (("questionnaire_pdf", "extracted_questions"), ("master_questions",), ("aligned_questions", "trials"))
CELLS = ("tiny/dilemmas", "tiny/riddles")


@pytest.fixture
def both(monkeypatch):
    """Both instruments are known, here and to the command that jobs start."""
    monkeypatch.setattr(instruments, "INSTRUMENTS", toy.BOTH)
    monkeypatch.setattr(study_process, "COMMAND", toy.__name__)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))


@pytest.fixture
def instance(tmp_path):
    (tmp_path / "home").mkdir()
    with dg.instance_for_test(temp_dir=str(tmp_path / "home")) as made:
        yield made


def make(definitions, instance, keys, partition=None):
    job = definitions.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(QUIET, instance, partition, asset_selection=list(keys))
    assert result.success
    return result


def launch(definitions, instance, name):
    result = definitions.resolve_job_def(name).execute_in_process(QUIET, instance, raise_on_error=False)
    failed = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    assert result.success, failed
    return result


def files_of(folder):
    return {path.relative_to(folder): sha256_file(path) for path in folder.rglob("*") if path.is_file()}


def test_an_instrument_runs_where_its_table_stands_and_its_parts_are_its_own(both, tmp_path):
    without, beside = (
        build_definitions(toy.toy_study(tmp_path, has_toy), tmp_path).get_repository_def() for has_toy in (False, True)
    )
    added = beside.asset_graph.get_all_asset_keys() - without.asset_graph.get_all_asset_keys()
    assert added == {*map(TOY.key, ("trials", "preflight", "readings", "answers", "leanings", "report"))}
    cells = beside.asset_graph.get(TOY.key("readings")).partitions_def
    assert set(cells.partition_dimension_names) == {"model", "task"}
    assert set(beside.job_names) - set(without.job_names) == {"toy_grid", "toy_analyse", "toy_probe_cell"}
    assert {beside.asset_graph.get(key).group_name for key in added} == {"toy_tasks", "toy_models"}


def test_adding_an_instrument_changes_no_code_version_of_the_survey(both, tmp_path):
    without, beside = (
        build_definitions(toy.toy_study(tmp_path, has_toy), tmp_path).get_repository_def().asset_graph
        for has_toy in (False, True)
    )
    keys = without.get_all_asset_keys()
    assert len(keys) > 20
    changed = [key for key in keys if without.get(key).code_version != beside.get(key).code_version]
    assert changed == []


def calibrated(folder):
    """A study whose families are trained for the toy too, and the toy's calibration."""
    study = toy.toy_study(folder)
    trained = load_study(str(write_small_study(folder, steps=1))).families
    study = study.model_copy(update={"families": trained})
    return study, calibration_assets(Planting(study, TOY, f"{PACKAGE}.plants.plants:plant_tasks", reads=("toy",)))


def test_an_instrument_that_makes_plants_has_the_whole_calibration(tmp_path):
    _, assets = calibrated(tmp_path)
    nouns = ("reference_models", "sampled_answers", "calibration", "negative_controls")
    assert [asset.key for asset in assets] == [*map(TOY.key, nouns)]
    assert set(assets[2].partitions_def.partition_dimension_names) == {"model", "task"}
    needed = {key.to_user_string() for asset in assets for key in asset.dependency_keys}
    assert {key.partition("/")[0] for key in needed} == {"toy"}


def test_a_calibrated_cell_rests_on_the_same_cell_of_a_grid_that_has_other_families_too(tmp_path):
    study = toy.toy_study(tmp_path, has_toy=False)
    trained = load_study(str(write_small_study(tmp_path, steps=1))).families
    study = study.model_copy(update={"families": study.families | trained})
    graph = build_definitions(study, tmp_path).get_repository_def().asset_graph
    calibration, probe = SURVEY.key("calibration"), SURVEY.key("probe_distributions")
    assert len(graph.get(calibration).partitions_def.get_partition_keys()) == 4
    assert len(graph.get(probe).partitions_def.get_partition_keys()) == 6
    found = graph.get_parents_partitions(partition_key=cell_key("reference-mono", "fra"), asset_key=calibration)
    rests_on = {parent.asset_key: parent.partition_key for parent in found.parent_partitions}
    assert rests_on[probe] == cell_key("reference-mono", "fra")


@pytest.mark.slow
def test_models_are_trained_to_answer_an_instruments_own_trials(tmp_path):
    study, (reference_models, *_) = calibrated(tmp_path)
    storage = Storage(root=str(tmp_path), study=study.name)
    trials = next(asset for asset in toy_assets(study) if asset.key == TOY.key("trials"))
    resources = study_io_managers(storage) | {"storage": storage}
    with dg.DagsterInstance.ephemeral() as instance:
        for task in toy.TASKS:
            assert dg.materialize([trials], instance=instance, resources=resources, partition_key=task).success
        both, chosen = [trials, reference_models], [reference_models.key]
        assert dg.materialize(both, instance=instance, resources=resources, selection=chosen).success
    trained = storage.folder / "toy" / "reference_models"
    assert {path.parent.name for path in trained.glob("reference-mono/*/model.safetensors")} == {"eng", "fra"}
    texts = pd.read_parquet(storage.job_folder(reference_models.key, None) / "reference-mono.parquet")
    first = texts.query("trial_id == 'riddles1/0/forward'").set_index("answer_text")["prob"]
    assert first["1\n"] + first[" 1\n"] == pytest.approx(0.9 * (0.8 * 0.9 + 0.1))


@pytest.mark.slow
def test_both_run_in_one_graph_by_the_jobs_of_the_ui_share_no_file_and_nothing_goes_stale(both, instance, tmp_path):
    storage = tmp_path / "storage"
    write_model(tmp_path / "tiny", sentencepiece_like())
    alone = build_definitions(toy.toy_study(tmp_path, has_toy=False), storage)
    for names in PREPARED:
        make(alone, instance, map(SURVEY.key, names), None if names == ("master_questions",) else "eng")
    make(alone, instance, [MODELS.key("weights")], "tiny")
    folder = storage / "small"
    of_the_survey = files_of(folder)

    beside = build_definitions(toy.toy_study(tmp_path), storage)
    for task in toy.TASKS:
        make(beside, instance, [TOY.key("trials")], task)
    launch(beside, instance, "toy_grid")
    launch(beside, instance, "toy_analyse")
    assert {name: found for name, found in files_of(folder).items() if name in of_the_survey} == of_the_survey
    added = {name.as_posix() for name in files_of(folder).keys() - of_the_survey.keys()}
    assert {name for name in added if "toy" not in name.split("/")[:2]} == set()
    assert {f"toy/{noun}/{cell}.parquet" for noun in ("readings", "answers") for cell in CELLS} <= added
    assert "tiny says yes to dilemmas" in (folder / "toy/report/report.html").read_text()
    graph = beside.get_repository_def().asset_graph
    for names in PREPARED:
        partition = None if names == ("master_questions",) else "eng"
        assert Staleness(graph, instance).of([*map(SURVEY.key, names)], partition) == []
    assert Staleness(graph, instance).of([TOY.key("answers")], cell_key("tiny", "riddles", "task")) == []


def spans_checked(result):
    """By partition, what a run says of the spans that failed."""
    found = [each for each in result.get_asset_check_evaluations() if each.check_name == "every_span_is_read"]
    return {str(each.partition): (each.passed, each.severity.name, each.metadata["failing"].value) for each in found}


@pytest.mark.slow
def test_spans_that_fail_alone_are_red_above_a_twentieth_of_a_cell_and_none_is_dropped(both, instance, tmp_path):
    write_model(tmp_path / "tiny", sentencepiece_like(), spread=0.2)
    tasks = {"dilemmas": "eng"} | dict.fromkeys(HARD_DAYS, "eng")
    definitions = build_definitions(toy.toy_study(tmp_path, tasks=tasks), tmp_path / "storage")
    for task in tasks:
        make(definitions, instance, [TOY.key("trials")], task)
    result = launch(definitions, instance, "toy_grid")
    cells = {task: str(cell_key("tiny", task, "task")) for task in tasks}
    assert spans_checked(result) == {
        cells["dilemmas"]: (True, "WARN", 0),
        cells["calm"]: (True, "WARN", 0),
        cells["diaries"]: (False, "WARN", 1),
        cells["letters"]: (False, "ERROR", 2),
    }
    alone = make(definitions, instance, [TOY.key("readings")], cell_key("tiny", "letters", "task"))
    assert spans_checked(alone) == {cells["letters"]: (False, "ERROR", 2)}
    for task, n_hard in HARD_DAYS.items():
        read = read_readings(tmp_path / f"storage/small/toy/readings/tiny/{task}.parquet")
        assert [reading.span for reading in read] == [*range(DAYS)]
        assert [reading.status for reading in read] == [Status.FAILED] * n_hard + [Status.OK] * (DAYS - n_hard)
        assert all("change when 'portant' follows" in reading.reason for reading in read[:n_hard])


@pytest.mark.slow
@pytest.mark.slurm
@pytest.mark.group("slurm")
def test_the_grids_of_both_go_to_a_cluster_each_in_jobs_of_its_own(both, instance, tmp_path, monkeypatch):
    write_model(tmp_path / "tiny", sentencepiece_like())
    with Cluster() as cluster:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        study = toy.toy_study(tmp_path, slurm=SlurmSettings(poll_seconds=0.5))
        definitions, root = build_definitions(study, tmp_path / "storage"), tmp_path / "storage"
        storage = Storage(root=str(root), study=study.name)
        asked = [trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)]
        for language in study.languages:
            write_table(storage.path(SURVEY.key("trials"), language, "parquet"), trial_rows(asked), TRIALS)
            instance.report_runless_asset_event(dg.AssetMaterialization(SURVEY.key("trials"), partition=language))
        for task in toy.TASKS:
            make(definitions, instance, [TOY.key("trials")], task)
        launch(definitions, instance, "toy_grid")
        launch(definitions, instance, "probe_grid")
        jobs = {name.partition("-readings-")[0] for name, *_ in cluster.jobs() if "-readings-" in name}
        assert jobs == {"small-toy", "small-survey"}
    for instrument, cells in ((TOY, CELLS), (SURVEY, ("tiny/eng", "tiny/fra"))):
        for cell in cells:
            assert (storage.folder / instrument.name / "readings" / f"{cell}.parquet").exists()
            assert (storage.folder / "jobs" / instrument.name / "readings" / cell / "claim.json").exists()
