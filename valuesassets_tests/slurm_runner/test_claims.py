import json
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from slurm_runner.claims import CLAIM, Claim, History, claims_lock, materialised_by, read_claim, standing_claim
from slurm_runner.errors import SlurmError
from slurm_runner.files import locked, read_json, write_json
from slurm_runner.submission import RECORD
from valuesassets_tests.slurm_runner.batch import prepared

CELLS = dg.AssetKey("cells")
EACH = dg.StaticPartitionsDefinition(["one", "two"])


@dg.asset(partitions_def=EACH)
def cells():
    pass


@pytest.fixture
def instance(tmp_path):
    with dg.instance_for_test(temp_dir=str(tmp_path)) as made:
        yield made


def materialise(instance, partition):
    return dg.materialize([cells], instance=instance, partition_key=partition, raise_on_error=False).run_id


@pytest.fixture
def claimed(tmp_path):
    """A folder, and the claim in it."""
    submission = prepared(tmp_path / "root", "true")
    claim = Claim(tmp_path / "cell", str(submission.folder), 0, "asked").write()
    return tmp_path / "cell", claim, submission


@pytest.mark.slow
def test_a_claim_serves_what_was_asked_until_its_result_is_used_up(claimed, instance):
    folder, claim, submission = claimed
    assert standing_claim(folder, "asked") == (claim, submission)
    assert standing_claim(folder, "something else") is None
    assert standing_claim(folder.with_name("another"), "asked") is None
    run = dg.DagsterRun("rivers", "first", status=dg.DagsterRunStatus.SUCCESS)
    instance.add_run(run)
    assert not claim.is_used_up(History(instance, dg.DagsterRun("rivers", "again")), [], None)
    claim.hand_over(run.run_id)
    assert read_claim(folder).is_used_up(History(instance, dg.DagsterRun("rivers", "again")), [], None)
    assert not read_claim(folder).is_used_up(History(instance, run), [], None)


def test_a_claim_on_what_slurm_refused_or_what_is_gone_serves_nobody(claimed):
    folder, _, submission = claimed
    record = submission.folder / RECORD
    write_json(record, read_json(record) | {"refused": "no"})
    assert standing_claim(folder, "asked") is None
    record.unlink()
    assert standing_claim(folder, "asked") is None


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"submission": "x", "index": 0, "other": 1}'])
def test_a_damaged_claim_is_none(claimed, damaged):
    folder, *_ = claimed
    (folder / CLAIM).write_text(damaged)
    assert read_claim(folder) is None


def test_a_claim_or_record_that_the_disk_does_not_give_is_never_taken_for_none(claimed):
    folder, claim, submission = claimed
    (submission.folder / RECORD).unlink()
    (submission.folder / RECORD).mkdir()  # stands for what NFS does: it is there, and reading it fails
    with pytest.raises(SlurmError, match="cannot be read"):
        standing_claim(folder, "asked")
    (folder / CLAIM).unlink()
    (folder / CLAIM).mkdir()
    for question in (lambda: standing_claim(folder, "asked"), lambda: claim.drop()):
        with pytest.raises(SlurmError, match="cannot be read"):
            question()


def test_a_slow_run_neither_drops_nor_hands_over_the_claim_that_took_the_place_of_its_own(claimed):
    folder, claim, _ = claimed
    newer = replace(claim, submission="newer")
    newer.write()
    claim.hand_over("slow")
    claim.drop()
    assert read_claim(folder) == newer
    newer.hand_over("quick")
    assert read_claim(folder) == replace(newer, given_to="quick")
    newer.drop()
    assert read_claim(folder) is None
    newer.hand_over("late")
    assert read_claim(folder) is None


def test_a_claim_knows_who_waits_for_its_result(claimed, instance):
    folder, claim, _ = claimed
    ended = {"done": dg.DagsterRunStatus.SUCCESS, "going": dg.DagsterRunStatus.CANCELING}
    asking = {"one": dg.DagsterRunStatus.STARTED} | ended
    for run, status in asking.items():
        instance.add_run(dg.DagsterRun("rivers", run, status=status))
        claim = claim.join(run)
    claim = claim.join("no such run")
    assert claim.is_wanted_by_others(instance, "done")
    assert not claim.is_wanted_by_others(instance, "one")
    replace(claim, wanted_by=()).hand_over("one")
    assert read_claim(folder) == replace(claim, wanted_by=(*asking, "no such run"), given_to="one")
    assert not replace(claim, submission="older").is_wanted_by_others(instance, "done")


def _count(root, times):
    for _ in range(times):
        with claims_lock(root):
            path = root / "count"
            seen = int(path.read_text()) if path.exists() else 0
            path.write_text(str(seen + 1))


def test_one_process_at_a_time_makes_claims(tmp_path):
    processes = [multiprocessing.get_context("fork").Process(target=_count, args=(tmp_path, 30)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert (tmp_path / "count").read_text() == "90"


def test_a_file_is_whole_or_not_there(tmp_path):
    write_json(tmp_path / "a.json", {"a": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "a.json", {"a": [1, object()]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": 1}


def test_a_folder_that_cannot_be_written_is_an_error_with_advice(tmp_path):
    (tmp_path / "file").touch()
    for write in (
        lambda: write_json(tmp_path / "file" / "a.json", {}),
        lambda: Claim(tmp_path / "file", "x", 0, "x").write(),
        lambda: claims_lock(tmp_path / "file").__enter__(),
        lambda: locked(tmp_path / "file" / "lock").__enter__(),
        lambda: prepared(tmp_path / "file", "true"),
    ):
        with pytest.raises(SlurmError, match=r"file.*cannot be written: .*free space or choose a folder"):
            write()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.slow
def test_what_a_run_has_materialised_is_its_own_and_no_other_runs(instance):
    first, second = materialise(instance, "one"), materialise(instance, "two")
    assert materialised_by(instance, first, CELLS) == {"one"}
    assert materialised_by(instance, second, CELLS) == {"two"}
    assert materialised_by(instance, first, dg.AssetKey("others")) == set()
    assert materialised_by(instance, "no such run", CELLS) == set()


@pytest.mark.slow
def test_a_result_is_not_used_up_by_a_run_that_was_killed_while_it_stored_the_event(instance, monkeypatch):
    """Dagster writes an event to the run's log, then to the history of its asset."""
    stored = SqliteEventLogStorage._store_asset_event

    def killed(storage, connection, event, event_id):
        if event.dagster_event_type is dg.DagsterEventType.ASSET_MATERIALIZATION:
            raise SystemExit
        stored(storage, connection, event, event_id)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteEventLogStorage, "_store_asset_event", killed)
        materialise(instance, "one")
    (run,) = instance.get_runs()
    kinds = [entry.dagster_event_type for entry in instance.all_logs(run.run_id)]
    assert dg.DagsterEventType.ASSET_MATERIALIZATION in kinds
    assert instance.get_latest_materialization_event(CELLS) is None
    assert materialised_by(instance, run.run_id, CELLS) == set()
    claim, again = Claim(Path(), "folder", 0, "asked", given_to=run.run_id), dg.DagsterRun("again")
    assert not claim.is_used_up(History(instance, again), [CELLS], "one")
    done = materialise(instance, "one")
    assert Claim(Path(), "folder", 0, "asked", given_to=done).is_used_up(History(instance, again), [CELLS], "one")
