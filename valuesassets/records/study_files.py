"""Study files: the bundled ones and a person's own, read into a `Study`."""

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pydantic

from valuesassets.records.errors import StorageError, StudyError
from valuesassets.records.faults import describe_faults
from valuesassets.records.files import read_file
from valuesassets.records.found_files import no_such_file
from valuesassets.records.slurm_settings import Resources, SlurmSettings
from valuesassets.records.study import PATTERNS, HumanData, Record, Study


def bundled_studies() -> list[str]:
    """Names of the studies that ship with the project."""
    folder = resources.files("valuesassets.studies")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def study_path(name_or_path: str) -> Path:
    """The file of a bundled study, or the path itself.

    Raises:
        StudyError: neither a bundled name nor something that is there.
    """
    if name_or_path in bundled_studies():
        return Path(str(resources.files("valuesassets.studies") / f"{name_or_path}.toml"))
    if name_or_path and Path(name_or_path).exists():
        return Path(name_or_path)
    raise StudyError(no_such_file(name_or_path, "study file", bundled_studies()))


def load_study(name_or_path: str) -> Study:
    """The study of a bundled name or a TOML file.

    Raises:
        StudyError: names file, key and reason.
    """
    path = study_path(name_or_path)
    try:
        text = read_file(path, "a study file (TOML)").decode("utf-8-sig")
        study = parse_study(tomllib.loads(text), str(path))
    except StorageError as error:
        raise StudyError(str(error)) from None
    except tomllib.TOMLDecodeError as error:
        said = str(error).replace("Cannot overwrite a value", "a key stands twice")
        raise StudyError(f"{path}: not TOML: {said}; mend the file there") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    _require_bundled(study, path)
    settings = study.questionnaires
    if name_or_path not in bundled_studies():
        folder = settings.overrides or Path(f"{path.stem}.overrides")
        settings = settings.model_copy(update={"overrides": _beside(path, folder)})
        study = study.model_copy(update={"questionnaires": settings})
    needed = {"pdf_dir": ("the PDFs", settings.source == "folder"), "extractions": ("the question files", True)}
    for key, (what, is_needed) in needed.items():
        named = getattr(settings, key)
        if named is None:
            continue
        absolute = _beside(path, named)
        if is_needed and not absolute.is_dir():
            raise StudyError(f"{path}: key 'questionnaires.{key}': {absolute}: no such folder; put {what} there")
        settings = settings.model_copy(update={key: absolute})
    return study.model_copy(update={"questionnaires": settings, "human": _human_files(study, path)})


def _human_files(study: Study, path: Path) -> HumanData:
    """The study's human data, its files named from the folder of the study file."""
    human = study.human
    files = tuple(each.model_copy(update={"path": _beside(path, each.path)}) for each in human.files)
    means = None if human.means is None else _beside(path, human.means)
    for key, absolute in [*(("human.files", each.path) for each in files), ("human.means", means)]:
        if absolute is not None and not absolute.is_file():
            raise StudyError(f"{path}: key '{key}': {no_such_file(absolute, 'file')}")
    return human.model_copy(update={"files": files, "means": means})


def _beside(path: Path, named: Path) -> Path:
    """A path that a study file names, from the folder that it lies in."""
    return (path.resolve().parent / os.path.expanduser(named)).resolve()


def _require_bundled(study: Study, path: Path) -> None:
    """See that the words around a question are known in every language, and the questionnaire where it is bundled."""
    needed = {"lexicons": ("lexicon", "toml")}
    if study.questionnaires.source == "bundled":
        needed["questionnaires"] = ("bundled questionnaire", "pdf")
    for folder, (what, ending) in needed.items():
        names = (entry.name for entry in (resources.files("valuesassets.studies") / folder).iterdir())
        known = sorted(name.removesuffix(f".{ending}") for name in names if name.endswith(f".{ending}"))
        for code in study.languages:
            if code not in known:
                raise StudyError(
                    f"{path}: key 'languages.{code}': no {what} in this language (there are {', '.join(known)}); "
                    f"leave the language out or add valuesassets/studies/{folder}/{code}.{ending}"
                )


def parse_study(content: dict[str, Any], source: str) -> Study:
    """A study from the content of its file.

    Raises:
        StudyError: names source, key and reason, the first three faults of several.
    """
    try:
        return Study.model_validate(content)
    except pydantic.ValidationError as error:
        parts = (Study, SlurmSettings, Resources, *Record.__subclasses__())
        keys = [key for part in parts for key in part.model_fields]
        raise StudyError(f"{source}: {describe_faults(error.errors(), keys, PATTERNS)}") from None
