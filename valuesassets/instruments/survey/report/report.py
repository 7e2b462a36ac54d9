"""The survey's own parts of its report: the map, the provenance of points, and its sentences, in order."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from valuesassets.figures.cultural_map import CAVEAT
from valuesassets.figures.cultural_map_column import draw_cultural_map_column
from valuesassets.figures.question_answers import draw_question_answers
from valuesassets.instruments.survey.answers.question_answers import first_questions
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.cultural_map import QUESTIONS
from valuesassets.instruments.survey.measures.simulated_worlds import faults_of
from valuesassets.instruments.survey.report.draws import draws_box, draws_section
from valuesassets.instruments.survey.report.map import map_view, trace_anchor
from valuesassets.instruments.survey.report.not_asked import is_all_asked, not_asked_box, tabulate_not_asked
from valuesassets.instruments.survey.report.shifts import shift_boxes, shift_claims
from valuesassets.instruments.survey.report.trace import Traces, form_anchor, item_anchor
from valuesassets.people.variables import load_variables
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.reporting import analyses as shared_questions
from valuesassets.reporting import claims as shared_claims
from valuesassets.reporting import methods as shared_methods
from valuesassets.reporting import openings
from valuesassets.reporting.methods import MODEL_TYPES, SMALL_NUMBERS, capital, counted, listed, share_of, some_of, was
from valuesassets.reporting.methods import SOURCES as SHARED_SOURCES
from valuesassets.reporting.option_orders import order_claims, order_gates
from valuesassets.reporting.parts import Box, Claim, Gate, Refused, Section
from valuesassets.reporting.report import filled
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_sections, calibration_section, items_section, quality_section

__all__ = ["beside_claims", "claims", "gates", "methods", "opening", "sections", "sources", "within_study"]
TEMPLATES = "valuesassets.instruments.survey.report"
SIMULATIONS = "On simulated data the analyses recover planted effects, and report none where there are none."
OPENING_ROWS, OPENING_WIDTH_IN = 22, 5.4  # of the figure on the first screen
MAP_COLUMNS = (
    *("kind", "label", "x", "x_low", "x_high", "y", "y_low", "y_high", "n_indicators", "missing", "drawn"),
    *("distance_from_content_free", "distance_low", "distance_high", "is_distinguishable", "source", "note"),
)
MAP_TABLES = {
    "projector": "How indicators become the two axes.",
    "sensitivity": "How far a point moves when one of its indicators is left out.",
}


def within_study(run: Run) -> Run:
    """The run without analyses of people, the map, languages or kinds of models that its study does not have."""
    study, out = run.study, set[str]()
    if study.human.source == "none":
        out |= {"signal", "human_comparison"}
    if run.probe is not None and QUESTIONS.isdisjoint(base_id(str(each)) for each in run.probe["question_id"].unique()):
        out.add("cultural_map")
    if len({family.model_type for family in study.families.values()}) < 2:
        out.add("mono_vs_multi")
    if len(study.languages) < 2:
        out.add("reliability")
    if len(study.cells()) < 2:
        out.add("distances")
    if not study.shift:
        out.add("shift")
    if {"signal", "reliability"} <= out:  # the simulations test these two
        out.add("simulated_worlds")
    return replace(
        run,
        analyses={name: each for name, each in run.analyses.items() if name not in out},
        found={name: each for name, each in run.found.items() if name not in out},
    )


def opening(run: Run) -> Section:
    """The first screen: a sentence for each family, the map, and the boxes of questions."""
    section = openings.opening(run)
    section.boxes = [*openings.boxes(run), *shift_boxes(run), *draws_box(run), _persons_box(run), *not_asked_box(run)]
    if "cultural_map" in run.analyses:
        _open_with_map(section, run)
    if not section.pictures:
        _open_with_answers(section, run)
    return section


def _open_with_map(section: Section, run: Run) -> None:
    points = section.need(run.table("points", "the cultural map", of="cultural_map"))
    on_map, least = Points(run), run.study.thresholds.map_indicators
    if on_map.models and not on_map.drawn:
        most = int(max(row["n_indicators"] for row in on_map.models))
        section.refusals.append(
            f"No model stands on the map: {f'at most {most}' if most else 'none'} of its ten indicators can be had, "
            f"{least} are needed."
        )
    elif points is not None:
        section.draw(
            draw_cultural_map_column(points),
            "Map of models, countries and answers without content on the Inglehart-Welzel axes; the section on the map "
            "has the same points in a table.",
            "Models and countries. Intervals, what points rest on and what cannot be concluded: see Cultural map.",
            "map",
        )


def _open_with_answers(section: Section, run: Run) -> None:
    """Draw the first questions with their answers, as many as fit on a screen."""
    options = run.frames("question_answers").get("options", pd.DataFrame())
    if not len(options):
        return
    first = first_questions(options, OPENING_ROWS)
    figure = draw_question_answers(first, run.study.is_planted, OPENING_WIDTH_IN)
    n_shown, n_all = (len(set(each["question_id"])) for each in (first, options))
    which = "All" if n_shown == n_all else f"The first {n_shown} of"
    of_form = "" if is_all_asked(run) else " that were asked"
    caption = f"{which} {counted(n_all, 'question')}{of_form}, and what was answered."
    if figure is not None:
        section.draw(
            figure,
            "Questions with a bar for each model in each language: the shares of the options, in both orders too. The "
            "section on questions and answers has the same numbers in a table.",
            f"{caption} All pages, and the numbers: see Questions and answers.",
            "question-answers",
        )


def sections(run: Run) -> list[Section]:
    """The sections below claims and methods, in their order.

    Of a run's `found` the survey's own are `extraction_faults` and `not_asked` (by language), `question_texts` (by id)
    and `traces`.
    """
    analyses = analysis_sections(run)
    first = [section for section in analyses if section.anchor == "question-answers"]
    return [
        *first,
        calibration_section(run),
        quality_section(run),
        *draws_section(run),
        *(section for section in analyses if section not in first),
        items_section(run, run.found.get("question_texts", {})),
        _extraction(run),
    ]


def beside_claims(section: Section, run: Run) -> None:
    """Add to the section of claims what of the questionnaires was not asked, and what every study has beside them."""
    tabulate_not_asked(section, run)
    shared_claims.beside_claims(section, run)


def gates(run: Run) -> list[Gate]:
    """The gates of the results, per language, family and grid."""
    shared = (shared_claims.preflight_gates, shared_claims.calibration_gates, shared_claims.quality_gates)
    if "reliability" in run.analyses:
        shared += (shared_claims.reliability_gates,)
    if "position_bias" in run.analyses:
        shared += (order_gates,)
    return [gate for part in (_extraction_gates, *shared, _simulation_gates) for gate in part(run)]


def claims(run: Run) -> list[Claim]:
    """The supported and unsupported claims with their reasons, by question."""
    of, questions = shared_claims, shared_questions
    parts = {
        of.about_whom: questions.MODELS,
        of.exactness: questions.CALIBRATION,
        of.answers: questions.ANSWERS,
        order_claims: questions.ANSWERS,
        of.reliable: questions.SIGNAL,
        _map_claims: questions.MAP,
        of.tested: questions.MODELS,
        of.likeness: questions.MODELS,
        shift_claims: questions.MODELS,
    }
    return of.by_question(
        [replace(claim, question=claim.question or question) for part, question in parts.items() for claim in part(run)]
    )


def methods(run: Run) -> list[str]:
    """The methods of this run in sentences."""
    of = shared_methods
    parts = (
        of.planted,
        _questions,
        of.read,
        of.quantised,
        of.adapted,
        of.kept,
        of.people,
        _map_methods,
        of.inference,
        of.software,
    )
    return [sentence for part in parts for sentence in part(run)]


SOURCES: Mapping[str, Callable[[Run], bool]] = {
    **SHARED_SOURCES,
    "evs2017": lambda run: getattr(run.study.questionnaires, "source", None) == "gesis" or run.has_survey("evs2017"),
    "wvs7": lambda run: run.has_survey("wvs7") or Points(run).projector == "reference",
    "inglehart2005": lambda run: len(Points(run).table) > 0,
    "efron1993": lambda run: Points(run).has_resampled_people or SHARED_SOURCES["efron1993"](run),
    "gower1975": lambda run: Points(run).has_published,
    "kaiser1958": lambda run: Points(run).projector == "fitted",
}
"""By key: whether a run uses a source."""


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the sources that a run uses, in the order of their entries: the software first."""
    return shared_methods.used_sources(run, SOURCES)


