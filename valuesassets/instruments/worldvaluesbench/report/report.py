"""The text of the page of WorldValuesBench: awareness first, then the published score with its nulls."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.instruments.worldvaluesbench.published.published_scores import NULLS, published_parts, share_at_most
from valuesassets.instruments.worldvaluesbench.report.claims import claims as table_claims
from valuesassets.instruments.worldvaluesbench.report.claims import short_answers
from valuesassets.instruments.worldvaluesbench.report.methods import methods as table_methods
from valuesassets.instruments.worldvaluesbench.report.methods import sources as table_sources
from valuesassets.instruments.worldvaluesbench.report.model_gates import (
    calibration_gates,
    model_gates,
    model_rows,
    weaknesses,
)
from valuesassets.instruments.worldvaluesbench.report.pictures import ALL
from valuesassets.records.frames import column, records, rows, rows_where
from valuesassets.records.study import Study
from valuesassets.reporting.page_parts import in_short
from valuesassets.reporting.parts import Claim, Frames, Gate, Section, table
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_sections, draw_figures

UNRELIABLE = (
    "Agreement of a model's moves between wordings. Below .5, its slope depends as much on the wording as on the "
    "model, and models are not ranked."
)
NEAR = (0.1, 0.2)
"""The thresholds of W1 in the paper's abstract."""
SLOPES = (
    *("model", "factor", "slope", "slope_low", "slope_high", "exaggeration", "direction", "skill", "p_value"),
    *("p_corrected", "n_arrangements", "prompt_gain_unit", "prompt_gain_low", "skill_low"),
    *("slope_category_low", "slope_category_high", "planted_slope"),
)


def opening(run: Run) -> Section:
    """The first section: how each model moves with a person's background, and which checks failed."""
    weak = weaknesses(*_answering(run))
    return in_short(short_answers(run.tables, run.inference), run.gates, claims(run), weak)


def beside_claims(section: Section, run: Run) -> None:
    """Add the quality of each model's answers."""
    if models := model_rows(*_answering(run)):
        section.tables.insert(0, table("Quality of each model's answers.", models))


def sections(run: Run) -> list[Section]:
    """A section for each analysis."""
    return analysis_sections(run)


def gates(run: Run) -> list[Gate]:
    """Whether planted answers were read back, and the quality of each model's answers.

    Of the run's `found`, `calibrated` has planted and read answers by cell, `families` are those that were read, and
    `made_up` are the models with planted ratings.
    """
    calibration = calibration_gates(run.found.get("calibrated", {}), run.study.phantom)
    return [*calibration, *model_gates(*_answering(run), run.found.get("made_up", ()))]


def claims(run: Run) -> list[Claim]:
    """The claims that the tables support or do not support."""
    return table_claims(run.tables, run.is_planted, run.inference, run.thresholds.reliability)


def methods(run: Run) -> list[str]:
    """Sentences for a paper."""
    return table_methods(run.tables, run.is_planted, run.inference)


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the sources of the tables."""
    return table_sources(run.tables, run.inference)


def _answering(run: Run) -> tuple[Study, Frames, Mapping[str, Any], list[str]]:
    """The study, its tables, the verdicts of the preflight, and the families with answers."""
    return run.study, run.tables, run.found.get("preflight", {}), list(run.found.get("families", ()))


def awareness(run: Run, name: str) -> list[Section]:
    """Whether models move with a person's background, with figures and tables."""
    section, frames = Section("awareness", run.analyses[name].title), run.tables
    table = section.need(run.table("factors", of=name))
    if table is None:
        return [section]
    section.paragraphs += [
        "People's answers move from group to group, and a slope is the share of these moves that the model makes. A "
        "slope of 1 means that the model moves as people do, and 0 that it does not move; below 0, it moves in the "
        "opposite direction. The slope is direction (does the model move where people move?) times exaggeration (how "
        "far it moves, relative to people). The sampling noise of small groups is subtracted, so that it does not pull "
        "the slope towards 0.",
        "Skill is the model's gain in predicting people's answers, as a share of the gain that knowing the groups "
        "allows. A skill of 1 is perfect, and 0 is as good as not knowing the background. Below 0, the model predicts "
        "worse than that, for example because it caricatures people or moves in the wrong direction.",
    ]
    draw_figures(section, run, name, tells_missing=False)
    section.tabulate(
        "Slopes with their intervals over people and over categories of questions. p tests whether a slope is above 0, "
        "by permuting the levels of factors; it is empty if there are fewer than 20 arrangements.",
        table,
        SLOPES,
    )
    for part, caption in (
        ("style_free", "Slopes of mean answers, after each group's tendency to answer high or low is subtracted."),
        ("reliability", UNRELIABLE),
        ("categories", "Slopes by category of questions."),
        ("questions", "Slopes by question. A single question is weak evidence, so read the intervals."),
    ):
        section.tabulate(caption, frames.get(f"awareness/{part}", ()))
    return [section]


