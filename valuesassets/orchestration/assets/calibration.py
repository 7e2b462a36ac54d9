"""The calibration of an instrument: reference models with planted answers, read in two ways, and negative controls."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.desk.staleness import folder_metadata
from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.training import train
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.pictures import draw_written
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, picture_of
from valuesassets.orchestration.grid.cells import model_folder, score_cell
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import cell_key, cell_of, cell_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.jobs import PhantomPlan, SampleCell, SampleJob, ScoreJob
from valuesassets.records.parquet import read_readings, read_table, trial_rows, write_table
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import PLANTED_TEXTS, SAMPLED_ANSWERS, TRIALS
from valuesassets.records.trials import Trial, main_trials
from valuesassets.reporting.analyses import named


def calibration_assets(
    study: Study,
    instrument: Instrument,
    plants: str,
    asked: str = "trials",
    reads: Sequence[str] = (),
    answers: str = "probe_distributions",
    stamp: str = "",
    as_distributions: str = "",
    writes: str = "",
    requests: str = "",
) -> list[dg.AssetsDefinition]:
    """What proves an instrument, where the study trains reference models; nothing where it does not.

    Args:
        plants: `module:function` of (study, family, part's name, what is asked in the part); gives the cell's `Plants`.
        asked: the asset, partitioned by part, that plants are made for.
        reads: tables of the study that plants are made from, besides those that every calibration reads.
        answers: the asset of a cell that has what its model answers, in the columns of `PROBE_DISTRIBUTIONS`.
        stamp: of what else plants are made from.
        as_distributions: `module:function` that gives these columns of a table of answers that has others.
        writes: `module:function` of (study, family, part's name, requests of the part); gives rows of `PLANTED_TEXTS`
            that reference models learn besides.
        requests: the asset, partitioned by part, of what they are asked to write.
    """
    if not study.has_reference_models:
        return []
    many = [*dict.fromkeys(["trials", asked])]
    modules = [function.partition(":")[0] for function in (plants, as_distributions) if function]
    declared = partial(declare, study, instrument, "calibration", docs="calibration", stamp=stamp)
    of_all_parts = partial(
        declared,
        inputs=many,
        many=many,
        modules=modules,
        pool="node",
        reads=("elicitation", "phantom", "seed", TRAINED, *reads),
        entries=("languages",),
    )
    models_key, written_key = instrument.key("reference_models"), instrument.key("sampled_answers")

    def planted_in(family: str, part: str, inputs: Mapping[str, Any]) -> Any:
        return named(plants)(study, family, part, inputs[asked][part])

    def trained_cells(trials: Mapping[str, Any]) -> list[Cell]:
        """The cells of reference families that have trials."""
        cells = [cell for cell in instrument.cells(study) if trials.get(cell.part.name)]
        if found := [cell for cell in cells if study.families[cell.family].kind == "reference"]:
            return found
        raise MissingData("there are no trials yet for reference models to answer; materialise trials first")

    def written(storage: Storage, family: str, part: str) -> Path:
        """Where the sampled answers of a cell lie."""
        return storage.path(written_key, cell_key(family, part, instrument.part), "parquet").absolute()

    @of_all_parts(
        kinds={"pytorch"},
        inputs=many + [requests] * bool(writes),
        many=many + [requests] * bool(writes),
        modules=[*modules, *([writes.partition(":")[0]] if writes else [])],
    )
    def reference_models(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> dg.MaterializeResult:
        """The reference models: tiny, trained here to answer as planted; folders of known hash are skipped."""
        from valuesassets.answers.reference_models import planted_text_rows

        folder, cells = storage.job_folder(context.asset_key, None), trained_cells(inputs["trials"])
        texts: dict[Path, list[dict[str, Any]]] = {}
        models: dict[Path, list[Cell]] = {}
        for cell in cells:
            plants_of_cell = planted_in(cell.family, cell.part.name, inputs)
            rows = planted_text_rows(inputs["trials"][cell.part.name], plants_of_cell)
            if writes and cell.part.name in inputs[requests]:
                rows += named(writes)(study, cell.family, cell.part.name, inputs[requests][cell.part.name])
            texts.setdefault(folder / f"{cell.family}.parquet", []).extend(rows)
            models.setdefault(model_folder(study, storage, cell.family, cell.language, instrument), []).append(cell)
        for path, rows in texts.items():
            write_table(path, rows, PLANTED_TEXTS)
        phantoms = []
        for place, served in models.items():
            planted, languages = folder / f"{served[0].family}.parquet", dict.fromkeys(cell.language for cell in served)
            phantoms.append(PhantomPlan(planted_texts=planted, languages=tuple(languages), folder=place))
        return train(context, study, storage, phantoms, cells[0].family, "answer as planted")

    @declared(many=["trials"], deps=[models_key], kinds={"pytorch"}, pool="node", reads=("phantom", "seed", TRAINED))
    def sampled_answers(
        context: dg.AssetExecutionContext, storage: Storage, trials: dict[str, list[Trial]]
    ) -> dg.MaterializeResult:
        """What the reference models write when left to answer: the second channel, which knows nothing of labels."""
        cells = trained_cells(trials)
        sampled = []
        for cell in cells:
            model = model_folder(study, storage, cell.family, cell.language, instrument).absolute()
            prompts = storage.path(instrument.key("trials"), cell.part.name, "parquet").absolute()
            answers = written(storage, cell.family, cell.part.name)
            sampled.append(SampleCell(name=str(cell), model=str(model), trials=prompts, answers=answers))
        job = SampleJob(cells=tuple(sampled), n=study.phantom.samples, seed=study.seed)
        log = run_node_job(context, job, study, storage, cells[0].family)
        first = read_table(job.cells[0].answers, SAMPLED_ANSWERS).to_pandas()
        common = first[first["trial_id"] == first["trial_id"].iloc[0]].nlargest(8, "n")
        return dg.MaterializeResult(
            metadata={
                SUMMARY: f"{job.n} answers to each prompt in {len(cells)} cells",
                "answers_per_prompt": job.n,
                "example": dg.MetadataValue.md(f"```\n{first['prompt'].iloc[0]}\n```"),
                "commonest_answers": table_of(
                    [{"answer": repr(row.answer_text), "n": row.n} for row in common.itertuples()]
                ),
                PICTURE: picture_of(draw_written(common, str(first["trial_id"].iloc[0]))),
            }
            | folder_metadata(storage.folder.joinpath(*written_key.path))
            | shown_log(storage, log),
            data_version=dg.DataVersion(sha256_json([sha256_file(cell.answers) for cell in job.cells])[:16]),
        )

    declared = partial(declared, ins={"probe_distributions": dg.AssetIn(instrument.key(answers))})

    @declared(
        inputs=many,
        modules=modules,
        line=lines.calibration_line,
        step="cell",
        checks=[checks.PLANTS_ARE_RECOVERED],
        partitions_def=cell_partitions(study, instrument, "reference"),
        deps=[written_key],
        io_manager_key="frame",
        reads=("elicitation", "phantom", "seed", *reads),
        entries=("families", "languages"),
    )
    def calibration(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: pd.DataFrame, **inputs: Any
    ) -> Any:
        """Planted against recovered, question by question: as scored, and as written and parsed."""
        from valuesassets.answers.calibration import compare_with_plants, describe_hardness, summarise_recovery
        from valuesassets.answers.plants import planted_answers
        from valuesassets.answers.sampled_answers import derive_sampled_distributions
        from valuesassets.figures.calibration import draw_calibration

        name, part = cell_of(context)
        found = read_table(written(storage, name, part), SAMPLED_ANSWERS).to_pandas()
        made = named(plants)(study, name, part, inputs[asked])
        planted = planted_answers({(name, part): made})
        sampled = derive_sampled_distributions(found, inputs["trials"], made, name, part)
        probe = named(as_distributions)(probe_distributions) if as_distributions else probe_distributions
        comparison = compare_with_plants(probe, planted, sampled)
        summary = summarise_recovery(comparison, study.phantom)
        verdict_first = list(dict.fromkeys(["response_type", "is_recovered", "reason", *summary.columns]))
        off = summary.loc[~summary.is_recovered.astype(bool), ["response_type", "n", "reason"]].to_dict("records")
        unasked = sorted(set(planted.question_id) - set(probe.question_id))
        if unasked:
            off.append({"response_type": "all", "n": len(unasked), "reason": f"never asked: {', '.join(unasked)}"})
        return dg.MaterializeResult(
            value=comparison,
            metadata={
                "summary": table_of(summary.loc[:, verdict_first].to_dict("records")),
                "hardness": table_of(describe_hardness(comparison).to_dict("records")),
                "picture": picture_of(draw_calibration(comparison, *study.phantom.limits)),
            },
            check_results=[checks.PLANTS_ARE_RECOVERED.result(off, len(comparison))],
        )

    @of_all_parts(
        line=lines.controls_line,
        picture=pictures.draw_controls,
        checks=[checks.WRONG_LANGUAGES_FAIL],
        deps=[models_key],
        io_manager_key="frame",
        kinds={"pytorch", "parquet"},
    )
    def negative_controls(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """Each language's prompts answered by another language's reference model: every pair must fail."""
        from valuesassets.answers.negative_controls import answered_as, derive_negative_controls, wrong_language_pairs
        from valuesassets.answers.plants import planted_answers

        parts = [part for part in instrument.parts_of(study) if inputs["trials"].get(part.name)]
        pairs = wrong_language_pairs(study, parts)
        if not pairs:
            raise MissingData(
                "there is no pair of languages to try: trials of two languages at least are needed; materialise trials"
            )
        folder = storage.job_folder(context.asset_key, None)
        trials = {part.name: main_trials(inputs["trials"][part.name]) for part in parts}
        for part in dict.fromkeys(part for _, part, _ in pairs):
            write_table(folder / f"{part}.trials.parquet", trial_rows(trials[part]), TRIALS)
        places = {pair: folder / pair[0] / f"{pair[1]}.by.{pair[2]}.parquet" for pair in pairs}
        cells = []
        for name, part, other in sorted(pairs, key=lambda pair: (pair[0], pair[2])):
            prompts, place = folder / f"{part}.trials.parquet", places[name, part, other]
            called = f"{name}/{part}.by.{other}"
            cells.append(score_cell(study, storage, name, other, prompts, place, called, instrument))
        job = ScoreJob(known_readings=storage.known_readings, cells=tuple(cells), dtype="float32")
        run_node_job(context, job, study, storage, pairs[0][0])
        tried = dict.fromkeys((name, part) for name, part, _ in pairs)
        made = {(name, part): planted_in(name, part, inputs) for name, part in tried}
        answered = {
            pair: answered_as(pair, trials[pair[1]], read_readings(path), made[pair[:2]])
            for pair, path in places.items()
        }
        controls = derive_negative_controls(answered, planted_answers(made), study.phantom)
        passing = controls.loc[~controls.fails.astype(bool), ["model", "language", "answered_by"]].to_dict("records")
        return dg.MaterializeResult(
            value=controls,
            metadata={"pairs": table_of(controls.to_dict("records"))},
            check_results=[checks.WRONG_LANGUAGES_FAIL.result(passing, len(controls))],
        )

    return [reference_models, sampled_answers, calibration, *([negative_controls] if study.control_families else [])]
