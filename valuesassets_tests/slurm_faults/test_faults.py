import pytest

from valuesassets_tests.slurm_faults.clusters import Clusters
from valuesassets_tests.slurm_faults.faults import FAULTS
from valuesassets_tests.slurm_faults.injection import inject

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.xdist_group("slurm")]


@pytest.fixture(scope="module")
def clusters():
    with Clusters() as clusters:
        yield clusters


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.accounting] * (fault.cluster == "accounting"))
        for name, fault in FAULTS.items()
    ],
)
def test_no_fault_loses_a_cell_or_reads_one_twice(name, clusters, tmp_path):
    row = inject(FAULTS[name], clusters.get(FAULTS[name].cluster), tmp_path)
    assert (row["cells_lost"], row["jobs_duplicated"]) == (0, 0)
