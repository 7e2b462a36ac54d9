"""Slurm for Dagster projects: render a script, submit it once and only once, watch, cancel, re-attach.

The shared folder is the contract: whatever a submission is and whatever became of it lies in its folder, so that any
process that sees the folder can go on with it. It knows nothing of `valuesassets`.
"""
