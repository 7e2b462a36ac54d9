"""Every fault that we know how to inject, by name."""

from valuesassets_tests.slurm_faults import cluster_faults, run_faults, submission_faults
from valuesassets_tests.slurm_faults.fault import Fault

FAULTS = {
    name: found
    for module in (submission_faults, cluster_faults, run_faults)
    for name, found in vars(module).items()
    if isinstance(found, Fault)
}
