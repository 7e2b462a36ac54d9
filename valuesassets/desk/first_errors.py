"""The line of a failed run that says why it failed."""

import re

import dagster as dg

OWN_ERROR = re.compile(r"^valuesassets(\.\w+)+: ")
"""Our exceptions' class names, which add nothing to their messages."""
UNKNOWN = "the run failed; see its log in the UI"
TYPES = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}


def first_error(run_id: str, instance: dg.DagsterInstance) -> str:
    """The reason of the first failed step: its description, or the first line of its root error.

    Where no step failed, Dagster's last message on the run.
    """
    entries = instance.all_logs(run_id, of_type=TYPES)
    events = [entry.dagster_event for entry in entries if entry.dagster_event is not None]
    for event in events:
        failure = event.step_failure_data if event.is_step_failure else None
        if failure and failure.user_failure_data and failure.user_failure_data.description:
            return failure.user_failure_data.description
        if failure and failure.error:
            line = (failure.error.cause or failure.error).message.strip().splitlines()[0]
            return OWN_ERROR.sub("", line)
    return next((event.message for event in reversed(events) if event.message), UNKNOWN)
