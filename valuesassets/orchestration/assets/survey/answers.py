"""The survey from its trials to its report: what models answer, what people do, the analyses, and the page."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.survey.analyses import analyses_of
from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.analyses import analysis_assets, concatenated
from valuesassets.orchestration.assets.bundle import bundle_asset
from valuesassets.orchestration.assets.calibration import Planting, calibration_assets
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.grid import grid_assets
from valuesassets.orchestration.assets.report import Beside, report_asset
from valuesassets.orchestration.assets.survey.self_calibration import self_calibration_asset
from valuesassets.orchestration.code_versions import human_stamp
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.shown import picture_of
from valuesassets.orchestration.grid.cells import model_label
from valuesassets.orchestration.grid.drawn_cells import path_to_texts
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import cell_of, cell_partitions, is_drawn
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import read_json
from valuesassets.records.parquet import read_answers, stored_frame, table_metadata
from valuesassets.records.questions import Question, askable
from valuesassets.records.study import Cell, Study
from valuesassets.records.trials import Reading, Trial, main_trials

HOME = "valuesassets.instruments.survey"


def answer_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From prompts to the page that a study ends in."""

    def doubted_extractions(storage: Storage) -> tuple[list[dict[str, Any]], int]:
        extracted = extraction_faults(storage, study)
        rows = []
        for language, faults in extracted.items():
            counts = Counter(fault["check"] for fault in faults).most_common()
            named = ", ".join(f"{name} {count}" for name, count in counts)
            rows += [{"language": language, "faults": len(faults), "checks": named}] if faults else []
        return rows, len(extracted)

    return [
        *calibration_assets(Planting(study, SURVEY, f"{HOME}.plants.plants:plant_questions", "aligned_questions")),
        *self_calibration_asset(study),
        *grid_assets(study, SURVEY, f"{HOME}.material.analysis_scale:DIRECTIONAL"),
        *([drawn_asset(study)] if study.has_draws else []),
        probe_asset(study),
        *people_assets(study),
        *analysis_assets(
            study,
            SURVEY,
            analyses_of(study),
            {checks.EXTRACTIONS_ARE_SOUND: doubted_extractions},
            ["aligned_questions"],
        ),
        survey_report(study),
        bundle_asset(study, SURVEY),
    ]


def drawn_asset(study: Study) -> dg.AssetsDefinition:
    """The texts of each cell whose answers are drawn, with what each says."""
    return declare(
        study,
        SURVEY,
        "models",
        docs="draws",
        line=lines.drawn_line,
        step="cell",
        partitions_def=cell_partitions(study, SURVEY, is_drawn),
        io_manager_key="frame",
        deps=[SURVEY.key("readings")],
        reads=(),
        entries=("languages",),
    )(drawn_answers)


def drawn_answers(context: dg.AssetExecutionContext, study: Study, storage: Storage, trials: list[Trial]) -> Any:
    """Every text that a family drew as an answer: the option that it says, or why it says none."""
    from valuesassets.answers.drawn_answers import derive_drawn_answers, texts_that_are_no_option
    from valuesassets.figures.drawn_answers import draw_drawn_answers
    from valuesassets.records.lexicon import load_lexicon

    name, language = cell_of(context)
    texts = path_to_texts(storage, SURVEY, Cell(name, SURVEY.part_of(study, language)))
    if not texts.exists():
        raise MissingData(f"{name}/{language}: its drawn texts are gone; materialise readings of it again")
    lexicon = load_lexicon(language, study.languages[language].lexicon)
    drawn = pd.DataFrame(derive_drawn_answers(trials, read_answers(texts), lexicon))
    drawn = drawn.astype({"response_value": "Int64"})
    is_planted = study.families[name].kind == "reference"
    return dg.MaterializeResult(
        value=drawn,
        metadata={
            "no_option": table_of(texts_that_are_no_option(drawn)),
            "picture": picture_of(draw_drawn_answers(drawn, is_planted)),
        },
    )


def probe_asset(study: Study) -> dg.AssetsDefinition:
    """The answers of each cell, as distributions."""
    return declare(
        study,
        SURVEY,
        "models",
        docs="estimators",
        line=lines.probe_line,
        step="cell",
        checks=[*checks.PROBE, *([checks.ESTIMATORS_AGREE] if study.elicitation.estimators else [])],
        partitions_def=cell_partitions(study, SURVEY),
        io_manager_key="frame",
        reads=("elicitation", "thresholds"),
        entries=("families",),
    )(probe_distributions)


