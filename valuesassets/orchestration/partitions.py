"""The two dimensions of an instrument: `model` for a family, and its own part; a cell is both."""

import dagster as dg

from valuesassets.orchestration.instruments import Instrument
from valuesassets.records.study import Study

MODEL = "model"


def part_partitions(study: Study, instrument: Instrument) -> dg.StaticPartitionsDefinition:
    """One partition per part of an instrument, in its order."""
    return dg.StaticPartitionsDefinition([part.name for part in instrument.parts_of(study)])


def model_partitions(study: Study) -> dg.StaticPartitionsDefinition:
    """One partition per model family."""
    return dg.StaticPartitionsDefinition(list(study.families))


def cell_partitions(study: Study, instrument: Instrument, kind: str = "") -> dg.MultiPartitionsDefinition:
    """Model family x part.

    Args:
        kind: of the families, where not all are meant.
    """
    families = [name for name, family in study.families.items() if kind in ("", family.kind)]
    return dg.MultiPartitionsDefinition(
        {MODEL: dg.StaticPartitionsDefinition(families), instrument.part: part_partitions(study, instrument)}
    )


def cell_key(family: str, part: str, dimension: str = "language") -> dg.MultiPartitionKey:
    """The partition key of a cell.

    Args:
        dimension: what the instrument calls its parts.
    """
    return dg.MultiPartitionKey({MODEL: family, dimension: part})


def family_and_part(key: dg.MultiPartitionKey) -> tuple[str, str]:
    """(model family, part) of a cell's key, whatever its instrument calls its parts."""
    keys = dict(key.keys_by_dimension)
    family = keys.pop(MODEL)
    (part,) = keys.values()
    return family, part


def own_partition(context: dg.AssetExecutionContext) -> str | None:
    """The partition of the asset that is being materialised; None for an asset without, whatever its run names."""
    return context.partition_key if context.has_partition_key and context.assets_def.partitions_def else None


def cell_of(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """(model family, part) of the partition that is being materialised."""
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        raise dg.DagsterInvariantViolationError(f"{key!r} is no partition of a model and a part")
    return family_and_part(key)
