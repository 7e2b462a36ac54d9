"""The score job of a cell: which files of a model it names, and when a family's preflight lets it go on."""

import os
import shutil
from pathlib import Path

import pytest

from valuesassets.node.job_process import main
from valuesassets.orchestration.grid.cells import (
    WEIGHTS,
    cache_variables,
    generate_job,
    model_folder,
    model_label,
    readings_job,
    score_cell,
    score_job,
)
from valuesassets.orchestration.grid.left_out import left_out_cells
from valuesassets.orchestration.grid.node_jobs import SentJob
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData, StorageError, StudyError
from valuesassets.records.files import read_json, write_json
from valuesassets.records.jobs import EmbedJob, ScoreCell, ScoreJob, write_job
from valuesassets.records.parquet import read_readings, table_metadata, trial_rows, write_table
from valuesassets.records.places import named_model
from valuesassets.records.settings.cells import Family
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.measuring import Preflight
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.settings.slurm import Resources, SlurmSettings
from valuesassets.records.study import Cell, Part, load_study
from valuesassets.records.tables import TRIALS as TRIALS_SCHEMA
from valuesassets_tests.peft_adapters import write_adapter
from valuesassets_tests.tiny_chats import write_chat_model
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model

ENGLISH = Part("eng", "eng")
PREFLIGHT, TRIALS = SURVEY.key("preflight"), SURVEY.key("trials")
LOW = "median P_valid 0.01 (>= 0.2 wanted)"


def verdict(reason=None, override=None, is_asked=True):
    """What a preflight in English leaves; with a reason not to ask, German goes on all the same."""
    said = {"is_left_out": bool(reason) and not override, "reason": reason, "override": override, "is_asked": is_asked}
    return {"parts": {"eng": said, "deu": said | {"is_left_out": False, "reason": None}}, "findings": []}


PASSED, FAILED = verdict(), verdict(LOW)


def study_of(model, override=None, overrides=None, **settings):
    """The demo with a family `mine` of one model beside those trained here."""
    demo = load_study("demo_survey")
    mine = Family(kind="huggingface", model_type="multi", model_id=str(model), **settings)
    families = demo.families | {"mine": mine}
    return demo.model_copy(
        update={"families": families, "preflight": Preflight(override=override, overrides=overrides or {})}
    )


@pytest.fixture
def storage(tmp_path):
    """Trials in English, and preflights that all families have passed."""
    made = Storage(root=str(tmp_path / "storage"), study="demo")
    write_table(made.path(TRIALS, "eng", "parquet"), trial_rows([trial(PROMPTS[0], 4, "v1/0/forward")]), TRIALS_SCHEMA)
    for family in ("mine", "reference-mono"):
        write_json(made.path(PREFLIGHT, family, "json"), PASSED)
    return made


def fetch(storage, model, commit=None, folder=None, **said):
    """What models/weights leaves."""
    entry = {"model": str(model), "revision": None, "commit": commit, "folder": str(folder or model)}
    write_json(storage.path(WEIGHTS, "mine", "json"), {"models": [entry]} | said)


@pytest.fixture
def folder(tmp_path):
    return write_model(tmp_path / "models" / "gpt", sentencepiece_like())


def asked_in(study, storage, family="mine"):
    return SentJob(readings_job(study, storage, SURVEY, Cell(family, ENGLISH))).fingerprint


def change_in_place(path, byte=b"!"):
    """Another byte at the end of a file, whose size stays."""
    path.write_bytes(path.read_bytes()[:-1] + byte)
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_the_job_of_a_folder_is_another_one_when_a_file_of_the_model_is(storage, folder, name):
    study = study_of(folder)
    fetch(storage, folder)
    before = asked_in(study, storage)
    (folder / "README.md").write_text("what is not read")
    assert asked_in(study, storage) == before
    change_in_place(folder / name)
    assert asked_in(study, storage) != before


def test_the_job_of_a_model_trained_here_goes_by_its_bytes(storage, folder):
    study = study_of(folder)
    trained = model_folder(study, storage, "reference-mono", "eng")
    shutil.copytree(folder, trained)
    before = asked_in(study, storage, "reference-mono")
    for path in trained.iterdir():
        os.utime(path, ns=(1, 1))
    assert asked_in(study, storage, "reference-mono") == before
    change_in_place(trained / "model.safetensors")
    assert asked_in(study, storage, "reference-mono") != before
    shutil.rmtree(trained)
    assert readings_job(study, storage, SURVEY, Cell("reference-mono", ENGLISH)).cells[0].model_stamp is None


