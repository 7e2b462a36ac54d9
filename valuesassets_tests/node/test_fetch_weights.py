"""Real downloads by the hub's own library, each in a process of its own, from a hub on this machine."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from valuesassets.records.files import read_json
from valuesassets.records.jobs import FetchWeightsJob, HubModel, write_job
from valuesassets_tests.models.loopback_hub import loopback_hub
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

TOKEN = "hf_aSecretThatIsNotToBeSeen"
NOT_READ = ("pytorch_model.bin", "modeling_own.py", "README.md", "consolidated.safetensors", "onnx/model.safetensors")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model in three parts of weights, with all that lies beside weights on the hub."""
    folder = write_model(tmp_path_factory.mktemp("hub") / "model", sentencepiece_like())
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").unlink()
    parts = [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    for name in parts:
        (folder / name).write_bytes(weights + name.encode())
    index = {"weight_map": {f"layer.{n}": name for n, name in enumerate(parts)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "onnx").mkdir()
    for name in NOT_READ:
        (folder / name).write_bytes(b"not read" * 1000)
    return folder


@pytest.fixture
def hub(model):
    with loopback_hub() as made:
        made.push("owner/one", model)
        yield made


def environment(hub, cache, **more):
    offline = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    return offline | {"HF_ENDPOINT": hub if isinstance(hub, str) else hub.url, "HF_HOME": str(cache)} | more


def job_of(folder, *models, **settings):
    asked = tuple(HubModel(model=str(m), revision=None) if not isinstance(m, HubModel) else m for m in models)
    write_job(folder / "job.json", FetchWeightsJob(models=asked, summary=folder / "summary.json", **settings))
    return [sys.executable, "-W", "error", "-m", "valuesassets.node", str(folder / "job.json")]


def run(hub, folder, *models, env=None, cache=None, **settings):
    """A job's exit status, log and summary (None where there is none)."""
    (folder / "summary.json").unlink(missing_ok=True)
    done = subprocess.run(
        job_of(folder, *models, **settings),
        capture_output=True,
        text=True,
        check=False,
        env=environment(hub, cache or folder / "cache", **(env or {})),
    )
    summary = read_json(folder / "summary.json") if (folder / "summary.json").exists() else None
    return done, summary


def fetched(hub, folder, *models, **settings):
    """The models of a job that succeeded."""
    done, summary = run(hub, folder, *models, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return summary["models"]


def refused(hub, folder, *models, **settings):
    """The one line of a job that failed."""
    done, summary = run(hub, folder, *models, **settings)
    assert (done.returncode, summary) == (1, None)
    assert done.stderr.count("\n") == 1
    return done.stderr


def at(model, revision):
    return HubModel(model=model, revision=revision)


def test_a_model_is_fetched_whole_and_what_is_not_read_stays_where_it_is(hub, model, tmp_path):
    (entry,) = fetched(hub, tmp_path, "owner/one")
    there = {path.name for path in Path(entry["folder"]).iterdir()}
    assert there == {path.name for path in model.iterdir()} - {Path(name).parts[0] for name in NOT_READ}
    assert (entry["commit"], entry["was_there"]) == (hub.branches["owner/one"]["main"], False)
    assert (entry["files"], entry["size"]) == (len(there), hub.sent)
    assert not hub.files_sent() & {Path(name).name for name in NOT_READ}


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


def test_a_branch_that_moved_is_fetched_at_its_new_commit_and_what_is_the_same_costs_no_byte(hub, model, tmp_path):
    (old,) = fetched(hub, tmp_path, "owner/one")
    config = json.loads((model / "config.json").read_text()) | {"note": "a later commit"}
    moved = hub.push("owner/one", model, config__json=json.dumps(config).encode())
    hub.forget()
    (new,) = fetched(hub, tmp_path, "owner/one")
    assert old["commit"] != new["commit"] == moved
    assert hub.sent == len(json.dumps(config))
    assert json.loads((Path(new["folder"]) / "config.json").read_text())["note"] == "a later commit"
    (offline,) = fetched(hub, tmp_path, "owner/one", offline=True)
    assert offline["commit"] == moved


def test_a_disk_too_small_is_refused_before_the_first_byte(hub, tmp_path):
    said = refused(hub, tmp_path, "owner/one", leave_free_gib=1e6)
    assert f"{tmp_path}/cache/hub: " in said
    assert "of weights are still to be downloaded and 1000000.0 GiB are to stay free, but the disk has" in said
    assert "GiB are missing; free them, or set HF_HOME to a folder on a larger disk" in said
    assert hub.sent == 0


def test_models_that_are_there_need_no_space(hub, tmp_path):
    fetched(hub, tmp_path, "owner/one")
    assert fetched(hub, tmp_path, "owner/one", leave_free_gib=1e6)[0]["was_there"]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two mebibytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(hub, folder, *models, cache=None, **settings):
    return subprocess.Popen(
        job_of(folder, *models, **settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(hub, cache or folder / "cache"),
    )


def test_a_disk_that_fills_during_the_download_is_said_in_one_line_and_whole_files_stay(
    hub, model, small_disk, tmp_path
):
    last = "model-00003-of-00003.safetensors"
    hub.push("owner/one", model, **{last.replace(".", "__"): bytes(1_200_000)})
    hub.held[last] = 1000
    process = start(hub, tmp_path, "owner/one", cache=small_disk, leave_free_gib=0)
    blobs = small_disk / "hub/models--owner--one/blobs"
    wait_for(lambda: len(list(blobs.glob("*[!e]"))) >= 6 and len(list(blobs.glob("*.incomplete"))) == 1)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - 500_000))
    hub.released.set()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"owner/one: {small_disk}/hub: the disk is full; free space there or set HF_HOME to another folder" in said
    assert said.count("\n") == 1
    filler.unlink()
    hub.forget()
    (entry,) = fetched(hub, tmp_path, "owner/one", cache=small_disk, leave_free_gib=0)
    assert hub.files_sent() == {last}
    assert not entry["was_there"]


def test_a_download_killed_in_the_middle_goes_on_with_what_was_not_whole(hub, model, tmp_path):
    last = "model-00003-of-00003.safetensors"
    commit = hub.push("owner/one", model, **{last.replace(".", "__"): bytes(24_000_000)})
    hub.held[last] = 12_000_000
    process = start(hub, tmp_path, "owner/one")
    names = {path.name for path in model.iterdir()} - {Path(name).parts[0] for name in NOT_READ}
    snapshots = tmp_path / "cache/hub/models--owner--one/snapshots"
    wait_for(lambda: {path.name for path in snapshots.glob("*/*")} == names - {last} and hub.sent > 12_000_000)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    lacking = refused(hub, tmp_path, at("owner/one", commit), offline=True)
    assert lacking.startswith(f"owner/one: lacks {last} in this machine's cache of the hub")
    hub.released.set()
    hub.held.clear()
    hub.forget()
    said = refused(hub, tmp_path, "owner/one", leave_free_gib=1e6)
    assert "GiB free (0.00977 GiB there are unfinished downloads, which `hf cache prune` removes" in said
    (entry,) = fetched(hub, tmp_path, "owner/one")
    assert hub.files_sent() == {last}
    assert hub.sent == 24_000_000
    assert {path.name for path in Path(entry["folder"]).iterdir()} == names


def test_a_download_that_breaks_off_for_good_is_said_in_one_line(hub, tmp_path):
    hub.cut["tokenizer.json"] = 100
    said = refused(hub, tmp_path, "owner/one")
    assert said == "owner/one: its download broke off; run it again: whole files are kept\n"


def test_one_that_cannot_be_had_leaves_the_others_and_every_failure_is_named(hub, model, tmp_path):
    hub.push("owner/gated", model)
    hub.gated.add("owner/gated")
    weights = {path.name.replace(".", "__"): None for path in model.glob("*.safetensors")}
    hub.push("owner/pickled", model, **weights)
    models = (
        "owner/absent",
        "owner/gated",
        "owner/pickled",
        at("owner/one", "v9"),
        at("owner/one", "0" * 40),
        "owner/one",
    )
    said = refused(hub, tmp_path, *models)
    assert said.startswith("5 of 6 models were not fetched: ")
    reasons = said.partition(": ")[2].strip().split(" | ")
    assert reasons == [
        "owner/absent: there is no such model on the hub, or it is private; check its name, or set HF_TOKEN in the "
        "environment",
        "owner/gated: is gated and gives no access; ask for access on its page on the hub, then set HF_TOKEN in the "
        "environment",
        "owner/pickled: has no weights in safetensors (found pytorch_model.bin, a pickle, which can run code) in its "
        "repository on the hub at main; name another revision or model, or save it with save_pretrained and name the "
        "folder",
        "owner/one: has no revision v9 on the hub; name one of its branches, tags or commits",
        f"owner/one: has no revision {'0' * 40} on the hub; name one of its branches, tags or commits",
    ]
    assert fetched(hub, tmp_path, "owner/one")[0]["was_there"]


def test_without_the_network_there_is_one_line_and_offline_needs_none(hub, tmp_path):
    fetched(hub, tmp_path, "owner/one")
    nowhere = "http://127.0.0.1:9"
    said = refused(nowhere, tmp_path, "owner/one")
    assert said.startswith(f"owner/one: the hub ({nowhere}) cannot be reached; check the network and run it again")
    assert fetched(nowhere, tmp_path, "owner/one", offline=True)[0]["was_there"]
    assert fetched(nowhere, tmp_path, "owner/one", env={"HF_HUB_OFFLINE": "1"})[0]["was_there"]


def test_offline_a_model_must_be_whole_in_the_cache(hub, tmp_path):
    said = refused(hub, tmp_path, "owner/one", offline=True)
    assert said.startswith("owner/one: is not in this machine's cache of the hub, and the hub is not to be asked")
    (entry,) = fetched(hub, tmp_path, "owner/one")
    (Path(entry["folder"]) / "tokenizer_config.json").unlink()
    hub.forget()
    said = refused(hub, tmp_path, "owner/one", offline=True)
    assert said.startswith("owner/one: lacks tokenizer_config.json in this machine's cache of the hub")
    assert hub.asked == []


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


def test_the_token_comes_from_the_environment_and_is_written_nowhere(hub, model, tmp_path):
    hub.push("owner/gated", model)
    hub.gated.add("owner/gated")
    done, _ = run(hub, tmp_path, "owner/one", "owner/gated", env={"HF_TOKEN": TOKEN})
    assert hub.tokens == {False: {f"Bearer {TOKEN}"}, True: {None}}
    assert "owner/gated: is gated and gives no access" in done.stderr
    assert TOKEN not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if TOKEN.encode() in path.read_bytes()]


def test_progress_is_told_while_a_model_grows(hub, model, tmp_path):
    last = "model-00003-of-00003.safetensors"
    hub.push("owner/one", model, **{last.replace(".", "__"): bytes(60_000_000)})
    hub.held[last] = 30_000_000
    process = start(hub, tmp_path, "owner/one")
    first = process.stdout.readline()
    told = next(line for line in process.stdout if not line.startswith("owner/one: 0.00 "))
    hub.released.set()
    rest, _ = process.communicate()
    assert first.endswith(": 0.06 GiB to download\n")
    assert told == "owner/one: 0.02 of 0.06 GiB\n"
    assert rest.endswith("owner/one: downloaded, 0.06 GiB in 8 files\n")


def test_a_fetched_commit_is_loaded_without_a_word_to_the_hub(hub, tmp_path):
    hub.push("owner/whole", write_model(tmp_path / "m", sentencepiece_like()))
    (entry,) = fetched(hub, tmp_path, "owner/whole")
    hub.forget()
    code = f"from valuesassets.models.loading import load_model; load_model('owner/whole', '{entry['commit']}')"
    subprocess.run([sys.executable, "-c", code], env=environment(hub, tmp_path / "cache"), check=True)
    assert hub.asked == []
