import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from slurm_runner.claims import Claim
from slurm_runner.runs import is_used_up, materialised_by

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


def test_what_a_run_has_materialised_is_its_own_and_no_other_runs(instance):
    first, second = materialise(instance, "one"), materialise(instance, "two")
    assert materialised_by(instance, first, CELLS) == {"one"}
    assert materialised_by(instance, second, CELLS) == {"two"}
    assert materialised_by(instance, first, dg.AssetKey("others")) == set()
    assert materialised_by(instance, "no such run", CELLS) == set()


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
    claim, again = Claim("folder", 0, "asked", given_to=run.run_id), dg.DagsterRun("again")
    assert not is_used_up(instance, claim, again, [CELLS], "one")
    done = materialise(instance, "one")
    assert is_used_up(instance, Claim("folder", 0, "asked", given_to=done), again, [CELLS], "one")
