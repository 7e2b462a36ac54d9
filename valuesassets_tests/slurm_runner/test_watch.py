import pytest

from valuesassets_tests.slurm_runner.arrays import watch_array

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("slurm")]


def test_an_array_is_watched_with_one_query_a_tick_and_every_task_judged_by_what_it_did(cluster, tmp_path):
    watched = watch_array(120, tmp_path, seconds_between=0.3)
    assert watched.endings == {"done": 118, "failed": 2}
    assert watched.misjudged == []
    assert watched.most_queries == 1
