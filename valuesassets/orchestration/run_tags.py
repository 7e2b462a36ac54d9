"""Tags that runs of a study carry, so that others see where a run belongs."""

COMMAND_TAG = "valuesassets/command"
"""Carried by runs that a command executes one after another; says which one."""
RUN_STUDY = "run_study"
PART_OF_TAG = "valuesassets/part_of"
"""Carried by the runs that a job has started, with the id of the job's own run: the UI finds them by it."""
