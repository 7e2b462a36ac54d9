"""One page for a reader: whether the instrument works, what passed, failed and is missing, and what was found."""

from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
import pandas as pd

from valuesassets.instruments.survey import report_sections as sections
from valuesassets.instruments.survey.report_calibration import calibration_section
from valuesassets.instruments.survey.report_parts import Frames, Gate, Refused
from valuesassets.records.study import Study

__all__ = ["Gate", "Refused", "render_report"]

NOT_MADE = Refused("this analysis was not handed to the report; materialise it and then the report again")


def render_report(
    study: Study,
    *,
    gates: Sequence[Gate] = (),
    probe: pd.DataFrame | Refused = NOT_MADE,
    quality: Frames | Refused = NOT_MADE,
    calibration: Frames | Refused = NOT_MADE,
    negative_controls: pd.DataFrame | Refused = NOT_MADE,
    cultural_map: pd.DataFrame | Refused = NOT_MADE,
    distances: Frames | Refused = NOT_MADE,
    human: pd.DataFrame | Refused = NOT_MADE,
    human_comparison: Frames | Refused = NOT_MADE,
    mono_vs_multi: Frames | Refused = NOT_MADE,
    item_statistics: pd.DataFrame | Refused = NOT_MADE,
    extraction_faults: Mapping[str, Sequence[Any]] | Refused = NOT_MADE,
    question_texts: Mapping[str, str] | None = None,
    provenance: Sequence[Mapping[str, Any]] = (),
    made_at: str | None = None,
) -> str:
    """The report as one HTML page that needs nothing else; the same arguments give the same page.

    Every analysis is given as its frames, or as `Refused` with the reason, which then stands in its place.

    Args:
        study: what was to be done.
        gates: the checks of the study and their outcome.
        probe: rows of `PROBE_DISTRIBUTIONS`, all cells.
        quality: `cells`, `questions` and `readings` of the quality report.
        calibration: `comparison` (planted against recovered, one row per question), `recovery` (its summary) and, where
            it was described, `hardness` (of the plants, per response type).
        negative_controls: one row per pair of language asked and language whose model answered.
        cultural_map: one row per point.
        distances: `pairs`, `points` and `notes`.
        human: rows of `HUMAN_DISTRIBUTIONS`.
        human_comparison: `cells`, `by_response_type` and `notes`.
        mono_vs_multi: `pairs`, `summary` and `notes`.
        item_statistics: one row per question and cell.
        extraction_faults: per language the faults found (records or dataclasses), an empty list where there are none.
        question_texts: master text by question id, shown beside the ids.
        provenance: one record per model, file or program: what it is, its hash or version.
        made_at: when the report was made; left out where not given.
    """
    is_planted = study.has_reference_models or study.human.source == "planted"
    texts = question_texts or {}
    calibrated = calibration_section(study, calibration, negative_controls)
    found = (
        sections.quality_section(study, probe, quality, is_planted),
        sections.map_section(cultural_map),
        sections.distances_section(distances, is_planted),
        sections.humans_section(probe, human, human_comparison, is_planted),
        sections.mono_vs_multi_section(mono_vs_multi, is_planted),
        sections.items_section(item_statistics, texts),
        sections.extraction_section(extraction_faults),
        sections.provenance_section(provenance),
    )
    summary = sections.summary_section(study, gates, quality, [calibrated, *found])
    parts = (calibrated, summary, *found)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("valuesassets.instruments.survey", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page = environment.get_template("report.html.jinja")
    return page.render(study=study, sections=parts, made_at=made_at, is_planted=is_planted)
