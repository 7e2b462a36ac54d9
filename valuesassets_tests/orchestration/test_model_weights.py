"""Weights before readings, in real runs: node jobs, the hub's own library, and a hub on this machine."""

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import Staleness
from valuesassets.orchestration.assets.weights import data_version
from valuesassets.orchestration.commands.run_study import waves
from valuesassets.orchestration.grid.cells import score_cell
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import read_json, write_json
from valuesassets.records.parquet import read_readings, table_metadata, trial_rows, write_table
from valuesassets.records.settings.cells import Family
from valuesassets.records.settings.measuring import Preflight
from valuesassets.records.study import load_study
from valuesassets.records.tables import TRIALS
from valuesassets_tests.models.loopback_hub import loopback_hub
from valuesassets_tests.orchestration.small_study import write_small_study
from valuesassets_tests.peft_adapters import write_adapter
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model

TINY = Family(kind="huggingface", model_type="mono", model_id="owner/tiny_{lang}", dtype="float32")
WEIGHTS = dg.AssetKey(["models", "weights"])
PREFLIGHT, READINGS = (dg.AssetKey(["survey", name]) for name in ("preflight", "readings"))


def mixed_study(folder):
    """The small study with a family of the hub beside one that is trained here."""
    study = load_study(str(write_small_study(folder, steps=1)))
    families = {"tiny": TINY, "reference-multi": study.families["reference-multi"]}
    return study.model_copy(update={"families": families, "preflight": Preflight(override="random weights")})


def materialise(definitions, instance, key, partition):
    job = definitions.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        instance=instance, partition_key=partition, asset_selection=[key], raise_on_error=False
    )
    failed = [e.step_failure_data.user_failure_data.description for e in result.all_events if e.is_step_failure]
    made = result.asset_materializations_for_node(key.to_python_identifier()) if not failed else []
    return failed, (made[0] if made else None)


@pytest.mark.slow
def test_weights_are_fetched_before_a_model_is_asked_and_a_branch_that_moves_makes_readings_stale(
    tmp_path, monkeypatch
):
    study, cell = mixed_study(tmp_path), cell_key("tiny", "eng")
    storage = Storage(root=str(tmp_path), study=study.name)
    definitions = build_definitions(study, tmp_path)
    graph = definitions.get_repository_def().asset_graph
    asked = trial_rows([trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)])
    for language in ("eng", "fra"):
        write_table(storage.path(dg.AssetKey(["survey", "trials"]), language, "parquet"), asked, TRIALS)
    with loopback_hub() as hub, dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.delenv("HF_TOKEN", raising=False)

        def make(key, partition):
            failed, made = materialise(definitions, instance, key, partition)
            assert failed == []
            return made

        def is_stale(key, partition):
            return bool(Staleness(graph, instance).of([key], partition))

        commits = {
            language: hub.push(f"owner/tiny_{language}", write_model(tmp_path / language, sentencepiece_like(), seed))
            for seed, language in enumerate(("eng", "fra"))
        }
        early, _ = materialise(definitions, instance, PREFLIGHT, "tiny")
        assert early == ["owner/tiny_eng: its weights have not been fetched; materialise models/weights of tiny first"]
        assert hub.asked == []

        shown = make(WEIGHTS, "tiny").metadata
        assert [row.data["commit"] for row in shown["models"].records] == list(commits.values())
        assert shown["cache"].value == str(tmp_path / "hf" / "hub")
        assert "owner/tiny_fra: downloaded" in shown["log"].value
        hub.forget()
        make(PREFLIGHT, "tiny")
        make(READINGS, cell)
        assert hub.asked == []
        path = storage.path(READINGS, cell, "parquet")
        assert table_metadata(path)["weights_id"] == commits["eng"]
        before = [reading.reading_key for reading in read_readings(path)]
        make(WEIGHTS, "reference-multi")
        assert hub.asked == []
        assert not is_stale(WEIGHTS, "tiny")
        assert not is_stale(READINGS, cell)

        make(WEIGHTS, "tiny")
        assert not is_stale(READINGS, cell)
        moved = hub.push("owner/tiny_eng", write_model(tmp_path / "new", sentencepiece_like(), seed=9))
        make(WEIGHTS, "tiny")
        assert is_stale(PREFLIGHT, "tiny")
        assert is_stale(READINGS, cell)
        make(PREFLIGHT, "tiny")
        make(READINGS, cell)
        assert table_metadata(path)["weights_id"] == moved
        assert [reading.reading_key for reading in read_readings(path)] != before


