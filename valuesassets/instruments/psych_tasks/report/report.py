"""The sections of the psych tasks page, and the parts that every report has."""

import pandas as pd

from valuesassets.instruments.psych_tasks.measures.keying import LABEL
from valuesassets.instruments.psych_tasks.report.claims import claims as table_claims
from valuesassets.instruments.psych_tasks.report.claims import short_answers, table_of
from valuesassets.instruments.psych_tasks.report.gates import gates as table_gates
from valuesassets.instruments.psych_tasks.report.gates import weaknesses
from valuesassets.instruments.psych_tasks.report.methods import methods as table_methods
from valuesassets.instruments.psych_tasks.report.methods import sources as table_sources
from valuesassets.instruments.psych_tasks.report.page_parts import of_scales, spell_ends, without_depth
from valuesassets.measure.keying import FEWEST_LINES
from valuesassets.records.frames import column, parts_of, rows_where
from valuesassets.reporting.methods import listed, some_of
from valuesassets.reporting.page_parts import in_short, tabulate
from valuesassets.reporting.parts import Claim, Gate, Section
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_sections, draw_figures

SPELLED_ALPHAS = ("alpha", "no_covariance", "alpha_random")
ALPHAS = ("alpha", "no_covariance", "alpha_random", "alpha_permuted", "alpha_label")
LEANS = ("trait", "bias", "trait_lean", "bias_lean")
TVD = {"tvd_mean": "mean", "tvd_p95": "95th_percentile", "tvd_late_mean": "mean_of_the_late_reading"}


def opening(run: Run) -> Section:
    """The opening of the page: whom each model predicts, and which checks failed."""
    return in_short(short_answers(run.tables), run.gates, claims(run), weaknesses(run.tables))


def sections(run: Run) -> list[Section]:
    """A section for each analysis, then the calibration."""
    return [*analysis_sections(run), _calibration(run)]


def gates(run: Run) -> list[Gate]:
    """The checks of the study and their outcome."""
    return table_gates(run.tables)


def claims(run: Run) -> list[Claim]:
    """Claims that the tables support or do not support."""
    return table_claims(run.tables, run.is_planted)


