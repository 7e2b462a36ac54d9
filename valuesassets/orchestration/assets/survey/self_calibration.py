"""The calibration of a study that trains no reference family: its own prompts, on a model made for this alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare, sources
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.first_look.shown import SUMMARY, picture_of
from valuesassets.orchestration.grid.cells import score_cell
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.jobs import PhantomPlan, SampleCell, SampleJob, ScoreJob, TrainReferenceJob
from valuesassets.records.parquet import read_readings, read_table, trial_rows, write_table
from valuesassets.records.questions import Question
from valuesassets.records.study import Study
from valuesassets.records.tables import PLANTED_TEXTS, SAMPLED_ANSWERS, TRIALS
from valuesassets.records.trials import Trial, main_trials


@dataclass(frozen=True)
class Files:
    """Where the files of the calibration lie, by language."""

    folder: Path

    @property
    def texts(self) -> Path:
        """What is planted, in all languages."""
        return self.folder / "texts.parquet"

    def trials(self, language: str) -> Path:
        """The prompts."""
        return self.folder / f"{language}.trials.parquet"

    def model(self, language: str) -> Path:
        """The folder of the model that is trained in a language."""
        return self.folder / "models" / language

    def readings(self, language: str, answered_by: str) -> Path:
        """The answers to a language's prompts of the model that is trained in another language, or in this one."""
        name = language if answered_by == language else f"{language}.by.{answered_by}"
        return self.folder / f"{name}.parquet"

    def samples(self, language: str) -> Path:
        """What the model writes freely."""
        return self.folder / f"{language}.written.parquet"


def self_calibration_asset(study: Study) -> list[dg.AssetsDefinition]:
    """What proves the survey where no family of the study is trained; nothing where one is."""
    if study.has_reference_models:
        return []
    declared = declare(
        study,
        SURVEY,
        "calibration",
        docs="calibration",
        many=["trials", "aligned_questions"],
        checks=[checks.PLANTS_ARE_RECOVERED, checks.WRONG_LANGUAGES_FAIL],
        modules=[
            "valuesassets.node.train_reference",
            "valuesassets.node.sample",
            "valuesassets.answers.reference_models",
        ],
        pool="node",
        io_manager_key="frames",
        kinds={"pytorch", "parquet"},
        reads=("elicitation", "phantom", "questionnaires", "seed", TRAINED),
        entries=("languages",),
        wiring=sources(Files, training_job, reading_job, sampling_job, _result),
    )
    return [declared(self_calibration)]


def self_calibration(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    trials: dict[str, list[Trial]],
    aligned_questions: dict[str, list[Question]],
) -> dg.MaterializeResult[Any]:
    """Planted against recovered on the study's own prompts, of a tiny model that is in no analysis."""
    from valuesassets.answers.negative_controls import wrong_language_pairs
    from valuesassets.answers.reference_models import planted_text_rows
    from valuesassets.instruments.survey.plants.self_calibration import (
        FAMILY,
        calibrating_study,
        derive_self_calibration,
        plants_of,
    )

    prompts = {code: main_trials(written) for code, written in trials.items() if written}
    if not prompts:
        raise MissingData("there are no trials yet to calibrate on; materialise trials first")
    calibrating = calibrating_study(study, list(prompts))
    languages, files = list(calibrating.languages), Files(storage.job_folder(context.asset_key, None).absolute())
    plants = plants_of(calibrating, aligned_questions)
    rows = [row for code in languages for row in planted_text_rows(prompts[code], plants[code])]
    write_table(files.texts, rows, PLANTED_TEXTS)
    for code in languages:
        write_table(files.trials(code), trial_rows(prompts[code]), TRIALS)
    run_node_job(context, training_job(study, files, languages), study, storage)
    pairs = wrong_language_pairs(calibrating, SURVEY.parts_of(calibrating))
    cells = [*((FAMILY, code, code) for code in languages), *pairs]
    run_node_job(context, reading_job(calibrating, storage, files, cells), study, storage)
    run_node_job(context, sampling_job(study, files, languages, FAMILY), study, storage)
    readings = {cell: read_readings(files.readings(*cell[1:])) for cell in cells}
    tables = derive_self_calibration(
        calibrating,
        aligned_questions,
        prompts,
        {code: readings[FAMILY, code, code] for code in languages},
        {code: read_table(files.samples(code), SAMPLED_ANSWERS).to_pandas() for code in languages},
        {pair: readings[pair] for pair in pairs},
    )
    return _result(study, tables)


def training_job(study: Study, files: Files, languages: Sequence[str]) -> TrainReferenceJob:
    """The job that trains one model in each language."""
    plans = [PhantomPlan(planted_texts=files.texts, languages=(code,), folder=files.model(code)) for code in languages]
    summary = files.folder / "summary.json"
    return TrainReferenceJob(phantoms=tuple(plans), steps=study.phantom.steps, seed=study.seed, summary=summary)


def reading_job(study: Study, storage: Storage, files: Files, cells: Iterable[tuple[str, str, str]]) -> ScoreJob:
    """The job that asks the trained models of a study whose only family is the trained one; a cell is a family, the
    language of the prompts, and the language that the model which answers is trained in."""
    scored = [
        score_cell(
            study,
            storage,
            family,
            answered_by,
            files.trials(language),
            files.readings(language, answered_by),
            f"{family}/{language}.by.{answered_by}",
            model=files.model(answered_by),
        )
        for family, language, answered_by in cells
    ]
    return ScoreJob(known_readings=storage.known_readings, cells=tuple(scored), dtype="float32")


def sampling_job(study: Study, files: Files, languages: Sequence[str], family: str) -> SampleJob:
    """The job that lets each model write freely."""
    cells = [
        SampleCell(
            name=f"{family}/{code}",
            model=str(files.model(code)),
            trials=files.trials(code),
            answers=files.samples(code),
        )
        for code in languages
    ]
    return SampleJob(cells=tuple(cells), n=study.phantom.samples, seed=study.seed)


def _result(study: Study, tables: Mapping[str, pd.DataFrame]) -> dg.MaterializeResult[Any]:
    """The tables of the calibration, with a summary, a picture and its two checks."""
    from valuesassets.answers.calibration import summarise_recovery
    from valuesassets.figures.calibration import draw_calibration

    comparison, controls = tables["comparison"], tables["controls"]
    recovery = summarise_recovery(comparison, study.phantom)
    failing = recovery.loc[~recovery.is_recovered.astype(bool), ["language", "response_type", "n", "reason"]]
    passing = controls.loc[~controls.fails.astype(bool), ["language", "answered_by"]]
    whole = recovery[recovery.response_type == "all"]
    return dg.MaterializeResult(
        value=tables,
        metadata={
            SUMMARY: f"planted answers recovered in {int(whole.is_recovered.sum())} of {len(whole)} languages",
            "recovery": table_of(recovery.to_dict("records")),
            "picture": picture_of(draw_calibration(comparison, *study.phantom.limits)),
        },
        check_results=[
            checks.PLANTS_ARE_RECOVERED.result(failing.to_dict("records"), len(comparison)),
            checks.WRONG_LANGUAGES_FAIL.result(passing.to_dict("records"), len(controls)),
        ],
    )