def floors(run: Run, name: str) -> list[Section]:
    """The distances of models from people, and of a perfect model."""
    section = Section("floors", run.analyses[name].title)
    table = section.need(run.table(name))
    if table is None:
        return [section]
    section.paragraphs.append(
        "The floor is the distance between a perfect model, which knows exactly what people of a group answer, and the "
        "few of them who were asked. Any excess over it is due to the model. Squared distances (Cramer) are free of "
        "this sampling noise and can fall below 0 by chance where a model is right."
    )
    draw_figures(section, run, name, tells_missing=False)
    measures = [name for name in ("w1_unit", "w1_floor_unit", "w1_excess_unit", "cramer_unit") if name in table]
    by_model = table.groupby("model", sort=False)
    means = by_model[measures].mean().reset_index()
    section.tabulate("Means over groups and questions.", means.assign(n_distances=by_model.size().to_numpy()))
    return [section]


def scores(run: Run, name: str) -> list[Section]:
    """The published score, then single questions."""
    return [_scores(run, name), _answers(run, name)]


def _scores(run: Run, name: str) -> Section:
    section, frames = Section("published-score", run.analyses[name].title), run.tables
    table = section.need(run.table("scores", of=name))
    if table is None:
        return section
    section.paragraphs += [
        "The benchmark compares all answers of people to a question with all ratings of a model, on the scale from 0 "
        "to 1 (W1). It pools everybody: ratings shuffled among people get the same score, so the score does not show "
        "whether the model knows who answers what. The score is reported under its own name, next to nulls that need "
        "no model.",
        "A score can be interpreted only next to the floor of a perfect model and the nulls: uniform answers, the "
        "most frequent answer of all people, and the pooled answers of other people. On average, no answers that "
        "ignore the background score better than these pooled answers.",
    ]
    draw_figures(section, run, name, "threshold_curves", "question_distances", tells_missing=False)
    section.tabulate(
        "Means over the questions that a model rates, the share of these questions within a threshold, and the slope. "
        "Rows with different numbers of questions cannot be compared.",
        score_summary(frames),
    )
    section.tabulate("Published: means and shares of 36 questions (Zhao et al. 2024, table 2).", published_summary())
    everybody = rows_where(table, subset=ALL)
    section.tabulate("Question by question, all people.", everybody.drop(columns="subset"))
    return section


def _answers(run: Run, name: str) -> Section:
    section = Section("answers", "Single questions")
    draw_figures(section, run, name, "one_question", "answer_distributions", tells_missing=False)
    if not section.pictures:
        section.refusals.append("no figure of single questions was drawn")
    return section


