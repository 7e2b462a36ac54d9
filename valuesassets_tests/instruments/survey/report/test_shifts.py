"""What a report opens with where a study has a model before and after."""

import pandas as pd
import pytest

from valuesassets.instruments.survey.report import shifts
from valuesassets.instruments.survey.report.shifts import shift_boxes, shift_claims
from valuesassets.records.settings.shift import Shift
from valuesassets.records.study import load_study
from valuesassets.reporting.parts import Refused
from valuesassets_tests.instruments.survey.whole_report import made

DEMO = load_study("demo_survey")
MONO, MULTI = DEMO.families
TUNING = Shift(before=MULTI, after=MONO, toward=("GB", "DE"))
STUDY = DEMO.model_copy(update={"shift": {"tuning": TUNING}})


def run_of(**verdicts):
    rows = [{"shift": "tuning", "toward": country, **row} for country, row in verdicts.items()]
    return made(STUDY, shift={"verdicts": pd.DataFrame(rows)})


def row_of(verdict, reason=None):
    return {"verdict": verdict, "reason": reason}


@pytest.mark.parametrize(
    ("verdicts", "outcome", "answer"),
    [
        ({"GB": row_of("moved towards GB"), "DE": row_of("moved, not towards DE")}, "yes", "Towards GB"),
        ({"GB": row_of("moved, not towards GB"), "DE": row_of("moved away from DE")}, "partly", "Not towards GB, DE"),
        ({"GB": row_of("not shown to have moved"), "DE": row_of(None, "too few")}, "no", "Not shown"),
        ({"GB": row_of(None, "too few"), "DE": row_of(None, "no people of DE")}, "unknown", "Not known"),
    ],
)
def test_the_first_screen_says_whether_answers_moved_and_towards_whom(verdicts, outcome, answer):
    (box,) = shift_boxes(run_of(**verdicts))
    assert (box.question, box.outcome, box.answer) == ("Did answers move (tuning)?", outcome, answer)
    for country, row in verdicts.items():
        assert f"{country}: {row['verdict'] or row['reason']}" in box.because


def test_a_refused_analysis_is_a_box_with_the_reason():
    (box,) = shift_boxes(made(STUDY, shift=Refused("no people of any country.")))
    assert (box.outcome, box.because) == ("unknown", "no people of any country.")
    assert list(shift_boxes(made(DEMO))) == []


def test_answers_that_follow_positions_support_no_claim(monkeypatch):
    run = run_of(GB=row_of("moved towards GB"))
    assert [claim.is_supported for claim in shift_claims(run)] == [True]
    monkeypatch.setattr(shifts, "is_without_evidence", lambda _, family: family == MONO)
    (claim,), (box,) = shift_claims(run), shift_boxes(run)
    assert not claim.is_supported
    assert claim.because.endswith(f"but answers of {MONO} do not follow what the options say")
    assert box.outcome == "partly"
