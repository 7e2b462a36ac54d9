"""The gates of a study as the report lists them: one sentence each, true when it passed, and what was found."""

from collections.abc import Mapping, Sequence
from typing import Any

from valuesassets.instruments.survey.report_parts import Frames, Gate, Refused
from valuesassets.records.study import Study


def derive_gates(
    study: Study,
    extraction_faults: Mapping[str, Sequence[Any]],
    preflight: Mapping[str, Mapping[str, Any]],
    calibration: Frames | Refused,
    quality: Frames,
) -> list[Gate]:
    """What stood in the way of a result, per language, family and grid; what was never looked at has not passed."""
    gates = []
    for language in study.languages:
        faults = extraction_faults.get(language)
        found = "not extracted yet" if faults is None else f"{len(faults)} faults to review"
        gates.append(Gate(f"The questions of {language} were extracted without a fault.", faults == [], found))
    for family in study.families:
        verdict = preflight.get(family)
        failed = [f for f in verdict["findings"] if f["is_gate"] and not f["passed"]] if verdict else []
        found = (
            "no preflight yet" if verdict is None else f"{len(failed)} of {len(verdict['findings'])} findings failed"
        )
        if verdict and failed and verdict["override"]:
            found += f"; overridden: {verdict['override']}"
        gates.append(Gate(f"Every model of {family} passed its preflight.", bool(verdict) and not failed, found))
    if isinstance(calibration, Refused):
        gates.append(Gate("Planted answers were recovered.", False, calibration.reason))
    else:
        cells = [row for row in calibration["recovery"].to_dict("records") if row["response_type"] == "all"]
        off = [f"{row['model']}/{row['language']}" for row in cells if not row["is_recovered"]]
        found = f"{len(cells) - len(off)} of {len(cells)} cells" + (f"; off: {', '.join(off)}" if off else "")
        gates.append(Gate("Planted answers were recovered in every calibrated cell.", not off, found))
    grid, questions = quality["cells"].to_dict("records"), quality["questions"].to_dict("records")
    doubtful = [f"{row['model']}/{row['language']}" for row in grid if row["is_missing"] or row["is_flagged"]]
    dropped = [row["question_id"] for row in questions if row["is_dropped"]]
    found = f"{len(grid) - len(doubtful)} of {len(grid)}" + (f"; not: {', '.join(doubtful)}" if doubtful else "")
    gates.append(Gate("Every cell of the grid was read and can be trusted.", not doubtful, found))
    found = f"{len(questions)} questions" + (f"; dropped: {', '.join(dropped)}" if dropped else ", none dropped")
    gates.append(Gate("No question was dropped.", not dropped, found))
    return gates
