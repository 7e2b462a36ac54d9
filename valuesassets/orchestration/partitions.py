"""The two dimensions of an instrument: `model` for a family, and its own part; a cell is both."""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import Any

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


class CellPartitions(dg.MultiPartitionsDefinition):
    """Model family x part, of which those are listed that the study asks.

    Dagster's servers know the two dimensions alone and offer the whole product. So there may be a run of a partition
    that is no cell: it ends at once (`assets/declaring.py`), and nothing that lists partitions here sees it.

    Args:
        dimensions: as Dagster takes them.
        absent: (family, part) of those that are no cells.
    """

    def __init__(self, dimensions: Mapping[str, dg.PartitionsDefinition], absent: Set[tuple[str, str]]) -> None:
        super().__init__(dict(dimensions))
        self._absent, self._hash = absent, super().__hash__()

    def __hash__(self) -> int:
        """Found out once: Dagster asks for it with every partition."""
        return self._hash

    def get_partition_keys(self, *when: Any, **where: Any) -> Sequence[dg.MultiPartitionKey]:
        """The keys of all cells, whenever and wherever that is asked: both dimensions are static."""
        return self._keys

    @cached_property
    def _keys(self) -> Sequence[dg.MultiPartitionKey]:
        keys = super().get_partition_keys()
        return [key for key in keys if family_and_part(key) not in self._absent] if self._absent else keys

    def is_cell(self, key: str) -> bool:
        """Whether a partition is a cell of the study."""
        return family_and_part(self.get_partition_key_from_str(key)) not in self._absent


def why_no_cell(partitions: dg.PartitionsDefinition | None, key: str | None) -> str | None:
    """Why a partition that Dagster offers is no cell of the study; None where it is one, or none of a grid."""
    if key is None or not isinstance(partitions, CellPartitions) or partitions.is_cell(key):
        return None
    family, part = family_and_part(partitions.get_partition_key_from_str(key))
    return f"no cell of the study: {family} has no {part}"


def cell_partitions(study: Study, instrument: Instrument, kind: str = "") -> CellPartitions:
    """Model family x part.

    Args:
        kind: of the families, where not all are meant.
    """
    families = [name for name, family in study.families.items() if kind in ("", family.kind)]
    served, parts = {name: {*study.family_languages(name)} for name in families}, instrument.parts_of(study)
    absent = {(name, part.name) for name in families for part in parts if part.language not in served[name]}
    dimensions = {MODEL: dg.StaticPartitionsDefinition(families), instrument.part: part_partitions(study, instrument)}
    return CellPartitions(dimensions, absent)


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