def probe_distributions(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    trials: list[Trial],
    aligned_questions: list[Question],
    readings: list[Reading],
) -> Any:
    """Answer distribution per question: forward, reversed, averaged, with P_valid and position bias."""
    from valuesassets.answers import drawn_columns
    from valuesassets.answers.estimator_disagreement import list_disagreements
    from valuesassets.answers.estimators import COLUMNS
    from valuesassets.answers.probe_distributions import (
        NUMBERS,
        Cell,
        derive_probe_distributions,
        doubtful_questions,
    )
    from valuesassets.figures.probe_cell import draw_probe_cell
    from valuesassets.instruments.survey.material.analysis_scale import analysis_places
    from valuesassets.people.variables import load_variables

    name, language = cell_of(context)
    family, rules = study.require_cell(name, language), study.thresholds
    variables, questions = load_variables().of(aligned_questions), askable(aligned_questions)
    cell = Cell(model_label(study, storage, name, language), family.model_type, name, language)
    types = {question.id: str(question.response_type) for question in questions}
    converted = frozenset(question.id for question in questions if variables.is_converted(question))
    estimators = study.elicitation.estimators if family.draws is None else ()
    trials = trials if family.draws is None else main_trials(trials)
    places = analysis_places(questions)
    draws = study.has_draws
    rows = derive_probe_distributions(trials, readings, cell, types, converted, estimators, places, draws)
    probe = pd.DataFrame(rows)
    # A cell in which nothing could be read is a result too: its numbers are empty, not of another kind.
    drawn = drawn_columns.NUMBERS if draws else ()
    probe = probe.astype(dict.fromkeys([*NUMBERS, *COLUMNS, "estimator_disagreement", *drawn], float))
    read_from = storage.path(SURVEY.key("readings"), context.partition_key, "parquet")
    probe.attrs["file_metadata"] = table_metadata(read_from) | {"orders": str(study.elicitation.orders)}
    once = probe.drop_duplicates(["question_id", "wording"])
    doubtful = doubtful_questions(once, rules)
    results = [sentence.result(doubtful[sentence.name], len(once)) for sentence in checks.PROBE]
    if study.elicitation.estimators:
        far, compared, lacking = list_disagreements(probe, rules.estimator_disagreement)
        results.append(checks.ESTIMATORS_AGREE.result(far, compared, items_lacking_an_estimate=lacking))
    return dg.MaterializeResult(
        value=probe,
        metadata={
            "median_p_valid": float(once.p_valid.median()) if once.p_valid.notna().any() else None,
            "questions": once.question_id.nunique(),
            "picture": picture_of(draw_probe_cell(probe, rules.p_valid_question, family.kind == "reference")),
        },
        check_results=results,
    )


def people_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Respondents from files or made up from the plants, and what follows from them."""
    declared = partial(declare, study, SURVEY, "people", docs="human_data", step="analysis", io_manager_key="frame")
    declared, stamp = partial(declared, many=["aligned_questions"]), human_stamp(study)
    reads, line = ("human", "languages"), lines.by_country_line
    return [
        declared(line=lines.people_line, picture=pictures.draw_respondents, stamp=stamp, reads=(*reads, "seed"))(
            respondents
        ),
        declared(line=line, picture=pictures.draw_human_distributions, reads=reads)(human_distributions),
        declared(line=line, picture=pictures.draw_human_means, stamp=stamp, reads=reads)(human_means),
    ]


def respondents(study: Study, aligned_questions: dict[str, list[Question]]) -> Any:
    """People, one row each, with weight and answers; in the demo synthetic ones, drawn from the plants."""
    from valuesassets.instruments.survey.material.respondents import derive_respondents

    return _with_notes(derive_respondents(study, _askable_of(aligned_questions)))


def human_distributions(study: Study, aligned_questions: dict[str, list[Question]], respondents: pd.DataFrame) -> Any:
    """Weighted answers of respondents per country."""
    from valuesassets.instruments.survey.material.human_distributions import derive_human_distributions

    return derive_human_distributions(respondents, study, _askable_of(aligned_questions))


def human_means(study: Study, aligned_questions: dict[str, list[Question]], respondents: pd.DataFrame) -> Any:
    """Mean answers of people per country: of the respondents, or as they were published."""
    from valuesassets.instruments.survey.material.human_means import derive_human_means

    return _with_notes(derive_human_means(respondents, study, _askable_of(aligned_questions)))


def _askable_of(aligned: dict[str, list[Question]]) -> dict[str, list[Question]]:
    return {language: askable(questions) for language, questions in aligned.items()}


def _with_notes(frame: pd.DataFrame) -> dg.MaterializeResult[pd.DataFrame]:
    """A table of people, with what was left out of it for a person to read."""
    return dg.MaterializeResult(value=frame, metadata={"left_out": "\n".join(frame.attrs["notes"]) or "nothing"})


def survey_report(study: Study) -> dg.AssetsDefinition:
    """The page that a study's survey ends in."""
    extraction = ("questionnaire_pdf", "extracted_questions")
    cells = ("preflight", "probe_distributions", *(("drawn_answers",) if study.has_draws else ()))
    own_calibration = () if study.has_reference_models else ("self_calibration",)
    planted = ("calibration",) * study.has_reference_models + ("negative_controls",) * bool(study.control_families)
    return report_asset(
        study,
        SURVEY,
        analyses_of(study),
        partial(_beside_analyses, study),
        takes=(
            *cells,
            *("quality_report", "item_statistics"),
            *extraction,
            *("master_questions", "human_distributions"),
            *own_calibration,
        ),
        many=(*cells, *extraction),
        docs="report",
        deps=(*planted, "aligned_questions", "trials"),
        pictured="cultural_map",
    )


