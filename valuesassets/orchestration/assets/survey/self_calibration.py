"""The calibration of a study that trains no reference family: its own prompts, on a model made for this alone."""

from typing import Any

import dagster as dg

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
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


def self_calibration_asset(study: Study) -> list[dg.AssetsDefinition]:
    """What proves the survey where no family of the study is trained; nothing where one is."""
    if study.has_reference_models:
        return []

    @declare(
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
    )
    def self_calibration(
        context: dg.AssetExecutionContext,
        storage: Storage,
        trials: dict[str, list[Trial]],
        aligned_questions: dict[str, list[Question]],
    ) -> dg.MaterializeResult[Any]:
        """Planted against recovered on the study's own prompts, of a tiny model that no analysis has in."""
        from valuesassets.answers.calibration import summarise_recovery
        from valuesassets.answers.negative_controls import wrong_language_pairs
        from valuesassets.answers.reference_models import planted_text_rows
        from valuesassets.figures.calibration import draw_calibration
        from valuesassets.instruments.survey.self_calibration import (
            FAMILY,
            calibrating_study,
            derive_self_calibration,
            plants_of,
        )

        asked = {code: main_trials(found) for code, found in trials.items() if found}
        if not asked:
            raise MissingData("there are no trials yet to calibrate on; materialise trials first")
        tried_on, folder = calibrating_study(study, list(asked)), storage.job_folder(context.asset_key, None).absolute()
        texts, places = (
            folder / "texts.parquet",
            {code: folder / f"{code}.trials.parquet" for code in tried_on.languages},
        )
        planted = plants_of(tried_on, aligned_questions)
        rows = [row for code in places for row in planted_text_rows(asked[code], planted[code])]
        write_table(texts, rows, PLANTED_TEXTS)
        for code, place in places.items():
            write_table(place, trial_rows(asked[code]), TRIALS)
        phantoms = [
            PhantomPlan(planted_texts=texts, languages=(code,), folder=folder / "models" / code) for code in places
        ]
        steps, summary = study.phantom.steps, folder / "summary.json"
        run_node_job(
            context,
            TrainReferenceJob(phantoms=tuple(phantoms), steps=steps, seed=study.seed, summary=summary),
            study,
            storage,
        )
        pairs = wrong_language_pairs(tried_on, SURVEY.parts_of(tried_on))
        answered = {(FAMILY, code, code): folder / f"{code}.parquet" for code in places}
        answered |= {pair: folder / f"{pair[1]}.by.{pair[2]}.parquet" for pair in pairs}
        cells = [
            score_cell(
                tried_on,
                storage,
                FAMILY,
                by,
                places[code],
                path,
                f"{FAMILY}/{code}.by.{by}",
                model=folder / "models" / by,
            )
            for (_, code, by), path in answered.items()
        ]
        job = ScoreJob(known_readings=storage.known_readings, cells=tuple(cells), dtype="float32")
        run_node_job(context, job, study, storage)
        drawn = [
            SampleCell(
                name=f"{FAMILY}/{code}",
                model=str(folder / "models" / code),
                trials=place,
                answers=folder / f"{code}.written.parquet",
            )
            for code, place in places.items()
        ]
        run_node_job(context, SampleJob(cells=tuple(drawn), n=study.phantom.samples, seed=study.seed), study, storage)
        readings = {key: read_readings(path) for key, path in answered.items()}
        written = {
            code: read_table(cell.answers, SAMPLED_ANSWERS).to_pandas()
            for code, cell in zip(places, drawn, strict=True)
        }
        own = {code: readings[FAMILY, code, code] for code in places}
        frames = derive_self_calibration(
            tried_on, aligned_questions, asked, own, written, {pair: readings[pair] for pair in pairs}
        )
        comparison, controls = frames["comparison"], frames["controls"]
        recovery = summarise_recovery(comparison, study.phantom)
        off = recovery.loc[~recovery.is_recovered.astype(bool), ["language", "response_type", "n", "reason"]]
        passing = controls.loc[~controls.fails.astype(bool), ["language", "answered_by"]]
        found = recovery[recovery.response_type == "all"]
        return dg.MaterializeResult(
            value=frames,
            metadata={
                SUMMARY: f"planted answers recovered in {int(found.is_recovered.sum())} of {len(found)} languages",
                "recovery": table_of(recovery.to_dict("records")),
                "picture": picture_of(draw_calibration(comparison, *study.phantom.limits)),
            },
            check_results=[
                checks.PLANTS_ARE_RECOVERED.result(off.to_dict("records"), len(comparison)),
                checks.WRONG_LANGUAGES_FAIL.result(passing.to_dict("records"), len(controls)),
            ],
        )

    return [self_calibration]
