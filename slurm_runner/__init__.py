"""Slurm for Dagster projects: render a script, submit it exactly once, watch, cancel, re-attach.

Everything about a submission is in its folder on a shared disk, so that any process that sees the folder can continue
with it. The package is independent of `valuesassets`.
"""