def _beside_analyses(
    study: Study, context: dg.AssetExecutionContext, storage: Storage, inputs: Mapping[str, Any]
) -> Beside:
    """What the survey's page shows besides its analyses, and the forms that all of it comes from."""
    from valuesassets.answers.calibration import calibration_tables
    from valuesassets.instruments.survey.report.trace import trace_cells
    from valuesassets.reporting.parts import Refused

    cells = {f"{model}/{language}" for model, language in study.cells()}
    calibrated = storage.files(SURVEY.key("calibration"), "parquet")
    comparisons = [stored_frame(path) for name, path in calibrated.items() if name in cells]
    controls = storage.path(SURVEY.key("negative_controls"), None, "parquet")
    tables: dict[str, Any] = {
        "probe_distributions": concatenated(inputs["probe_distributions"]),
        "calibration": calibration_tables(pd.concat(comparisons, ignore_index=True), study.phantom)
        if comparisons
        else Refused("no reference model was calibrated, so nothing says how exact the readings are"),
        "negative_controls": stored_frame(controls)
        if controls.exists()
        else Refused("no language's prompts have been answered by another language's model yet"),
    }
    calibration = inputs.get("self_calibration", {})
    if "comparison" in calibration:
        tables["calibration"] = calibration_tables(calibration["comparison"], study.phantom)
        tables |= {"negative_controls": calibration["controls"]} if len(calibration["controls"]) else {}
    if study.has_draws:
        tables["drawn_answers"] = _standings(inputs["drawn_answers"])
    tables |= {
        "extraction_faults": extraction_faults(storage, study),
        "not_asked": entries_not_asked(storage, inputs["extracted_questions"]),
        "question_texts": {question.id: question.text for question in inputs["master_questions"]},
        "traces": trace_cells(storage.folder, sorted(inputs["probe_distributions"], key=study.cells().index)),
    }
    forms = [
        {"what": f"questionnaire {language}", "source": pdf["source"], "sha256": pdf["sha256"]}
        for language, pdf in inputs["questionnaire_pdf"].items()
    ]
    return Beside(tables, forms)


def _standings(drawn: Mapping[tuple[str, str], pd.DataFrame]) -> Any:
    """The number of draws of each cell by their standing; the reason where there are none."""
    from valuesassets.reporting.parts import Refused

    rows = [
        {"model": model, "language": language, "standing": standing, "n": n}
        for (model, language), answers in drawn.items()
        for standing, n in answers["standing"].value_counts().items()
    ]
    return pd.DataFrame(rows) if rows else Refused("no cell of a drawn family has been drawn yet")


def entries_not_asked(storage: Storage, extracted: Mapping[str, list[Question]]) -> dict[str, Any]:
    """What of each language's form no model is asked, with reasons."""
    from valuesassets.instruments.survey.report.not_asked import not_asked

    paths = storage.files(SURVEY.key("extracted_questions"), "left_out.json")
    left_out = {language: read_json(paths[language]) if language in paths else [] for language in extracted}
    return {language: not_asked(questions, left_out[language]) for language, questions in extracted.items()}


def extraction_faults(storage: Storage, study: Study) -> dict[str, list[dict[str, Any]]]:
    """The faults of every extraction that has been made, by language."""
    paths = storage.files(SURVEY.key("extracted_questions"), "faults.json")
    return {language: read_json(paths[language]) for language in study.languages if language in paths}
