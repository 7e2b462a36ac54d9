import pytest

from valuesassets_tests.slurm_faults.clusters import Clusters
from valuesassets_tests.slurm_faults.faults import FAULTS
from valuesassets_tests.slurm_faults.injection import inject

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.slurm_faults]


@pytest.fixture(scope="module")
def clusters():
    with Clusters() as clusters:
        yield clusters


def cases():
    """The faults, and the process that each is tried in: most mean the plain cluster, of which there are two."""
    for number, (name, fault) in enumerate(FAULTS.items()):
        group = f"plain cluster {number % 2}" if fault.cluster == "plain" else "other clusters"
        accounting = [pytest.mark.accounting] if fault.cluster == "accounting" else []
        yield pytest.param(name, marks=[pytest.mark.group(group), *accounting])


@pytest.mark.parametrize("name", [*cases()])
def test_no_fault_loses_a_cell_or_reads_one_twice(name, clusters, tmp_path, record_property):
    row = inject(FAULTS[name], clusters.get(FAULTS[name].cluster), tmp_path)
    record_property("name", name)
    record_property("row", row)
    assert (row["cells_lost"], row["jobs_duplicated"]) == (0, 0)
