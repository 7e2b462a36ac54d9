"""Stamps of the files that the survey's questions come from: each makes stale what rests on it, and no more."""

from typing import Any

import dagster as dg

from valuesassets.orchestration.code_versions import file_stamps
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.questionnaires import IMPORTED, Questionnaires
from valuesassets.records.study import Study


def questionnaire_stamps(study: Study) -> dict[str, str]:
    """By language, the stamp of the PDF that a study takes from a folder."""
    files = {code: language.pdf or f"{code}.pdf" for code, language in study.languages.items()}
    return file_stamps(Questionnaires.of(study).pdf_dir, files)


def override_stamps(study: Study) -> dict[str, str]:
    """By language, the stamp of a person's corrections."""
    return file_stamps(Questionnaires.of(study).overrides, {code: f"{code}.toml" for code in study.languages})


def import_stamps(study: Study) -> dict[str, str]:
    """By language, the stamp of an extraction that was made elsewhere."""
    folder = Questionnaires.of(study).extractions
    by_ending = (file_stamps(folder, {code: f"{code}{end}" for code in study.languages}) for end in IMPORTED)
    return {code: stamp for stamps in by_ending for code, stamp in stamps.items()}


def lexicon_stamps(study: Study) -> dict[str, str]:
    """By language, the stamp of the lexicon that a study names for it."""
    paths = {code: language.lexicon for code, language in study.languages.items() if language.lexicon}
    return {
        code: stamp for code, path in paths.items() for stamp in file_stamps(path.parent, {code: path.name}).values()
    }


def together(*stamps: dict[str, str]) -> dict[str, str]:
    """Stamps of several files by language, as one."""
    return {code: "".join(each.get(code, "") for each in stamps) for code in {}.fromkeys(c for s in stamps for c in s)}


def content_version(rows: list[Any]) -> dg.DataVersion:
    """A data version that stays while the content stays, whatever code and inputs it came from."""
    return dg.DataVersion(sha256_json(rows)[:16])
