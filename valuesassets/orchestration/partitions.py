"""Partitions: the two dimensions of an instrument are `model` (a family) and its own part; a cell has both."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

import dagster as dg

from valuesassets.orchestration.instruments import Instrument
from valuesassets.records.settings.cells import Family
from valuesassets.records.study import Study

MODEL = "model"


def part_partitions(study: Study, instrument: Instrument) -> dg.StaticPartitionsDefinition:
    """One partition per part of an instrument, in its order."""
    return dg.StaticPartitionsDefinition([part.name for part in instrument.parts_of(study)])


def model_partitions(study: Study) -> dg.StaticPartitionsDefinition:
    """One partition per model family."""
    return dg.StaticPartitionsDefinition(list(study.families))


class CellPartitions(dg.MultiPartitionsDefinition):
    """Model family x part, without combinations that are no cells of the study.

    Dagster's servers only know the two dimensions and offer all combinations. A run of a combination that is no cell
    ends at once (`assets/declaring.py`); this class never lists it.

    Args:
        dimensions: the two dimensions, for Dagster.
        absent: (family, part) of the combinations that are no cells.
    """

    def __init__(self, dimensions: Mapping[str, dg.PartitionsDefinition], absent: Set[tuple[str, str]]) -> None:
        super().__init__(dict(dimensions))
        self._absent, self._hash = absent, super().__hash__()

    def __hash__(self) -> int:
        """Computed once, since Dagster asks for it with every partition."""
        return self._hash

    def get_partition_keys(self, *when: Any, **where: Any) -> Sequence[dg.MultiPartitionKey]:
        """The keys of all cells; arguments do not matter, since both dimensions are static."""
        return self._keys

    @cached_property
    def _keys(self) -> Sequence[dg.MultiPartitionKey]:
        keys = super().get_partition_keys()
        return [key for key in keys if family_and_part(key) not in self._absent] if self._absent else keys

    def is_cell(self, key: str) -> bool:
        """Whether a partition is a cell of the study."""
        return family_and_part(self.get_partition_key_from_str(key)) not in self._absent


def why_no_cell(partitions: dg.PartitionsDefinition | None, key: str | None) -> str | None:
    """Why a partition is no cell of the study; None where it is one, or where the asset has no cells."""
    if key is None or not isinstance(partitions, CellPartitions) or partitions.is_cell(key):
        return None
    family, part = family_and_part(partitions.get_partition_key_from_str(key))
    return f"no cell of the study: {family} has no {part}"


def cell_partitions(
    study: Study, instrument: Instrument, is_chosen: Callable[[Family], object] = bool
) -> CellPartitions:
    """The partitions of an instrument's cells, for all families or for chosen ones."""
    families = [name for name, family in study.families.items() if is_chosen(family)]
    languages, parts = {name: {*study.family_languages(name)} for name in families}, instrument.parts_of(study)
    absent = {(name, part.name) for name in families for part in parts if part.language not in languages[name]}
    dimensions = {MODEL: dg.StaticPartitionsDefinition(families), instrument.part: part_partitions(study, instrument)}
    return CellPartitions(dimensions, absent)


def is_reference(family: Family) -> bool:
    """Whether a family is trained here."""
    return family.kind == "reference"


def is_drawn(family: Family) -> bool:
    """Whether a family's answers are drawn."""
    return family.draws is not None


def cell_key(family: str, part: str, dimension: str = "language") -> dg.MultiPartitionKey:
    """The partition key of a cell; `dimension` is the instrument's name for its parts."""
    return dg.MultiPartitionKey({MODEL: family, dimension: part})


def family_and_part(key: dg.MultiPartitionKey) -> tuple[str, str]:
    """(model family, part) of a cell's key, whatever its instrument's name for parts."""
    keys = dict(key.keys_by_dimension)
    family = keys.pop(MODEL)
    (part,) = keys.values()
    return family, part


def own_partition(context: dg.AssetExecutionContext) -> str | None:
    """The partition of the asset being materialised; None for an asset without partitions in a run with one."""
    return context.partition_key if context.has_partition_key and context.assets_def.partitions_def else None


def cell_of(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """(model family, part) of the partition being materialised."""
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        raise dg.DagsterInvariantViolationError(f"{key!r} is no partition of a model and a part")
    return family_and_part(key)