def test_a_chat_family_is_asked_in_its_chat_by_the_job_of_its_cell(storage, tmp_path):
    chat = write_chat_model(tmp_path / "models" / "chat", "chatml")
    study = study_of(chat, prompting=Prompting(style="chat", system="Be brief."))
    fetch(storage, chat)
    job = readings_job(study, storage, SURVEY, Cell("mine", ENGLISH))
    assert job.cells[0].prompting == study.families["mine"].prompting
    assert SentJob(job).fingerprint != asked_in(study_of(chat), storage)
    write_job(tmp_path / "job.json", job)
    assert main([str(tmp_path / "job.json")]) == 0
    told, readings = table_metadata(job.cells[0].readings), read_readings(job.cells[0].readings)
    assert [reading.status for reading in readings] == ["ok"]
    asked = PROMPTS[0].removesuffix("\nAnswer:")
    assert told["first_prompt"] == (
        f"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\nAnswer:"
    )


def test_a_jobs_mark_goes_by_its_files_and_takes_no_text_for_one(storage, folder, tmp_path):
    (tmp_path / "trials.parquet").write_bytes(b"trials")
    (tmp_path / "name").write_text("a file that a text of the job names by chance")
    texts = tmp_path / "texts.json"
    write_json(texts, ["How?"])

    def mark(text):
        shown = Prompting(style="chat", system=text)
        cell = ScoreCell(
            name="f/eng", model=str(folder), prompting=shown, trials=tmp_path / "trials.parquet", readings=Path("/r")
        )
        embed = EmbedJob(model="owner/name", prefix=text, texts=texts, vectors=Path("/v.npy"))
        return SentJob(ScoreJob(cells=(cell,))).fingerprint, SentJob(embed).fingerprint

    long, name = mark("Be brief. " * 100), mark(str(tmp_path / "name"))
    (tmp_path / "name").write_text("something else")
    assert mark(str(tmp_path / "name")) == name
    (tmp_path / "trials.parquet").write_bytes(b"others")
    write_json(texts, ["Who?"])
    assert not set(mark("Be brief. " * 100)) & set(long)