class Points:
    """The points of a run's map, if there is one."""

    def __init__(self, run: Run) -> None:
        tables = run.frames("cultural_map")
        self.table, self._projector = (tables.get(name, pd.DataFrame()) for name in ("points", "projector"))
        self.models: list[dict[str, Any]] = records(rows_where(self.table, kind="model")) if len(self.table) else []
        self.drawn = [row for row in self.models if row["drawn"]]
        self.hollow = [row for row in self.drawn if not pd.isna(row["is_distinguishable"])]
        self.hollow = [row for row in self.hollow if not row["is_distinguishable"]]

    @property
    def projector(self) -> str | None:
        """The projector of the map: `fitted` to respondents, `reference`, or None without a map."""
        if not len(self.table):
            return None
        loadings = [name for name in self._projector.columns if str(name).startswith("loading")]
        return "fitted" if self._projector[loadings].notna().to_numpy().any() else "reference"

    @property
    def has_resampled_people(self) -> bool:
        """Whether the map draws respondents' countries with intervals."""
        return "x_low" in self.table and bool(rows_where(self.table, kind="human")["x_low"].notna().any())

    @property
    def has_published(self) -> bool:
        """Whether the map draws published positions."""
        return "kind" in self.table and bool((self.table["kind"] == "published").any())


