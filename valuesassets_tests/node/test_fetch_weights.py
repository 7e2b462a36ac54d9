"""What a job that fetches models has in the end, what it costs, and what it refuses."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from valuesassets.records.files import read_json
from valuesassets.records.jobs import HubModel
from valuesassets_tests.node.fetch_jobs import NOT_READ, at, environment, fetched, job_of, refused, run
from valuesassets_tests.peft_adapters import write_adapter
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

TOKEN = "hf_aSecretThatIsNotToBeSeen"


@pytest.mark.slow
def test_a_model_is_fetched_whole_and_what_is_not_read_stays_where_it_is(hub, hub_model, tmp_path):
    (entry,) = fetched(hub, tmp_path, "owner/one")
    there = {path.name for path in Path(entry["folder"]).iterdir()}
    assert there == {path.name for path in hub_model.iterdir()} - {Path(name).parts[0] for name in NOT_READ}
    assert (entry["commit"], entry["was_there"]) == (hub.branches["owner/one"]["main"], False)
    assert (entry["files"], entry["size"]) == (len(there), hub.sent)
    assert not hub.files_sent() & {Path(name).name for name in NOT_READ}


@pytest.mark.slow
def test_the_second_time_costs_one_request_and_no_byte_and_a_commit_costs_no_request(hub, tmp_path):
    (first,) = fetched(hub, tmp_path, "owner/one")
    hub.forget()
    (again,) = fetched(hub, tmp_path, "owner/one")
    assert again == first | {"was_there": True}
    assert (hub.asked, hub.sent) == ([("GET", "/api/models/owner/one")], 0)
    hub.forget()
    (by_commit,) = fetched(hub, tmp_path, at("owner/one", first["commit"]))
    (offline,) = fetched(hub, tmp_path, "owner/one", offline=True)
    assert by_commit["commit"] == offline["commit"] == first["commit"]
    assert hub.asked == []


@pytest.mark.slow
def test_a_branch_that_moved_is_fetched_at_its_new_commit_and_what_is_the_same_costs_no_byte(hub, hub_model, tmp_path):
    (old,) = fetched(hub, tmp_path, "owner/one")
    config = json.loads((hub_model / "config.json").read_text()) | {"note": "a later commit"}
    moved = hub.push("owner/one", hub_model, config__json=json.dumps(config).encode())
    hub.forget()
    (new,) = fetched(hub, tmp_path, at("owner/one", "main"))
    assert old["commit"] != new["commit"] == moved
    assert hub.sent == len(json.dumps(config))
    assert json.loads((Path(new["folder"]) / "config.json").read_text())["note"] == "a later commit"
    (offline,) = fetched(hub, tmp_path, "owner/one", offline=True)
    assert offline["commit"] == moved


@pytest.mark.slow
def test_a_disk_too_small_is_refused_before_the_first_byte(hub, tmp_path):
    said = refused(hub, tmp_path, "owner/one", leave_free_gib=1e6)
    assert f"{tmp_path}/cache/hub: " in said
    assert "of weights are still to be downloaded and 1000000.0 GiB are to stay free, but the disk has" in said
    assert "GiB are missing; free them, or set HF_HOME to a folder on a larger disk" in said
    assert hub.sent == 0


@pytest.mark.slow
def test_models_that_are_there_need_no_space(hub, tmp_path):
    fetched(hub, tmp_path, "owner/one")
    assert fetched(hub, tmp_path, "owner/one", leave_free_gib=1e6)[0]["was_there"]


@pytest.mark.slow
def test_one_that_cannot_be_had_leaves_the_others_and_every_failure_is_named(hub, hub_model, tmp_path):
    hub.push("owner/gated", hub_model)
    hub.gated.add("owner/gated")
    weights = {path.name.replace(".", "__"): None for path in hub_model.glob("*.safetensors")}
    hub.push("owner/pickled", hub_model, **weights)
    hub.failing |= {"owner/busy": 503, "owner/secret": 403}
    models = (
        "owner/absent",
        "owner/busy",
        "owner/secret",
        "owner/gated",
        "owner/pickled",
        at("owner/one", "v9"),
        at("owner/one", "0" * 40),
        "owner/one",
    )
    said = refused(hub, tmp_path, *models)
    assert said.startswith("7 of 8 models were not fetched: ")
    reasons = said.partition(": ")[2].strip().split(" | ")
    assert reasons == [
        "owner/absent: there is no such model on the hub, or it is private; check its name, or set HF_TOKEN in the "
        "environment",
        "owner/busy: the hub answers with status 503; run it again later: whole files are kept",
        "owner/secret: the hub refuses it (403); check HF_TOKEN in the environment and what it may read",
        "owner/gated: is gated and gives no access; ask for access on its page on the hub, then set HF_TOKEN in the "
        "environment",
        "owner/pickled: has no weights in safetensors (found pytorch_model.bin, a pickle, which can run code) in its "
        "repository on the hub at main; name another revision or model, or save it with save_pretrained and name the "
        "folder",
        "owner/one: has no revision v9 on the hub; name one of its branches, tags or commits",
        f"owner/one: has no revision {'0' * 40} on the hub; name one of its branches, tags or commits",
    ]
    assert fetched(hub, tmp_path, "owner/one")[0]["was_there"]


@pytest.mark.slow
def test_without_the_network_there_is_one_line_and_offline_needs_none(hub, tmp_path):
    fetched(hub, tmp_path, "owner/one")
    nowhere = "http://127.0.0.1:9"
    said = refused(nowhere, tmp_path, "owner/one")
    assert said.startswith(f"owner/one: the hub ({nowhere}) cannot be reached; check the network and run it again")
    assert fetched(nowhere, tmp_path, "owner/one", offline=True)[0]["was_there"]
    assert fetched(nowhere, tmp_path, "owner/one", env={"HF_HUB_OFFLINE": "1"})[0]["was_there"]


@pytest.mark.slow
def test_offline_a_model_must_be_whole_in_the_cache(hub, tmp_path):
    said = refused(hub, tmp_path, "owner/one", offline=True)
    assert said.startswith("owner/one: is not in this machine's cache of the hub, and the hub is not to be asked")
    (entry,) = fetched(hub, tmp_path, "owner/one")
    (Path(entry["folder"]) / "tokenizer_config.json").unlink()
    hub.forget()
    said = refused(hub, tmp_path, "owner/one", offline=True)
    assert said.startswith("owner/one: lacks tokenizer_config.json in this machine's cache of the hub")
    assert hub.asked == []


@pytest.mark.slow
def test_a_folder_is_checked_and_stays_where_it_is(hub, tmp_path):
    folder = write_model(tmp_path / "mine", sentencepiece_like())
    (entry,) = fetched(hub, tmp_path, folder)
    assert (entry["folder"], entry["commit"], entry["was_there"]) == (str(folder), None, True)
    assert fetched(hub, tmp_path, folder)[0]["stamp"] == entry["stamp"]
    os.utime(folder / "model.safetensors", ns=(1, 1))
    assert fetched(hub, tmp_path, folder)[0]["stamp"] != entry["stamp"]
    (folder / "config.json").unlink()
    assert refused(hub, tmp_path, folder).startswith(f"{folder}: no config.json")
    assert hub.asked == []


@pytest.mark.slow
def test_the_token_comes_from_the_environment_and_is_written_nowhere(hub, hub_model, tmp_path):
    hub.push("owner/gated", hub_model)
    hub.gated.add("owner/gated")
    done, _ = run(hub, tmp_path, "owner/one", "owner/gated", env={"HF_TOKEN": TOKEN})
    assert hub.tokens == {False: {f"Bearer {TOKEN}"}, True: {None}}
    assert "owner/gated: is gated and gives no access" in done.stderr
    assert TOKEN not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if TOKEN.encode() in path.read_bytes()]


@pytest.mark.slow
def test_a_fetched_commit_is_loaded_without_a_word_to_the_hub(hub, tmp_path):
    hub.push("owner/whole", write_model(tmp_path / "m", sentencepiece_like()))
    (entry,) = fetched(hub, tmp_path, "owner/whole")
    hub.forget()
    code = f"from valuesassets.models.loading import load_model; load_model('owner/whole', '{entry['commit']}')"
    subprocess.run([sys.executable, "-c", code], env=environment(hub, tmp_path / "cache"), check=True)
    assert hub.asked == []


@pytest.mark.parametrize(
    ("variable", "value", "cache"),
    [
        ("HF_HOME", "home", "home/hub"),
        ("HF_HUB_CACHE", "hub", "hub"),
        ("HUGGINGFACE_HUB_CACHE", "older", "older"),
        ("XDG_CACHE_HOME", "xdg", "xdg/huggingface/hub"),
    ],
)
@pytest.mark.slow
def test_a_process_that_works_elsewhere_finds_the_weights_in_the_cache_that_the_summary_names(
    hub, tmp_path, variable, value, cache
):
    hub.push("owner/whole", write_model(tmp_path / "m", sentencepiece_like()))
    bare = environment(hub, "")
    del bare["HF_HOME"]
    fetching = job_of(tmp_path, "owner/whole")
    subprocess.run(fetching, cwd=tmp_path, env=bare | {variable: value}, check=True, capture_output=True)
    summary = read_json(tmp_path / "summary.json")
    assert summary["cache"] == str(tmp_path / cache)
    elsewhere = tmp_path / "attempt-0"
    elsewhere.mkdir()
    told = bare | {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": summary["cache"], "HOME": str(elsewhere)}
    looking = job_of(elsewhere, "owner/whole", offline=True)  # as a model is found that is loaded
    subprocess.run(looking, cwd=elsewhere, env=told, check=True, capture_output=True)
    (found,) = read_json(elsewhere / "summary.json")["models"]
    assert found == summary["models"][0] | {"was_there": True}


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    """A base, and a LoRA folder for it with all that lies beside one on the hub."""
    folder = tmp_path_factory.mktemp("trained")
    base = write_model(folder / "base", sentencepiece_like())
    lora = write_adapter(folder / "run7", base, target_modules=["q_proj"])
    for name in ("training_args.bin", "optimizer.pt", "README.md"):
        (lora / name).write_bytes(b"not read" * 1000)
    return base, lora


def with_adapter(model, adapter, **more):
    return HubModel(model=str(model), adapter=str(adapter), **more)


@pytest.mark.slow
def test_an_adapter_of_the_hub_is_fetched_with_its_base_and_stays_there_offline(hub, adapter, tmp_path):
    base, lora = adapter
    commits = hub.push("owner/base", base), hub.push("owner/run7", lora)
    (entry,) = fetched(hub, tmp_path, with_adapter("owner/base", "owner/run7"))
    assert (entry["commit"], entry["adapter_commit"]) == commits
    files = {path.name for path in Path(entry["adapter_folder"]).iterdir()}
    assert files == {"adapter_config.json", "adapter_model.safetensors"}
    assert not hub.files_sent() & {"training_args.bin", "optimizer.pt", "README.md"}
    hub.forget()
    pinned = with_adapter("owner/base", "owner/run7", revision=commits[0], adapter_revision=commits[1])
    (by_commit,) = fetched(hub, tmp_path, pinned)
    (offline,) = fetched(hub, tmp_path, with_adapter("owner/base", "owner/run7"), offline=True)
    assert by_commit["stamp"] == offline["stamp"] == entry["stamp"]
    assert hub.asked == []
    code = "from valuesassets.models.loading import load_weights, open_model\n"
    code += "loaded = load_weights(open_model('owner/base', adapter='owner/run7', offline=True))\n"
    code += "print(loaded.describe()['adapter_revision'])"
    env = environment(hub, tmp_path / "cache")
    process = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True)
    assert (process.stdout.strip(), hub.asked) == (commits[1], [])


@pytest.mark.slow
def test_a_folder_of_an_adapter_stays_where_it_is_and_its_content_is_in_the_stamp(hub, adapter, tmp_path):
    base, lora = adapter[0], Path(shutil.copytree(adapter[1], tmp_path / "run7"))
    (alone,) = fetched(hub, tmp_path, base)
    (entry,) = fetched(hub, tmp_path, with_adapter(base, lora))
    assert (entry["adapter_folder"], entry["adapter_commit"]) == (str(lora), None)
    assert not any("adapter" in key for key in alone)
    assert entry["stamp"] != alone["stamp"]
    settings = json.loads((lora / "adapter_config.json").read_text())
    (lora / "adapter_config.json").write_text(json.dumps(settings | {"lora_alpha": 9}))
    (changed,) = fetched(hub, tmp_path, with_adapter(base, lora))
    assert changed["stamp"] not in (entry["stamp"], alone["stamp"])
    assert hub.asked == []


@pytest.mark.slow
def test_an_adapter_that_moved_is_fetched_at_its_new_commit(hub, adapter, tmp_path):
    base, lora = adapter
    hub.push("owner/run7", lora)
    (first,) = fetched(hub, tmp_path, with_adapter(base, "owner/run7"))
    settings = json.loads((lora / "adapter_config.json").read_text()) | {"lora_alpha": 9}
    moved = hub.push("owner/run7", lora, adapter_config__json=json.dumps(settings).encode())
    (second,) = fetched(hub, tmp_path, with_adapter(base, "owner/run7"))
    assert first["adapter_commit"] != second["adapter_commit"] == moved
    assert first["stamp"] != second["stamp"]


@pytest.mark.slow
def test_adapters_that_cannot_be_had_are_named(hub, adapter, tmp_path):
    base, lora = adapter
    weights = (lora / "adapter_model.safetensors").read_bytes()
    hub.push("owner/old", lora, adapter_model__safetensors=None, adapter_model__bin=weights)
    hub.push("owner/cut", lora, adapter_model__safetensors=weights[:500])
    hub.push("owner/base", base)
    line = refused(hub, tmp_path, with_adapter(base, "owner/old"))
    assert line.startswith(
        "owner/old: has no adapter_model.safetensors (found adapter_model.bin, a pickle, which can run"
    )
    line = refused(hub, tmp_path, with_adapter(base, "owner/base"))
    assert line.startswith("owner/base: has no adapter_config.json in its repository on the hub at main; name another")
    assert refused(hub, tmp_path, with_adapter(base, "owner/no")).startswith(
        "owner/no: there is no such model on the hub"
    )
    line = refused(hub, tmp_path, with_adapter(base, "owner/cut"))
    assert line.startswith("owner/cut: adapter_model.safetensors is not a whole file of weights: ")
    line = refused(hub, tmp_path, with_adapter(base, "owner/run8"), offline=True)
    assert line.startswith("owner/run8: is not in this machine's cache of the hub, and the hub is not to be asked")
