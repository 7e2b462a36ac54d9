"""The command `shift`: before a run the smallest shift that it would find, after it the verdicts."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets.cli.inputs import StudyName, open_study
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.places import storage_root

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.instruments.survey.measures.shift_before_run import PredictedShift
    from valuesassets.records.study import Study


def shift(name: StudyName) -> None:
    """Print the verdicts on the shifts of a study that was run; before, the smallest shift that it would find."""
    study = open_study(name)
    if not study.shift:
        raise InputError(f"study {study.name}: it has no [shift.<name>]; add one with before, after and toward")
    place = storage_root() / study.name / "survey"
    refused, verdicts = (place / "shift" / f"{table}.parquet" for table in ("refused", "verdicts"))
    if refused.is_file():
        raise InputError(f"study {study.name}: {_frame(refused)['reason'].iloc[0]}")
    for line in _verdicts(study, place) if verdicts.is_file() else _predicted(study, place, name):
        print(line)


def _frame(path: Path) -> "pd.DataFrame":
    from valuesassets.records.parquet import stored_frame

    return stored_frame(path)


def _verdicts(study: "Study", place: Path) -> Iterator[str]:
    """A line for each shift, on whether anything moved, and one for each of its countries, with the figures."""
    from valuesassets.instruments.survey.measures.shift import move_sentence
    from valuesassets.records.frames import records

    moves: dict[str, str] = {}
    for row in records(_frame(place / "shift" / "moved.parquet")):
        moves.setdefault(row["shift"], move_sentence(study, row))
    for name, sentence in moves.items():
        settings = study.shift[name]
        yield f"{name}, from {', '.join(settings.befores)} to {', '.join(settings.afters)}: {sentence}"
        if settings.n_trainings == 1:
            yield f"{name}: said of these two checkpoints; another training might have gone elsewhere"
    slopes: dict[tuple[str, str], dict[str, Any]] = {}
    for row in records(_frame(place / "shift" / "shifts.parquet")):
        slopes.setdefault((row["shift"], row["toward"]), row)
    for row in records(_frame(place / "shift" / "verdicts.parquet")):
        key = (row["shift"], row["toward"])
        if not isinstance(row["verdict"], str):
            yield f"{key[0]}, towards {key[1]}: no verdict: {row['reason']}"
            continue
        of = slopes[key]
        yield (
            f"{key[0]}, towards {key[1]}: {row['verdict']}; "
            f"slope {of['slope']:+.3f} [{of['slope_low']:+.3f}, {of['slope_high']:+.3f}], "
            f"{of['toward_unit']:+.3f} scale units, corrected p {of['p_corrected']:.3g}; "
            f"{of['smallest_unit']:.3f} scale units or more are found in four of five cases"
        )


def _predicted(study: "Study", place: Path, name: str) -> Iterator[str]:
    """A line for each shift and country: the smallest shift that the study would find."""
    from valuesassets.instruments.survey.measures.shift_before_run import predict_shifts
    from valuesassets.records.questions import askable, read_questions

    people = place / "human_distributions" / "human_distributions.parquet"
    if not people.is_file():
        raise StorageError(
            f"study {study.name}: nobody's answers are stored yet, so that no direction is known; give `valuesassets "
            f"run {name} --only survey/human_distributions` first"
        )
    files = {code: place / "aligned_questions" / f"{code}.json" for code in study.languages}
    questions = {code: askable(read_questions(file)) for code, file in files.items() if file.is_file()}
    for each in predict_shifts(study, _answers(study, place), _frame(people), questions):
        yield _line(study, each)


def _answers(study: "Study", place: Path) -> "pd.DataFrame | None":
    """The usable answers of the families read so far, by wording; None where there are none."""
    import pandas as pd

    from valuesassets.answers.quality_report import report_quality, usable_answers

    files = [place / "probe_distributions" / family / f"{code}.parquet" for family, code in study.cells()]
    frames = [_frame(file) for file in files if file.is_file()]
    if not frames:
        return None
    probe = pd.concat([frame.astype(object) for frame in frames], ignore_index=True).infer_objects()
    return usable_answers(probe, report_quality(probe, study.cells(), study.thresholds), by_wording=True)


def _line(study: "Study", each: "PredictedShift") -> str:
    if each.power is None:
        return f"{each.shift}, towards {each.toward}: cannot be told: {each.reason}"
    power, settings, wordings = each.power, study.shift[each.shift], study.elicitation.wordings
    read = "" if each.is_read else f"; {settings.befores[0]} is not read yet, so that its answers are assumed"
    return (
        f"{each.shift}, towards {each.toward}: a mean move of {power.smallest:.3f} scale units would be found in four "
        f"of five cases ({power.n_items} questions that weigh as {power.effective_batteries:.1f} batteries, "
        f"{wordings} wording{'s' * (wordings != 1)}, drift {settings.drift:g}{read}; questions that turn out "
        "unusable make it larger)"
    )
