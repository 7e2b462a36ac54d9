"""All that `slurm_runner` uses of Dagster's private modules, which may change at any release."""

from dagster._core.pipes.context import build_external_execution_context_data
from dagster._core.storage.tags import RETRY_NUMBER_TAG

__all__ = ["RETRY_NUMBER_TAG", "build_external_execution_context_data"]