def map_sections(run: Run, name: str) -> list[Section]:
    """The section of the map with its notes and points, and the section of provenance."""
    traces = run.found.get("traces", Traces())
    section = Section("map", run.analyses[name].title, run.notes(name) or [CAVEAT])
    points = section.need(run.table("points", "the cultural map", of=name))
    if points is not None:
        section.tabulate(
            "Points of the map, their intervals, and how far models are from the content-free points.",
            rows(points, points["kind"] != "published"),
            MAP_COLUMNS,
        )
        section.markup = filled(TEMPLATES, "map", map=map_view(points, traces.cells), traces=traces)
        section.is_beside = True
    for each, caption in MAP_TABLES.items():
        section.tabulate(caption, run.frames(name).get(each, ()))
    return [section, _trace(run, traces)]


def _trace(run: Run, traces: Traces) -> Section:
    """The provenance of each point, down to the page of the form."""
    section = Section("trace", "From a point to its page", refusals=list(traces.untraced))
    if not traces.points:
        section.refusals = [" ".join(traces.untraced) or "no provenance was handed to the report"]
        return section
    models = len({point.model for point in traces.points})
    summary = (
        f"{counted(len(traces.points), 'point')} of {counted(models, 'model family', 'model families')} in "
        f"{counted(len(traces.forms), 'language')}. A point opens its indicators, an indicator its items, an item its "
        "answers, its readings, the prompts word for word and the place on the printed form. A click on a point of the "
        "map, or Enter, leads here."
    )
    section.paragraphs.append(capital(summary))
    anchors = {"trace_anchor": trace_anchor, "item_anchor": item_anchor, "form_anchor": form_anchor}
    section.markup = filled(TEMPLATES, "trace", traces=traces, study=run.study, **anchors)
    return section


def _extraction(run: Run) -> Section:
    section, faults = Section("extraction", "Extraction faults"), run.part("extraction_faults")
    if isinstance(faults, Refused):
        section.refusals.append(faults.reason)
        return section
    counts = [{"language": code, "faults": len(of_language)} for code, of_language in faults.items()]
    section.tabulate("Faults per language.", counts)
    for code, of_language in faults.items():
        section.tabulate(f"{code}: {len(of_language)} faults, to be reviewed against the page.", of_language)
    return section


def _persons_box(run: Run) -> Box:
    """The box of the languages whose extractions a person has to review."""
    question, by_language = "Which languages need a person?", run.part("extraction_faults")
    if isinstance(by_language, Refused):
        return Box(question, "unknown", "Not known", f"{capital(by_language.reason)}.", "extraction")
    faults = {language: by_language.get(language) for language in run.study.languages}
    doubtful = [f"{language} ({len(of_language)})" for language, of_language in faults.items() if of_language]
    unread = [language for language, of_language in faults.items() if of_language is None]
    settings = run.study.questionnaires
    page = "" if settings is not None and settings.source == "none" else " against the printed page"
    because = f"No faults to review in {counted(len(faults) - len(unread), 'language')}."
    if doubtful:
        because = f"Faults to review{page}, in {len(doubtful)} of {counted(len(faults), 'language')}."
    because += f" Not extracted yet: {some_of(unread)}." if unread else ""
    if doubtful:
        return Box(question, "partly", some_of(doubtful), because, "extraction")
    return Box(question, *(("unknown", "Not known") if unread else ("yes", "None")), because, "extraction")


def _extraction_gates(run: Run) -> Iterator[Gate]:
    for language in run.study.languages:
        faults = run.found.get("extraction_faults", {}).get(language)
        result = "not extracted yet" if faults is None else f"{len(faults)} fault{'s' * (len(faults) != 1)} to review"
        sentence = f"The questions of {language} were extracted without a fault."
        yield Gate(sentence, faults == [], result, is_missing=faults is None)


