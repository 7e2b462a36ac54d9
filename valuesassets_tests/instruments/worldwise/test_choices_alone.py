"""The page of a study that asks for choices alone says nothing of the axes that reasons would be placed on."""

import pandas as pd

from valuesassets.instruments.worldwise.analyses import ANALYSES
from valuesassets.instruments.worldwise.measures.quality_report import derive_statuses
from valuesassets.instruments.worldwise.report import report
from valuesassets.instruments.worldwise.tables import CHOICES, REASONS
from valuesassets.records.study import load_study
from valuesassets.reporting.report import render_report
from valuesassets.reporting.run import Run

STUDY = load_study("demo_worldwise")


def page_of(**more):
    choices = CHOICES.frame(
        [{"scenario_id": f"s{n}", "culture": "ORVA", "axis": "IDV", "status": "ok"} for n in range(4)]
    )
    tables = {"statuses": derive_statuses("reference", choices, REASONS.frame([]).astype(object))}
    analyses = {"quality_report": ANALYSES["quality_report"]}
    return render_report(Run(STUDY, {"quality_report": tables, **more}, analyses), report)


def test_no_table_of_axes_is_missed_where_nobody_reasons():
    assert "validity" not in page_of()


def test_where_reasons_are_asked_for_the_axes_are_shown_or_missed():
    validity = pd.DataFrame(columns=pd.Index(["embedder", "axis", "held_out_auc", "p", "is_valid", "reason"]))
    assert "validity" in page_of(axes={"validity": validity})
