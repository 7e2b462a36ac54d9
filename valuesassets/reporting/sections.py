"""The sections of a report: notes, figures and tables of each analysis, or the reason why they are missing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.answers.estimator_disagreement import summarise_disagreements
from valuesassets.figures.calibration import by_response_type, draw_calibration, error_summary
from valuesassets.figures.p_valid_heatmap import draw_p_valid_by_language, draw_p_valid_heatmap
from valuesassets.figures.position_bias import draw_position_bias_dist
from valuesassets.measure.sampling_error import allowed_mean
from valuesassets.records.frames import column, rows, rows_where
from valuesassets.records.instruments import named
from valuesassets.reporting.analyses import Drawing, figures
from valuesassets.reporting.methods import each_in
from valuesassets.reporting.parts import Refused, Section, is_absent
from valuesassets.reporting.run import Run

MEASURES = {"w1_unit_error": "W1 unit", "p_valid_error": "P_valid", "position_bias_error": "position bias"}
PLANTED_TO_TEST = (
    "Reference models were trained on planted answers and then read like any other model. What was planted must come "
    "back; this shows that the software measures what it says, not that models hold values."
)
OF_ITS_OWN = (
    "The reference model was trained for this alone, on the prompts of this study; no other figure or table includes "
    "it."
)
MUST_FAIL = (
    "A check that nothing can fail proves nothing: another language's reference models must fail. "
    "The prompts of one language were answered by the reference model of another, "
    "and compared with what is planted for the language asked."
)
VERDICT = ("model", "language", "is_recovered", "reason")
CONTROL_COLUMNS = (
    *("model", "language", "answered_by", "n", "n_unreadable"),
    *(f"{error}_mean" for error in MEASURES),
    *("fails", "reason"),
)


def analysis_sections(run: Run) -> list[Section]:
    """The sections of all analyses of a run, in the order of `Run.analyses`."""
    written = (
        named(each.section)(run, name) if each.section else [analysis_section(run, name)]
        for name, each in run.analyses.items()
    )
    return [section for sections in written for section in sections]


def analysis_section(run: Run, name: str) -> Section:
    """The section of one analysis: its notes, figures and tables, or the reason why they are missing."""
    analysis, frames = run.analyses[name], run.part(name)
    section = Section(name.replace("_", "-"), analysis.title)
    section.paragraphs += run.notes(name) or ([analysis.caution] if analysis.caution else [])
    if isinstance(frames, Refused):
        section.refusals.append(frames.reason)
        return section
    draw_figures(section, run, name)
    for table, frame in frames.items():
        if table not in ("notes", *analysis.hidden):
            caption = analysis.captions.get(table, f"{analysis.title}: {table.replace('_', ' ')}.")
            section.tabulate(caption, frame, is_folded=table == "tests")
    return section


def draw_figures(section: Section, run: Run, name: str, *names: str, tells_missing: bool = True) -> None:
    """Add the figures of an analysis that have a caption to a section, in their order.

    Args:
        names: names of the drawings to add; without names all are added.
        tells_missing: whether the section gives the reason why a table of a figure is missing.
    """
    for drawing in run.analyses[name].drawings:
        if drawing.caption and (not names or drawing.name in names):
            _draw(section, run, name, drawing, tells_missing)


def _draw(section: Section, run: Run, name: str, drawing: Drawing, tells_missing: bool) -> None:
    """Add the figures of a drawing to a section, or the reason why one of its tables is missing."""
    tables = {each: _table_of(run, section.title, name, each) for each in drawing.tables}
    for part, figure in figures(drawing, tables, run):
        section.draw(figure, drawing.alt.format(**part), drawing.caption.format(**part))
    for each, table in tables.items():
        if tells_missing and each not in drawing.optional and not drawing.some:
            section.need(table)


def _table_of(run: Run, title: str, name: str, table: str) -> pd.DataFrame | Refused:
    """A table by its name: one of the analysis `name`, an asset of that name, or `<asset>/<table>` of another asset."""
    asset, _, table_name = table.rpartition("/")
    if asset:
        return run.table(table_name, of=asset)
    if table in run.frames(name) or (table not in run.found and name != table):
        return run.table(table, title, of=name)
    return run.table(table)


def humans_section(run: Run, name: str) -> list[Section]:
    """The section that compares cells with people of their country and with answers without content."""
    section = analysis_section(run, name)
    people = section.need(run.table("human_distributions"))
    cells = section.need(run.table("cells", "the comparison with humans", of=name))
    sources = [] if people is None else sorted(set(people["source"]))
    notes = [f"Source of the human answers: {', '.join(sources)}."] if sources else []
    if "planted" in sources:
        notes.append("These respondents are synthetic, drawn from the planted distributions: no finding about people.")
    section.anchor, section.paragraphs = "humans", notes + ([] if cells is None else section.paragraphs)
    return [section]


def quality_section(run: Run) -> Section:
    """The section on which cells and questions can be trusted, and why others cannot."""
    rules, is_planted = run.study.thresholds, run.study.is_planted
    section = Section("quality", "Quality")
    section.paragraphs.append(
        f"A reading with P_valid below {rules.p_valid_question:.2f} is unreliable; a question unreliable in more than "
        f"{rules.dropped_share:.0%} of the readable cells is dropped; a cell whose median is below "
        f"{rules.p_valid_cell:.2f} is flagged, and not readable. What is dropped, unreliable or unread is missing in "
        "every analysis."
    )
    probe = section.need(run.table("probe_distributions"))
    cells = section.need(run.table("cells", "the quality report", of="quality_report"))
    dropped = run.dropped
    ids = dropped["question_id"].tolist() if len(dropped) else []
    if probe is not None:
        section.draw(
            draw_p_valid_heatmap(probe, rules.p_valid_question, ids, is_planted),
            "Heat map of P_valid (mean over orders and wordings), cells in rows and questions in columns.",
            "P_valid of every question in every cell, mean over orders and wordings.",
        )
        section.draw(
            draw_p_valid_by_language(probe, rules.p_valid_cell, is_planted),
            "Heat map of median P_valid, model families in rows and languages in columns.",
            "Median P_valid of every cell.",
        )
        section.draw(
            draw_position_bias_dist(probe, rules.position_bias, is_planted),
            "Box plots of position bias by response type and model family.",
            "Position bias of all readings.",
        )
    if cells is not None:
        missing, flagged = (
            ", ".join(each_in(run.cells_that(each), "{model} in {language}")) or "none"
            for each in ("is_missing", "is_flagged")
        )
        section.paragraphs.append(
            f"Cells missing: {missing}. Cells flagged: {flagged}. Questions dropped: {', '.join(ids) or 'none'}."
        )
        section.tabulate("Every cell that the study asks for.", cells)
    section.tabulate("Questions dropped, and why.", dropped)
    if probe is not None:
        section.tabulate(
            "How far other estimators lie from the answers used here, in total variation per item, and the share of "
            f"items further than {rules.estimator_disagreement:.2f}. No analysis uses them.",
            summarise_disagreements(probe, rules.estimator_disagreement),
        )
    return section


def items_section(run: Run, texts: Mapping[str, str]) -> Section:
    """The section with the statistics of every item in every cell, beside the item's text.

    Args:
        texts: the text of each question, by its id.
    """
    section = Section("items", "Item statistics")
    frame = section.need(run.table("item_statistics"))
    if frame is not None:
        numbers = frame.assign(question=[texts.get(str(name).split("@")[0]) for name in frame["question_id"]])
        first = ("model", "language", "question_id", "question")
        caption = "Every item in every cell: expected value, entropy, mode, concentration."
        section.tabulate(caption, numbers, list(dict.fromkeys([*first, *map(str, frame.columns)])))
    return section


def calibration_section(run: Run) -> Section:
    """The section that compares planted with recovered answers, and shows the negative controls."""
    section, limits = Section("calibration", "Calibration"), run.study.phantom.limits
    if not run.study.has_reference_models and not run.is_calibrated:
        section.refusals.append(
            "this study has no reference family, so nothing was planted and nothing can be recovered"
        )
        return section
    section.paragraphs.append(PLANTED_TO_TEST)
    if not run.study.has_reference_models:
        section.paragraphs.append(OF_ITS_OWN)
    comparison = section.need(run.table("comparison", "calibration", of="calibration"))
    if comparison is not None:
        section.draw(
            draw_calibration(comparison, *limits),
            "Scatter plots of planted against recovered P_valid and position bias; mean and 95th percentile of the "
            "errors by response type and cell against their bounds. The tables hold the same numbers.",
            "Planted against recovered: every reading, then errors by response type and by cell.",
        )
        _by_response_type(section, comparison, limits)
    section.tabulate(
        "How hard the plants were: distance from a uniform answer, share with a position bias of .15 or more, range of "
        "P_valid, share of ten-point items with real mass on both ends.",
        run.frames("calibration").get("hardness", ()),
    )
    recovery = section.need(run.table("recovery", "the summary of the calibration", of="calibration"))
    if recovery is not None:
        cells = rows_where(recovery, response_type="all")
        off_cells = each_in(rows(cells, ~column(cells, "is_recovered").astype(bool)), "{model} in {language}")
        outcome = f"{len(cells) - len(off_cells)} of {len(cells)} calibrated cells were recovered within the bounds"
        section.paragraphs.append(f"{outcome}; not recovered: {', '.join(off_cells)}." if off_cells else f"{outcome}.")
        first = [*VERDICT, *(str(name) for name in cells.columns if name not in (*VERDICT, "response_type"))]
        section.tabulate("Recovery of each cell; errors in scale units and probabilities.", cells, first)
        kinds = rows(recovery, recovery["response_type"] != "all")
        section.tabulate("Recovery of each cell by response type.", kinds)
    controls = run.table("negative_controls")
    if isinstance(controls, Refused):
        if run.has_controls:
            section.need(Refused(f"negative controls: {controls.reason}"))
        return section
    passed = rows(controls, ~column(controls, "fails").astype(bool))
    outcome = f"{len(controls) - len(passed)} of {len(controls)} pairs failed, as they must"
    if len(passed):
        wrong_pairs = ", ".join(each_in(passed, "{language} answered by {answered_by}"))
        outcome += f"; these passed, so the calibration cannot distinguish them: {wrong_pairs}"
    section.paragraphs += [MUST_FAIL, f"{outcome}."]
    section.tabulate(
        "Negative controls: each language's prompts answered by another's model.",
        controls.assign(reason=[_first_fault(each) for each in controls["reason"]]),
        CONTROL_COLUMNS,
    )
    return section


def _first_fault(reason: Any) -> str | None:
    """The first of several faults that `;` separates, and the number of further faults.

    >>> _first_fault("all: W1 .3 is above .02; binary: W1 .4 is above .02; likert5: W1 .3 is above .02")
    'all: W1 .3 is above .02; and 2 more'
    """
    first, *further = str(reason).split("; ") if not is_absent(reason) else ("",)
    return (f"{first}; and {len(further)} more" if further else first) or None


def _by_response_type(section: Section, comparison: pd.DataFrame, limits: tuple[float, float, float]) -> None:
    """Add the mean and 95th percentile of each error over all cells, for scored and, if any, for sampled answers."""
    bounds = dict(zip(MEASURES, limits, strict=True))
    bounds_text = ", ".join(f"{name} {bounds[error]:.2f}" for error, name in MEASURES.items())
    scored, sampled = [], []
    for kind, part in by_response_type(comparison).items():
        scored.append({"response_type": kind, "n": len(part)} | _errors(part, ""))
        if "sampled_w1_unit_error" in part:
            allowed = {
                f"{name} bound": bounds[error] + allowed_mean(part[f"drawn_{error}"], part[f"drawn_{error}_sd"])
                for error, name in MEASURES.items()
            }
            n_sampled = int(part["sampled_w1_unit_error"].notna().sum())
            sampled.append({"response_type": kind, "n": n_sampled} | _errors(part, "sampled_") | allowed)
    section.tabulate(
        "Scored answers by response type over all cells: mean and 95th percentile of the errors. Bounds on the means: "
        f"{bounds_text}. Categorical questions: total variation in place of W1.",
        scored,
    )
    if any(error_summary(comparison, f"sampled_{error}") for error in MEASURES):
        section.tabulate(
            "Sampled answers, parsed as text: the same statistics. Each bound is that of scored answers plus the "
            "sampling error: its mean and three standard deviations.",
            sampled,
        )


def _errors(part: pd.DataFrame, prefix: str) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for error, name in MEASURES.items():
        row[f"{name} mean"], row[f"{name} p95"] = error_summary(part, f"{prefix}{error}") or (None, None)
    return row
