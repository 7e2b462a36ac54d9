import pytest

from valuesassets_tests.slurm_faults.clusters import Clusters, has_accounting
from valuesassets_tests.slurm_faults.faults import FAULTS
from valuesassets_tests.slurm_faults.injection import inject

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.xdist_group("slurm")]


@pytest.fixture(scope="module")
def clusters():
    with Clusters() as clusters:
        yield clusters


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_loses_a_cell_or_reads_one_twice(name, clusters, tmp_path):
    kind = FAULTS[name].cluster
    if kind == "accounting" and not has_accounting():
        pytest.skip("needs slurmdbd and mariadb: apt-get install slurmdbd slurm-wlm-mysql-plugin mariadb-server-core")
    row = inject(FAULTS[name], clusters.get(kind), tmp_path)
    assert (row["cells_lost"], row["jobs_duplicated"]) == (0, 0)