@pytest.mark.slow
def test_a_changed_adapter_makes_readings_stale_and_equal_files_do_not(tmp_path):
    base = write_model(tmp_path / "base", sentencepiece_like())
    folder = write_adapter(tmp_path / "run7", base, target_modules=["q_proj"])
    tuned = Family(kind="huggingface", model_type="multi", model_id=str(base), adapter=str(folder), dtype="float32")
    study = mixed_study(tmp_path)
    study = study.model_copy(update={"families": {"tuned": tuned, "plain": tuned.model_copy(update={"adapter": None})}})
    storage, cells = Storage(root=str(tmp_path), study=study.name), [cell_key(name, "eng") for name in study.families]
    definitions = build_definitions(study, tmp_path)
    graph = definitions.get_repository_def().asset_graph
    rows = trial_rows([trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)])
    for language in ("eng", "fra"):
        write_table(storage.path(dg.AssetKey(["survey", "trials"]), language, "parquet"), rows, TRIALS)
    with dg.DagsterInstance.ephemeral() as instance:

        def make(key, partition):
            failed, materialisation = materialise(definitions, instance, key, partition)
            assert failed == []
            return materialisation

        def is_stale(cell):
            return bool(Staleness(graph, instance).of([READINGS], cell))

        for family, cell in zip(study.families, cells, strict=True):
            metadata = make(WEIGHTS, family).metadata
            assert [row.data.get("adapter") for row in metadata["models"].records] == [study.families[family].adapter]
            make(PREFLIGHT, family)
            make(READINGS, cell)
        paths = [storage.path(READINGS, cell, "parquet") for cell in cells]
        tuned_readings, plain_readings = ([each.label_probs for each in read_readings(path)] for path in paths)
        assert tuned_readings != plain_readings
        assert "adapter" not in table_metadata(paths[1])
        weights_id = table_metadata(paths[0])["weights_id"]

        make(WEIGHTS, "tuned")
        assert not any(map(is_stale, cells))
        write_adapter(tmp_path / "run7", base, seed=1, target_modules=["q_proj"])
        make(WEIGHTS, "tuned")
        assert list(map(is_stale, cells)) == [True, False]
        make(PREFLIGHT, "tuned")
        make(READINGS, cells[0])
        assert table_metadata(paths[0])["weights_id"] != weights_id
        assert [each.label_probs for each in read_readings(paths[0])] not in (tuned_readings, plain_readings)


def test_weights_come_before_preflight_and_readings(tmp_path):
    mixed = build_definitions(mixed_study(tmp_path), tmp_path)
    dg.Definitions.validate_loadable(mixed)
    graph = mixed.get_repository_def().asset_graph
    assert WEIGHTS in graph.get(PREFLIGHT).parent_keys & graph.get(READINGS).parent_keys
    place = {key: n for n, wave in enumerate(waves(graph)) for key in wave.keys}
    assert place[WEIGHTS] <= place[PREFLIGHT] < place[READINGS]


def test_a_family_has_each_of_its_models_once_and_one_trained_here_none(tmp_path):
    evs, mixed = load_study("evs2017"), mixed_study(tmp_path)
    assert len(evs.model_ids("hplt2c")) == 22
    assert evs.model_ids("eurollm-22b") == ("utter-project/EuroLLM-22B-2512",)
    assert mixed.model_ids("tiny") == ("owner/tiny_eng", "owner/tiny_fra")
    assert mixed.model_ids("reference-multi") == ()


def test_the_cells_of_a_model_take_the_commit_that_was_fetched_for_the_revision_of_the_study(tmp_path):
    study = mixed_study(tmp_path)
    storage = Storage(root=str(tmp_path), study=study.name)
    write_json(
        storage.path(WEIGHTS, "tiny", "json"),
        {"models": [{"model": "owner/tiny_eng", "revision": None, "commit": "c0ffee"}]},
    )

    def revision(study, language):
        return score_cell(study, storage, "tiny", language, tmp_path / "t", tmp_path / "r").revision

    assert revision(study, "eng") == "c0ffee"
    with pytest.raises(MissingData, match="owner/tiny_fra: its weights have not been fetched"):
        revision(study, "fra")
    elsewhere = study.model_copy(update={"families": {"tiny": TINY.model_copy(update={"revision": "v2"})}})
    with pytest.raises(MissingData, match="owner/tiny_eng: its weights have not been fetched"):
        revision(elsewhere, "eng")


def test_weights_of_an_earlier_version_are_still_read(tmp_path):
    study, storage = mixed_study(tmp_path), Storage(root=str(tmp_path), study="small")
    entry = {"model": "owner/tiny_eng", "revision": None, "commit": "c0ffee"}
    write_json(tmp_path / "small" / "survey" / "model_weights" / "tiny.json", {"models": [entry]})
    assert score_cell(study, storage, "tiny", "eng", tmp_path / "t", tmp_path / "r").revision == "c0ffee"


def test_the_version_of_weights_stays_while_a_family_only_gains_models_and_changes_with_how_they_are_run():
    run = {"dtype": "float32", "bos": "template"}
    one, two = ({"model": name, "stamp": f"stamp of {name}"} for name in ("one", "two"))
    first = {"models": [one], "run": run, "version": data_version({}, {"models": [one], "run": run})}
    assert data_version(first, {"models": [one, two], "run": run}) == first["version"]
    assert data_version(first, {"models": [two], "run": run}) != first["version"]
    assert data_version(first, {"models": [one | {"stamp": "moved"}, two], "run": run}) != first["version"]
    assert data_version(first, {"models": [one], "run": run | {"dtype": "bfloat16"}}) != first["version"]
    assert data_version(first, {"models": [one], "run": run | {"bos": "never"}}) != first["version"]


@pytest.mark.slow
def test_weights_that_cannot_be_had_fail_in_one_line_that_leads_to_the_log(tmp_path, monkeypatch):
    study = mixed_study(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with loopback_hub() as hub, dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        failed, _ = materialise(build_definitions(study, tmp_path), instance, WEIGHTS, "tiny")
    (line,) = failed
    assert line.startswith(
        "the node job ended with exit status 1: 2 of 2 models were not fetched: owner/tiny_eng: there"
    )
    assert f"(log: {tmp_path}/small/jobs/models/weights/tiny/log.txt)" in line
    assert not (tmp_path / "small/models/weights").exists()
    assert read_json(tmp_path / "small/jobs/models/weights/tiny/job.json")["kind"] == "fetch_weights"