def methods(run: Run) -> list[str]:
    """Sentences for a paper."""
    return table_methods(run.tables, run.is_planted, run.inference.correction)


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the sources of the tables."""
    return table_sources(run.tables, run.inference.correction)


def keying(run: Run, name: str) -> list[Section]:
    """The section of the analysis, with its figures and tables."""
    section, frames = Section("keying", run.analyses[name].title), run.tables
    scales = section.need(run.table("scales", of=name))
    if scales is None:
        return [section]
    section.paragraphs += [
        "Half of a good scale is keyed the other way: who agrees with 'I like order' should not agree with 'I leave a "
        "mess'. Models that answer by content are high on one half and low on the other, so that over models the two "
        "means, before anything is recoded, fall together with a correlation (rho) of -1. Models that like a label, "
        "whatever the item says, give +1. The share of the label, pi bias = (1 + rho) / 2, is 0 for a trait alone and "
        "1 for a label alone.",
        "The verdict takes two things: an interval that lies above .5 (label preference) or below .5 (trait), and a "
        "rank test of the lines' means that counts; else the two are not distinguished. Both are over lines of models: "
        "sizes and versions of one name resemble each other and are no separate evidence. Lines are taken as "
        "independent of each other, models within them are not, and with fewer than "
        f"{FEWEST_LINES} lines there is no verdict." + _related_models(frames.get("keying/models")),
    ]
    named = of_scales(scales)
    if labels := list(map(str, rows_where(named, verdict=LABEL)["scale"])):
        section.paragraphs.append(
            f"In {some_of(labels)} the interval lies above .5: there this table stands in place of scale scores. A "
            "model's score on it, re-keyed or not, says which label the model likes, and no score of theirs is shown "
            "as a trait."
        )
    draw_figures(section, run, name, tells_missing=False)
    columns = ("scale", "models", "lines", "items", "rho", "pi_bias", "p", "verdict", "reason")
    tabulate(section, "Each scale, over models.", spell_ends(named, ("rho", "pi_bias")), columns)
    if (models := table_of(frames, "keying/models")) is not None:
        by_model = of_scales(models)
        is_trait = ~by_model["scale"].isin(labels)
        traits = {name: by_model[name].astype(object).where(is_trait, None) for name in ("trait", "trait_lean")}
        tabulate(
            section,
            "Each model: means of forward- and reverse-keyed items on the labels as shown, and what of them is the "
            "trait and what the bias towards a label: of expected answers, in units of the scale, which a strong "
            "liking for a label or a place shrinks; and as leans, slopes of log-probabilities along the labels in nats "
            "from end to end, in which such a liking changes the bias alone. No trait is shown where the scale "
            "measures the label.",
            by_model.assign(**traits),
            ("scale", "model", "line", "forward_mean", "reverse_mean", *LEANS, "reason"),
        )
    return [section]


def _related_models(models: pd.DataFrame | None) -> str:
    """A sentence on the models that are of one line; none without models."""
    if models is None or not len(models):
        return ""
    related = [
        f"{line}: {listed(sorted(map(str, set(part['model']))))}"
        for (line,), part in parts_of(models, ["line"])
        if part["model"].nunique() > 1
    ]
    return f" Of one line here are {some_of(related)}." if related else " Here each model is a line of its own."


def consistency(run: Run, name: str) -> list[Section]:
    """The section of the analysis, with its figures and tables."""
    section, frames = Section("consistency", run.analyses[name].title), run.tables
    scales = section.need(run.table("scales", of=name))
    if scales is None:
        return [section]
    section.paragraphs += [
        "No human answer is in this: models are asked each item alone, or after their own earlier answers. The "
        "generalizability of a scale is the share of what sets models apart that would come again with other items, "
        "the scale turned round, and other draws. A model can agree with itself and with nobody else, and the other "
        "way round, so this is never one number with how well people are predicted.",
    ]
    draw_figures(section, run, name, tells_missing=False)
    coefficients = ("generalizability", "over_items", "over_presentations", "over_draws")
    columns = ("scale", "history", "models", "lines", "items", "presentations", "draws", *coefficients, "reason")
    tabulate(
        section,
        "Generalizability of scale scores, over all that was varied and over each by itself, with intervals over lines "
        "of models.",
        spell_ends(of_scales(scales), coefficients),
        columns,
    )
    if (components := table_of(frames, "reliability/components")) is not None:
        columns = ("scale", "history", "source", "variance", "share")
        tabulate(section, "Where the differences come from.", of_scales(components), columns)
    return [section]


def published(run: Run, name: str) -> list[Section]:
    """The section of the analysis, with its figures and tables."""
    section, frames = Section("published-score", run.analyses[name].title), run.tables
    scales = section.need(run.table("scales", of=name))
    if scales is None:
        return [section]
    section.paragraphs += [
        "Published work scores a model on an item by what people answered there, weighted by how likely the model "
        "found each answer, and takes Cronbach's alpha over models as a sign that the scale measures something in "
        "them. Alpha is shown with Feldt's interval, for as many models as there are independent lines of them, beside "
        "four nulls: the band in which it lies where no two items have anything in common; random logits; the model's "
        "own probabilities dealt anew among participants; and a model that is shown no item at all, so that only its "
        "liking for labels is left. Where that last one is as high, alpha says nothing of a trait.",
        "Exact: read before the answer. Late: as the published code reads it, one row too late, where the model has "
        "seen the answer already.",
    ]
    band = [
        None if pd.isna(low) else f"{low:.2f} to {high:.2f}"
        for low, high in zip(scales["null_low"], scales["null_high"], strict=True)
    ]
    alphas = spell_ends(of_scales(scales), ("alpha", "alpha_random"), digits=2).assign(no_covariance=band)
    words = {name: [each and without_depth(each) for each in alphas[name]] for name in SPELLED_ALPHAS}
    columns = ("scale", "reading", "models", "lines", "items", *ALPHAS, "reason")
    tabulate(section, "Alpha over models, each with its nulls.", alphas.assign(**words), columns)
    if (scores := table_of(frames, "published_scores/scores")) is not None:
        items = of_scales(scores)
        means = items.assign(score=items["score"].astype(float)).groupby(["scale", "model", "reading"], sort=False)
        table = means["score"].agg(["mean", "count"]).reset_index()
        tabulate(
            section,
            "Means of the published score over items, re-keyed: they are scores of the score, not of a trait.",
            table.rename(columns={"mean": "score", "count": "items"}),
        )
    return [section]


def layouts(run: Run, name: str) -> list[Section]:
    """The section of the analysis, with its figures and tables."""
    section = Section("layouts", run.analyses[name].title)
    effects = section.need(run.table("effects", of=name))
    if effects is None:
        return [section]
    section.paragraphs.append(
        "Marked: the transcript word for word. Plain: without the marks around answers. Chat: the model's own "
        "template, answers as its own turns. Differences are of the same answers of the same people; p is corrected "
        "over all comparisons."
    )
    with_ends = effects.rename(columns={"low": "log_score_difference_low", "high": "log_score_difference_high"})
    differences = spell_ends(with_ends, ("log_score_difference",), is_signed=True)
    tabulate(section, "Each layout less the one that it is compared with, in nats.", differences)
    return [section]


def _calibration(run: Run) -> Section:
    section, frames = Section("calibration", "Does the instrument work?"), run.tables
    recovery = section.need(run.table("recovery", of="calibration"))
    if recovery is None:
        return section
    section.paragraphs.append(
        "Small models were trained here to answer made-up people's transcripts by a planted response model: a mixture "
        "of the item's own answers, the frequencies of earlier answers, and what these meant. What was "
        "planted is compared with what was read, answer by answer; the late reading of published code stands beside it."
    )
    several = recovery["layout"].nunique() > 1
    columns = ("model", "task", *(["layout"] if several else []), "history", "n_marks", "n_read")
    tabulate(
        section,
        "Total variation between planted and read: 0 the same, 1 nothing in common.",
        recovery.rename(columns=TVD),
        (*columns, *TVD.values(), "is_recovered"),
    )
    if (gains := table_of(frames, "calibration/gains")) is not None:
        tabulate(
            section,
            "Gains in nats, by the planted response model and as they were read.",
            gains.assign(error=column(gains, "estimate") - column(gains, "planted")),
            ("model", "task", "gain", "n_participants", "planted", "estimate", "error", "is_recovered"),
        )
    return section
