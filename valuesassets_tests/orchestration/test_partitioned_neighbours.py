"""One run of a partition and of an asset without partitions beside it, as a click on both in the UI launches it."""

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("graph")]


def pairs_of(graph):
    """(Asset with partitions, asset without) for each of the latter that has such a neighbour; none asks models."""
    for key in sorted(graph.materializable_asset_keys, key=str):
        node = graph.get(key)
        beside = sorted(
            (each for each in node.parent_keys | node.child_keys if graph.get(each).partitions_def), key=str
        )
        cheap = [each for each in beside if "asks_models" not in graph.get(each).tags]
        if not node.partitions_def and "asks_models" not in node.tags and cheap:
            yield cheap[0], key


@pytest.mark.parametrize(("made", "every"), [("small_study", 8), ("small_robustness", 4)])
def test_a_partition_and_an_asset_without_partitions_are_made_in_one_run(made, every, request, tmp_path, monkeypatch):
    for name, value in copied(request.getfixturevalue(made), tmp_path).items():
        monkeypatch.setenv(name, value)
    definitions = build_definitions(load_study(str(tmp_path / "small.toml")), tmp_path / "storage")
    graph = definitions.resolve_asset_graph()
    pairs = list(pairs_of(graph))[::every]
    assert len(pairs) >= 2
    jobs = [dg.define_asset_job(f"pair_{number}", selection=pair) for number, pair in enumerate(pairs)]
    together = dg.Definitions.merge(definitions, dg.Definitions(jobs=jobs))
    with dg.DagsterInstance.ephemeral() as instance:
        for job, pair in zip(jobs, pairs, strict=True):
            partition = graph.get(pair[0]).partitions_def.get_partition_keys()[0]
            run = together.resolve_job_def(job.name).execute_in_process(
                instance=instance, partition_key=partition, raise_on_error=False
            )
            assert run.success, [each.to_user_string() for each in pair]
