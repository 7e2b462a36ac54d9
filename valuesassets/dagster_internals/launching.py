"""What a run launcher is given by Dagster, and what it answers when it is asked how a run's process is."""

from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus

__all__ = ["CheckRunHealthResult", "DagsterUserCodeUnreachableError", "LaunchRunContext", "WorkerStatus"]