def test_a_folder_that_changes_under_the_look_is_one_line(storage, folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to("model.safetensors")  # to itself
    fetch(storage, folder)
    with pytest.raises(StorageError, match=r"model\.safetensors: cannot be read: Too many levels of symbolic links"):
        readings_job(study_of(folder), storage, SURVEY, Cell("mine", ENGLISH))


def test_the_job_of_a_hub_model_goes_by_its_commit(storage):
    study, asked = study_of("owner/gpt"), []
    for commit in ("c0ffee", "c0ffee", "decaf0"):
        fetch(storage, "owner/gpt", commit, folder="/cache/snapshots")
        (cell,) = readings_job(study, storage, SURVEY, Cell("mine", ENGLISH)).cells
        assert (cell.model, cell.revision, cell.model_stamp) == ("owner/gpt", commit, commit)
        asked.append(asked_in(study, storage))
    assert asked[0] == asked[1] != asked[2]


def test_a_relative_folder_is_the_one_whose_weights_were_looked_at_wherever_a_job_works(storage, folder, monkeypatch):
    fetch(storage, "models/gpt", folder=folder)
    elsewhere = folder.parent
    monkeypatch.chdir(elsewhere)
    cell = score_cell(study_of("models/gpt"), storage, "mine", "eng", Path("t"), Path("r"))
    assert cell.model == str(folder)
    assert cell.model_stamp is not None


def test_an_absolute_folder_is_named_as_the_study_names_it(storage, folder):
    named = f"{folder.parent}/../models/gpt/"
    fetch(storage, named, folder=folder)
    assert score_cell(study_of(named), storage, "mine", "eng", Path("t"), Path("r")).model == named


def test_the_job_of_a_gguf_file_reads_what_it_was_made_into_and_goes_by_its_hash(storage, folder, tmp_path):
    file = tmp_path / "gpt.gguf"
    file.write_bytes(b"GGUF")
    study, stat = study_of(file), file.stat()
    said = {"stamp": "c0ffee", "gguf": {"file": file.name}, "gguf_stamp": [[stat.st_size, stat.st_mtime_ns]]}
    entry = {"model": str(file), "revision": None, "commit": None, "folder": str(folder)} | said
    write_json(storage.path(WEIGHTS, "mine", "json"), {"models": [entry]})
    cell = score_cell(study, storage, "mine", "eng", Path("t"), Path("r"))
    assert (cell.model, cell.revision, cell.model_stamp) == (str(folder), None, "c0ffee")
    change_in_place(file)
    with pytest.raises(
        MissingData, match=r"gpt\.gguf: has changed since it was read; materialise models/weights of mine"
    ):
        score_cell(study, storage, "mine", "eng", Path("t"), Path("r"))
    file.unlink()
    assert score_cell(study, storage, "mine", "eng", Path("t"), Path("r")) == cell
    shutil.rmtree(folder)
    with pytest.raises(MissingData, match="which it was made into, is gone; materialise models/weights of mine again"):
        score_cell(study, storage, "mine", "eng", Path("t"), Path("r"))


@pytest.mark.parametrize("changed", [1, 2])
def test_a_part_of_a_split_gguf_file_that_changed_stops_the_job_and_one_that_is_gone_does_not(
    storage, folder, tmp_path, changed
):
    parts = [tmp_path / f"gpt-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.write_bytes(b"GGUF")
    stats = [part.stat() for part in parts]
    said = {
        "stamp": "c0ffee",
        "gguf": {"file": parts[0].name},
        "gguf_stamp": [[stat.st_size, stat.st_mtime_ns] for stat in stats],
    }
    entry = {"model": str(parts[0]), "revision": None, "commit": None, "folder": str(folder)} | said
    write_json(storage.path(WEIGHTS, "mine", "json"), {"models": [entry]})
    cell = score_cell(study_of(parts[0]), storage, "mine", "eng", Path("t"), Path("r"))
    change_in_place(parts[changed - 1])
    with pytest.raises(MissingData, match=r"has changed since it was read; materialise models/weights of mine"):
        score_cell(study_of(parts[0]), storage, "mine", "eng", Path("t"), Path("r"))
    parts[changed - 1].unlink()
    assert score_cell(study_of(parts[0]), storage, "mine", "eng", Path("t"), Path("r")) == cell


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A base and a LoRA folder for it."""
    root = tmp_path_factory.mktemp("trained")
    base = write_model(root / "gpt", sentencepiece_like())
    return base, write_adapter(root / "run7", base, target_modules=["q_proj"])


def fetch_adapted(storage, model, adapter, commit=None, lora_commit=None):
    entry = {"model": str(model), "revision": None, "commit": commit, "folder": str(model)}
    named = {"adapter": str(adapter), "adapter_revision": None, "adapter_commit": lora_commit}
    write_json(storage.path(WEIGHTS, "mine", "json"), {"models": [entry | named | {"adapter_folder": str(adapter)}]})


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_the_job_of_an_adapter_is_another_one_when_either_of_its_files_is(storage, trained, tmp_path, name):
    base, adapter = trained[0], Path(shutil.copytree(trained[1], tmp_path / "run7"))
    study = study_of(base, adapter=str(adapter))
    fetch_adapted(storage, base, adapter)
    before = asked_in(study, storage)
    (adapter / "README.md").write_text("what is not read")
    assert asked_in(study, storage) == before
    change_in_place(adapter / name)
    assert asked_in(study, storage) != before


def test_the_job_file_of_a_cell_carries_the_adapter_and_asks_with_it(storage, trained, tmp_path):
    base, adapter = trained
    study = study_of(base, adapter=str(adapter))
    fetch_adapted(storage, base, adapter)
    job = readings_job(study, storage, SURVEY, Cell("mine", ENGLISH))
    write_job(tmp_path / "job.json", job)
    cell = read_json(tmp_path / "job.json")["cells"][0]
    assert (cell["model"], cell["adapter"], "adapter_revision" in cell) == (str(base), str(adapter), False)
    assert main([str(tmp_path / "job.json")]) == 0
    metadata = table_metadata(job.cells[0].readings)
    assert metadata["adapter"] == named_model(str(adapter))
    written = generate_job(study, storage, Cell("mine", ENGLISH), SURVEY, {"": (Path("t"), Path("a"))})
    assert written.cells[0].adapter == str(adapter)


def test_the_job_of_an_adapter_of_the_hub_goes_by_both_commits(storage):
    study, fingerprints = study_of("owner/gpt", adapter="owner/run7"), []
    for commits in (("c0ffee", "0a1b"), ("c0ffee", "0a1b"), ("c0ffee", "0a1c"), ("decaf0", "0a1c")):
        fetch_adapted(storage, "owner/gpt", "owner/run7", *commits)
        (cell,) = readings_job(study, storage, SURVEY, Cell("mine", ENGLISH)).cells
        assert cell.weights == ("owner/gpt", commits[0], "owner/run7", commits[1])
        fingerprints.append((asked_in(study, storage), cell.model_stamp))
    assert fingerprints[0] == fingerprints[1]
    assert len(set(fingerprints)) == len({stamp for _, stamp in fingerprints}) == 3


def test_weights_that_were_fetched_without_the_adapter_or_with_another_are_not_taken(storage, folder):
    study = study_of(folder, adapter="owner/run7")
    fetch(storage, folder)
    with pytest.raises(
        MissingData, match=r"gpt\+owner/run7: its weights have not been fetched; materialise models/weig"
    ):
        readings_job(study, storage, SURVEY, Cell("mine", ENGLISH))
    fetch_adapted(storage, folder, "owner/run6", lora_commit="c0ffee")
    with pytest.raises(MissingData, match="its weights have not been fetched"):
        readings_job(study, storage, SURVEY, Cell("mine", ENGLISH))
    fetch_adapted(storage, folder, "owner/run7", lora_commit="c0ffee")
    pinned = study_of(folder, adapter="owner/run7", adapter_revision="v2")
    with pytest.raises(MissingData, match="its weights have not been fetched"):
        readings_job(pinned, storage, SURVEY, Cell("mine", ENGLISH))
    assert readings_job(study, storage, SURVEY, Cell("mine", ENGLISH)).cells[0].adapter_revision == "c0ffee"


def test_an_adapter_for_each_language_is_that_of_the_cell(storage):
    mine = Family(kind="huggingface", model_type="mono", model_id="owner/gpt", adapter="owner/run7_{lang}")
    study = load_study("demo_survey").model_copy(update={"families": {"mine": mine}})
    assert study.weights("mine")[:2] == (("owner/gpt", "owner/run7_eng"), ("owner/gpt", "owner/run7_deu"))
    assert study.model_ids("mine") == ("owner/gpt",)
    assert model_label(study, storage, "mine", "deu") == "owner/gpt+owner/run7_deu"


def test_jobs_look_for_weights_where_they_were_fetched_to_unless_the_study_says_where(storage, monkeypatch, tmp_path):
    assert cache_variables(storage, "mine", {}) == {}
    fetch(storage, "owner/gpt", "c0ffee", cache="/scratch/hub")
    monkeypatch.setenv("HF_HOME", "/another/process/s")
    assert cache_variables(storage, "mine", {}) == {"HF_HUB_CACHE": "/scratch/hub"}
    assert cache_variables(storage, "mine", {"OMP_NUM_THREADS": "4"}) == {"HF_HUB_CACHE": "/scratch/hub"}
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        assert cache_variables(storage, "mine", {name: "/local/disk"}) == {}
    monkeypatch.chdir(tmp_path)
    fetch(storage, "owner/gpt", "c0ffee", cache="cache/hub")  # as older versions wrote it
    assert cache_variables(storage, "mine", {}) == {"HF_HUB_CACHE": f"{tmp_path}/cache/hub"}


def asked_after(storage, found, study=None, language="eng"):
    """The job of a cell after a preflight."""
    write_json(storage.path(PREFLIGHT, "reference-mono", "json"), found)
    cell = Cell("reference-mono", Part(language, language))
    return readings_job(study or study_of("owner/gpt"), storage, SURVEY, cell)


def test_a_failed_preflight_stops_a_cell_and_says_what_to_do(storage):
    with pytest.raises(MissingData) as caught:
        asked_after(storage, FAILED)
    assert str(caught.value) == (
        "reference-mono/eng failed its preflight: median P_valid 0.01 (>= 0.2 wanted); mend it and materialise "
        "preflight/reference-mono again, or go on all the same: give the reason under [preflight.overrides] as "
        "'reference-mono/eng' in the study file, and reload the definitions where the UI runs"
    )


def test_the_other_cells_of_a_family_go_on_where_one_fails(storage):
    shutil.copy(storage.path(TRIALS, "eng", "parquet"), storage.path(TRIALS, "deu", "parquet"))
    assert asked_after(storage, FAILED, language="deu").cells[0].name == "reference-mono/deu"
    assert left_out_cells(study_of("owner/gpt"), storage, SURVEY) == {"reference-mono/eng": LOW}


def test_a_cell_that_is_left_out_writes_nothing_either(storage):
    def written(study):
        files = {"": (storage.path(TRIALS, "eng", "parquet"), storage.folder / "answers.parquet")}
        return generate_job(study, storage, Cell("reference-mono", ENGLISH), SURVEY, files)

    asked_after(storage, PASSED)
    assert written(study_of("owner/gpt")).cells[0].name == "reference-mono/eng"
    with pytest.raises(MissingData):
        asked_after(storage, FAILED)
    with pytest.raises(MissingData, match=r"reference-mono/eng failed its preflight: median P_valid 0\.01"):
        written(study_of("owner/gpt"))
    assert written(study_of("owner/gpt", override="random weights"))
    storage.path(PREFLIGHT, "reference-mono", "json").unlink()  # what is written needs no preflight of its own
    assert written(study_of("owner/gpt"))


def test_a_part_that_the_preflight_did_not_look_at_is_not_read(storage):
    with pytest.raises(
        MissingData, match="reference-mono/eng has had no preflight; materialise preflight/reference-mo"
    ):
        asked_after(storage, {"parts": {}})
    with pytest.raises(MissingData, match="has had no preflight"):
        asked_after(storage, {"passed": True, "override": None, "findings": []})  # as earlier versions wrote it


def test_a_study_that_overrides_its_preflight_goes_on_without_another_one(storage):
    for study in (
        study_of("owner/gpt", override="random weights"),
        study_of("owner/gpt", overrides={"reference-mono/eng": "looked at by hand"}),
    ):
        assert asked_after(storage, FAILED, study)
        assert asked_after(storage, {"parts": {}}, study)
        assert left_out_cells(study, storage, SURVEY) == {}
    assert asked_after(storage, verdict(LOW, "said when it was made"))
    other = study_of("owner/gpt", overrides={"reference-mono/deu": "looked at by hand"})
    with pytest.raises(MissingData, match="failed its preflight"):
        asked_after(storage, FAILED, other)


def test_nothing_overrides_that_there_is_nothing_to_ask(storage):
    damaged = verdict("no model is asked in eng: 31% of 900 words are damaged", is_asked=False)
    with pytest.raises(MissingData, match="reference-mono/eng: no model is asked in eng: 31% of 900 words are damaged"):
        asked_after(storage, damaged, study_of("owner/gpt", override="all the same"))


def test_an_override_of_a_cell_that_there_is_not_is_one_line(storage):
    with pytest.raises(
        StudyError, match=r"preflight\.overrides: 'mine/hun' is no cell of the study; say <model>/<part>"
    ):
        asked_after(storage, FAILED, study_of("owner/gpt", overrides={"mine/hun": "a typing error"}))


@pytest.mark.parametrize(
    ("gpus", "gres", "device"),
    [(0, None, "auto"), (2, None, "cuda"), (0, "gpu:a100:1", "cuda"), (0, "lustre:1", "auto")],
)
def test_a_model_runs_on_the_gpus_that_slurm_is_asked_for(gpus, gres, device):
    study = study_of("org/model", resources=Resources(gpus=gpus))
    cell = ScoreCell(name="mine/eng", model="org/model", trials=Path("t.parquet"), readings=Path("r.parquet"))
    assert score_job(study, "mine", [cell]).device == "auto"
    on_slurm = study.model_copy(update={"slurm": SlurmSettings(gres=gres)})
    assert score_job(on_slurm, "mine", [cell]).device == device


def test_a_family_behind_an_api_is_asked_there_and_no_weights_are_looked_for(storage, tmp_path):
    endpoint = Endpoint(provider="gemini")
    asked = {"kind": "gemini", "model_type": "multi", "model_id": "m", "prompting": Prompting(style="chat")}
    demo = load_study("demo_survey")
    study = demo.model_copy(update={"families": demo.families | {"mine": Family(**asked, endpoint=endpoint)}})
    assert study.model_ids("mine") == ()
    cell = score_cell(study, storage, "mine", "eng", tmp_path / "t.parquet", tmp_path / "r.parquet")
    assert (cell.model, cell.endpoint, cell.revision, cell.model_stamp) == ("m", endpoint, None, None)
