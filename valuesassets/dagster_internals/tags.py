"""Names of the tags in which Dagster keeps versions, partitions, retries and backfills."""

from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    INPUT_DATA_VERSION_TAG_PREFIX,
    INPUT_EVENT_POINTER_TAG_PREFIX,
    extract_data_version_from_entry,
    get_input_event_pointer_tag,
)
from dagster._core.storage.tags import BACKFILL_ID_TAG, GRPC_INFO_TAG, MAX_RETRIES_TAG, PARTITION_NAME_TAG

__all__ = [
    "BACKFILL_ID_TAG",
    "CODE_VERSION_TAG",
    "DATA_VERSION_IS_USER_PROVIDED_TAG",
    "DATA_VERSION_TAG",
    "GRPC_INFO_TAG",
    "INPUT_DATA_VERSION_TAG_PREFIX",
    "INPUT_EVENT_POINTER_TAG_PREFIX",
    "MADE_OF",
    "MAX_RETRIES_TAG",
    "PARTITION_NAME_TAG",
    "extract_data_version_from_entry",
    "get_input_event_pointer_tag",
]

MADE_OF = "valuesassets/study_entries"
"""Our own tag of a materialisation: a hash of the entries of a study that it was made of."""
