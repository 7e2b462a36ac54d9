"""Downloads that end in the middle: a full disk, a killed process, a broken connection; how far one has come."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from valuesassets_tests.node.fetch_jobs import NOT_READ, at, fetched, refused, start
from valuesassets_tests.waiting import wait_until

LAST = "model-00003-of-00003.safetensors"


def needed(model):
    return {path.name for path in model.iterdir()} - {Path(name).parts[0] for name in NOT_READ}


def there(cache):
    """Names of the whole files of a cache."""
    return {path.name for path in (cache / "hub").glob("*/snapshots/*/*")}


@pytest.mark.slow
def test_a_disk_that_fills_during_the_download_is_said_in_one_line_and_whole_files_stay(
    hub, hub_model, small_disk, tmp_path
):
    hub.push("owner/one", hub_model, **{LAST.replace(".", "__"): bytes(1_200_000)})
    hub.held[LAST] = 1000
    process = start(hub, tmp_path, "owner/one", cache=small_disk, leave_free_gib=0)
    wait_until(lambda: there(small_disk) == needed(hub_model) - {LAST} and hub.sent > 1000)
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
    assert hub.files_sent() == {LAST}
    assert not entry["was_there"]


@pytest.mark.slow
def test_a_download_killed_in_the_middle_goes_on_with_what_was_not_whole(hub, hub_model, tmp_path):
    commit = hub.push("owner/one", hub_model, **{LAST.replace(".", "__"): bytes(24_000_000)})
    hub.held[LAST] = 12_000_000
    process = start(hub, tmp_path, "owner/one")
    blobs = tmp_path / "cache/hub/models--owner--one/blobs"
    wait_until(lambda: there(tmp_path / "cache") == needed(hub_model) - {LAST})
    wait_until(lambda: [path.stat().st_size for path in blobs.glob("*.incomplete")] == [10 * 2**20])
    process.send_signal(signal.SIGKILL)
    process.communicate()
    lacking = refused(hub, tmp_path, at("owner/one", commit), offline=True)
    assert lacking.startswith(f"owner/one: lacks {LAST} in this machine's cache of the hub")
    hub.released.set()
    hub.held.clear()
    hub.forget()
    said = refused(hub, tmp_path, "owner/one", leave_free_gib=1e6)
    assert "GiB free (0.00977 GiB there are unfinished downloads, which `hf cache prune` removes" in said
    (left,) = blobs.glob("*.incomplete")
    os.utime(left, (0, 0))
    (entry,) = fetched(hub, tmp_path, "owner/one")
    assert not left.exists()
    assert hub.files_sent() == {LAST}
    assert hub.sent == 24_000_000
    assert not entry["was_there"]
    assert there(tmp_path / "cache") == needed(hub_model)


@pytest.mark.slow
def test_a_download_that_breaks_off_for_good_is_said_in_one_line(hub, tmp_path):
    hub.cut["tokenizer.json"] = 100
    said = refused(hub, tmp_path, "owner/one")
    assert said == "owner/one: its download broke off; run it again: whole files are kept\n"


@pytest.mark.slow
def test_progress_is_told_while_a_model_grows(hub, hub_model, tmp_path):
    hub.push("owner/one", hub_model, **{LAST.replace(".", "__"): bytes(60_000_000)})
    hub.held[LAST] = 30_000_000
    process = start(hub, tmp_path, "owner/one")
    first = process.stdout.readline()
    told = next(line for line in process.stdout if not line.startswith(("owner/one: 0.00 ", "owner/one: 0.01 ")))
    hub.released.set()
    rest, _ = process.communicate()
    assert first.endswith(": 0.06 GiB to download\n")
    assert told == "owner/one: 0.02 of 0.06 GiB\n"
    assert rest.endswith("owner/one: downloaded, 0.06 GiB in 8 files\n")