def readouts(run: Run, name: str) -> list[Section]:
    """The differences between readouts."""
    section = Section("readouts", run.analyses[name].title)
    table = section.need(run.table("readouts", of=name))
    if table is None:
        return [section]
    section.paragraphs.append(
        "The exact readout is the model's whole distribution over the answers. The greedy readout is the single most "
        "probable answer over both orders together. The sampled readout draws answers to the same prompt and reads "
        "them as text. Sampled answers agree with the exact ones up to the chance of the draw. Their slopes agree in "
        "the same way, but the intervals of the slopes cover only the sampling of people. Exaggeration, direction and "
        "skill also agree, after the noise of the draw is subtracted. They are empty where one answer was drawn for "
        "each background, because its noise is not known."
    )
    if column(table, "readout").str.startswith("figure ").any():
        section.paragraphs.append(
            "Figures 5 to 10 are the prompts of the benchmark's paper: the model writes a reason and a score in JSON. "
            "These prompts differ from the exact one, so their results may differ from it by more than chance. Figures "
            "5 to 8 name the background and are answered once, without sampling (temperature 0). Figures 9 and 10 name "
            "no background and are answered 230 times (temperature 0.7); they have no slope. Scores off the scale "
            "count as unparsed answers."
        )
    draw_figures(section, run, name, tells_missing=False)
    section.tabulate("Distances from the exact readout, and every score under each.", table)
    return [section]


def people(run: Run, name: str) -> list[Section]:
    """The people that models are compared with, and what was left out."""
    section, frames = Section("people", run.analyses[name].title), run.tables
    groups = frames.get("human_groups")
    if groups is not None and len(groups):
        levels = [name for name in ("continent", "settlement", "education") if name in groups]
        once = groups.drop_duplicates(["question_id", *levels])
        section.paragraphs.append(
            f"{once['question_id'].nunique()} questions in {len(once[levels].drop_duplicates())} groups of people; the "
            f"median group has {once['n'].median():g} answers to a question, and the smallest has {once['n'].min():g}."
        )
    section.tabulate("People and examples, by split.", frames.get("dataset_statistics/splits", ()))
    ledger = frames.get("benchmark_scores/ledger", ())
    section.tabulate("Data that were left out or could not be used, with counts.", ledger)
    if not (section.paragraphs or section.tables):
        section.refusals.append("nothing was handed to the report of people")
    return [section]


def score_summary(frames: Frames) -> pd.DataFrame:
    """A row for each model, null and control: means over its `n_questions`, shares at most `NEAR`, and the slope."""
    scores = rows_where(frames["benchmark_scores/scores"], subset=ALL)
    first = rows(scores, scores["model"] == scores["model"].iloc[0])
    nulls = [
        first.assign(model=name, w1_seed=first[f"w1_{name}_unit"], w1_unit=first[f"w1_{name}_unit"], w1_floor_unit=None)
        for name in NULLS
    ]
    factors = frames.get("awareness/factors", pd.DataFrame(columns=pd.Index(["model", "factor", "slope"])))
    slopes = {row["model"]: row["slope"] for row in records(rows_where(factors, factor=ALL))}
    table_rows = []
    for frame in [scores, *nulls]:
        for model, part in frame.groupby("model", sort=False):
            row = {"model": model, "n_questions": int(part["w1_seed"].notna().sum())} | {
                name: part[name].astype(float).mean() for name in ("w1_seed", "w1_unit", "w1_floor_unit")
            }
            row |= {f"at_most_{near}": share_at_most(column(part, "w1_seed").to_numpy(float), near) for near in NEAR}
            table_rows.append(row | {"slope": slopes.get(model, 0.0 if frame is not scores else None)})
    return pd.DataFrame(table_rows)


def published_summary() -> pd.DataFrame:
    """The published distances as in `score_summary`: a row for each model, with and without attributes."""
    table_rows = []
    for model, side, distances in published_parts():
        row = {"model": model, "attributes": side, "w1_seed": float(distances.mean())}
        table_rows.append(row | {f"at_most_{near}": share_at_most(distances, near) for near in NEAR})
    return pd.DataFrame(table_rows)
