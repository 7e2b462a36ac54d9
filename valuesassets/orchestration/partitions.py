"""The two dimensions of a study: `language`, and `model` for a family; a cell is both."""

import dagster as dg

from valuesassets.records.study import Study


def language_partitions(study: Study) -> dg.StaticPartitionsDefinition:
    """One partition per language, in the study's order."""
    return dg.StaticPartitionsDefinition(list(study.languages))


def model_partitions(study: Study) -> dg.StaticPartitionsDefinition:
    """One partition per model family."""
    return dg.StaticPartitionsDefinition(list(study.families))


def cell_partitions(study: Study) -> dg.MultiPartitionsDefinition:
    """Model family x language."""
    return dg.MultiPartitionsDefinition({"model": model_partitions(study), "language": language_partitions(study)})


def calibrated_cell_partitions(study: Study) -> dg.MultiPartitionsDefinition:
    """Reference family x language: the cells in which something is planted."""
    planted = [name for name, family in study.families.items() if family.kind == "reference"]
    return dg.MultiPartitionsDefinition(
        {"model": dg.StaticPartitionsDefinition(planted), "language": language_partitions(study)}
    )


def cell_key(model: str, language: str) -> dg.MultiPartitionKey:
    """The partition key of a cell."""
    return dg.MultiPartitionKey({"model": model, "language": language})


def cell_of(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """(model family, language) of the partition that is being materialised."""
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        raise dg.DagsterInvariantViolationError(f"{key!r} is not a model x language partition")
    return key.keys_by_dimension["model"], key.keys_by_dimension["language"]
