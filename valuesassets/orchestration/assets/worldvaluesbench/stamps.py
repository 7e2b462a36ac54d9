"""Version stamps: each asset hashes only the settings and files that it uses, so that others stay fresh."""

from pathlib import Path

from valuesassets.orchestration.code_versions import file_stamps
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.worldvaluesbench import AskedSet, WorldValuesBench
from valuesassets.records.study import Study


def stamp_of(study: Study, *keys: str) -> str:
    """A hash of some keys of the table, and of the files that they name."""
    settings = WorldValuesBench.of(study)
    values = settings.model_dump(mode="json", include={*keys})
    files = [path for key in keys if key != "seed_files" and isinstance(path := getattr(settings, key), Path)]
    if "ratings" in keys:
        files += [path for each in settings.ratings for path in (each.with_attributes, each.without) if path]
    texts = _of_published_texts(settings.seed_files) if "seed_files" in keys and settings.seed_files else {}
    return sha256_json([values, [_of_file(path) for path in files], texts])


def stamps_of_sets(study: Study, *keys: str) -> dict[str, str]:
    """A hash of some keys of each set, by its name: a set that changes makes no other stale."""
    return {name: _of_set(entry, keys) for name, entry in WorldValuesBench.of(study).sets.items()}


def _of_set(entry: AskedSet, keys: tuple[str, ...]) -> str:
    file = _of_file(entry.probe) if "probe" in keys and isinstance(entry.probe, Path) else {}
    return sha256_json([entry.model_dump(mode="json", include={*keys}), file])[:12]


def _of_published_texts(folder: Path) -> dict[str, str]:
    """Stamps of the files that prompts take their words from; the benchmark's folder holds others too."""
    figures = [path.name for path in sorted(folder.glob("figure_*.txt"))]
    names = ("question_metadata.json", "codebook.json", *figures)
    return file_stamps(folder, {name: name for name in names})


def _of_file(path: Path) -> dict[str, str]:
    return file_stamps(path.parent, {path.name: path.name})
