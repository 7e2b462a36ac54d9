"""The Dagster resource of all assets: the paths of a study's files."""

from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from valuesassets.orchestration.partitions import family_and_part
from valuesassets.records.places import KNOWN_READINGS


@dataclass(frozen=True)
class Storage:
    """Paths below `<root>/<study>/`, the same for every asset and run."""

    root: str
    study: str

    @property
    def folder(self) -> Path:
        """The study's folder."""
        return Path(self.root) / self.study

    def path(self, key: dg.AssetKey, partition: str | None, extension: str) -> Path:
        """The file of an asset: `<instrument>/<asset>/<part>.<ext>`, `<model>/<part>.<ext>`, or `<asset>.<ext>`."""
        name = key.path[-1] if partition is None else partition_path(partition)
        return self.folder.joinpath(*key.path) / f"{name}.{extension}"

    def files(self, key: dg.AssetKey, extension: str) -> dict[str, Path]:
        """The existing files of an asset's partitions, by `<part>` or `<model>/<part>`."""
        folder = self.folder.joinpath(*key.path)
        paths = sorted(folder.rglob(f"*.{extension}"))
        return {path.relative_to(folder).as_posix().removesuffix(f".{extension}"): path for path in paths}

    @property
    def known_readings(self) -> Path:
        """The folder in which node jobs keep readings and answers for all studies."""
        return Path(self.root).absolute() / KNOWN_READINGS

    def job_folder(self, key: dg.AssetKey, partition: str | None) -> Path:
        """The folder of a node job's files, `jobs/<instrument>/<asset>/<partition>/`: job.json, log.txt, messages."""
        return self.folder.joinpath("jobs", *key.path, partition_path(partition) if partition else "all")


class StorageResource(dg.ResourceDefinition):
    """The storage as a Dagster resource without settings, so that no run can change it."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        super().__init__(lambda _: storage, config_schema={}, description="The folder of the study's files.")


def partition_path(partition: str) -> str:
    """A partition key as a relative path: `deu`, or for a cell `<model>/<part>`."""
    return "/".join(family_and_part(partition)) if isinstance(partition, dg.MultiPartitionKey) else partition
