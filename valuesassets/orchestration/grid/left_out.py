"""Which cells no model is asked in, and why: their preflight failed, or they have nothing that could be asked."""

from collections.abc import Sequence

from valuesassets.orchestration.instruments import Instrument, instruments_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import StudyError
from valuesassets.records.parquet import LEFT_OUT, table_metadata
from valuesassets.records.seals import read_record
from valuesassets.records.study import Cell, Study
from valuesassets.records.trials import NoTrials, Trial


def require_overrides(study: Study) -> None:
    """See that every override is of a cell.

    Raises:
        StudyError: a cell is named that no instrument of the study has.
    """
    named = study.preflight.overrides
    parts = [part for each in instruments_of(study) for part in each.parts_of(study)] if named else []
    for name in named:
        family, _, asked = name.partition("/")
        served = study.family_languages(family) if family in study.families else ()
        if not any(part.name == asked and part.language in served for part in parts):
            every = (str(cell) for each in instruments_of(study) for cell in each.cells(study))
            raise StudyError(
                f"preflight.overrides: {name!r} is no cell of the study; say <model>/<part> such as {min(every)}"
            )


def overrides_of(study: Study, instrument: Instrument, family: str) -> dict[str, str]:
    """By part of an instrument, why a family is asked whatever its preflight finds.

    Raises:
        StudyError: a cell is named that no instrument of the study has.
    """
    require_overrides(study)
    served = study.family_languages(family)
    cells = [Cell(family, part) for part in instrument.parts_of(study) if part.language in served]
    given = {cell.part.name: study.preflight.of_cell(str(cell)) for cell in cells}
    return {part: reason for part, reason in given.items() if reason}


def why_no_trials(trials: Sequence[Trial]) -> str:
    """Why a part has nothing to ask."""
    return trials.reason if isinstance(trials, NoTrials) else "it has no trials"


def why_not_asked(storage: Storage, instrument: Instrument, part: str) -> str | None:
    """Why nobody is asked in a part, as its file of trials says; None where they are, or there is no file."""
    path = storage.path(instrument.key("trials"), part, "parquet")
    return table_metadata(path).get(LEFT_OUT) if path.exists() else None


def left_out_cells(study: Study, storage: Storage, instrument: Instrument) -> dict[str, str]:
    """Why cells are not asked, by `<model>/<part>`, as far as preflights have been made."""
    from valuesassets.answers.preflight import left_out_parts

    found: dict[str, str] = {}
    for family in study.families:
        path = storage.path(instrument.key("preflight"), family, "json")
        if path.exists():
            reasons = left_out_parts(read_record(path), overrides_of(study, instrument, family))
            found |= {f"{family}/{part}": reason for part, reason in reasons.items()}
    return found
