"""Cells that are left out, with reasons: their preflight failed, or they have no trials."""

from collections.abc import Sequence

from valuesassets.orchestration.instruments import Instrument, instruments_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import StudyError
from valuesassets.records.parquet import LEFT_OUT, table_metadata
from valuesassets.records.seals import read_record
from valuesassets.records.study import Cell, Study
from valuesassets.records.trials import NoTrials, Trial


def require_overrides(study: Study) -> None:
    """Require that every override in the study file names a cell of an instrument of the study; StudyError where one
    does not."""
    overrides = study.preflight.overrides
    parts = [part for instrument in instruments_of(study) for part in instrument.parts_of(study)] if overrides else []
    for name in overrides:
        family, _, part_name = name.partition("/")
        languages = study.family_languages(family) if family in study.families else ()
        if not any(part.name == part_name and part.language in languages for part in parts):
            every = (str(cell) for instrument in instruments_of(study) for cell in instrument.cells(study))
            raise StudyError(
                f"preflight.overrides: {name!r} is no cell of the study; say <model>/<part> such as {min(every)}"
            )


def overrides_of(study: Study, instrument: Instrument, family: str) -> dict[str, str]:
    """The overrides of a family's preflight, by part of an instrument; StudyError where an override names no cell."""
    require_overrides(study)
    languages = study.family_languages(family)
    cells = [Cell(family, part) for part in instrument.parts_of(study) if part.language in languages]
    reasons = {cell.part.name: study.preflight.of_cell(str(cell)) for cell in cells}
    return {part: reason for part, reason in reasons.items() if reason}


def why_no_trials(trials: Sequence[Trial]) -> str:
    """Why a part has no trials."""
    return trials.reason if isinstance(trials, NoTrials) else "it has no trials"


def why_not_asked(storage: Storage, instrument: Instrument, part: str) -> str | None:
    """Why no model is asked in a part, from its file of trials; None if models are asked or the file is missing."""
    path = storage.path(instrument.key("trials"), part, "parquet")
    return table_metadata(path).get(LEFT_OUT) if path.exists() else None


def left_out_cells(study: Study, storage: Storage, instrument: Instrument) -> dict[str, str]:
    """The cells that existing preflights leave out, by `<model>/<part>`, with reasons."""
    from valuesassets.answers.preflight import left_out_parts

    reasons_by_cell: dict[str, str] = {}
    for family in study.families:
        path = storage.path(instrument.key("preflight"), family, "json")
        if path.exists():
            reasons = left_out_parts(read_record(path), overrides_of(study, instrument, family))
            reasons_by_cell |= {f"{family}/{part}": reason for part, reason in reasons.items()}
    return reasons_by_cell