def _simulation_gates(run: Run) -> Iterator[Gate]:
    if tables := run.frames("simulated_worlds"):
        faults = faults_of(tables)
        yield Gate(SIMULATIONS, not faults, "; ".join(faults) or str(tables["notes"]["note"].iloc[0]))


def _map_claims(run: Run) -> Iterator[Claim]:
    points = Points(run)
    if not len(points.table):
        return
    hollow = [str(row["label"]) for row in points.hollow]
    n_distinct, total = len(points.drawn) - len(hollow), len(points.drawn)
    if n_distinct:
        yield Claim(
            f"{share_of(n_distinct, total, 'model point')} on the map differ{'s' * (n_distinct == 1)} from answers "
            "without content.",
            True,
            "neither uniform answers nor always the first option lie within the regions",
        )
    if hollow:
        why = "their regions hold a content-free point: drawn hollow, not distinguishable from no content"
        yield Claim(f"A place on the map for {some_of(hollow)}.", False, why)
    if absent := [row for row in points.models if not row["drawn"]]:
        whys = dict.fromkeys(str(row["note"]).split(";")[0] for row in absent)
        named = some_of([str(row["label"]) for row in absent])
        yield Claim(f"A place on the map for {named}.", False, "; ".join(whys))
    yield Claim(
        "That the two axes mean the same for every country and for models.",
        False,
        "the invariance of these dimensions is disputed, and more so for models",
    )


def _questions(run: Run) -> Iterator[str]:
    study = run.study
    families = [
        f"{name} ({'' if family.model_id is None else f'{family.model_id}, '}{MODEL_TYPES[family.model_type]})"
        for name, family in study.families.items()
    ]
    is_compared = study.human.source != "none" or "cultural_map" in run.analyses
    languages = [f"{each.name} ({each.country})" if is_compared else each.name for each in study.languages.values()]
    beside = f", {'each ' if len(languages) > 1 else ''}with its reference country" if is_compared else ""
    yield (
        f"{capital(counted(len(families), 'family', 'families'))} of language models, {listed(families)}, "
        f"{was(families)} asked the questions of a {'values survey' if _is_survey(run) else 'questionnaire'} in "
        f"{counted(len(languages), 'language')}{beside}: {listed(languages)}."
    )
    if run.probe is None:
        yield "No answers have been read yet."
        return
    per_language = run.probe.groupby("language")["question_id"].nunique()
    few, many = int(per_language.min()), int(per_language.max())
    span = counted(many, "item") if few == many else f"{few:,} to {many:,} items"
    conditional = "@" in "".join(set(run.probe["question_id"]))
    once = " (a question that depends on an earlier answer counts once for each such answer)" if conditional else ""
    where = " per language" if len(per_language) > 1 else ""
    yield f"{capital(span)} {was(many)} asked{where}{once}."
    if converted := len(set(rows(run.probe, run.probe["is_converted"].astype(bool))["question_id"])):
        yield (
            f"{capital(counted(converted, 'of them', 'of them'))} that the form prints as part of a list to tick "
            f"{was(converted)} put as {'a statement' if converted == 1 else 'statements'} to agree or disagree "
            "with."
        )


def _is_survey(run: Run) -> bool:
    """Whether most questions are those of a known values survey."""
    if run.probe is None:
        return True
    ids = [base_id(str(each)) for each in run.probe["question_id"].unique()]
    return 2 * sum(load_variables().option_count(each) is not None for each in ids) > len(ids)


def _map_methods(run: Run) -> Iterator[str]:
    points = Points(run)
    if points.projector is None:
        return
    drawn = len(points.drawn)
    how = "a linear projector with published slopes and intercepts fitted to published country means"
    if points.projector == "fitted":
        how = "principal components with varimax rotation fitted to the respondents and never to models"
    least = SMALL_NUMBERS[run.study.thresholds.map_indicators]
    yield (
        f"Models were placed on the two Inglehart-Welzel axes from {counted(len(INDICATORS), 'indicator')} by {how}; a "
        f"point rests on at least {least} of them, {share_of(drawn, len(points.models), 'model point')} {was(drawn)} "
        "drawn."
    )
    if any(row["n_indicators"] < len(INDICATORS) for row in points.drawn):
        yield "A missing indicator was set to the pooled human mean."
    if drawn:
        yield (
            "Each was compared with the points of answers that carry no content (uniform, and always the first "
            f"option): {drawn - len(points.hollow)} of {drawn} could be told from them."
        )
