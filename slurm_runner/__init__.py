"""Dagster-side Slurm, usable by any Dagster project: it knows nothing of `valuesassets`."""
