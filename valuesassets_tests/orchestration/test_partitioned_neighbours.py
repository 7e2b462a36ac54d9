"""One run of a partition and of the assets without partitions beside it, as a click on them in the UI launches it."""

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.small_study import copied
from valuesassets_tests.orchestration.study_here import sketched

pytestmark = pytest.mark.slow


def runs_of(graph):
    """By a partition: every asset that has it, and those without partitions beside one of them."""
    nodes = [graph.get(key) for key in sorted(graph.materializable_asset_keys, key=str)]
    found = {}
    for node in nodes:
        if node.partitions_def is None:
            continue
        keys = iter(node.partitions_def.get_partition_keys())
        beside = [key for key in node.parent_keys | node.child_keys if graph.get(key).partitions_def is None]
        found.setdefault((node.partitions_def, next(keys)), set()).update([node.key, *beside])
    return [(partition, selection) for (_, partition), selection in found.items()]


@pytest.mark.parametrize("made", ["small_study", "small_ratings", "small_psych", "small_robustness", "small_worldwise"])
def test_a_partition_and_all_assets_without_partitions_beside_it_are_made_in_one_run(
    made, request, tmp_path, monkeypatch
):
    for name, value in copied(request.getfixturevalue(made), tmp_path).items():
        monkeypatch.setenv(name, value)
    study = load_study(str(tmp_path / "small.toml"))
    definitions = build_definitions(study, tmp_path / "storage")
    graph = definitions.resolve_asset_graph()
    runs = runs_of(graph)
    jobs = [dg.define_asset_job(f"run_{n}", selection=[*selection]) for n, (_, selection) in enumerate(runs)]
    together = dg.Definitions.merge(definitions, dg.Definitions(jobs=jobs))
    with sketched(), dg.DagsterInstance.ephemeral() as instance:
        for job, (partition, selection) in zip(jobs, runs, strict=True):
            run = together.resolve_job_def(job.name).execute_in_process(
                instance=instance, partition_key=partition, raise_on_error=False
            )
            assert run.success, partition
            assert {event.asset_key for event in run.get_asset_materialization_events()} == selection
