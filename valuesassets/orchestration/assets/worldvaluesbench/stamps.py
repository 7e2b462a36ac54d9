"""What single keys of the instrument's table, and the files they name, make stale: no more than what rests on them."""

from pathlib import Path

from valuesassets.orchestration.code_versions import file_stamps
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.worldvaluesbench import AskedSet, WorldValuesBench
from valuesassets.records.study import Study


def stamp_of(study: Study, *keys: str) -> str:
    """A word for some keys of the table, as they are now."""
    settings = WorldValuesBench.of(study)
    told = settings.model_dump(mode="json", include={*keys})
    files = [path for key in keys if key != "seed_files" and isinstance(path := getattr(settings, key), Path)]
    if "ratings" in keys:
        files += [path for each in settings.ratings for path in (each.with_attributes, each.without) if path]
    texts = _of_seed_texts(settings.seed_files) if "seed_files" in keys and settings.seed_files else {}
    return sha256_json([told, [_of_file(path) for path in files], texts])


def stamps_of_sets(study: Study, *keys: str) -> dict[str, str]:
    """The same of some keys of each set, by its name: a set that changes makes no other stale."""
    return {name: _of_set(asked, keys) for name, asked in WorldValuesBench.of(study).sets.items()}


def _of_set(asked: AskedSet, keys: tuple[str, ...]) -> str:
    file = _of_file(asked.probe) if "probe" in keys and isinstance(asked.probe, Path) else {}
    return sha256_json([asked.model_dump(mode="json", include={*keys}), file])[:12]


def _of_seed_texts(folder: Path) -> dict[str, str]:
    """Of the files that prompts take their words from; the benchmark's folder holds others too."""
    own = [path.name for path in sorted(folder.glob("figure_*.txt"))]
    names = ("question_metadata.json", "codebook.json", *own)
    return file_stamps(folder, {name: name for name in names})


def _of_file(path: Path) -> dict[str, str]:
    return file_stamps(path.parent, {path.name: path.name})
